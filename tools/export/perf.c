// SPDX-License-Identifier: GPL-2.0
/*
 * perf.data: for perf script, perf sched, perf kwork, perf trace -i and perf timechart.
 *
 *	header		where all of it is
 *	data		records of struct perf_event_header, in the order of times
 *	features	a table, and then formats, the machine, the first and the last time
 *	attributes	an event each, of those that have records; and their ids
 *
 * perf reads the parts wherever the header says that they are, so the file is written in one
 * go and the header filled in at the end. A sample has its record as ftrace has it. A thread
 * gets its name by a record of its own, each time the name is another one.
 */
#include "export/export.h"

#include <stdio.h>
#include <stdlib.h>

#define PERF_HEADER	104	/* bytes */
#define PERF_ATTR	128
#define PERF_PAGE	4096
#define PERF_ROUND	8192	/* samples; perf may forget what came before the last round */

enum { PERF_LOST = 2, PERF_COMM = 3, PERF_FORK = 7, PERF_SAMPLE = 9, PERF_FINISHED_ROUND = 68 };
enum { PERF_KERNEL = 1 };	/* misc: where the CPU was */
enum { PERF_TRACEPOINT = 2 };	/* type of an attribute */

/* Fields of samples; all but the last two stand behind other records, too. */
enum {
	PERF_TID = 0x2, PERF_TIME = 0x4, PERF_CPU = 0x80, PERF_PERIOD = 0x100, PERF_RAW = 0x400,
	PERF_ID = 0x10000,
	PERF_FIELDS = PERF_ID | PERF_TID | PERF_TIME | PERF_CPU | PERF_PERIOD | PERF_RAW,
};

#define PERF_ID_ALL	0x40000		/* flag of an attribute: that they do */

enum {
	FEATURE_TRACING = 1, FEATURE_HOST = 3, FEATURE_RELEASE = 4, FEATURE_ARCH = 6,
	FEATURE_CPUS = 7, FEATURE_TIMES = 21,
};

/**
 * struct perf - a perf.data
 * @file: the file
 * @b: the record that is being made
 * @ids: by event: its id, from 1 on; 0: no record yet
 * @order: the events by id
 * @used: how many these are
 * @cpu: of the last record; losses and names go there
 * @time: of the last record
 * @first: of the first
 * @began: there was one
 * @round: samples since the end of a round
 * @too_big: records that fit in no sample
 */
struct perf {
	struct file *file;
	struct bytes b;
	uint32_t *ids;
	const struct etch_event **order;
	uint32_t used;
	int cpu;
	uint64_t time, first;
	bool began;
	unsigned int round;
	unsigned long long too_big;
};

static bool perf_open(struct export *x)
{
	struct perf *perf = calloc(1, sizeof(*perf));
	static const char zeroes[PERF_HEADER];

	if (!perf)
		return false;
	x->own = perf;
	perf->ids = calloc(x->source->nr_events + 1, sizeof(*perf->ids));
	perf->order = calloc(x->source->nr_events + 1, sizeof(*perf->order));
	if (!perf->ids || !perf->order)
		return false;
	perf->file = file_open(x->to);
	if (!perf->file)
		return false;
	file_put(perf->file, zeroes, sizeof(zeroes));
	return true;
}

/* ---- Records ---- */

static void begin(struct perf *perf, uint32_t type, uint16_t misc)
{
	perf->b.len = 0;
	bytes_u32(&perf->b, type);
	bytes_u16(&perf->b, misc);
	bytes_u16(&perf->b, 0);
}

/* Fills in the length, and writes it. */
static void end(struct perf *perf)
{
	uint16_t len = perf->b.len;

	if (perf->b.failed)
		return;
	memcpy(perf->b.at + 6, &len, sizeof(len));
	file_put(perf->file, perf->b.at, perf->b.len);
}

/* Records that are no samples end with tid, time, cpu and id. */
static void trailer(struct perf *perf, int tgid, int tid)
{
	bytes_u32(&perf->b, tgid);
	bytes_u32(&perf->b, tid);
	bytes_u64(&perf->b, perf->time);
	bytes_u32(&perf->b, perf->cpu);
	bytes_u32(&perf->b, 0);
	bytes_u64(&perf->b, 1);
}

static void put_comm(struct perf *perf, const struct name *name)
{
	const char *text = names_now(name);

	if (!*text)
		return;
	begin(perf, PERF_COMM, 0);
	bytes_u32(&perf->b, name->tgid);
	bytes_u32(&perf->b, name->tid);
	bytes_textz(&perf->b, text);
	bytes_align(&perf->b, 8);
	trailer(perf, name->tgid, name->tid);
	end(perf);
}

