// SPDX-License-Identifier: GPL-2.0
/*
 * A CPU's file: its packets and their records (include/uapi/linux/etch_packet.h).
 *
 * The file is read in large pieces into one buffer, which has at least one whole packet
 * when records are taken from it. A packet's counters minus those of the packet before it
 * are a loss, which comes in front of the packet's first record.
 */
#include "read/read.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/etch_packet.h>

#define STREAM_PIECE	(256 << 10)	/* bytes of a read() */
#define STREAM_PACKET	(512 << 10)	/* of the largest packet */
#define STREAM_RECORD	(64 << 10)	/* of the largest record of a program */
#define STREAM_TIME	((1ULL << 48) - 1)

/**
 * struct etch_stream - a file that is being read
 * @source: has the events
 * @cpu: gets the figures
 * @fd: the file
 * @eof: it has been read to its end
 * @said: one complaint was made: there may be millions
 * @buf: the bytes from @at on that are in memory: @have of @room
 * @room: see @buf
 * @have: see @buf
 * @at: of the current packet in @buf; or of the bytes behind it, if @packet_len is 0
 * @packet_len: bytes of the packet
 * @pos: the next record, from @at on
 * @end: where the records end
 * @left: records that the packet still should have
 * @time: of the last record, or the packet's begin
 * @before: the header of the packet before, if @began
 * @began: there was one
 * @loss: in front of this packet
 * @wide: room for a program's record with contexts; NULL: not needed so far
 */
struct etch_stream {
	struct etch_source *source;
	struct etch_cpu *cpu;
	int fd;
	bool eof, said;
	unsigned char *buf;
	size_t room, have, at, packet_len, pos, end;
	unsigned long long left;
	uint64_t time;
	struct etch_packet_header before;
	bool began;
	struct etch_loss loss;
	unsigned char *wide;
};

static void __attribute__((format(printf, 2, 3)))
stream_complain(struct etch_stream *s, const char *fmt, ...)
{
	char sentence[256];
	va_list args;

	if (s->said)
		return;
	s->said = true;
	va_start(args, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, args);
	va_end(args);
	etch_complaint("%s/%s%d: %s", s->source->path, etch_cpu_kind(s->cpu), s->cpu->cpu,
		       sentence);
}

struct etch_stream *etch_stream_open(struct etch_source *source, struct etch_cpu *cpu, int fd)
{
	struct etch_stream *s = calloc(1, sizeof(*s));
	unsigned char *buf = malloc(STREAM_PIECE);

	if (!s || !buf) {
		etch_complaint("There is no memory to read one more CPU");
		free(s);
		free(buf);
		close(fd);
		return NULL;
	}
	s->source = source;
	s->cpu = cpu;
	s->fd = fd;
	s->buf = buf;
	s->room = STREAM_PIECE;
	return s;
}

void etch_stream_close(struct etch_stream *s)
{
	if (!s)
		return;
	close(s->fd);
	free(s->wide);
	free(s->buf);
	free(s);
}

/* ---- Bytes ---- */

static bool stream_make_room(struct etch_stream *s, size_t want)
{
	unsigned char *more;

	if (s->at) {
		s->have -= s->at;
		memmove(s->buf, s->buf + s->at, s->have);
		s->at = 0;
	}
	if (want <= s->room)
		return true;
	more = realloc(s->buf, want);
	if (!more) {
		stream_complain(s, "There is no memory for a packet of %zu bytes", want);
		return false;
	}
	s->buf = more;
	s->room = want;
	return true;
}

