// SPDX-License-Identifier: GPL-2.0
/*
 * A record as ftrace has it, and the text that describes it.
 *
 * Etch's records have ftrace's layout but for the head: 12 bytes with another meaning,
 * and behind them the contexts that the instance adds. Here the head becomes
 *
 *	type:2 flags:1 preempt_count:1 zero:4 pid:4
 *
 * the contexts stay where they are, and become common fields of the format; so fields, and
 * the offsets in their __data_loc words, move by as many bytes as the contexts have.
 */
#include "export/export.h"

#include <ctype.h>
#include <stdio.h>

enum { FTRACE_HARDIRQ = 0x08, FTRACE_SOFTIRQ = 0x10, FTRACE_NMI = 0x40 };

static struct ftrace_head head_of(const struct etch_source *source, const struct etch_record *rec)
{
	static const uint8_t contexts[] = {
		[ETCH_TASK] = 0, [ETCH_SOFTIRQ] = FTRACE_SOFTIRQ,
		[ETCH_HARDIRQ] = FTRACE_HARDIRQ, [ETCH_NMI] = FTRACE_NMI,
	};
	struct ftrace_head head = { .type = rec->event->id, .flags = contexts[rec->context] };
	const struct etch_field *first = source->contexts;
	unsigned int preempt, migrate;

	/* The instance adds the context "flags": three fields, and they are the first ones. */
	if (source->nr_contexts < 3 || strcmp(first[0].name, "flags"))
		return head;
	head.flags |= etch_context_number(rec, first);
	preempt = etch_context_number(rec, first + 1);
	migrate = etch_context_number(rec, first + 2);
	head.preempt = (preempt < 15 ? preempt : 15) | (migrate < 15 ? migrate : 15) << 4;
	return head;
}

/* Contents behind the payload have moved by the bytes of contexts. */
static void move_words(unsigned char *data, const struct etch_record *rec, unsigned int more)
{
	for (unsigned int i = 0; i < rec->event->nr_fields; i++) {
		const struct etch_field *field = &rec->event->fields[i];
		uint32_t word;

		if (field->where != ETCH_LOC)
			continue;
		memcpy(&word, data + field->offset, sizeof(word));
		if (!(word >> 16))
			continue;
		word = (word & 0xffff0000) | ((word + more) & 0xffff);
		memcpy(data + field->offset, &word, sizeof(word));
	}
}

size_t ftrace_len(const struct etch_source *source, const struct etch_record *rec)
{
	return source->more + rec->len;
}

void ftrace_record(struct bytes *b, const struct etch_source *source,
		   const struct etch_record *rec)
{
	struct ftrace_head head = head_of(source, rec);
	unsigned char *to = bytes_more(b, ftrace_len(source, rec));

	if (!to)
		return;
	memcpy(to, rec->head, ftrace_len(source, rec));
	memset(to, 0, 8);
	memcpy(to, &head, sizeof(head));
	if (source->more && rec->event->dynamic)
		move_words(to + source->more, rec, source->more);
}

/* ---- Formats ---- */

static const char *c_type(unsigned int size, bool is_signed)
{
	switch (size) {
	case 1:
		return is_signed ? "s8" : "u8";
	case 2:
		return is_signed ? "s16" : "u16";
	case 4:
		return is_signed ? "s32" : "u32";
	}
	return is_signed ? "s64" : "u64";
}

/* A field that only metadata describes, as format files have fields. */
static void format_field(struct bytes *b, const struct etch_field *field, const char *prefix,
			 unsigned int offset)
{
	bool dynamic = field->where != ETCH_FIXED;
	const char *type = field->kind == ETCH_TEXT ? "char" : field->kind == ETCH_BYTES ? "u8" :
			   c_type(field->elem, field->is_signed);

	bytes_print(b, "\tfield:%s%s%s %s%s", dynamic ? "__data_loc " : "", type,
		    dynamic ? "[]" : "", prefix, field->name);
	if (!dynamic && field->kind != ETCH_NUMBER)
		bytes_print(b, "[%u]", field->kind == ETCH_ARRAY ? field->size / field->elem :
			    field->size);
	bytes_print(b, ";\toffset:%u;\tsize:%u;\tsigned:%d;\n", offset, field->size,
		    field->is_signed);
}

static void format_common(struct bytes *b, const struct etch_source *source)
{
	bytes_text(b, "format:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:8;\tsize:4;\tsigned:1;\n");
	for (unsigned int i = 0; i < source->nr_contexts; i++)
		if (strcmp(source->contexts[i].name, "flags") &&
		    strcmp(source->contexts[i].name, "preempt_count"))
			format_field(b, &source->contexts[i], "common_",
				     source->contexts[i].offset);
	bytes_text(b, "\n");
}

static void format_array(struct bytes *b, const struct etch_field *field)
{
	unsigned int elem = field->elem ? field->elem : 1;

	bytes_print(b, ", __print_array(__get_dynamic_array(%s), ", field->name);
	bytes_print(b, "__get_dynamic_array_len(%s) / %u, %u)", field->name, elem, elem);
}

