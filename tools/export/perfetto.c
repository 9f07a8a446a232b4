// SPDX-License-Identifier: GPL-2.0
/*
 * A trace of Perfetto: for ui.perfetto.dev and trace_processor.
 *
 * The file is one message of packets. The first ones say what machine and which clock it
 * was; then come bundles, each of one CPU's records; the last ones are the threads and the
 * sums of losses. Events that the viewer draws have messages of their own; all others go as
 * generic ones, with their fields by name.
 *
 * A loss is three things: a mark on the bundle behind it; a slice from the last record before
 * it to the first one behind it, on a track of the CPU, with a number for each cause; and its
 * part in the last packet's sums, which the viewer shows as a warning.
 */
#include "export/proto.h"

#include <stdio.h>
#include <stdlib.h>

#define BUNDLE_BYTES	(32 << 10)

/* Fields of a packet, by their numbers. */
enum {
	PACKET_FTRACE = 1, PACKET_TREE = 2, PACKET_CLOCKS = 6, PACKET_TIME = 8,
	PACKET_WRITER = 10, PACKET_TRACK_EVENT = 11, PACKET_STATS = 34, PACKET_SYSTEM = 45,
	PACKET_TRACK = 60,
};

enum { CLOCK_REAL = 1, CLOCK_MONO = 3, CLOCK_BOOT = 6 };
enum { FTRACE_PRINT = 3, FTRACE_GENERIC = 327 };
enum { SLICE_BEGIN = 1, SLICE_END = 2 };

/* An event that has a message: its number, and its fields in the order of theirs, from 1 on. */
struct typed {
	const char *full;
	unsigned int number;
	const char *fields[8];
};

static const struct typed typed[] = {
	{ "sched:sched_switch", 4, { "prev_comm", "prev_pid", "prev_prio", "prev_state",
				     "next_comm", "next_pid", "next_prio" } },
	{ "sched:sched_wakeup", 17, { "comm", "pid", "prio", "success", "target_cpu" } },
	{ "sched:sched_waking", 20, { "comm", "pid", "prio", "success", "target_cpu" } },
	{ "sched:sched_wakeup_new", 114, { "comm", "pid", "prio", "success", "target_cpu" } },
	{ "sched:sched_process_exec", 237, { "filename", "pid", "old_pid" } },
	{ "sched:sched_process_exit", 238, { "comm", "pid", "tgid", "prio" } },
	{ "sched:sched_process_fork", 239, { "parent_comm", "parent_pid", "child_comm",
					     "child_pid" } },
	{ "sched:sched_process_free", 240, { "comm", "pid", "prio" } },
	{ "task:task_newtask", 235, { "pid", "comm", "clone_flags", "oom_score_adj" } },
	{ "task:task_rename", 236, { "pid", "oldcomm", "newcomm", "oom_score_adj" } },
	{ "irq:irq_handler_entry", 36, { "irq", "name" } },
	{ "irq:irq_handler_exit", 37, { "irq", "ret" } },
	{ "irq:softirq_entry", 24, { "vec" } },
	{ "irq:softirq_exit", 25, { "vec" } },
	{ "irq:softirq_raise", 26, { "vec" } },
	{ "workqueue:workqueue_execute_start", 58, { "work", "function" } },
	{ "workqueue:workqueue_execute_end", 57, { "work", "function" } },
	{ "power:cpu_frequency", 11, { "state", "cpu_id" } },
	{ "power:cpu_idle", 13, { "state", "cpu_id" } },
	{ "raw_syscalls:sys_enter", 329, { "id", "args" } },
	{ "raw_syscalls:sys_exit", 330, { "id", "ret" } },
};

/* An event, looked up: its message, and where the fields are. */
struct known {
	bool begun;
	const struct typed *typed;
	const struct etch_field *fields[8];
};

/* A CPU: records that wait for their bundle, in which they are fields already. */
struct lane {
	int cpu;
	struct bytes events;
	bool lost;
};

