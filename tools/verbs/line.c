// SPDX-License-Identifier: GPL-2.0
/*
 * A record as a line: see line.h.
 */
#include "verbs/line.h"

#include <stdio.h>
#include <stdlib.h>

bool liner_open(struct liner *liner, struct etch_source *source)
{
	memset(liner, 0, sizeof(*liner));
	liner->source = source;
	liner->shift = line_shift(source);
	liner->flags = etch_context(source, "flags");
	liner->preempt = etch_context(source, "preempt_count");
	liner->migrate = etch_context(source, "migrate_disable");
	liner->printer = printer_open(source);
	liner->names = names_open(source->path);
	if (liner->printer && liner->names)
		return true;
	liner_close(liner);
	return false;
}

void liner_close(struct liner *liner)
{
	printer_close(liner->printer);
	names_close(liner->names);
}

/* ---- Times ---- */

int64_t line_shift(const struct etch_source *source)
{
	long long seconds;
	unsigned long ns;
	char *command, *at;
	int found = 0;

	if (strcmp(source->clock.name, "counter"))
		return 0;
	command = etch_file_read(source->path, ".etch/command", NULL);
	at = command ? strstr(command, "\nboot: ") : NULL;
	if (at)
		found = sscanf(at, "\nboot: %lld.%9lu", &seconds, &ns);
	free(command);
	return found == 2 ? source->clock.offset_ns - (seconds * 1000000000LL + (long long)ns) : 0;
}

void line_time(struct out *out, int64_t ns, bool fine)
{
	uint64_t time = ns < 0 ? 0 : ns;

	out_number(out, time / 1000000000, 5, ' ');
	out_char(out, '.');
	if (fine)
		out_number(out, time % 1000000000, 9, '0');
	else
		out_number(out, time % 1000000000 / 1000, 6, '0');
}

/* ---- The front ---- */

static char irqs_column(unsigned int flags)
{
	return flags & 1 ? flags & 0x80 ? 'D' : 'd' : flags & 0x80 ? 'b' : '.';
}

/* The bits are those that include/linux/trace_events.h calls TRACE_FLAG_... */
static char resched_column(unsigned int flags)
{
	return flags & 4 ? flags & 0x20 ? 'N' : 'n' : flags & 0x20 ? 'p' : '.';
}

static char level_column(unsigned int flags)
{
	if (flags & 0x40)
		return flags & 8 ? 'Z' : 'z';
	if (flags & 8)
		return flags & 0x10 ? 'H' : 'h';
	return flags & 0x10 ? 's' : '.';
}

static char count_column(uint64_t count)
{
	return count ? "0123456789abcdef"[count < 15 ? count : 15] : '.';
}

static void put_columns(const struct liner *liner, struct out *out, const struct etch_record *rec)
{
	char columns[5] = { '.', '.', ".shz"[rec->context], '.', '.' };
	unsigned int flags;

	if (liner->flags) {
		flags = etch_context_number(rec, liner->flags);
		columns[0] = irqs_column(flags);
		columns[1] = resched_column(flags);
		columns[2] = level_column(flags);
		columns[3] = count_column(etch_context_number(rec, liner->preempt));
		columns[4] = count_column(etch_context_number(rec, liner->migrate));
	}
	out_bytes(out, columns, sizeof(columns));
}

/* @pid in base 10; returns its characters. */
static int put_decimal(char text[16], int pid)
{
	char digits[16], *at = digits + sizeof(digits);
	unsigned int left = pid < 0 ? -(unsigned int)pid : (unsigned int)pid;

	do {
		*--at = '0' + left % 10;
		left /= 10;
	} while (left);
	if (pid < 0)
		*--at = '-';
	memcpy(text, at, digits + sizeof(digits) - at);
	return digits + sizeof(digits) - at;
}

/* "            bash-1234    [001] ..s..   12.345678: " */
static void put_front(const struct liner *liner, struct out *out, const struct etch_record *rec)
{
	const char *comm = names_shown(liner->names, rec->pid);
	char pid[16];
	int digits;

	for (size_t len = strlen(comm); len < 16; len++)
		out_char(out, ' ');
	out_text(out, comm);
	out_char(out, '-');
	digits = put_decimal(pid, rec->pid);
	out_bytes(out, pid, digits);
	for (; digits < 7; digits++)
		out_char(out, ' ');
	out_text(out, " [");
	out_number(out, rec->cpu, 3, '0');
	out_text(out, "] ");
	put_columns(liner, out, rec);
	out_char(out, ' ');
	if (liner->source->clock.freq == 1000000000 && !strcmp(liner->source->clock.name, "seq"))
		out_number(out, rec->time, 12, ' ');
	else
		line_time(out, rec->ns + liner->shift, liner->fine);
	out_text(out, ": ");
}

