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

	if (!etch_merge_open(&t->merge, source->nr_cpus))
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
		t->merge.lanes[i].stream = etch_stream_open(source, &source->cpus[i], fd);
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