/**
 * struct perfetto - a trace of Perfetto
 * @file: the file
 * @b: the packet that is being made
 * @known: by event
 * @lanes: as the source has its CPUs
 */
struct perfetto {
	struct file *file;
	struct bytes b;
	struct known *known;
	struct lane *lanes;
};

/* ---- Packets ---- */

static size_t packet_begin(struct perfetto *p)
{
	p->b.len = 0;
	return proto_begin(&p->b, 1);
}

static bool packet_end(struct perfetto *p, size_t begun)
{
	proto_end(&p->b, begun);
	if (p->b.failed) {
		etch_complaint("There is no memory for a packet");
		return false;
	}
	file_put(p->file, p->b.at, p->b.len);
	return true;
}

static void put_clock(struct bytes *b, unsigned int clock, uint64_t ns)
{
	size_t begun = proto_begin(b, 1);

	proto_number(b, 1, clock);
	proto_number(b, 2, ns);
	proto_end(b, begun);
}

/* The trace's clock is what Perfetto takes for the time since boot. */
static bool put_clocks(struct perfetto *p, const struct etch_clock *clock)
{
	size_t begun = packet_begin(p), all = proto_begin(&p->b, PACKET_CLOCKS);

	put_clock(&p->b, CLOCK_BOOT, 1);
	put_clock(&p->b, CLOCK_MONO, 1);
	if (clock->absolute)
		put_clock(&p->b, CLOCK_REAL, 1 + clock->offset_ns);
	proto_end(&p->b, all);
	proto_number(&p->b, PACKET_WRITER, 1);
	return packet_end(p, begun);
}

static bool put_system(struct perfetto *p, const struct etch_source *source)
{
	static const char * const names[] = { "sysname", "kernel_version", "kernel_release",
					      "architecture" };
	size_t begun = packet_begin(p), info, utsname;
	char value[256];

	proto_number(&p->b, PACKET_WRITER, 1);
	info = proto_begin(&p->b, PACKET_SYSTEM);
	utsname = proto_begin(&p->b, 1);
	for (unsigned int i = 0; i < 4; i++) {
		etch_env(source, names[i], value, sizeof(value));
		proto_text(&p->b, i + 1, value);
	}
	proto_end(&p->b, utsname);
	proto_end(&p->b, info);
	return packet_end(p, begun);
}

/* The track that a CPU's losses are on. */
static uint64_t track_of(int cpu)
{
	return 0x65746368000001ULL + cpu;
}

static bool put_track(struct perfetto *p, int cpu)
{
	size_t begun = packet_begin(p), track;
	char name[64];

	snprintf(name, sizeof(name), "Records lost on CPU %d", cpu);
	proto_number(&p->b, PACKET_WRITER, 1);
	track = proto_begin(&p->b, PACKET_TRACK);
	proto_number(&p->b, 1, track_of(cpu));
	proto_text(&p->b, 2, name);
	proto_end(&p->b, track);
	return packet_end(p, begun);
}

static bool perfetto_open(struct export *x)
{
	struct perfetto *p = calloc(1, sizeof(*p));

	if (!p)
		return false;
	x->own = p;
	p->known = calloc(x->source->nr_events + 1, sizeof(*p->known));
	p->lanes = calloc(x->source->nr_cpus + 1, sizeof(*p->lanes));
	if (!p->known || !p->lanes)
		return false;
	for (unsigned int i = 0; i < x->source->nr_cpus; i++)
		p->lanes[i].cpu = x->source->cpus[i].cpu;
	p->file = file_open(x->to);
	if (!p->file)
		return false;
	file_gzip(p->file);
	return put_clocks(p, &x->source->clock) && put_system(p, x->source);
}

static struct lane *lane_of(const struct export *x, int cpu)
{
	struct perfetto *p = x->own;
	unsigned int i = 0;

