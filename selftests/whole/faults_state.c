// SPDX-License-Identifier: GPL-2.0

#include <dirent.h>
#include <limits.h>

#include "faults_state.h"

/*
 * How many files and folders a folder has, with @deep also below it; 0 if there is none.
 */
unsigned int count_files(const char *path, bool deep)
{
	unsigned int nr = 0;
	struct dirent *entry;
	char below[PATH_MAX];
	DIR *dir = opendir(path);

	while (dir && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		nr++;
		snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
		if (deep && entry->d_type == DT_DIR)
			nr += count_files(below, true);
	}
	if (dir)
		closedir(dir);
	return nr;
}

static void state_of_tree(char **at, char *end, const char *tree)
{
	static const char * const files[] = {
		"tracing_on", "trace_clock", "buffer_size_kb", "buffer_subbuf_size_kb",
		"buffer_percent", "buffer_mode", "snapshot", "per_cpu/cpu0/buffer_size_kb",
		"events/enable", "events/sched/sched_switch/filter",
		"events/sched/sched_waking/filter", "set_event_pid", "set_event_notrace_pid",
		"set_event_cgroup", "options/event-fork", "budget",
		"events/sched/sched_process_exit/trigger",
		"events/sched/sched_process_fork/trigger",
		"events/sched/sched_process_fork/enable",
	};
	char *events;

	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		*at += snprintf(*at, end - *at, "%s: %s\n", files[i], read_line(tree, files[i]));
	events = read_file(tree, "set_event");
	*at += snprintf(*at, end - *at, "%s", events ?: "no set_event\n");
	/* With events on, the number of records changes at any time. */
	if (events && !*events)
		*at += snprintf(*at, end - *at, "%lld of %lld records\n",
				stat_sum(tree, "entries"), stat_sum(tree, "written"));
	free(events);
}

void state_of(char state[STATE_MAX])
{
	char *at = state, *end = state + STATE_MAX;

	state_of_tree(&at, end, ETCH);
	state_of_tree(&at, end, TREE);
	snprintf(at, end - at, "%u instances, sample: %s, rings: %s\n",
		 count_files(ETCH "/instances", false),
		 access("/sys/module/" SAMPLE, F_OK) ? "no" : "yes",
		 access("/sys/module/" RING_SAMPLE, F_OK) ? "no" : "yes");
}

/*
 * Line by line the same. But an event that was enabled for a moment, before a later step
 * failed, may have been hit.
 */
bool same_state(const char *was, const char *is)
{
	while (*was && *is) {
		unsigned long long had, have;

		if (sscanf(was, "%llu of %*u records", &had) == 1 &&
		    sscanf(is, "%llu of %*u records", &have) == 1) {
			if (have < had)
				return false;
		} else if (strcspn(was, "\n") != strcspn(is, "\n") ||
			   memcmp(was, is, strcspn(was, "\n"))) {
			return false;
		}
		was += strcspn(was, "\n");
		is += strcspn(is, "\n");
		was += *was == '\n';
		is += *is == '\n';
	}
	return !*was && !*is;
}

/* KiB, as /proc/meminfo has them. */
long long memory_of(const char *name)
{
	char *text = read_path("/proc/meminfo", NULL);
	long long kb = number_in(text, name);

	free(text);
	return kb;
}

/* Caches give back what is free in them; with KASAN that is kept for a while otherwise. */
void shrink_caches(void)
{
	DIR *caches = opendir("/sys/kernel/slab");
	struct dirent *cache;
	char file[300];

	usleep(300000);		/* what RCU is about to free, as files' inodes */
	while (caches && (cache = readdir(caches))) {
		if (cache->d_name[0] == '.')
			continue;
		snprintf(file, sizeof(file), "%s/shrink", cache->d_name);
		write_file("/sys/kernel/slab", file, "1");
	}
	if (caches)
		closedir(caches);
}
