// SPDX-License-Identifier: GPL-2.0
/*
 * trace.dat, version 6: for trace-cmd and KernelShark.
 *
 *	magic, formats, symbols, names of threads, options
 *	for each CPU: where its pages are, and how many bytes
 *	for each CPU: its pages: { u64 time; u64 commit; records; }
 *
 * A page with lost records in front of it has two bits in its commit, and behind its records
 * how many: so each loss begins a page, and trace-cmd shows it in front of the next record.
 * The options have what was lost by cause, for trace-cmd report --stat.
 *
 * A CPU's pages go to a file of their own, without a name, until all are known.
 */
#include "export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DAT_PAGE	4096		/* bytes, unless a record needs more */
#define DAT_HEAD	16		/* of a page */
#define DAT_BITS	27		/* of the time that has passed since the last record */
#define DAT_SMALL	112		/* bytes of the largest record with a length in its head */

enum { DAT_EXTEND = 30 };		/* a head that only has the time */
enum { OPTION_STAT = 2, OPTION_CLOCK = 4, OPTION_UNAME = 5, OPTION_CPUS = 8 };

#define DAT_MISSED	0x80000000ULL	/* in a page's commit: records are missing */
#define DAT_COUNTED	0x40000000ULL	/* and behind the page's records is how many */

/**
 * struct dat_cpu - a CPU's pages
 * @cpu: its number
 * @fd: the pages that are full
 * @bytes: of these
 * @page: the page that is being filled
 * @time: of its last record
 * @missed: records that are missing in front of it
 * @unknown: and it is not known how many more
 */
struct dat_cpu {
	int cpu, fd;
	uint64_t bytes;
	struct bytes page;
	uint64_t time;
	unsigned long long missed;
	bool unknown;
};

/**
 * struct dat - a trace.dat
 * @cpus: as the source has them
 * @record: the record as ftrace has it
 * @page: bytes of a page
 */
struct dat {
	struct dat_cpu *cpus;
	struct bytes record;
	size_t page;
};

/* A file that is gone once it is closed, where the result will be. */
static int nameless(const char *beside)
{
	char *path = NULL;
	int fd = -1;

	if (asprintf(&path, "%s.XXXXXX", beside) < 0)
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		etch_complaint("%s cannot be made: %m", path);
	else
		unlink(path);
	free(path);
	return fd;
}

static bool dat_open(struct export *x)
{
	struct dat *dat = calloc(1, sizeof(*dat));

	if (!dat)
		return false;
	x->own = dat;
	dat->page = DAT_PAGE;
	/* The heads of page and record, a head with a time, and the number of lost records. */
	while (dat->page < x->largest + DAT_HEAD + 8 + 8 + 8 + 4)
		dat->page *= 2;
	dat->cpus = calloc(x->source->nr_cpus + 1, sizeof(*dat->cpus));
	for (unsigned int i = 0; dat->cpus && i < x->source->nr_cpus; i++)
		dat->cpus[i].fd = -1;
	for (unsigned int i = 0; dat->cpus && i < x->source->nr_cpus; i++) {
		dat->cpus[i].cpu = x->source->cpus[i].cpu;
		dat->cpus[i].fd = nameless(x->to);
		if (dat->cpus[i].fd < 0)
			return false;
	}
	return dat->cpus;
}

static struct dat_cpu *dat_cpu(struct export *x, int number)
{
	struct dat *dat = x->own;
	unsigned int i = 0;

	while (i < x->source->nr_cpus - 1 && dat->cpus[i].cpu != number)
		i++;
	return &dat->cpus[i];
}

/* The page is full, or the last one. */
static bool page_end(struct dat *dat, struct dat_cpu *cpu)
{
	uint64_t commit = cpu->page.len - DAT_HEAD;
	size_t done = 0;

	if (!cpu->page.len)
		return true;
	if (cpu->missed || cpu->unknown)
		commit |= DAT_MISSED | (cpu->missed ? DAT_COUNTED : 0);
	if (cpu->missed)
		bytes_u64(&cpu->page, cpu->missed);
	bytes_align(&cpu->page, dat->page);
	if (cpu->page.failed) {
		etch_complaint("There is no memory for a page");
		return false;
	}
	memcpy(cpu->page.at + 8, &commit, sizeof(commit));
	while (done < cpu->page.len) {
		ssize_t n = write(cpu->fd, cpu->page.at + done, cpu->page.len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			etch_complaint("The pages of CPU %d cannot be written: %m", cpu->cpu);
			return false;
		}
		done += n;
	}
	cpu->bytes += done;
	cpu->page.len = 0;
	cpu->missed = 0;
	cpu->unknown = false;
	return true;
}

