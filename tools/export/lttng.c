// SPDX-License-Identifier: GPL-2.0
/*
 * A trace with the names that LTTng gives to the same things: for Trace Compass, whose views of
 * the kernel ask for these.
 *
 * The packets stay as they are, and are linked, not copied, where both folders are on one file
 * system. Only the metadata is another: it says that the tracer is lttng-modules, gives
 * events and fields other names, and has numbers in place of enumerations, which the views do
 * not expect. It is rewritten line by line.
 */
#include "export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Events of these systems have the name alone, or one behind a prefix. */
static const struct {
	const char *system, *prefix;
} systems[] = {
	{ "sched", "" }, { "irq", "" }, { "task", "" }, { "signal", "" }, { "power", "" },
	{ "net", "" }, { "skb", "" }, { "napi", "" }, { "sock", "" }, { "workqueue", "" },
	{ "block", "" }, { "jbd2", "" }, { "ext4", "" }, { "timer", "timer_" },
	{ "kmem", "kmem_" }, { "writeback", "writeback_" }, { "rcu", "rcu_" },
};

/* Fields with another name, by the start of their event's. */
static const struct {
	const char *event, *from, *to;
} fields[] = {
	{ "sched_switch", "_prev_pid", "_prev_tid" },
	{ "sched_switch", "_next_pid", "_next_tid" },
	{ "sched_process_fork", "_parent_pid", "_parent_tid" },
	{ "sched_process_fork", "_child_pid", "_child_tid" },
	{ "sched_process_exec", "_pid", "_tid" },
	{ "sched_process_exec", "_old_pid", "_old_tid" },
	{ "sched_waking", "_pid", "_tid" },
	{ "sched_wakeup", "_pid", "_tid" },
	{ "sched_migrate_task", "_pid", "_tid" },
	{ "sched_process_exit", "_pid", "_tid" },
	{ "sched_process_free", "_pid", "_tid" },
	{ "sched_process_wait", "_pid", "_tid" },
	{ "sched_stat_runtime", "_pid", "_tid" },
	{ "sched_pi_setprio", "_pid", "_tid" },
};

/**
 * struct rewrite - metadata that is being rewritten
 * @to: the new text
 * @event: the event that we are in, by its new name; "" outside of events
 * @number: the type of the enumeration that we are in; @number_len characters, or 0
 * @number_len: see @number
 */
struct rewrite {
	struct bytes to;
	char event[256];
	const char *number;
	size_t number_len;
};

/* A line, without what is blank at its ends. */
struct line {
	const char *whole, *at;
	size_t whole_len, len;
};

static bool is(const struct line *line, const char *word)
{
	return line->len >= strlen(word) && !memcmp(line->at, word, strlen(word));
}

static void put_line(struct rewrite *r, const struct line *line)
{
	bytes_put(&r->to, line->whole, line->whole_len);
	bytes_text(&r->to, "\n");
}

static const char *prefix_of(const char *system, size_t len)
{
	for (size_t i = 0; i < sizeof(systems) / sizeof(*systems); i++)
		if (strlen(systems[i].system) == len && !memcmp(systems[i].system, system, len))
			return systems[i].prefix;
	return NULL;
}

/* "SYSTEM:NAME", of @len characters, by LTTng's name, in r->event. */
static void name_event(struct rewrite *r, const char *full, size_t len)
{
	const char *colon = memchr(full, ':', len), *prefix;
	size_t system = colon ? (size_t)(colon - full) : 0;
	const char *name = colon ? colon + 1 : full;
	int rest = full + len - name;

	prefix = colon ? prefix_of(full, system) : NULL;
	if (system == 8 && !memcmp(full, "syscalls", 8) && rest > 10 &&
	    !memcmp(name, "sys_enter_", 10))
		snprintf(r->event, sizeof(r->event), "syscall_entry_%.*s", rest - 10, name + 10);
	else if (system == 8 && !memcmp(full, "syscalls", 8) && rest > 9 &&
		 !memcmp(name, "sys_exit_", 9))
		snprintf(r->event, sizeof(r->event), "syscall_exit_%.*s", rest - 9, name + 9);
	else if (prefix && rest > 8 && !memcmp(name, "softirq_", 8))
		snprintf(r->event, sizeof(r->event), "irq_%.*s", rest, name);
	else if (prefix)
		snprintf(r->event, sizeof(r->event), "%s%.*s", prefix, rest, name);
	else
		snprintf(r->event, sizeof(r->event), "%.*s", (int)len, full);
}

/* name = "SYSTEM:NAME"; */
static void event_line(struct rewrite *r, const struct line *line)
{
	const char *from = memchr(line->at, '"', line->len), *to;

	to = from ? memchr(from + 1, '"', line->at + line->len - from - 1) : NULL;
	if (!to) {
		put_line(r, line);
		return;
	}
	name_event(r, from + 1, to - from - 1);
	bytes_print(&r->to, "\tname = \"%s\";\n", r->event);
}

/* The field that a declaration ends with has another name. */
static void field_line(struct rewrite *r, const struct line *line)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		size_t len = strlen(fields[i].from);
		const char *at = line->at + line->len - 1 - len;

		/* sched_wakeup is the start of sched_wakeup_new, too. */
		if (strncmp(r->event, fields[i].event, strlen(fields[i].event)) ||
		    line->len < len + 2 || memcmp(at, fields[i].from, len) || at[-1] != ' ')
			continue;
		bytes_put(&r->to, line->whole, at - line->whole);
		bytes_print(&r->to, "%s;\n", fields[i].to);
		return;
	}
	put_line(r, line);
}

