// SPDX-License-Identifier: GPL-2.0

#include <limits.h>

#include "records.h"

#define RECORDS_IDS	(1 << 14)
#define RECORDS_DYNAMIC	24

/* As much of an event as one needs to find the end of a record. */
struct record_kind {
	unsigned short size;		/* of the fixed part, head included; 0: no such event */
	unsigned short nr_dynamic;
	struct {
		unsigned short at;
		bool relative;
	} dynamic[RECORDS_DYNAMIC];
};

static struct record_kind *record_kinds;

static void record_kind_field(struct record_kind *kind, const char *line)
{
	const char *offset = strstr(line, "offset:"), *size = strstr(line, "size:");
	unsigned int at, end;

	if (!offset || !size)
		return;
	at = strtoul(offset + strlen("offset:"), NULL, 10);
	end = at + strtoul(size + strlen("size:"), NULL, 10);
	if (end > kind->size)
		kind->size = end;
	if (strncmp(line, "__data_loc ", 11) && strncmp(line, "__rel_loc ", 10))
		return;
	if (kind->nr_dynamic == RECORDS_DYNAMIC) {
		errno = E2BIG;
		give_up("%s", line);
	}
	kind->dynamic[kind->nr_dynamic].at = at;
	kind->dynamic[kind->nr_dynamic++].relative = line[2] == 'r';
}

/* One format, up to @end. */
static void record_kind_read(char *text, char *end)
{
	long long id = number_in(text, "ID");
	struct record_kind kind = {};

	if (id <= 0 || id >= RECORDS_IDS)
		give_up("%.40s", text);
	while ((text = strstr(text, "\tfield:")) && text < end) {
		text += strlen("\tfield:");
		record_kind_field(&kind, text);
	}
	record_kinds[id] = kind;
}

/* trace_marker's event has no format file: @id is the id of a mark. */
void record_kind_mark(unsigned int id)
{
	record_kinds[id] = (struct record_kind) {
		.size = MARK_TEXT, .nr_dynamic = 1, .dynamic = { { .at = MARK_WORD } },
	};
}

/* Reads the formats of the present events. Returns their number. */
unsigned int record_kinds_init(void)
{
	char *text = read_path(ETCH "/events/format", NULL), *at = text, *next;
	unsigned int nr = 0;

	if (!text)
		give_up("events/format");
	record_kinds = must_alloc(NULL, RECORDS_IDS * sizeof(*record_kinds));
	memset(record_kinds, 0, RECORDS_IDS * sizeof(*record_kinds));
	for (; *at; at = next, nr++) {
		next = strstr(at, "\n\nname: ");
		next = next ? next + 2 : at + strlen(at);
		record_kind_read(at, next);
	}
	free(text);
	return nr;
}

unsigned int record_id(const void *record)
{
	unsigned long long word;

	memcpy(&word, record, sizeof(word));
	return (word >> 48) & (RECORDS_IDS - 1);
}

/* The length of a record, at most @left; 0 if the bytes are no record. */
static unsigned int record_len(const void *record, unsigned int left)
{
	unsigned int end, at, len, word;
	const struct record_kind *kind;

	if (left < 12)
		return 0;
	kind = &record_kinds[record_id(record)];
	end = kind->size;
	if (!end || end > left)
		return 0;
	for (unsigned int i = 0; i < kind->nr_dynamic; i++) {
		memcpy(&word, record + kind->dynamic[i].at, sizeof(word));
		at = word & 0xffff;
		len = word >> 16;
		if (kind->dynamic[i].relative)
			at += kind->dynamic[i].at + sizeof(word);
		if (!len)
			continue;
		if (at < kind->size || at + len > left)
			return 0;
		if (at + len > end)
			end = at + len;
	}
	return end;
}

void records_wrong(struct records *r, const char *fmt, ...)
{
	va_list args;

	if (r->wrong++)
		return;
	va_start(args, fmt);
	vsnprintf(r->why, sizeof(r->why), fmt, args);
	va_end(args);
}

/* Walks a packet: its header has the number of records, and where the last one ends. */
static void records_walk(struct records *r, const void *packet,
			 const struct etch_packet_header *head)
{
	unsigned int at = PACKET_HEADER, end = head->content_size / 8, len, nr = 0, last = at;
	unsigned long long time = head->timestamp_begin, word;

	for (; at < end; at = (last + 3) & ~3U) {
		len = record_len(packet + at, end - at);
		if (!len) {
			records_wrong(r, "record %u at %u of %u, id %u", nr, at, end,
				      record_id(packet + at));
			return;
		}
		memcpy(&word, packet + at, sizeof(word));
		time += (word - time) & ((1ULL << 48) - 1);
		last = at + len;
		nr++;
	}
	if (nr != head->records || last != end)
		records_wrong(r, "%u records of %u, to %u of %u", nr, head->records, last, end);
	/* A step back in time would come out as one of 2^48 forward. */
	else if (time > head->timestamp_end)
		records_wrong(r, "record %u at %llu, behind %llu", nr, time,
			      (unsigned long long)head->timestamp_end);
}

static void records_packet(struct records *r, const void *packet)
{
	struct etch_packet_header head;

	memcpy(&head, packet, sizeof(head));
	/* Another clock: another trace. */
	if (r->seen.packets && memcmp(head.uuid, r->seen.head.uuid, sizeof(head.uuid)))
		memset(&r->seen, 0, sizeof(r->seen));
	if (!packets_head_ok(&r->seen, &head))
		records_wrong(r, "packet %llu of CPU %u behind %llu, from %llu behind %llu",
			      (unsigned long long)head.packet_seq_num, head.cpu_id,
			      (unsigned long long)r->seen.head.packet_seq_num,
			      (unsigned long long)head.timestamp_begin,
			      (unsigned long long)r->seen.head.timestamp_end);
	if (r->seen.packets)
		r->discarded += head.events_discarded - r->seen.head.events_discarded;
	r->seen.packets++;
	r->seen.head = head;
	r->packets++;
	r->records += head.records;
	records_walk(r, packet, &head);
}

/* Look at whole packets. Returns how many bytes of @data were whole packets. */
size_t records_add(struct records *r, const void *data, size_t len)
{
	struct etch_packet_header head;
	size_t at = 0;

	while (len - at >= PACKET_HEADER) {
		memcpy(&head, data + at, sizeof(head));
		if (head.magic != ETCH_PACKET_MAGIC || head.packet_size / 8 < PACKET_HEADER ||
		    head.content_size > head.packet_size) {
			records_wrong(r, "no packet");
			return len;
		}
		if (head.packet_size / 8 > len - at)
			break;
		records_packet(r, data + at);
		at += head.packet_size / 8;
	}
	return at;
}