/* ---- Behind the text ---- */

static void put_stack(const struct liner *liner, struct out *out, const unsigned char *at,
		      size_t bytes, bool user)
{
	for (size_t i = 0; i + 8 <= bytes; i += 8) {
		uint64_t address = etch_load(at + i, 8, false);

		if (!address)
			return;
		if (!i)
			out_text(out, user ? "<user stack>\n" : "<kernel stack>\n");
		out_text(out, " => ");
		if (user)
			out_print(out, "<%016llx>", (unsigned long long)address);
		else
			print_symbol(liner->printer, out, address, false);
		out_char(out, '\n');
	}
}

/* " {prio=120 cgroup=57}", the end of the line, and stacks below it. */
static void put_contexts(const struct liner *liner, struct out *out, const struct etch_record *rec)
{
	const struct etch_source *source = liner->source;
	const char *before = " {";

	if (!etch_has_contexts(rec)) {
		out_char(out, '\n');
		return;
	}
	for (unsigned int i = 0; i < source->nr_contexts; i++) {
		const struct etch_field *context = &source->contexts[i];

		if (context->kind != ETCH_NUMBER || context == liner->flags ||
		    context == liner->preempt || context == liner->migrate)
			continue;
		out_print(out, "%s%s=", before, context->name);
		out_signed(out, etch_context_number(rec, context));
		before = " ";
	}
	out_text(out, before[1] ? "\n" : "}\n");
	for (unsigned int i = 0; i < source->nr_contexts; i++)
		if (source->contexts[i].kind == ETCH_ARRAY)
			put_stack(liner, out, rec->head + source->contexts[i].offset,
				  source->contexts[i].size,
				  !strcmp(source->contexts[i].name, "ustack"));
}

/* ---- Lines ---- */

void line_header(struct liner *liner, struct out *out)
{
	out_colour(out, OUT_GREY);
	out_text(out, "# tracer: etch\n#\n"
		      "#                                 context: . task, s softirq,\n"
		      "#                                 h hardirq, z NMI\n"
		      "#                                |\n"
		      "#           TASK-PID     CPU#    |      TIMESTAMP  EVENT: FIELDS\n"
		      "#              | |         |     |         |         |\n");
	out_colour(out, OUT_PLAIN);
}

static void put_argument(struct out *out, const struct etch_record *rec,
			 const struct etch_field *field)
{
	const char *text;
	size_t len;

	out_text(out, field->name);
	out_text(out, ": ");
	if (field->kind != ETCH_TEXT) {
		out_hex(out, etch_number(rec, field), 0, '0');
		return;
	}
	text = etch_text(rec, field, &len);
	out_char(out, '"');
	out_bytes(out, text, len);
	out_char(out, '"');
}

/*
 * "write(fd: 1, buf: 7ffd52a0, count: 8)". Etch's first field is the call's number; LTTng has
 * none, but may have a text.
 */
static void put_call(struct out *out, const struct etch_record *rec)
{
	const struct etch_event *event = rec->event;
	unsigned int first = event->nr_fields && !strcmp(event->fields[0].name, "__syscall_nr");

	out_print(out, "%s(", event->name + strlen("sys_enter_"));
	for (unsigned int i = first; i < event->nr_fields; i++) {
		if (i > first)
			out_text(out, ", ");
		put_argument(out, rec, &event->fields[i]);
	}
	out_char(out, ')');
}

void line_call(struct liner *liner, struct out *out, const struct etch_record *rec)
{
	const unsigned char *at;
	size_t len;

	(void)liner;
	if (strcmp(rec->event->system, "raw_syscalls")) {
		put_call(out, rec);
		return;
	}
	out_print(out, "call %lld(", (long long)etch_number(rec, etch_field(rec->event, "id")));
	at = etch_bytes(rec, etch_field(rec->event, "args"), &len);
	for (size_t i = 0; i + 8 <= len && i < 48; i += 8) {
		out_text(out, i ? ", " : "");
		out_hex(out, etch_load(at + i, 8, false), 0, '0');
	}
	out_char(out, ')');
}