	while (i < x->source->nr_cpus - 1 && p->lanes[i].cpu != cpu)
		i++;
	return &p->lanes[i];
}

static bool bundle_end(struct perfetto *p, struct lane *lane)
{
	size_t begun, bundle;

	if (!lane->events.len)
		return true;
	begun = packet_begin(p);
	bundle = proto_begin(&p->b, PACKET_FTRACE);
	proto_number(&p->b, 1, lane->cpu);
	bytes_put(&p->b, lane->events.at, lane->events.len);
	if (lane->lost)
		proto_number(&p->b, 3, 1);
	proto_end(&p->b, bundle);
	proto_number(&p->b, PACKET_WRITER, 1);
	p->b.failed |= lane->events.failed;
	lane->events.len = 0;
	lane->lost = false;
	return packet_end(p, begun);
}

/* ---- Records ---- */

static void know(struct known *known, const struct etch_event *event)
{
	known->begun = true;
	for (size_t i = 0; i < sizeof(typed) / sizeof(*typed); i++)
		if (!strcmp(typed[i].full, event->full))
			known->typed = &typed[i];
	for (size_t i = 0; known->typed && i < 8 && known->typed->fields[i]; i++)
		known->fields[i] = etch_field(event, known->typed->fields[i]);
}

static void put_typed(struct bytes *b, const struct etch_record *rec, const struct known *known)
{
	size_t event = proto_begin(b, known->typed->number), len;

	for (unsigned int i = 0; i < 8; i++) {
		const struct etch_field *field = known->fields[i];
		const unsigned char *at;

		if (!field)
			continue;
		at = etch_bytes(rec, field, &len);
		if (field->kind == ETCH_NUMBER)
			proto_number(b, i + 1, etch_number(rec, field));
		else if (field->kind == ETCH_TEXT)
			proto_bytes(b, i + 1, at, strnlen((const char *)at, len));
		for (size_t n = 0; field->kind == ETCH_ARRAY && n + field->elem <= len;
		     n += field->elem)
			proto_number(b, i + 1, etch_load(at + n, field->elem, field->is_signed));
	}
	proto_end(b, event);
}

/* A pointer into the kernel's code, by name. */
static bool put_symbol(struct bytes *b, const struct export *x, uint64_t value)
{
	uint64_t offset, size;
	size_t len, begun;
	const char *name = etch_symbol(x->symbols, value, &len, &offset, &size);

	if (!name || offset >= size)
		return false;
	begun = proto_begin(b, 3);
	bytes_put(b, name, len);
	if (offset)
		bytes_print(b, "+0x%llx", (unsigned long long)offset);
	proto_end(b, begun);
	return true;
}

/* Numbers, or bytes, as text. */
static void put_array(struct bytes *b, const struct etch_field *field, const unsigned char *at,
		      size_t len)
{
	unsigned int elem = field->kind == ETCH_ARRAY ? field->elem : 1;
	size_t begun = proto_begin(b, 3);

	for (size_t n = 0; n + elem <= len; n += elem)
		bytes_print(b, "%s0x%llx", n ? "," : "",
			    (unsigned long long)etch_load(at + n, elem, false));
	proto_end(b, begun);
}

static void put_field(struct bytes *b, const struct export *x, const char *prefix,
		      const struct etch_field *field, const unsigned char *at, size_t len)
{
	size_t begun = proto_begin(b, 2), name = proto_begin(b, 1);
	uint64_t value;

	bytes_text(b, prefix);
	bytes_text(b, field->name);
	proto_end(b, name);
	if (field->kind == ETCH_TEXT) {
		proto_bytes(b, 3, at, strnlen((const char *)at, len));
	} else if (field->kind != ETCH_NUMBER) {
		put_array(b, field, at, len);
	} else {
		value = etch_load(at, field->size, field->is_signed);
		if (!field->hex || field->size < 8 || !put_symbol(b, x, value))
			proto_number(b, field->is_signed ? 4 : 5, value);
	}
	proto_end(b, begun);
}