/* All threads as they were when it began. */
static void put_threads(struct export *x)
{
	struct perf *perf = x->own;
	const struct name *name;

	for (size_t i = 0; (name = names_each(x->names, i)); i++) {
		if (name->tid <= 0)
			continue;
		begin(perf, PERF_FORK, 0);
		bytes_u32(&perf->b, name->tgid);
		bytes_u32(&perf->b, name->tgid == name->tid ? name->ppid : name->tgid);
		bytes_u32(&perf->b, name->tid);
		bytes_u32(&perf->b, name->tgid == name->tid ? name->ppid : name->tgid);
		bytes_u64(&perf->b, perf->time);
		trailer(perf, name->tgid, name->tid);
		end(perf);
		put_comm(perf, name);
	}
}

static void put_round(struct perf *perf)
{
	begin(perf, PERF_FINISHED_ROUND, 0);
	end(perf);
	perf->round = 0;
}

static void put_lost(struct perf *perf, unsigned long long lost)
{
	begin(perf, PERF_LOST, 0);
	bytes_u64(&perf->b, 1);
	bytes_u64(&perf->b, lost);
	trailer(perf, 0, 0);
	end(perf);
}

/* A loss or a record, whichever comes first. */
static void perf_moment(struct export *x, const struct etch_record *rec)
{
	struct perf *perf = x->own;

	perf->time = rec->ns;
	perf->cpu = rec->cpu;
	if (perf->began)
		return;
	perf->began = true;
	perf->first = perf->time;
	put_threads(x);
}

static void perf_renamed(void *arg, const struct name *name)
{
	struct export *x = arg;

	perf_moment(x, x->rec);
	put_comm(x->own, name);
}

static uint32_t perf_id(struct perf *perf, const struct etch_event *event)
{
	if (!perf->ids[event->index]) {
		perf->order[perf->used++] = event;
		perf->ids[event->index] = perf->used;
	}
	return perf->ids[event->index];
}

static bool perf_record(struct export *x, const struct etch_record *rec)
{
	struct perf *perf = x->own;
	const struct name *name = names_find(x->names, rec->pid);
	struct bytes *b = &perf->b;
	uint32_t len;

	perf_moment(x, rec);
	begin(perf, PERF_SAMPLE, PERF_KERNEL);
	bytes_u64(b, perf_id(perf, rec->event));
	bytes_u32(b, name ? name->tgid : rec->pid);
	bytes_u32(b, rec->pid);
	bytes_u64(b, rec->ns);
	bytes_u32(b, rec->cpu);
	bytes_u32(b, 0);
	bytes_u64(b, 1);
	len = (ftrace_len(x->source, rec) + 4 + 7) / 8 * 8 - 4;
	bytes_u32(b, len);
	ftrace_record(b, x->source, rec);
	bytes_align(b, 8);
	if (b->len > UINT16_MAX) {
		perf->too_big++;
		put_lost(perf, 1);
		return true;
	}
	end(perf);
	if (++perf->round == PERF_ROUND)
		put_round(perf);
	return !b->failed;
}

static bool perf_loss(struct export *x, const struct etch_record *rec)
{
	perf_moment(x, rec);
	put_lost(x->own, rec->loss->total);
	return true;
}

/* ---- Behind the records ---- */

static bool perf_used(void *own, const struct etch_event *event)
{
	return ((struct perf *)own)->ids[event->index];
}

/* Text with its length in front, which is a multiple of 64. */
static void feature_text(struct bytes *b, const struct etch_source *source, const char *name)
{
	char value[256];
	size_t begun;

	etch_env(source, name, value, sizeof(value));
	bytes_u32(b, (strlen(value) + 1 + 63) / 64 * 64);
	begun = b->len;
	bytes_textz(b, value);
	while (!b->failed && (b->len - begun) % 64)
		bytes_u8(b, 0);
}

