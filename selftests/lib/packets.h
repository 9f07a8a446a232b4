/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_PACKETS_H
#define _ETCH_PACKETS_H

/*
 * Reading packets, and looking at them as bytes: their headers, and the numbered marks
 * "<17>" that tests write to trace_marker.
 */

#include <linux/etch_packet.h>

#include "etch.h"

#define PACKET_HEADER	sizeof(struct etch_packet_header)

/* The smallest sub-buffer, and so the smallest packet, is a page. Sizes here are in pages. */
#define PAGE		((size_t)getpagesize())
#define LEAST_PAGE	4096
#define LARGEST_PAGE	65536
#define BUFFER_PAGES	16

/* The sums over one CPU's packets, from the first on. */
struct packets {
	unsigned long long packets;	/* those without records included */
	unsigned long long empty;
	unsigned long long records;	/* as the headers say */
	unsigned long long discarded;	/* between the first packet and the last */
	unsigned long long skipped;	/* numbers of packets that were left out */
	unsigned int marks;		/* that were found */
	unsigned int order;		/* marks that were not one more than the one before */
	int first, last;		/* marks */
	unsigned long long time;	/* of the last mark */
	unsigned int wrong;		/* headers and records that cannot be right */
	struct etch_packet_header head;	/* of the last packet */
};

/* A record of trace_marker: struct etch_head, the word for the text, the text. */
#define MARK_WORD	12
#define MARK_TEXT	16

int packets_resize(const char *tree, int pages);
int packets_tree(const char *tree);
void packets_mark(const char *tree, int *next, int nr);
void packets_mark_seen(struct packets *p, const char *text);
bool packets_head_ok(const struct packets *p, const struct etch_packet_header *head);
size_t packets_add(struct packets *p, const void *data, size_t len);
int packets_open(const char *tree, int cpu, int flags);
bool packets_drain(struct packets *p, int fd);

#endif /* _ETCH_PACKETS_H */
