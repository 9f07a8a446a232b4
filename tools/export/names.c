// SPDX-License-Identifier: GPL-2.0
/*
 * Threads: what they are called, and which process they belong to. The folder .etch has those
 * that were there when the recording began or ended; records have those between.
 */
#include "export/export.h"

#include <stdlib.h>

#define NAMES_THREAD	0x00010000	/* CLONE_THREAD of clone_flags */

/* A number and a name that stand in records of an event side by side. */
struct pair {
	const struct etch_field *tid, *comm;
};

/**
 * struct looked - fields of an event that tell names
 * @begun: the event has been asked
 * @pairs: where names are
 * @nr: how many of them
 * @clone_flags: of a new thread, whose number is @child
 * @child: see @clone_flags
 */
struct looked {
	bool begun;
	struct pair pairs[3];
	unsigned int nr;
	const struct etch_field *clone_flags, *child;
};

/* A table in which the place of a thread's number, or one behind it, has the thread. */
struct names {
	struct name **table, **order;
	size_t nr, room;
	struct looked *looked;
	unsigned int events;
};

static size_t place_of(const struct names *names, int tid)
{
	size_t at = (unsigned int)tid * 2654435761u & (names->room - 1);

	while (names->table[at] && names->table[at]->tid != tid)
		at = (at + 1) & (names->room - 1);
	return at;
}

static bool names_grow(struct names *names)
{
	struct name **old = names->table;
	size_t had = names->room;

	if (names->nr * 2 < had)
		return true;
	names->room = had ? 2 * had : 1024;
	names->table = calloc(names->room, sizeof(*names->table));
	if (!names->table) {
		names->table = old;
		names->room = had;
		return false;
	}
	for (size_t i = 0; i < had; i++)
		if (old[i])
			names->table[place_of(names, old[i]->tid)] = old[i];
	free(old);
	return true;
}

const struct name *names_find(const struct names *names, int tid)
{
	return names->table[place_of(names, tid)];
}

const char *names_now(const struct name *name)
{
	return !name ? "" : *name->now ? name->now : name->first;
}

/* The same, to change it; it is made if need be. NULL: no memory. */
static struct name *names_get(struct names *names, int tid)
{
	struct name *name = names->table[place_of(names, tid)];

	if (name)
		return name;
	name = calloc(1, sizeof(*name));
	if (!name || !names_grow(names)) {
		free(name);
		return NULL;
	}
	name->tid = tid;
	name->tgid = tid;
	names->table[place_of(names, tid)] = name;
	names->nr++;
	free(names->order);
	names->order = NULL;
	return name;
}

static int by_number(const void *a, const void *b)
{
	const struct name *one = *(struct name **)a, *two = *(struct name **)b;

	return one->tid < two->tid ? -1 : one->tid > two->tid;
}

const struct name *names_each(const struct names *constant, size_t n)
{
	struct names *names = (struct names *)constant;
	size_t at = 0;

	if (n >= names->nr)
		return NULL;
	if (!names->order) {
		names->order = malloc(names->nr * sizeof(*names->order));
		if (!names->order)
			return NULL;
		for (size_t i = 0; i < names->room; i++)
			if (names->table[i])
				names->order[at++] = names->table[i];
		qsort(names->order, at, sizeof(*names->order), by_number);
	}
	return names->order[n];
}

/* A name of @len bytes; control characters would end lines of other formats. */
static void put_name(char *to, const char *from, size_t len)
{
	size_t i;

	for (i = 0; i < len && i < 15; i++)
		to[i] = (unsigned char)from[i] < ' ' ? '?' : from[i];
	to[i] = 0;
}

struct names *names_open(const char *folder)
{
	struct names *names = calloc(1, sizeof(*names));
	struct etch_tasks *tasks = etch_tasks_open(folder);
	struct name *name;

	name = names && names_grow(names) ? names_get(names, 0) : NULL;
	if (!name) {
		etch_complaint("There is no memory for the names of threads");
		names_close(names);
		etch_tasks_close(tasks);
		return NULL;
	}
	put_name(name->first, "<idle>", 6);
	for (unsigned int i = 0; tasks && i < tasks->nr; i++) {
		const struct etch_task *task = &tasks->list[i];

		name = names_get(names, task->tid);
		if (!name)
			break;
		name->tgid = task->tgid;
		name->ppid = task->ppid;
		if (task->at_start)
			put_name(name->first, task->comm, strlen(task->comm));
		else if (!*name->first)
			put_name(name->now, task->comm, strlen(task->comm));
	}
	etch_tasks_close(tasks);
	return names;
}

