// SPDX-License-Identifier: GPL-2.0

#include <linux/etch_packet.h>

#include "packets.h"

/* ---- Writing ---- */

int packets_resize(const char *tree, int pages)
{
	return write_fmt(tree, "buffer_size_kb", "%zu", pages * PAGE >> 10);
}

/* Makes an instance with small buffers, and runs on CPU 0: one file has it all. 0 or an errno. */
int packets_tree(const char *tree)
{
	run_on(0);
	rmdir(tree);
	if (mkdir(tree, 0700))
		return errno;
	return write_fmt(tree, "buffer_subbuf_size_kb", "%zu", PAGE >> 10) ?:
	       packets_resize(tree, BUFFER_PAGES);
}

/*
 * Writes the next marks, one a call. Lost ones use up numbers, too. Marks are longer where
 * pages are larger, so that about the same number of them fills a page.
 */
void packets_mark(const char *tree, int *next, int nr)
{
	int fd = open(path_of(tree, "trace_marker"), O_WRONLY | O_CLOEXEC | O_APPEND);
	int more = 40 * (PAGE / LEAST_PAGE - 1);
	char text[1024];
	size_t len;

	while (nr--) {
		len = snprintf(text, sizeof(text), "<%d> some more text%*s", (*next)++, more, "");
		(void)!write(fd, text, len);
	}
	close(fd);
}

/* ---- Reading ---- */

void packets_mark_seen(struct packets *p, const char *text)
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
static void packets_find_marks(struct packets *p, const char *at, const char *end)
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

/* A packet that only leads a reader to its first one says how many were lost, and not why. */
static bool packets_sum_ok(const struct etch_packet_header *head)
{
	__u32 lost = head->lost_full + head->lost_throttled + head->lost_nested +
		     head->lost_too_big;

	if (!head->records && !head->overwritten && !lost)
		return true;
	return (__u32)(head->events_discarded - head->overwritten) == lost;
}

bool packets_head_ok(const struct packets *p, const struct etch_packet_header *head)
{
	const struct etch_packet_header *last = &p->head;

	if (head->magic != ETCH_PACKET_MAGIC || head->stream_id)
		return false;
	if (head->content_size / 8 < PACKET_HEADER || head->content_size > head->packet_size ||
	    head->packet_size / 8 % getpagesize() || head->timestamp_begin > head->timestamp_end)
		return false;
	if (head->events_discarded < head->overwritten + head->lost_full || !packets_sum_ok(head))
		return false;
	return !p->packets ||
	       (head->cpu_id == last->cpu_id &&
		head->packet_seq_num > last->packet_seq_num &&
		head->events_discarded >= last->events_discarded &&
		head->timestamp_begin >= last->timestamp_end);
}

/* Look at whole packets. Returns how many bytes of @data were whole packets. */
size_t packets_add(struct packets *p, const void *data, size_t len)
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

int packets_open(const char *tree, int cpu, int flags)
{
	char file[64];

	snprintf(file, sizeof(file), "per_cpu/cpu%d/trace_pipe_raw", cpu);
	return open(path_of(tree, file), O_RDONLY | O_CLOEXEC | flags);
}

/* Reads packets until the file ends or would block. False: an error, or part of a packet. */
bool packets_drain(struct packets *p, int fd)
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
