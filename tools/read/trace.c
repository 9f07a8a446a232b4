// SPDX-License-Identifier: GPL-2.0
/*
 * A trace's folder as a source: its CPUs' files, merged by time.
 *
 * The CPUs' next records are in a heap, the earliest on top. Of records with one time, that of
 * the lower CPU comes first.
 */
#include "read/read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* A CPU, and what it has next. */
struct lane {
	struct etch_stream *stream;
	struct etch_record rec;
};

/**
 * struct trace - a folder that is being read
 * @source: what others know of it; first
 * @lanes: one a CPU
 * @heap: those that have records, the earliest on top
 * @nr: how many these are
 * @begun: all lanes have been looked at
 * @taken: the top's record was returned: it is to be replaced
 * @formats: the file, which events refer to
 */
struct trace {
	struct etch_source source;
	struct lane *lanes, **heap;
	unsigned int nr;
	bool begun, taken;
	char *formats;
};

uint64_t etch_clock_ns(const struct etch_clock *clock, uint64_t time)
{
	if (clock->freq == 1000000000)
		return time;
	return (unsigned __int128)time * 1000000000 / clock->freq;
}

/* ---- Merging ---- */

static bool lane_before(const struct lane *a, const struct lane *b)
{
	return a->rec.time < b->rec.time ||
	       (a->rec.time == b->rec.time && a->rec.cpu < b->rec.cpu);
}

/* The one at @i may be later than those below it. */
static void heap_sink(struct trace *t, unsigned int i)
{
	struct lane *lane = t->heap[i];

	for (;;) {
		unsigned int child = 2 * i + 1;

		if (child + 1 < t->nr && lane_before(t->heap[child + 1], t->heap[child]))
			child++;
		if (child >= t->nr || !lane_before(t->heap[child], lane))
			break;
		t->heap[i] = t->heap[child];
		i = child;
	}
	t->heap[i] = lane;
}

static void heap_begin(struct trace *t)
{
	for (unsigned int i = 0; i < t->source.nr_cpus; i++)
		if (t->lanes[i].stream &&
		    etch_stream_next(t->lanes[i].stream, &t->lanes[i].rec) > 0)
			t->heap[t->nr++] = &t->lanes[i];
	for (unsigned int i = t->nr; i--;)
		heap_sink(t, i);
	t->begun = true;
}

static int trace_next(struct etch_source *source, struct etch_record *rec)
{
	struct trace *t = (struct trace *)source;

	if (!t->begun)
		heap_begin(t);
	if (t->taken && etch_stream_next(t->heap[0]->stream, &t->heap[0]->rec) <= 0)
		t->heap[0] = t->heap[--t->nr];
	if (t->taken && t->nr > 1)
		heap_sink(t, 0);
	t->taken = t->nr;
	if (!t->nr)
		return 0;
	*rec = t->heap[0]->rec;
	rec->ns = etch_clock_ns(&source->clock, rec->time);
	return 1;
}

/* ---- Opening ---- */

static void trace_close(struct etch_source *source)
{
	struct trace *t = (struct trace *)source;

	for (unsigned int i = 0; t->lanes && i < source->nr_cpus; i++)
		etch_stream_close(t->lanes[i].stream);
	free(t->lanes);
	free(t->heap);
	free(t->formats);
}

/* The number of "cpuN", and nothing behind it: cpu0.gz is left alone. -1: another name. */
static int cpu_of(const char *name)
{
	char *end;
	long cpu;

	if (strncmp(name, "cpu", 3) || name[3] < '0' || name[3] > '9')
		return -1;
	cpu = strtol(name + 3, &end, 10);
	return *end || cpu > 1 << 20 ? -1 : (int)cpu;
}

static int cpu_order(const void *a, const void *b)
{
	return ((const struct etch_cpu *)a)->cpu - ((const struct etch_cpu *)b)->cpu;
}

static int trace_find_cpus(struct etch_source *source)
{
	DIR *dir = opendir(source->path);
	struct etch_cpu *more;
	struct dirent *entry;
	int cpu;

	while (dir && (entry = readdir(dir))) {
		cpu = cpu_of(entry->d_name);
		if (cpu < 0)
			continue;
		more = realloc(source->cpus, (source->nr_cpus + 1) * sizeof(*more));
		if (!more) {
			closedir(dir);
			return -1;
		}
		source->cpus = more;
		more[source->nr_cpus++] = (struct etch_cpu){ .cpu = cpu };
	}
	if (dir)
		closedir(dir);
	qsort(source->cpus, source->nr_cpus, sizeof(*source->cpus), cpu_order);
	return dir ? 0 : -1;
}

static int trace_open_cpus(struct trace *t)
{
	struct etch_source *source = &t->source;
	char path[4096];
	struct stat st;
	int fd;

	t->lanes = calloc(source->nr_cpus + 1, sizeof(*t->lanes));
	t->heap = calloc(source->nr_cpus + 1, sizeof(*t->heap));
	if (!t->lanes || !t->heap)
		return -1;
	for (unsigned int i = 0; i < source->nr_cpus; i++) {
		snprintf(path, sizeof(path), "%s/cpu%d", source->path, source->cpus[i].cpu);
		/* A pipe of this name would keep us waiting. */
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
			etch_complaint("%s cannot be read: %s", path,
				       fd < 0 ? strerror(errno) : "it is no file");
			if (fd >= 0)
				close(fd);
			continue;
		}
		posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
		t->lanes[i].stream = etch_stream_open(source, &source->cpus[i], fd);
	}
	return 0;
}

static void open_many_files(void)
{
	struct rlimit many;

	if (getrlimit(RLIMIT_NOFILE, &many))
		return;
	many.rlim_cur = many.rlim_max;
	setrlimit(RLIMIT_NOFILE, &many);
}

struct etch_source *etch_trace_open(const char *path)
{
	struct trace *t = calloc(1, sizeof(*t));
	struct etch_source *source = &t->source;
	size_t len;

	if (t)
		source->path = strdup(path);
	if (!t || !source->path) {
		free(t);
		etch_complaint("There is no memory to open %s", path);
		return NULL;
	}
	source->next = trace_next;
	source->close = trace_close;
	open_many_files();
	source->metadata = etch_file_read(path, "metadata", &len);
	if (!source->metadata) {
		etch_complaint("%s/metadata: %m. Name the folder of a trace of Etch", path);
		goto fail;
	}
	if (etch_tsdl_read(source))
		goto fail;
	t->formats = etch_file_read(path, ".etch/formats", &len);
	if (t->formats)
		etch_formats_read(source, t->formats, len);
	if (trace_find_cpus(source) || trace_open_cpus(t)) {
		etch_complaint("%s cannot be read: %m", path);
		goto fail;
	}
	return source;
fail:
	etch_close(source);
	return NULL;
}