static void feature(struct bytes *b, const struct export *x, int which)
{
	struct perf *perf = x->own;
	uint32_t cpus = x->source->nr_cpus ?
			x->source->cpus[x->source->nr_cpus - 1].cpu + 1 : 0;

	switch (which) {
	case FEATURE_TRACING:
		ftrace_tracing(b, x->source, "0.6", PERF_PAGE, perf_used, perf);
		bytes_u32(b, 0);	/* symbols */
		bytes_u32(b, 0);	/* formats of trace_printk() */
		bytes_u64(b, 0);	/* names of threads */
		break;
	case FEATURE_HOST:
		feature_text(b, x->source, "hostname");
		break;
	case FEATURE_RELEASE:
		feature_text(b, x->source, "kernel_release");
		break;
	case FEATURE_ARCH:
		feature_text(b, x->source, "architecture");
		break;
	case FEATURE_CPUS:
		bytes_u32(b, cpus);
		bytes_u32(b, cpus);
		break;
	case FEATURE_TIMES:
		bytes_u64(b, perf->first);
		bytes_u64(b, perf->time);
		break;
	}
}

/* The table and all features; in *@bits which. */
static void put_features(struct bytes *all, const struct export *x, uint64_t at, uint64_t *bits)
{
	static const int which[] = { FEATURE_TRACING, FEATURE_HOST, FEATURE_RELEASE,
				     FEATURE_ARCH, FEATURE_CPUS, FEATURE_TIMES };
	const size_t nr = sizeof(which) / sizeof(*which);
	struct bytes body = {};

	at += nr * 16;
	for (size_t i = 0; i < nr; i++) {
		size_t begun = body.len;

		feature(&body, x, which[i]);
		bytes_u64(all, at + begun);
		bytes_u64(all, body.len - begun);
		*bits |= 1ULL << which[i];
	}
	bytes_put(all, body.at, body.len);
	all->failed |= body.failed;
	bytes_free(&body);
	bytes_align(all, 8);
}

static void put_attributes(struct bytes *b, const struct perf *perf, uint64_t at)
{
	uint64_t ids = at + perf->used * (PERF_ATTR + 16);
	size_t begun;

	for (uint32_t i = 0; i < perf->used; i++) {
		begun = b->len;
		bytes_u32(b, PERF_TRACEPOINT);
		bytes_u32(b, PERF_ATTR);
		bytes_u64(b, perf->order[i]->id);
		bytes_u64(b, 1);		/* the period */
		bytes_u64(b, PERF_FIELDS);
		bytes_u64(b, 0);		/* no counts */
		bytes_u64(b, PERF_ID_ALL);
		while (!b->failed && b->len - begun < PERF_ATTR)
			bytes_u64(b, 0);
		bytes_u64(b, ids + 8 * i);
		bytes_u64(b, 8);
	}
	for (uint32_t i = 0; i < perf->used; i++)
		bytes_u64(b, i + 1);
}

static bool perf_end(struct export *x)
{
	struct perf *perf = x->own;
	uint64_t data = perf->file->at - PERF_HEADER, bits = 0, at;
	struct bytes b = {}, header = {};
	bool failed;

	put_features(&b, x, perf->file->at, &bits);
	at = perf->file->at + b.len;
	put_attributes(&b, perf, at);
	file_put(perf->file, b.at, b.len);
	bytes_text(&header, "PERFILE2");
	bytes_u64(&header, PERF_HEADER);
	bytes_u64(&header, PERF_ATTR + 16);
	bytes_u64(&header, at);
	bytes_u64(&header, perf->used * (PERF_ATTR + 16));
	bytes_u64(&header, PERF_HEADER);
	bytes_u64(&header, data);
	bytes_u64(&header, 0);
	bytes_u64(&header, 0);
	bytes_u64(&header, bits);
	while (!header.failed && header.len < PERF_HEADER)
		bytes_u64(&header, 0);
	file_over(perf->file, 0, header.at, header.len);
	failed = b.failed || header.failed || perf->b.failed;
	if (failed)
		etch_complaint("There is no memory for the formats of all events");
	bytes_free(&b);
	bytes_free(&header);
	return !failed;
}

static bool perf_close(struct export *x, bool whole)
{
	struct perf *perf = x->own;

	if (!perf)
		return false;
	if (perf->file) {
		whole = whole && perf_end(x);
		whole = file_close(perf->file, whole);
	}
	if (whole && perf->too_big)
		etch_complaint("%llu records are too long for perf.data, and counted as lost there",
			       perf->too_big);
	bytes_free(&perf->b);
	free(perf->ids);
	free(perf->order);
	free(perf);
	return whole;
}

const struct exporter export_perf = {
	.name = "perf",
	.suffix = ".perf.data",
	.line = "perf script, sched, kwork, trace -i, timechart",
	.twice = true,
	.open = perf_open,
	.renamed = perf_renamed,
	.record = perf_record,
	.loss = perf_loss,
	.close = perf_close,
};
