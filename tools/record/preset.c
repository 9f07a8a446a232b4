// SPDX-License-Identifier: GPL-2.0
/*
 * Presets: events that belong together, by a name.
 *
 * A preset is a list of globs, SYSTEM:EVENT each. Kernels differ in the events that they have,
 * so it asks for those that are there, and names the globs that nothing matches.
 */
#include "record.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct preset - a preset
 * @name: for -p
 * @globs: its events. Of "A|B", B counts only where the kernel has no A
 */
struct preset {
	const char *name, *globs;
};

static const struct preset presets[] = {
	{ "sched", "sched:sched_switch sched:sched_wak* sched:sched_migrate_task "
		   "sched:sched_pi_setprio sched:sched_process_* task:*" },
	/* Those with a name each tell of the arguments. */
	{ "syscalls", "syscalls:*|raw_syscalls:*" },
	{ "io", "block:* writeback:* scsi:* nvme:* mmc:*" },
	{ "irq", "irq:* irq_vectors:* ipi:* nmi:*" },
	{ "boot", "initcall:* module:* cpuhp:* printk:* regulator:* sched:sched_process_* task:*" },
	{ "all", "*:*" },
};

#define PRESETS		(sizeof(presets) / sizeof(*presets))
#define PRESET_NAMES	"sched, syscalls, io, irq, boot, all"
#define PRESET_ROOM	1024

static const struct preset *preset_find(const char *name, size_t len)
{
	for (size_t i = 0; i < PRESETS; i++)
		if (strlen(presets[i].name) == len && !memcmp(presets[i].name, name, len))
			return &presets[i];
	return NULL;
}

int preset_check(const char *names)
{
	for (;; names++) {
		size_t len = strcspn(names, ",");

		if (!preset_find(names, len))
			return fail("there is no preset '%.*s'. The presets are " PRESET_NAMES,
				    (int)len, names);
		names += len;
		if (!*names)
			return 0;
	}
}

/* Does the kernel have an event that @glob matches? */
static bool preset_matches(const char *events, const char *glob)
{
	char event[256];
	size_t len;

	for (const char *at = events; *at; at += len + (at[len] == '\n')) {
		len = strcspn(at, "\n");
		if (len >= sizeof(event))
			continue;
		memcpy(event, at, len);
		event[len] = 0;
		if (!fnmatch(glob, event, 0))
			return true;
	}
	return false;
}

static void preset_add(char *list, const char *glob)
{
	size_t len = strlen(list);

	snprintf(list + len, PRESET_ROOM - len, "%s%s", len ? " " : "", glob);
}

/* A word of a preset: what it comes to in this kernel goes to @there, or else to @missing. */
static void preset_word(const char *events, const char *word, char *there, char *missing)
{
	char alternatives[128], *rest = alternatives, *glob;

	snprintf(alternatives, sizeof(alternatives), "%s", word);
	while ((glob = strsep(&rest, "|")))
		if (preset_matches(events, glob)) {
			preset_add(there, glob);
			return;
		}
	preset_add(missing, word);
}

/* All of a preset. -1, said, if the kernel has nothing of it. */
static int preset_expand(const char *events, const struct preset *preset, char *there)
{
	char globs[PRESET_ROOM], missing[PRESET_ROOM] = "", *rest = globs, *word;
	size_t before = strlen(there);

	snprintf(globs, sizeof(globs), "%s", preset->globs);
	while ((word = strsep(&rest, " ")))
		preset_word(events, word, there, missing);
	if (strlen(there) == before)
		return fail("this kernel has no event of the preset %s: %s", preset->name, missing);
	if (*missing)
		say("of the preset %s, this kernel lacks %s; the others are recorded",
		    preset->name, missing);
	return 0;
}

int preset_choose(struct tree *tree, const char *names)
{
	char there[PRESET_ROOM] = "", *events = tree_events(tree);
	int ret = 0;

	if (!events)
		return -1;
	for (; !ret && *names; names += strcspn(names, ","), names += *names == ',')
		ret = preset_expand(events, preset_find(names, strcspn(names, ",")), there);
	free(events);
	return ret ? ret : tree_change(tree, "set_event", there);
}