static void put_marker_raw(struct out *out, const struct etch_record *rec)
{
	const unsigned char *at;
	size_t len;

	out_print(out, "# %llx buf:",
		  (unsigned long long)etch_number(rec, etch_field(rec->event, "id")));
	at = etch_bytes(rec, etch_field(rec->event, "buf"), &len);
	for (size_t i = 0; i < len; i++) {
		out_char(out, ' ');
		out_hex(out, at[i], 2, '0');
	}
}

/* Events that the kernel prints by code of its own, without their names. */
static bool put_special(struct liner *liner, struct out *out, const struct etch_record *rec)
{
	const struct etch_field *field;
	const unsigned char *at;
	size_t len;

	if (etch_is(rec->event, "etch:marker")) {
		field = etch_field(rec->event, "buf");
		out_text(out, "tracing_mark_write: ");
		at = (const unsigned char *)etch_text(rec, field, &len);
		out_bytes(out, (const char *)at, len && at[len - 1] == '\n' ? len - 1 : len);
		return true;
	}
	if (etch_is(rec->event, "etch:marker_raw")) {
		put_marker_raw(out, rec);
		return true;
	}
	if (!strcmp(rec->event->system, "syscalls")) {
		if (!strncmp(rec->event->name, "sys_enter_", 10)) {
			out_text(out, "sys_");
			put_call(out, rec);
			return true;
		}
		field = etch_field(rec->event, "ret");
		if (!field || strncmp(rec->event->name, "sys_exit_", 9))
			return false;
		out_print(out, "sys_%s -> 0x%llx", rec->event->name + 9,
			  (unsigned long long)etch_number(rec, field));
		return true;
	}
	if (!etch_is(rec->event, "etch:kernel_stack"))
		return false;
	at = etch_bytes(rec, etch_field(rec->event, "caller"), &len);
	out_text(out, "<stack trace>");
	for (size_t i = 0; i + 8 <= len; i += 8) {
		out_text(out, "\n => ");
		print_symbol(liner->printer, out, etch_load(at + i, 8, false), false);
	}
	return true;
}

static void put_behind(const struct liner *liner, struct out *out)
{
	if (!liner->behind)
		return;
	out_colour(out, liner->behind_red ? OUT_RED : OUT_GREY);
	out_text(out, liner->behind);
	out_colour(out, OUT_PLAIN);
}

void line_text(struct liner *liner, struct out *out, const struct etch_record *rec,
	       const char *text)
{
	put_front(liner, out, rec);
	out_text(out, text);
	put_behind(liner, out);
	put_contexts(liner, out, rec);
}

void line_record(struct liner *liner, struct out *out, const struct etch_record *rec)
{
	put_front(liner, out, rec);
	if (liner->by_fields || !put_special(liner, out, rec)) {
		out_colour(out, OUT_BLUE);
		out_text(out, rec->event->name);
		out_colour(out, OUT_PLAIN);
		out_text(out, ": ");
		if (liner->by_fields)
			print_fields(out, rec);
		else
			print_record(liner->printer, out, rec);
	}
	put_behind(liner, out);
	put_contexts(liner, out, rec);
}

void line_causes(struct out *out, const struct etch_loss *loss)
{
	const struct {
		unsigned long long nr;
		const char *why;
	} causes[] = {
		{ loss->overwritten, "overwritten" },
		{ loss->full, "because the buffer was full" },
		{ loss->throttled, "because the budget was spent" },
		{ loss->nested, "because of where an interrupt came" },
		{ loss->too_big, "because they fit in no sub-buffer" },
		{ loss->unknown, "or more, and the trace does not tell why" },
	};
	const char *before = "";

	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++) {
		if (!causes[i].nr)
			continue;
		out_print(out, "%s%llu %s", before, causes[i].nr, causes[i].why);
		before = ", ";
	}
}

void line_loss(struct liner *liner, struct out *out, const struct etch_record *rec)
{
	if (!rec->loss->total)
		return;
	out_colour(out, OUT_RED);
	out_print(out, "CPU:%d [LOST %llu EVENTS] ", rec->cpu, rec->loss->total);
	line_causes(out, rec->loss);
	out_colour(out, OUT_PLAIN);
	out_char(out, '\n');
}
