/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_PACKETS_H
#define _ETCH_PACKETS_H

/*
 * Reading packets, and looking at them as bytes: their headers, and the numbered marks
 * "<17>" that tests write to trace_marker.
 */

#include <linux/etch_packet.h>
#include <sched.h>

#include "etch_test.h"

#define PACKET_HEADER	sizeof(struct etch_packet_header)

/* The smallest sub-buffer, and so the smallest packet: all sizes here are so many pages. */
#define PAGE		((size_t)getpagesize())
#define LEAST_PAGE	4096
#define LARGEST_PAGE	65536
#define BUFFER_PAGES	16

/* ---- Writing ---- */

static inline int packets_resize(const char *tree, int pages)
{
	return write_fmt(tree, "buffer_size_kb", "%zu", pages * PAGE >> 10);
}

/* An instance with small buffers, and we on CPU 0, so that one file has all. 0 or an errno. */
static inline int packets_tree(const char *tree)
{
	run_on(0);
	rmdir(tree);
	if (mkdir(tree, 0700))
		return errno;
	return write_fmt(tree, "buffer_subbuf_size_kb", "%zu", PAGE >> 10) ?:
	       packets_resize(tree, BUFFER_PAGES);
}

/*
 * The next marks; those that are lost have their numbers, too. They are longer where pages
 * are larger: as many of them, or nearly, fill one.
 */
static inline void packets_mark(const char *tree, int *next, int nr)
{
	int more = 40 * (PAGE / LEAST_PAGE - 1);

	while (nr--)
		write_fmt(tree, "trace_marker", "<%d> some more text%*s", (*next)++, more, "");
}

/* ---- Reading ---- */

/* What was seen of one CPU's packets, from the first on. */
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

static inline void packets_mark_seen(struct packets *p, const char *text)
{
	int mark;

	if (sscanf(text, "<%d>", &mark) != 1) {
		p->wrong++;
		return;
	}
	if (!p->marks++)
		p->first = mark;
	else
		p->order += mark != p->last + 1;
	p->last = mark;
}

/* The marks of one packet, in which there is nothing else. */
static inline void packets_find_marks(struct packets *p, const char *at, const char *end)
{
	unsigned long long time;
	unsigned int word, len;

	while (at < end) {
		if (end - at < MARK_TEXT) {
			p->wrong++;
			return;
		}
		memcpy(&word, at + MARK_WORD, sizeof(word));
		len = word >> 16;
		if ((word & 0xffff) != MARK_TEXT || !len || end - at < MARK_TEXT + len ||
		    at[MARK_TEXT + len - 1]) {
			p->wrong++;
			return;
		}
		/* The upper bits come from the mark before, or the packet's begin. */
		memcpy(&time, at, sizeof(time));
		p->time += (time - p->time) & ((1ULL << 48) - 1);
		packets_mark_seen(p, at + MARK_TEXT);
		at += (MARK_TEXT + len + 3) & ~3U;
	}
}

static inline bool packets_head_ok(const struct packets *p,
				   const struct etch_packet_header *head)
{
	const struct etch_packet_header *last = &p->head;

	if (head->magic != ETCH_PACKET_MAGIC || head->stream_id)
		return false;
	if (head->content_size / 8 < PACKET_HEADER || head->content_size > head->packet_size ||
	    head->packet_size / 8 % getpagesize() || head->timestamp_begin > head->timestamp_end)
		return false;
	if (head->events_discarded < head->overwritten + head->lost_full)
		return false;
	return !p->packets ||
	       (head->cpu_id == last->cpu_id &&
		head->packet_seq_num > last->packet_seq_num &&
		head->events_discarded >= last->events_discarded &&
		head->timestamp_begin >= last->timestamp_end);
}

/* Look at whole packets. Returns how many bytes of @data were whole packets. */
static inline size_t packets_add(struct packets *p, const void *data, size_t len)
{
	struct etch_packet_header head;
	size_t at = 0;

	while (len - at >= PACKET_HEADER) {
		memcpy(&head, data + at, sizeof(head));
		if (head.packet_size / 8 > len - at || !head.packet_size)
			break;
		p->wrong += !packets_head_ok(p, &head);
		if (p->packets) {
			p->discarded += head.events_discarded - p->head.events_discarded;
			p->skipped += head.packet_seq_num - p->head.packet_seq_num - 1;
		}
		p->packets++;
		p->empty += !head.records;
		p->records += head.records;
		p->time = head.timestamp_begin;
		packets_find_marks(p, data + at + PACKET_HEADER, data + at + head.content_size / 8);
		p->wrong += p->time > head.timestamp_end;
		p->head = head;
		at += head.packet_size / 8;
	}
	return at;
}

static inline int packets_open(const char *tree, int cpu, int flags)
{
	char file[64];

	snprintf(file, sizeof(file), "per_cpu/cpu%d/trace_pipe_raw", cpu);
	return open(path_of(tree, file), O_RDONLY | O_CLOEXEC | flags);
}

/* All packets that a file gives before it ends or would block. False: an error, or a rest. */
static inline bool packets_drain(struct packets *p, int fd)
{
	size_t room = 1 << 20, have = 0, used;
	char *buf = must_alloc(NULL, room);
	ssize_t n;

	while ((n = read(fd, buf + have, room - have)) > 0) {
		have += n;
		used = packets_add(p, buf, have);
		memmove(buf, buf + used, have - used);
		have -= used;
	}
	free(buf);
	return !have && (n == 0 || errno == EAGAIN);
}

#endif /* _ETCH_PACKETS_H */
