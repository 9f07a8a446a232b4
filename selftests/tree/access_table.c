// SPDX-License-Identifier: GPL-2.0

#define _GNU_SOURCE
#include <fnmatch.h>
#include <ftw.h>

#include "access_table.h"

const struct row rows[NR_ROWS] = {
	{ ".", 0700, true },
	{ "README", 0400 },
	{ "available_events", 0400 },
	{ "set_event", 0600 },
	{ "set_event_pid", 0600 },
	{ "set_event_notrace_pid", 0600 },
	{ "set_event_cgroup", 0600 },
	{ "trace", 0600 },
	{ "trace_pipe", 0400 },
	{ "metadata", 0400 },
	{ "trace_marker", 0200 },
	{ "trace_marker_raw", 0200 },
	{ "statedump", 0600 },
	{ "dynamic_events", 0600 },
	{ "kprobe_events", 0600 },
	{ "uprobe_events", 0600 },
	{ "tracing_on", 0600 },
	{ "trace_clock", 0600 },
	{ "buffer_size_kb", 0600 },
	{ "buffer_subbuf_size_kb", 0600 },
	{ "buffer_percent", 0600 },
	{ "buffer_mode", 0600 },
	{ "budget", 0600 },
	{ "contexts", 0600 },
	{ "flush", 0200 },
	{ "snapshot", 0600 },
	{ "error_log", 0600 },
	{ "latency", 0600 },
	{ "dump_on_oops", 0600 },
	{ "per_cpu", 0700, true },
	{ "per_cpu/cpu*", 0700, true },
	{ "per_cpu/cpu*/trace", 0600 },
	{ "per_cpu/cpu*/trace_pipe", 0400 },
	{ "per_cpu/cpu*/trace_pipe_raw", 0400 },
	{ "per_cpu/cpu*/flush", 0200 },
	{ "per_cpu/cpu*/snapshot", 0400 },
	{ "per_cpu/cpu*/stats", 0400 },
	{ "per_cpu/cpu*/buffer_size_kb", 0600 },
	{ "events", 0700, true },
	{ "events/enable", 0600 },
	{ "events/filter", 0600 },
	{ "events/format", 0400 },
	{ "events/*", 0700, true },
	{ "events/*/enable", 0600 },
	{ "events/*/filter", 0600 },
	{ "events/*/format", 0400 },
	{ "events/*/*", 0700, true },
	{ "events/*/*/enable", 0600 },
	{ "events/*/*/filter", 0600 },
	{ "events/*/*/hist", 0400 },
	{ "events/*/*/trigger", 0600 },
	{ "events/*/*/id", 0400 },
	{ "events/*/*/format", 0400 },
	{ "events/*/*/stats", 0400 },
	{ "options", 0700, true },
	{ "options/event-fork", 0600 },
	{ "user", 0700, true },
	{ "user/stats", 0400 },
	{ "per_cpu/cpu*/user_pipe_raw", 0400 },
	{ "per_cpu/cpu*/user_snapshot", 0400 },
	{ "instances", 0700, true },
	{ "persist", 0700, true },
	{ "persist/status", 0600 },
	{ "persist/metadata", 0400 },
	{ "persist/cpu*", 0400 },
};

struct tree tree;

/*
 * persist needs etch_persist= on the kernel's command line, its cpu* also unread packets; user and
 * user_* a kernel with events of programs;
 * set_event_cgroup a kernel with groups; dynamic_events and its kin one with probes, and stats
 * an event of a probe.
 */
bool is_optional(const struct row *r)
{
	return !strncmp(r->file, "persist", strlen("persist")) ||
	       !strncmp(r->file, "user", strlen("user")) || strstr(r->file, "/user_") ||
	       !strcmp(r->file, "set_event_cgroup") || strstr(r->file, "probe_events") ||
	       !strcmp(r->file, "dynamic_events") || !strcmp(r->file, "events/*/*/stats");
}

/* The path below the folder of the tree or of an instance. */
static const char *file_of(const char *path)
{
	static const char instances[] = ETCH "/instances/";
	size_t len = strlen(ETCH);

	if (!strncmp(path, instances, strlen(instances)))
		len = strlen(instances) + strcspn(path + strlen(instances), "/");
	return path[len] ? path + len + 1 : ".";
}

/* A row without * goes before one with it. */
const struct row *row_of(const char *path)
{
	const char *file = file_of(path);
	const struct row *found = NULL;

	for (size_t i = 0; i < NR_ROWS; i++) {
		if (!strcmp(rows[i].file, file))
			return &rows[i];
		if (!found && !fnmatch(rows[i].file, file, FNM_PATHNAME))
			found = &rows[i];
	}
	return found;
}

static int tree_visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	struct entry *e = &tree.entries[tree.nr];

	if (tree.nr == ARRAY_LEN(tree.entries))
		return 0;
	e->path = strdup(path);
	e->row = row_of(path);
	e->st = *st;
	if (e->row) {
		tree.nr++;
		tree.hits[e->row - rows]++;
		return 0;
	}
	tree.unknown++;
	printf("# %s has no row\n", path);
	return 0;
}

static int tree_visit_drawn(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	if (type == FTW_D && !test_draws(path))
		return FTW_SKIP_SUBTREE;
	return tree_visit(path, st, type, ftw);
}

/* All of the tree. */
void tree_walk(void)
{
	memset(&tree, 0, sizeof(tree));
	nftw(ETCH, tree_visit, 16, FTW_PHYS);
}

/* All but the events that the test does not draw. */
void tree_walk_drawn(void)
{
	memset(&tree, 0, sizeof(tree));
	nftw(ETCH, tree_visit_drawn, 16, FTW_PHYS | FTW_ACTIONRETVAL);
}

bool is_folder(const struct entry *e)
{
	return S_ISDIR(e->st.st_mode);
}

/* Opens and closes a file. 0 or an errno. */
int try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}
