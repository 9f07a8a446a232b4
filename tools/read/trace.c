// SPDX-License-Identifier: GPL-2.0
/*
 * A trace's folder as a source: its CPUs' files, merged by time.
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

/**
 * struct trace - a folder that is being read
 * @source: what others know of it; first
 * @merge: the CPUs' files
 * @begun: all of them have been looked at
 * @formats: the file, which events refer to
 */
struct trace {
	struct etch_source source;
	struct etch_merge merge;
	bool begun;
	char *formats;
};

uint64_t etch_clock_ns(const struct etch_clock *clock, uint64_t time)
{
	if (clock->freq == 1000000000)
		return time;
	return (unsigned __int128)time * 1000000000 / clock->freq;
}

static int trace_next(struct etch_source *source, struct etch_record *rec)
{
	struct trace *t = (struct trace *)source;

	if (!t->begun)
		etch_merge_fill(&t->merge);
	t->begun = true;
	if (!etch_merge_next(&t->merge, UINT64_MAX, rec))
		return 0;
	rec->ns = etch_clock_ns(&source->clock, rec->time);
	return 1;
}

/* ---- Opening ---- */

static void trace_close(struct etch_source *source)
{
	struct trace *t = (struct trace *)source;

	etch_merge_close(&t->merge);
	free(t->formats);
}

/* The number of "cpuN" or "userN", and nothing behind it: cpu0.gz is left alone. */
static bool cpu_of(const char *name, struct etch_cpu *cpu)
{
	size_t before;
	long number;
	char *end;

	*cpu = (struct etch_cpu){ .programs = !strncmp(name, "user", 4) };
	before = strlen(etch_cpu_kind(cpu));
	if (strncmp(name, etch_cpu_kind(cpu), before) || name[before] < '0' || name[before] > '9')
		return false;
	number = strtol(name + before, &end, 10);
	cpu->cpu = number;
	return !*end && number <= 1 << 20;
}

/* All CPUs, and behind them the files with programs' records. */
static int cpu_order(const void *a, const void *b)
{
	const struct etch_cpu *one = a, *two = b;

	if (one->programs != two->programs)
		return one->programs - two->programs;
	return one->cpu - two->cpu;
}

static bool trace_add_cpu(struct etch_source *source, const struct etch_cpu *cpu)
{
	unsigned int nr = source->nr_cpus + source->nr_programs;
	struct etch_cpu *more = realloc(source->cpus, (nr + 1) * sizeof(*more));

	if (!more)
		return false;
	source->cpus = more;
	more[nr] = *cpu;
	if (cpu->programs)
		source->nr_programs++;
	else
		source->nr_cpus++;
	return true;
}

static bool trace_has_cpu(const struct etch_source *source, int cpu)
{
	for (unsigned int i = 0; i < source->nr_cpus + source->nr_programs; i++)
		if (!source->cpus[i].programs && source->cpus[i].cpu == cpu)
			return true;
	return false;
}

/* A CPU where only programs have recorded is a CPU all the same. */
static bool trace_add_idle_cpus(struct etch_source *source)
{
	unsigned int nr = source->nr_cpus + source->nr_programs;

	for (unsigned int i = 0; i < nr; i++) {
		struct etch_cpu idle = { .cpu = source->cpus[i].cpu, .no_file = true };

		if (!trace_has_cpu(source, idle.cpu) && !trace_add_cpu(source, &idle))
			return false;
	}
	return true;
}

static int trace_find_cpus(struct etch_source *source)
{
	DIR *dir = opendir(source->path);
	struct dirent *entry;
	struct etch_cpu cpu;
	bool fine = dir;

	while (fine && (entry = readdir(dir)))
		if (cpu_of(entry->d_name, &cpu))
			fine = trace_add_cpu(source, &cpu);
	if (dir)
		closedir(dir);
	fine = fine && trace_add_idle_cpus(source);
	qsort(source->cpus, source->nr_cpus + source->nr_programs, sizeof(*source->cpus),
	      cpu_order);
	return fine ? 0 : -1;
}

static int trace_open_cpus(struct trace *t)
{
	struct etch_source *source = &t->source;
	char path[4096];
	struct stat st;
	int fd;

	if (!etch_merge_open(&t->merge, source->nr_cpus + source->nr_programs))
		return -1;
	for (unsigned int i = 0; i < source->nr_cpus + source->nr_programs; i++) {
		struct etch_cpu *cpu = &source->cpus[i];

		if (cpu->no_file)
			continue;
		snprintf(path, sizeof(path), "%s/%s%d", source->path, etch_cpu_kind(cpu), cpu->cpu);
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
		t->merge.lanes[i].stream = etch_stream_open(source, cpu, fd);
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

/* ---- Whose is it? ---- */

#define TRACE_PACKETS	0x75d11d57	/* metadata in packets: LTTng's */

/* babeltrace2 keeps our name in traces that it writes with another layout. */
static bool is_ours(const struct etch_source *source)
{
	char tracer[16];

	return etch_env(source, "tracer_name", tracer, sizeof(tracer)) &&
	       !strcmp(tracer, "etch") && (!strstr(source->metadata, "event.header") ||
					   strstr(source->metadata, "ts48_t timestamp;"));
}

static bool is_metadata(const char *text)
{
	uint32_t magic = 0;

	memcpy(&magic, text, strnlen(text, sizeof(magic)));
	return magic == TRACE_PACKETS || !strncmp(text, "/* CTF 1.8 */", 13);
}

static struct etch_source *open_other(const char *path)
{
	if (etch_babel_open)
		return etch_babel_open(path);
	etch_complaint("%s is another tracer's: etch reads it if it is built with libbabeltrace2",
		       path);
	return NULL;
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
	if (is_metadata(source->metadata) && !is_ours(source)) {
		etch_close(source);
		return open_other(path);
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