/* Are there @want bytes from @at on? Reads on if need be. If not, and not @eof: not yet. */
static bool stream_have(struct etch_stream *s, size_t want)
{
	ssize_t n;

	if (s->have - s->at >= want)
		return true;
	if (s->eof)
		return false;
	if (!stream_make_room(s, want)) {
		s->eof = true;
		return false;
	}
	while (s->have < want) {
		n = read(s->fd, s->buf + s->have, s->room - s->have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return false;
		if (n < 0)
			stream_complain(s, "it cannot be read: %m");
		if (n <= 0) {
			s->eof = true;
			return false;
		}
		s->have += n;
	}
	return true;
}

/* That the CPU's records end at @since, and a loss comes next, or nothing more. */
static void stream_gap(struct etch_stream *s, bool gap, uint64_t since)
{
	s->source->gaps += gap - s->cpu->gap;
	s->cpu->gap = gap;
	s->cpu->gap_since = since;
}

/* Nothing that follows can be read: say how much it is. */
static void stream_cut(struct etch_stream *s)
{
	struct stat st;
	off_t here = lseek(s->fd, 0, SEEK_CUR);

	s->cpu->cut = s->have - s->at;
	if (!fstat(s->fd, &st) && here >= 0 && st.st_size > here)
		s->cpu->cut += st.st_size - here;
	if (s->cpu->cut)
		stream_gap(s, true, s->began ? s->before.timestamp_end : 0);
	s->eof = true;
	s->have = s->at = s->packet_len = 0;
}

/* ---- Packets ---- */

static bool header_ok(const struct etch_packet_header *h)
{
	return h->magic == ETCH_PACKET_MAGIC && h->packet_size % 8 == 0 &&
	       h->content_size % 8 == 0 && h->content_size >= 8 * sizeof(*h) &&
	       h->packet_size >= h->content_size && h->packet_size <= 8ULL * STREAM_PACKET;
}

/* The 32-bit counters wrap. */
static void loss_between(struct etch_loss *loss, const struct etch_packet_header *one,
			 const struct etch_packet_header *two)
{
	loss->total = two->events_discarded - one->events_discarded;
	loss->overwritten = two->overwritten - one->overwritten;
	loss->full = (__u32)(two->lost_full - one->lost_full);
	loss->throttled = (__u32)(two->lost_throttled - one->lost_throttled);
	loss->nested = (__u32)(two->lost_nested - one->lost_nested);
	loss->too_big = (__u32)(two->lost_too_big - one->lost_too_big);
	loss->packets = two->packet_seq_num - one->packet_seq_num - 1;
	loss->since = one->timestamp_end;
}

static void loss_add(struct etch_loss *sum, const struct etch_loss *loss)
{
	sum->total += loss->total;
	sum->overwritten += loss->overwritten;
	sum->full += loss->full;
	sum->throttled += loss->throttled;
	sum->nested += loss->nested;
	sum->too_big += loss->too_big;
	sum->packets += loss->packets;
}

/* Fills @loss from the packet before this one. */
static void stream_loss(struct etch_stream *s, const struct etch_packet_header *h)
{
	memset(&s->loss, 0, sizeof(s->loss));
	if (!s->began)
		return;
	if (h->events_discarded < s->before.events_discarded ||
	    h->packet_seq_num <= s->before.packet_seq_num ||
	    h->timestamp_begin < s->before.timestamp_end) {
		stream_complain(s, "packet %llu does not belong behind packet %llu",
				(unsigned long long)h->packet_seq_num,
				(unsigned long long)s->before.packet_seq_num);
		s->cpu->disorder++;
		return;
	}
	loss_between(&s->loss, &s->before, h);
	loss_add(&s->cpu->lost, &s->loss);
}

/* Events may have come since the source was opened. */
static void stream_describe(struct etch_stream *s, const struct etch_packet_header *h)
{
	struct etch_source *source = s->source;

	if (source->describe && (int32_t)(h->generation - source->generation) > 0)
		source->describe(source, h->generation);
}

/* 1: the next packet is in memory; 0: there is none. */
static int stream_packet(struct etch_stream *s)
{
	struct etch_packet_header h;
	bool whole;

	s->at += s->packet_len;
	s->packet_len = 0;
	if (!stream_have(s, sizeof(h))) {
		if (s->eof)
			stream_cut(s);
		return 0;
	}
	memcpy(&h, s->buf + s->at, sizeof(h));
	if (!header_ok(&h)) {
		stream_complain(s, "no packet follows packet %llu; the bytes there are not shown",
				s->began ? (unsigned long long)s->before.packet_seq_num : 0);
		stream_cut(s);
		return 0;
	}
	whole = stream_have(s, h.packet_size / 8);
	if (!whole && !s->eof)
		return 0;
	/* If nothing but padding is missing, nothing is. */
	if (!whole && s->have - s->at < h.content_size / 8) {
		stream_cut(s);
		return 0;
	}
	stream_describe(s, &h);
	stream_loss(s, &h);
	s->packet_len = whole ? h.packet_size / 8 : s->have - s->at;
	s->pos = sizeof(h);
	s->end = h.content_size / 8;
	s->left = h.records;
	s->time = h.timestamp_begin > s->time ? h.timestamp_begin : s->time;
	s->before = h;
	s->began = true;
	s->cpu->packets++;
	s->cpu->pid = h.pid;
	memcpy(s->cpu->comm, h.comm, sizeof(h.comm));
	s->cpu->bytes += s->packet_len;
	return 1;
}

/* ---- Records ---- */

/*
 * What the word counts from: contents follow each other behind the payload, with less than 8
 * bytes between them, and the others end at @end.
 */
static void find_origin(struct etch_field *field, size_t start, size_t end)
{
	size_t relative = start + field->offset + 4;

	if (start >= end && start - end < 8)
		field->guessed = false;
	else if (relative >= end && relative - end < 8)
		field->where = ETCH_REL_LOC, field->guessed = false;
}

/* Bytes of a record from @data on; 0 if it does not fit in @left. */
static size_t record_len(struct etch_event *event, const unsigned char *data, size_t left)
{
	size_t end = event->size;

	if (end > left)
		return 0;
	for (unsigned int i = 0; event->dynamic && i < event->nr_fields; i++) {
		struct etch_field *field = &event->fields[i];
		size_t start, len;
		uint32_t word;

		if (field->where == ETCH_FIXED)
			continue;
		memcpy(&word, data + field->offset, sizeof(word));
		start = word & 0xffff;
		len = word >> 16;
		if (!len)
			continue;
		if (field->guessed)
			find_origin(field, start, end);
		if (field->where == ETCH_REL_LOC)
			start += field->offset + 4;
		if (start < event->size || start + len > left)
			return 0;
		if (start + len > end)
			end = start + len;
	}
	return end;
}

/* The rest of the packet makes no sense. */
static void stream_skip(struct etch_stream *s, unsigned int id)
{
	if (!s->source->by_id[id])
		stream_complain(s, "packet %llu has a record of event %u, which nothing describes; the rest of it is not shown",
				(unsigned long long)s->before.packet_seq_num, id);
	else
		stream_complain(s, "packet %llu has a record of %s that does not fit; the rest of it is not shown",
				(unsigned long long)s->before.packet_seq_num,
				s->source->by_id[id]->full);
	s->cpu->unreadable += s->left ? s->left : 1;
	s->left = 0;
	s->pos = s->end;
}

/*
 * All that looks at records finds contexts where the source says they are. So a record without
 * them, of @len bytes at @head, is copied, with zeroes for them. NULL: no memory.
 */
static unsigned char *stream_widen(struct etch_stream *s, const unsigned char *head, size_t len)
{
	size_t more = s->source->more;

	if (!s->wide)
		s->wide = calloc(1, STREAM_RECORD + ETCH_CONTEXTS);
	if (!s->wide || len > STREAM_RECORD || more > ETCH_CONTEXTS)
		return NULL;
	memcpy(s->wide, head, ETCH_HEAD);
	memset(s->wide + ETCH_HEAD, 0, more);
	memcpy(s->wide + ETCH_HEAD + more, head + ETCH_HEAD, len - ETCH_HEAD);
	return s->wide;
}

/* The next record of the packet: 1, or 0 if there is none. */
static int stream_record(struct etch_stream *s, struct etch_record *rec)
{
	unsigned char *head = s->buf + s->at + s->pos;
	size_t left = s->end - s->pos, more = s->cpu->programs ? 0 : s->source->more, len = 0;
	uint64_t word, time;
	unsigned int id;

	if (left < ETCH_HEAD + more) {
		s->cpu->unreadable += s->left;
		return 0;
	}
	memcpy(&word, head, sizeof(word));
	id = word >> 48 & (ETCH_IDS - 1);
	rec->event = s->source->by_id[id];
	if (rec->event)
		len = record_len(s->source->by_id[id], head + more, left - more);
	if (!len) {
		stream_skip(s, id);
		return 0;
	}
	time = (s->time & ~STREAM_TIME) | (word & STREAM_TIME);
	if (time < s->time)
		time += STREAM_TIME + 1;
	if (time < s->time) {
		stream_complain(s, "packet %llu has a time that no clock reaches; the rest of it is not shown",
				(unsigned long long)s->before.packet_seq_num);
		stream_skip(s, id);
		return 0;
	}
	s->time = time;
	rec->time = time;
	rec->context = word >> 62;
	rec->pid = (int)etch_load(head + 8, 4, true);
	rec->head = head;
	if (more != s->source->more)
		rec->head = stream_widen(s, head, len);
	if (!rec->head) {
		stream_skip(s, id);
		return 0;
	}
	rec->data = rec->head + s->source->more;
	rec->len = len;
	s->pos += (more + len + 3) & ~(size_t)3;
	if (s->pos > s->end)
		s->pos = s->end;
	s->left -= s->left > 0;
	return 1;
}

int etch_stream_next(struct etch_stream *s, struct etch_record *rec)
{
	rec->cpu = s->cpu->cpu;
	rec->where = s->cpu;
	rec->loss = NULL;
	stream_gap(s, false, 0);
	for (;;) {
		if (s->pos < s->end && stream_record(s, rec)) {
			if (!s->cpu->records++)
				s->cpu->first = rec->time;
			s->cpu->last = rec->time;
			return 1;
		}
		s->pos = s->end = 0;
		if (!stream_packet(s))
			return 0;
		if (s->loss.total || s->loss.packets) {
			stream_gap(s, true, s->loss.since);
			rec->loss = &s->loss;
			rec->time = s->time;
			return 1;
		}
	}
}

bool etch_stream_ended(const struct etch_stream *s)
{
	return s->eof && s->pos >= s->end && s->have == s->at + s->packet_len;
}