static void page_begin(struct dat_cpu *cpu, uint64_t time)
{
	bytes_u64(&cpu->page, time);
	bytes_u64(&cpu->page, 0);
	cpu->time = time;
}

static bool dat_record(struct export *x, const struct etch_record *rec)
{
	struct dat *dat = x->own;
	struct dat_cpu *cpu = dat_cpu(x, rec->cpu);
	size_t len;
	uint64_t delta;

	dat->record.len = 0;
	ftrace_record(&dat->record, x->source, rec);
	bytes_align(&dat->record, 4);
	len = dat->record.len;
	/* Behind the last record is room for the number of lost ones. */
	if (cpu->page.len && cpu->page.len + 16 + len + 8 > dat->page && !page_end(dat, cpu))
		return false;
	if (!cpu->page.len)
		page_begin(cpu, rec->ns);
	delta = rec->ns - cpu->time;
	if (delta >> DAT_BITS) {
		bytes_u32(&cpu->page, DAT_EXTEND | (uint32_t)delta << 5);
		bytes_u32(&cpu->page, delta >> DAT_BITS);
		delta = 0;
	}
	if (len <= DAT_SMALL) {
		bytes_u32(&cpu->page, len / 4 | delta << 5);
	} else {
		bytes_u32(&cpu->page, delta << 5);
		bytes_u32(&cpu->page, len + 4);
	}
	bytes_put(&cpu->page, dat->record.at, len);
	cpu->time = rec->ns;
	return true;
}

static bool dat_loss(struct export *x, const struct etch_record *rec)
{
	struct dat_cpu *cpu = dat_cpu(x, rec->cpu);

	if (!page_end(x->own, cpu))
		return false;
	cpu->missed += rec->loss->total;
	cpu->unknown |= !rec->loss->total;
	return true;
}

/* ---- In front of the pages ---- */

static bool all_described(void *own, const struct etch_event *event)
{
	const struct etch_source *source = own;

	return source->by_id[event->id] == event;
}

static void put_symbols(struct bytes *b, const char *folder)
{
	size_t len = 0;
	char *text = etch_file_read(folder, ".etch/symbols", &len);

	bytes_u32(b, len);
	bytes_put(b, text, len);
	free(text);
}

static void put_names(struct bytes *b, const struct names *names)
{
	struct bytes text = {};
	const struct name *name;

	for (size_t i = 0; (name = names_each(names, i)); i++) {
		const char *now = names_now(name);

		if (name->tid > 0 && *now)
			bytes_print(&text, "%d %s\n", name->tid, now);
	}
	bytes_u64(b, text.len);
	bytes_put(b, text.at, text.len);
	b->failed |= text.failed;
	bytes_free(&text);
}

static void put_option(struct bytes *b, uint16_t id, const struct bytes *value)
{
	bytes_u16(b, id);
	bytes_u32(b, value->len);
	bytes_put(b, value->at, value->len);
	b->failed |= value->failed;
}

/* As stats have it, for trace-cmd report --stat. */
static void put_stats(struct bytes *b, const struct etch_source *source)
{
	struct bytes text = {};

	for (unsigned int i = 0; i < source->nr_cpus; i++) {
		const struct etch_cpu *cpu = &source->cpus[i];

		text.len = 0;
		bytes_print(&text, "CPU: %d\nread: %llu\noverwritten: %llu\nlost full: %llu\n"
			    "lost too big: %llu\nlost nested: %llu\nlost throttled: %llu\n"
			    "lost unknown: %llu\n",
			    cpu->cpu, cpu->records, cpu->lost.overwritten, cpu->lost.full,
			    cpu->lost.too_big, cpu->lost.nested, cpu->lost.throttled,
			    cpu->lost.unknown);
		bytes_u8(&text, 0);
		put_option(b, OPTION_STAT, &text);
	}
	bytes_free(&text);
}