void names_close(struct names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->room; i++)
		free(names->table[i]);
	free(names->table);
	free(names->order);
	free(names->looked);
	free(names);
}

void names_rewind(struct names *names)
{
	for (size_t i = 0; i < names->room; i++) {
		struct name *name = names->table[i];

		if (!name)
			continue;
		if (!*name->first)
			memcpy(name->first, name->now, sizeof(name->now));
		memset(name->now, 0, sizeof(name->now));
	}
	/* Events are of a source, and the next pass may have another one. */
	free(names->looked);
	names->looked = NULL;
	names->events = 0;
}

/* ---- Records ---- */

static void look_for(struct looked *looked, const struct etch_event *event)
{
	static const char * const words[][2] = {
		{ "prev_pid", "prev_comm" }, { "next_pid", "next_comm" },
		{ "parent_pid", "parent_comm" }, { "child_pid", "child_comm" },
		{ "pid", "newcomm" }, { "pid", "comm" },
	};

	looked->begun = true;
	if (strcmp(event->system, "sched") && strcmp(event->system, "task"))
		return;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words) && looked->nr < 3; i++) {
		struct pair pair = { etch_field(event, words[i][0]),
				     etch_field(event, words[i][1]) };

		if (pair.tid && pair.comm && pair.comm->kind == ETCH_TEXT)
			looked->pairs[looked->nr++] = pair;
	}
	if (!strcmp(event->name, "task_newtask")) {
		looked->clone_flags = etch_field(event, "clone_flags");
		looked->child = etch_field(event, "pid");
	}
}

static struct looked *looked_at(struct names *names, const struct etch_source *source,
				const struct etch_event *event)
{
	if (!names->looked) {
		names->looked = calloc(source->nr_events, sizeof(*names->looked));
		names->events = source->nr_events;
	}
	if (!names->looked || event->index >= names->events)
		return NULL;
	if (!names->looked[event->index].begun)
		look_for(&names->looked[event->index], event);
	return &names->looked[event->index];
}

/* A thread of the process of @parent, or a process of its own. */
static void name_child(struct names *names, int tid, int parent, bool thread)
{
	const struct name *of = names_find(names, parent);
	struct name *name = names_get(names, tid);

	if (!name)
		return;
	name->tgid = thread ? of ? of->tgid : parent : tid;
	name->ppid = thread ? of ? of->ppid : 0 : of ? of->tgid : parent;
}

/* Each thread is known; and, if nothing else tells its name, so is that. */
static void name_running(struct names *names, const struct etch_record *rec,
			 void (*changed)(struct export *x, const struct name *name),
			 struct export *x)
{
	struct name *name = names_get(names, rec->pid);

	if (!name || *name->now || rec->pid <= 0 || !rec->where || rec->where->pid != rec->pid ||
	    !*rec->where->comm)
		return;
	put_name(name->now, rec->where->comm, strlen(rec->where->comm));
	if (!*name->first)
		memcpy(name->first, name->now, sizeof(name->now));
	if (changed)
		changed(x, name);
}

void names_look(struct names *names, const struct etch_source *source,
		const struct etch_record *rec,
		void (*changed)(struct export *x, const struct name *name), struct export *x)
{
	struct looked *looked = looked_at(names, source, rec->event);
	char text[16] = "";

	if (looked && looked->clone_flags)
		name_child(names, (int)etch_number(rec, looked->child), rec->pid,
			   etch_number(rec, looked->clone_flags) & NAMES_THREAD);
	name_running(names, rec, changed, x);
	for (unsigned int i = 0; looked && i < looked->nr; i++) {
		int tid = (int)etch_number(rec, looked->pairs[i].tid);
		size_t len;
		const char *comm = etch_text(rec, looked->pairs[i].comm, &len);
		struct name *name = tid > 0 ? names_get(names, tid) : NULL;

		if (!name || !len)
			continue;
		put_name(text, comm, len);
		if (!*name->first)
			memcpy(name->first, text, sizeof(text));
		if (!strcmp(name->now, text))
			continue;
		memcpy(name->now, text, sizeof(text));
		if (changed)
			changed(x, name);
	}
}
