/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _BENCH_RECORDS_H
#define _BENCH_RECORDS_H

/* Counting the records in the data that trace_pipe_raw gave; damage is an error. */

#include <err.h>
#include <linux/etch_packet.h>
#include <string.h>

#include "raw.h"

#define RECORD		28		/* bytes of bench_small: 12 of head, 16 of fields */
#define PAGE_HEAD	16		/* bytes: time, and how many follow */

/* By the packets' headers; there have to be as many bytes as these take. */
static long long count_packets(const char *data, size_t len)
{
	struct etch_packet_header head;
	long long records = 0;

	for (size_t at = 0; at < len; at += head.packet_size / 8) {
		if (len - at < sizeof(head))
			errx(1, "half a packet");
		memcpy(&head, data + at, sizeof(head));
		if (head.magic != ETCH_PACKET_MAGIC || head.packet_size / 8 > len - at)
			errx(1, "no packet at %zu of %zu", at, len);
		if (head.content_size / 8 != sizeof(head) + head.records * RECORD)
			errx(1, "%u records in %llu bytes", head.records,
			     head.content_size / 8);
		records += head.records;
	}
	return records;
}

/* In a page's content: before each record a word has its length, or what it is. */
static long long count_content(const char *data, size_t len)
{
	long long records = 0;
	size_t at = 0;

	while (at < len) {
		unsigned int word, next;

		memcpy(&word, data + at, sizeof(word));
		memcpy(&next, data + at + sizeof(word), sizeof(next));
		switch (word & 31) {
		case 29:			/* nothing; to the end, if time is 0 */
			at += word >> 5 ? sizeof(word) + next : len;
			break;
		case 30:			/* time */
		case 31:
			at += 8;
			break;
		case 0:
			at += sizeof(word) + (next + 3) / 4 * 4;
			records++;
			break;
		default:
			at += sizeof(word) + (word & 31) * 4;
			records++;
		}
	}
	return records;
}

static long long count_pages(const char *data, size_t len, size_t page)
{
	long long records = 0;

	if (len % page)
		errx(1, "half a page");
	for (size_t at = 0; at < len; at += page) {
		unsigned long long content;

		memcpy(&content, data + at + 8, sizeof(content));
		content &= 0x3fffffff;		/* the rest says what was lost */
		if (content > page - PAGE_HEAD)
			errx(1, "a page of %llu bytes", content);
		records += count_content(data + at + PAGE_HEAD, content);
	}
	return records;
}

static long long count(const struct tracer *tracer, const char *data, size_t len)
{
	if (tracer->packets)
		return count_packets(data, len);
	return count_pages(data, len, tracer->subbuf);
}

#endif /* _BENCH_RECORDS_H */