/* Programs know these clocks to be in nanoseconds; others were converted, too. */
static const char *clock_name(const struct etch_clock *clock)
{
	return !strncmp(clock->name, "mono", 4) || !strcmp(clock->name, "global") ?
	       clock->name : "local";
}

static void put_options(struct bytes *b, const struct etch_source *source, uint32_t cpus)
{
	char hostname[128], release[128];
	struct bytes value = {};

	bytes_textz(b, "options  ");
	bytes_print(&value, "[%s]\n", clock_name(&source->clock));
	bytes_u8(&value, 0);
	put_option(b, OPTION_CLOCK, &value);
	value.len = 0;
	etch_env(source, "hostname", hostname, sizeof(hostname));
	etch_env(source, "kernel_release", release, sizeof(release));
	bytes_print(&value, "Linux %s %s", hostname, release);
	bytes_u8(&value, 0);
	put_option(b, OPTION_UNAME, &value);
	value.len = 0;
	bytes_u32(&value, cpus);
	put_option(b, OPTION_CPUS, &value);
	put_stats(b, source);
	bytes_u16(b, 0);
	bytes_free(&value);
}

/* ---- The file ---- */

/* CPUs are numbered by their place in the file: those without packets have no pages. */
static uint32_t dat_cpus(const struct etch_source *source)
{
	return source->nr_cpus ? source->cpus[source->nr_cpus - 1].cpu + 1 : 0;
}

static void put_places(struct bytes *b, const struct export *x)
{
	const struct dat *dat = x->own;
	uint32_t cpus = dat_cpus(x->source), next = 0;
	uint64_t at = (b->len + 16 * (uint64_t)cpus + dat->page - 1) & -(uint64_t)dat->page;

	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		uint64_t bytes = 0;

		if (dat->cpus[next].cpu == (int)cpu)
			bytes = dat->cpus[next++].bytes;
		bytes_u64(b, at);
		bytes_u64(b, bytes);
		at += bytes;
	}
	bytes_align(b, dat->page);
}

static bool dat_write(struct export *x)
{
	struct dat *dat = x->own;
	struct file *file = file_open(x->to);
	struct bytes b = {};
	bool failed;

	if (!file)
		return false;
	ftrace_tracing(&b, x->source, "6", dat->page, all_described, x->source);
	put_symbols(&b, x->folder);
	bytes_u32(&b, 0);			/* formats of trace_printk() */
	put_names(&b, x->names);
	bytes_u32(&b, dat_cpus(x->source));
	put_options(&b, x->source, dat_cpus(x->source));
	bytes_textz(&b, "flyrecord");
	put_places(&b, x);
	failed = b.failed;
	if (failed)
		etch_complaint("There is no memory for the formats of all events");
	else
		file_put(file, b.at, b.len);
	for (unsigned int i = 0; i < x->source->nr_cpus && !failed; i++)
		file_copy(file, dat->cpus[i].fd, dat->cpus[i].bytes);
	bytes_free(&b);
	return file_close(file, !failed);
}

/* Losses with no record behind them have a page of their own. */
static bool dat_end(struct export *x)
{
	struct dat *dat = x->own;

	for (unsigned int i = 0; i < x->source->nr_cpus; i++) {
		struct dat_cpu *cpu = &dat->cpus[i];

		if (!cpu->page.len && (cpu->missed || cpu->unknown))
			page_begin(cpu, cpu->time);
		if (!page_end(dat, cpu))
			return false;
	}
	return true;
}

static bool dat_close(struct export *x, bool whole)
{
	struct dat *dat = x->own;

	if (!dat)
		return false;
	whole = whole && dat_end(x) && dat_write(x);
	for (unsigned int i = 0; dat->cpus && i < x->source->nr_cpus; i++) {
		if (dat->cpus[i].fd >= 0)
			close(dat->cpus[i].fd);
		bytes_free(&dat->cpus[i].page);
	}
	bytes_free(&dat->record);
	free(dat->cpus);
	free(dat);
	return whole;
}

const struct exporter export_dat = {
	.name = "trace.dat",
	.suffix = ".dat",
	.line = "trace-cmd report, KernelShark",
	.twice = true,
	.open = dat_open,
	.record = dat_record,
	.loss = dat_loss,
	.close = dat_close,
};