static void put_generic(struct bytes *b, const struct export *x, const struct etch_record *rec)
{
	size_t event = proto_begin(b, FTRACE_GENERIC), len;

	proto_text(b, 1, rec->event->name);
	for (unsigned int i = 0; i < rec->event->nr_fields; i++) {
		const struct etch_field *field = &rec->event->fields[i];
		const unsigned char *at = etch_bytes(rec, field, &len);

		put_field(b, x, "", field, at, len);
	}
	for (unsigned int i = 0; i < x->source->nr_contexts; i++) {
		const struct etch_field *field = &x->source->contexts[i];

		put_field(b, x, "common_", field, rec->head + field->offset, field->size);
	}
	proto_end(b, event);
}

/* Text of the form "B|PID|NAME", "E", "C|PID|NAME|VALUE" becomes slices and counters. */
static void put_print(struct bytes *b, const struct etch_record *rec,
		      const struct etch_field *field)
{
	size_t event = proto_begin(b, FTRACE_PRINT), len;
	const char *text = etch_text(rec, field, &len);

	proto_bytes(b, 2, text, len);
	proto_end(b, event);
}

static bool perfetto_record(struct export *x, const struct etch_record *rec)
{
	struct perfetto *p = x->own;
	struct known *known = &p->known[rec->event->index];
	struct lane *lane = lane_of(x, rec->cpu);
	struct bytes *b = &lane->events;
	size_t event = proto_begin(b, 2);

	if (!known->begun)
		know(known, rec->event);
	proto_number(b, 1, rec->ns);
	proto_number(b, 2, (uint32_t)rec->pid);
	if (known->typed)
		put_typed(b, rec, known);
	else if (etch_is(rec->event, "etch:marker") && rec->event->nr_fields &&
		 rec->event->fields->kind == ETCH_TEXT)
		put_print(b, rec, rec->event->fields);
	else
		put_generic(b, x, rec);
	proto_end(b, event);
	return b->len < BUNDLE_BYTES ? !b->failed : bundle_end(p, lane);
}

/* ---- Losses ---- */

static void put_cause(struct bytes *b, const char *name, unsigned long long count)
{
	size_t begun;

	if (!count)
		return;
	begun = proto_begin(b, 4);
	proto_number(b, 3, count);
	proto_text(b, 10, name);
	proto_end(b, begun);
}

static bool put_slice(struct perfetto *p, int cpu, uint64_t ns, const struct etch_loss *loss)
{
	size_t begun = packet_begin(p), event;
	char name[64];

	proto_number(&p->b, PACKET_TIME, ns);
	proto_number(&p->b, PACKET_WRITER, 1);
	event = proto_begin(&p->b, PACKET_TRACK_EVENT);
	if (loss) {
		put_cause(&p->b, "lost", loss->total);
		put_cause(&p->b, "overwritten", loss->overwritten);
		put_cause(&p->b, "full", loss->full);
		put_cause(&p->b, "throttled", loss->throttled);
		put_cause(&p->b, "nested", loss->nested);
		put_cause(&p->b, "too_big", loss->too_big);
		put_cause(&p->b, "unknown", loss->unknown);
	}
	proto_number(&p->b, 9, loss ? SLICE_BEGIN : SLICE_END);
	proto_number(&p->b, 11, track_of(cpu));
	if (loss) {
		proto_text(&p->b, 22, "lost");
		snprintf(name, sizeof(name), "%llu lost", loss->total);
		proto_text(&p->b, 23, name);
	}
	proto_end(&p->b, event);
	return packet_end(p, begun);
}