/* "} NAME;" ends an enumeration: "TYPE NAME;" stands for it. */
static void enum_line(struct rewrite *r, const struct line *line)
{
	if (!is(line, "} "))
		return;
	bytes_text(&r->to, "\t\t");
	bytes_put(&r->to, r->number, r->number_len);
	bytes_put(&r->to, line->at + 1, line->len - 1);
	bytes_text(&r->to, "\n");
	r->number_len = 0;
}

static void tracer_line(struct rewrite *r, const struct line *line)
{
	if (is(line, "tracer_name = "))
		bytes_text(&r->to, "\ttracer_name = \"lttng-modules\";\n");
	else if (is(line, "tracer_major = "))
		bytes_text(&r->to, "\ttracer_major = 2;\n");
	else if (is(line, "tracer_minor = "))
		bytes_text(&r->to, "\ttracer_minor = 13;\n");
	else if (is(line, "tracer_patch = "))
		bytes_text(&r->to, "\ttracer_patchlevel = 0;\n");
	else
		put_line(r, line);
}

static void rewrite_line(struct rewrite *r, const struct line *line, bool in_event, bool in_env)
{
	if (r->number_len) {
		enum_line(r, line);
	} else if (is(line, "enum : ") && line->len > 9 && line->at[line->len - 1] == '{') {
		r->number = line->at + 7;
		r->number_len = line->len - 9;
	} else if (in_env) {
		tracer_line(r, line);
	} else if (in_event && !*r->event && is(line, "name = \"")) {
		event_line(r, line);
	} else if (in_event && is(line, "integer { size = 32;") && line->len > 6 &&
		   !memcmp(line->at + line->len - 6, "} pid;", 6)) {
		/* What each record has: the thread. */
		bytes_put(&r->to, line->whole, line->whole_len - 4);
		bytes_text(&r->to, "_tid;\n");
	} else if (*r->event && line->len) {
		field_line(r, line);
	} else {
		put_line(r, line);
	}
}

static void rewrite(struct rewrite *r, const char *text)
{
	bool in_event = false, in_env = false;
	struct line line;

	for (; *text; text = line.whole + line.whole_len + (line.whole[line.whole_len] == '\n')) {
		line.whole = text;
		line.whole_len = strcspn(text, "\n");
		line.at = text + strspn(text, "\t ");
		if (line.at > text + line.whole_len)
			line.at = text + line.whole_len;
		line.len = text + line.whole_len - line.at;
		/* Blocks begin and end at the left margin. */
		if (*text != '\t' && line.len) {
			in_event = is(&line, "event {") || is(&line, "stream {");
			in_env = is(&line, "env {");
			*r->event = 0;
		}
		rewrite_line(r, &line, in_event, in_env);
	}
}

/* ---- The folder ---- */

static bool copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	struct stat st;
	struct file *file = NULL;

	if (in >= 0 && !fstat(in, &st))
		file = file_open(to);
	if (!file) {
		etch_complaint("%s cannot be copied: %m", from);
		if (in >= 0)
			close(in);
		return false;
	}
	file_copy(file, in, st.st_size);
	close(in);
	return file_close(file, true);
}

/* Also the files with programs' records, which are behind those of the CPUs. */
static bool link_cpus(const struct export *x)
{
	char from[4096], to[4096];

	for (unsigned int i = 0; i < x->source->nr_cpus + x->source->nr_programs; i++) {
		const char *kind = i < x->source->nr_cpus ? "cpu" : "user";
		const struct etch_cpu *cpu = &x->source->cpus[i];

		if (cpu->no_file)
			continue;
		snprintf(from, sizeof(from), "%s/%s%d", x->folder, kind, cpu->cpu);
		snprintf(to, sizeof(to), "%s/%s%d", x->to, kind, cpu->cpu);
		if (link(from, to) && !copy_file(from, to))
			return false;
	}
	return true;
}

static bool lttng_open(struct export *x)
{
	struct rewrite r = {};
	char path[4096];
	struct file *file;
	bool fine;

	if (x->source->foreign) {
		etch_complaint("%s is another tracer's: its packets stay as they are", x->folder);
		return false;
	}
	if (mkdir(x->to, 0755)) {
		etch_complaint("The folder %s cannot be made: %m", x->to);
		return false;
	}
	rewrite(&r, x->source->metadata);
	snprintf(path, sizeof(path), "%s/metadata", x->to);
	file = r.to.failed ? NULL : file_open(path);
	if (file)
		file_put(file, r.to.at, r.to.len);
	fine = file && file_close(file, true) && link_cpus(x);
	bytes_free(&r.to);
	return fine;
}

/* Records are in the packets. */
static bool lttng_nothing(struct export *x, const struct etch_record *rec)
{
	(void)x;
	(void)rec;
	return true;
}

static bool lttng_close(struct export *x, bool whole)
{
	(void)x;
	return whole;
}

const struct exporter export_lttng = {
	.name = "ctf-lttng",
	.suffix = "-lttng",
	.line = "Trace Compass, with its views of the kernel",
	.folder = true,
	.open = lttng_open,
	.record = lttng_nothing,
	.loss = lttng_nothing,
	.close = lttng_close,
};