/* "name=%d", for events without a format file. */
static void format_print(struct bytes *b, const struct etch_event *event)
{
	bool marker = !strcmp(event->full, "etch:marker");

	bytes_text(b, "\nprint fmt: \"");
	for (unsigned int i = 0; i < event->nr_fields; i++) {
		const struct etch_field *field = &event->fields[i];

		if (!marker)
			bytes_print(b, "%s%s=", i ? " " : "", field->name);
		bytes_text(b, field->kind == ETCH_NUMBER ? field->hex ? "0x%llx" : "%lld" : "%s");
	}
	bytes_text(b, "\"");
	for (unsigned int i = 0; i < event->nr_fields; i++) {
		const struct etch_field *field = &event->fields[i];
		bool dynamic = field->where != ETCH_FIXED;

		if (field->kind == ETCH_NUMBER)
			bytes_print(b, ", REC->%s", field->name);
		else if (field->kind == ETCH_TEXT)
			bytes_print(b, dynamic ? ", __get_str(%s)" : ", REC->%s", field->name);
		else if (dynamic)
			format_array(b, field);
		else
			bytes_print(b, ", __print_hex(REC->%s, %u)", field->name, field->size);
	}
	bytes_text(b, "\n");
}

/* The number behind "\toffset:" of a line, and where it begins and ends. */
static bool offset_in(const char *line, const char *end, unsigned int *offset,
		      const char **from, const char **to)
{
	const char *at = memmem(line, end - line, "\toffset:", 8);

	if (!at)
		return false;
	*from = at += 8;
	for (*offset = 0; at < end && isdigit((unsigned char)*at); at++)
		*offset = *offset * 10 + (*at - '0');
	*to = at;
	return at > *from;
}

/* A line of the format file; common fields, the head and contexts, are there already. */
static void format_line(struct bytes *b, const char *line, const char *end, unsigned int less,
			unsigned int more)
{
	const char *from, *to;
	unsigned int offset;

	if (strncmp(line, "\tfield:", 7) || !offset_in(line, end, &offset, &from, &to)) {
		bytes_put(b, line, end - line);
	} else if (offset >= ETCH_HEAD + less) {
		bytes_put(b, line, from - line);
		bytes_print(b, "%u", offset - less + more);
		bytes_put(b, to, end - to);
	} else {
		return;
	}
	bytes_text(b, "\n");
}

void ftrace_format(struct bytes *b, const struct etch_source *source,
		   const struct etch_event *event)
{
	const char *at = event->format, *last = at + event->format_len, *end;

	bytes_print(b, "name: %s\nID: %u\n", event->name, event->id);
	format_common(b, source);
	if (!at) {
		for (unsigned int i = 0; i < event->nr_fields; i++)
			format_field(b, &event->fields[i], "",
				     event->fields[i].offset + source->more);
		format_print(b, event);
		return;
	}
	for (; at < last; at = end + 1) {
		end = memchr(at, '\n', last - at);
		if (!end)
			end = last;
		/* Blank lines part common fields from others, and these from the print format. */
		if (!strncmp(at, "print fmt:", 10))
			bytes_text(b, "\n");
		if (*at == '\t' || !strncmp(at, "print fmt:", 10))
			format_line(b, at, end, event->format_more, source->more);
	}
}

/* ---- The head of both files ---- */

static void put_pages(struct bytes *b, uint32_t page)
{
	struct bytes text = {};

	bytes_print(&text, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		    "\tfield: char data;\toffset:16;\tsize:%u;\tsigned:0;\n", page - 16);
	bytes_textz(b, "header_page");
	bytes_u64(b, text.len);
	bytes_put(b, text.at, text.len);
	text.len = 0;
	bytes_text(&text, "# compressed entry header\n\ttype_len    :    5 bits\n"
		   "\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n"
		   "\tpadding     : type == 29\n\ttime_extend : type == 30\n"
		   "\ttime_stamp : type == 31\n\tdata max type_len  == 28\n");
	bytes_textz(b, "header_event");
	bytes_u64(b, text.len);
	bytes_put(b, text.at, text.len);
	bytes_free(&text);
}

/* Is it the first event of its system, of those that are used? */
static bool first_of_system(const struct etch_source *source, unsigned int index,
			    bool (*used)(void *own, const struct etch_event *event), void *own)
{
	const char *system = source->events[index]->system;

	for (unsigned int i = 0; i < index; i++)
		if (!strcmp(source->events[i]->system, system) && used(own, source->events[i]))
			return false;
	return used(own, source->events[index]);
}

static void put_system(struct bytes *b, const struct etch_source *source, const char *system,
		       bool (*used)(void *own, const struct etch_event *event), void *own)
{
	struct bytes text = {}, all = {};
	uint32_t nr = 0;

	for (unsigned int i = 0; i < source->nr_events; i++) {
		if (strcmp(source->events[i]->system, system) || !used(own, source->events[i]))
			continue;
		text.len = 0;
		ftrace_format(&text, source, source->events[i]);
		bytes_u64(&all, text.len);
		bytes_put(&all, text.at, text.len);
		nr++;
	}
	bytes_textz(b, system);
	bytes_u32(b, nr);
	bytes_put(b, all.at, all.len);
	b->failed |= text.failed || all.failed;
	bytes_free(&text);
	bytes_free(&all);
}

void ftrace_tracing(struct bytes *b, const struct etch_source *source, const char *version,
		    uint32_t page, bool (*used)(void *own, const struct etch_event *event),
		    void *own)
{
	uint16_t one = 1;
	uint32_t systems = 0;
	size_t count;

	bytes_put(b, "\x17\x08\x44tracing", 10);
	bytes_textz(b, version);
	bytes_u8(b, !*(uint8_t *)&one);		/* big endian */
	bytes_u8(b, sizeof(long));
	bytes_u32(b, page);
	put_pages(b, page);
	bytes_u32(b, 0);			/* ftrace's own events */
	count = b->len;
	bytes_u32(b, 0);
	for (unsigned int i = 0; i < source->nr_events; i++) {
		if (!first_of_system(source, i, used, own))
			continue;
		put_system(b, source, source->events[i]->system, used, own);
		systems++;
	}
	if (!b->failed)
		memcpy(b->at + count, &systems, sizeof(systems));
}