static bool perfetto_loss(struct export *x, const struct etch_record *rec)
{
	struct perfetto *p = x->own;
	struct lane *lane = lane_of(x, rec->cpu);
	uint64_t since = etch_clock_ns(&x->source->clock, rec->loss->since);

	if (!bundle_end(p, lane))
		return false;
	lane->lost = true;
	return put_slice(p, rec->cpu, since, rec->loss) && put_slice(p, rec->cpu, rec->ns, NULL);
}

/* ---- The end ---- */

/* Two packets: all zero at the beginning, and the losses since then at the end. */
static bool put_stats(struct perfetto *p, const struct etch_source *source, bool at_end)
{
	size_t begun = packet_begin(p), stats, one;

	proto_number(&p->b, PACKET_WRITER, 1);
	stats = proto_begin(&p->b, PACKET_STATS);
	proto_number(&p->b, 1, at_end ? 2 : 1);
	for (unsigned int i = 0; i < source->nr_cpus; i++) {
		const struct etch_cpu *cpu = &source->cpus[i];
		const struct etch_loss *lost = &cpu->lost;

		one = proto_begin(&p->b, 2);
		proto_number(&p->b, 1, cpu->cpu);
		proto_number(&p->b, 3, at_end ? lost->overwritten : 0);
		proto_number(&p->b, 8, at_end ? lost->total - lost->overwritten : 0);
		proto_number(&p->b, 9, at_end ? cpu->records : 0);
		proto_end(&p->b, one);
	}
	proto_end(&p->b, stats);
	return packet_end(p, begun);
}

static void put_process(struct bytes *b, const struct name *name)
{
	size_t begun = proto_begin(b, 1);

	proto_number(b, 1, name->tgid);
	proto_number(b, 2, name->ppid);
	proto_text(b, 3, names_now(name));
	proto_end(b, begun);
}

static void put_thread(struct bytes *b, const struct name *name)
{
	size_t begun = proto_begin(b, 2);

	proto_number(b, 1, name->tid);
	proto_text(b, 2, names_now(name));
	proto_number(b, 3, name->tgid);
	proto_end(b, begun);
}

static bool put_tree(struct perfetto *p, const struct names *names)
{
	size_t begun = packet_begin(p), tree = proto_begin(&p->b, PACKET_TREE);
	const struct name *name;

	for (size_t i = 0; (name = names_each(names, i)); i++)
		if (name->tid > 0 && name->tgid == name->tid)
			put_process(&p->b, name);
	for (size_t i = 0; (name = names_each(names, i)); i++)
		if (name->tid > 0 && name->tgid != name->tid)
			put_thread(&p->b, name);
	proto_end(&p->b, tree);
	proto_number(&p->b, PACKET_WRITER, 1);
	return packet_end(p, begun);
}

static bool perfetto_end(struct export *x)
{
	struct perfetto *p = x->own;
	bool fine = true;

	for (unsigned int i = 0; i < x->source->nr_cpus; i++) {
		fine = fine && bundle_end(p, &p->lanes[i]);
		if (x->source->cpus[i].lost.total)
			fine = fine && put_track(p, p->lanes[i].cpu);
	}
	return fine && put_tree(p, x->names) && put_stats(p, x->source, false) &&
	       put_stats(p, x->source, true);
}

static bool perfetto_close(struct export *x, bool whole)
{
	struct perfetto *p = x->own;

	if (!p)
		return false;
	if (p->file) {
		whole = whole && perfetto_end(x);
		whole = file_close(p->file, whole);
	}
	for (unsigned int i = 0; p->lanes && i < x->source->nr_cpus; i++)
		bytes_free(&p->lanes[i].events);
	bytes_free(&p->b);
	free(p->known);
	free(p->lanes);
	free(p);
	return whole;
}

const struct exporter export_perfetto = {
	.name = "perfetto",
	.suffix = ".pftrace",
	.line = "ui.perfetto.dev, trace_processor",
	.stream = true,
	.open = perfetto_open,
	.record = perfetto_record,
	.loss = perfetto_loss,
	.close = perfetto_close,
};
