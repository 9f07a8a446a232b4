// SPDX-License-Identifier: GPL-2.0
/*
 * Names of threads: see names.h. The folder .etch has those that were there when the recording
 * began or ended; packets and records have those between.
 */
#include "read/names.h"

#include <stdlib.h>

#define NAMES_THREAD	0x00010000	/* CLONE_THREAD of clone_flags */

#define NAMES_PAIRS	3

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
 * @own: the name of the record's own thread
 * @tgid: of the thread of the only pair: its process, and
 * @ppid: the parent of that
 */
struct looked {
	bool begun;
	struct pair pairs[NAMES_PAIRS];
	unsigned int nr;
	const struct etch_field *clone_flags, *child, *own, *tgid, *ppid;
};

/**
 * struct names - the threads
 * @table: the place of a thread's number, or one behind it, has the thread; @room places
 * @order: all of them by number; NULL: not sorted since one came
 * @nr: how many there are
 * @room: a power of two
 * @looked: by event's index, of @events events
 * @events: see @looked
 * @packets: by place in the source's own @cpus, of @cpus of them: how many had been begun when
 *	the last one was looked at
 * @cpus: see @packets
 */
struct names {
	struct name **table, **order;
	size_t nr, room;
	struct looked *looked;
	unsigned int events;
	unsigned long long *packets;
	unsigned int cpus;
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

const char *names_shown(const struct names *names, int tid)
{
	const char *now = names_now(names_find(names, tid));

	return *now ? now : "<...>";
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
	free(names->packets);
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
	free(names->looked);
	names->looked = NULL;
	names->events = 0;
	free(names->packets);
	names->packets = NULL;
	names->cpus = 0;
}

/* ---- Events that tell ---- */

static void look_for(struct looked *looked, const struct etch_event *event)
{
	static const char * const words[][2] = {
		{ "prev_pid", "prev_comm" }, { "next_pid", "next_comm" },
		{ "parent_pid", "parent_comm" }, { "child_pid", "child_comm" },
		{ "pid", "newcomm" }, { "pid", "comm" }, { "tid", "comm" },
	};

	looked->begun = true;
	/*
	 * Since Linux 6.18 task_rename does not tell which thread it renames. Nearly always it is
	 * the thread that runs; a write to /proc may rename another thread of its process.
	 */
	looked->own = etch_is(event, "task:task_rename") && !etch_field(event, "pid") ?
		etch_field(event, "newcomm") : etch_field(event, "context_procname");
	if (looked->own && looked->own->kind != ETCH_TEXT)
		looked->own = NULL;
	if (strcmp(event->system, "sched") && strcmp(event->system, "task") &&
	    strcmp(event->system, "statedump"))
		return;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words) && looked->nr < NAMES_PAIRS; i++) {
		struct pair pair = { etch_field(event, words[i][0]),
				     etch_field(event, words[i][1]) };

		if (pair.tid && pair.comm && pair.comm->kind == ETCH_TEXT)
			looked->pairs[looked->nr++] = pair;
	}
	if (!strcmp(event->name, "task_newtask")) {
		looked->clone_flags = etch_field(event, "clone_flags");
		looked->child = etch_field(event, "pid");
	}
	if (!strcmp(event->name, "statedump_task")) {
		looked->tgid = etch_field(event, "tgid");
		looked->ppid = etch_field(event, "ppid");
	}
}

static struct looked *looked_at(struct names *names, const struct etch_source *source,
				const struct etch_event *event)
{
	struct looked *more;

	if (event->index >= names->events) {
		more = etch_by_event(source, names->looked, &names->events, sizeof(*more));
		if (!more)
			return NULL;
		names->looked = more;
	}
	if (!names->looked[event->index].begun)
		look_for(&names->looked[event->index], event);
	return &names->looked[event->index];
}

/* ---- Records ---- */

/* A function to call for each thread that gets another name. */
struct listener {
	void (*changed)(void *arg, const struct name *name);
	void *arg;
};

/* The thread's name is this from now on. */
static void name_is(struct name *name, const char *text, size_t len,
		    const struct listener *listener)
{
	char now[sizeof(name->now)];

	put_name(now, text, len);
	if (!*name->first)
		memcpy(name->first, now, sizeof(now));
	if (!strcmp(name->now, now))
		return;
	memcpy(name->now, now, sizeof(now));
	if (listener->changed)
		listener->changed(listener->arg, name);
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

/* A packet has the name of the thread that ran when it was begun. */
static void name_of_packet(struct names *names, const struct etch_source *source,
			   const struct etch_cpu *where, const struct listener *listener)
{
	size_t cpu = where - source->cpus, nr = source->nr_cpus + source->nr_programs;
	unsigned long long *more;
	struct name *name;

	if (cpu >= names->cpus) {
		more = realloc(names->packets, nr * sizeof(*more));
		if (!more)
			return;
		memset(more + names->cpus, 0, (nr - names->cpus) * sizeof(*more));
		names->packets = more;
		names->cpus = nr;
	}
	if (names->packets[cpu] == where->packets)
		return;
	names->packets[cpu] = where->packets;
	name = where->pid > 0 && *where->comm ? names_get(names, where->pid) : NULL;
	if (name)
		name_is(name, where->comm, strlen(where->comm), listener);
}

static void name_of_own(struct names *names, const struct looked *looked,
			const struct etch_record *rec, const struct listener *listener)
{
	struct name *name = rec->pid > 0 ? names_get(names, rec->pid) : NULL;
	size_t len;
	const char *comm = etch_text(rec, looked->own, &len);

	if (name && len)
		name_is(name, comm, len, listener);
}

static void names_tell(struct names *names, const struct looked *looked,
		       const struct etch_record *rec, const struct listener *listener)
{
	if (looked->own)
		name_of_own(names, looked, rec, listener);
	if (looked->clone_flags)
		name_child(names, (int)etch_number(rec, looked->child), rec->pid,
			   etch_number(rec, looked->clone_flags) & NAMES_THREAD);
	for (unsigned int i = 0; i < looked->nr; i++) {
		int tid = (int)etch_number(rec, looked->pairs[i].tid);
		size_t len;
		const char *comm = etch_text(rec, looked->pairs[i].comm, &len);
		struct name *name = tid > 0 ? names_get(names, tid) : NULL;

		if (!name)
			continue;
		if (looked->tgid && looked->ppid) {
			name->tgid = etch_number(rec, looked->tgid);
			name->ppid = etch_number(rec, looked->ppid);
		}
		if (len)
			name_is(name, comm, len, listener);
	}
}

void names_look(struct names *names, const struct etch_source *source,
		const struct etch_record *rec,
		void (*changed)(void *arg, const struct name *name), void *arg)
{
	const struct listener listener = { changed, arg };
	const struct looked *looked;

	if (rec->where)
		name_of_packet(names, source, rec->where, &listener);
	if (rec->loss)
		return;
	/* A record's thread is one, even if nothing tells its name. */
	names_get(names, rec->pid);
	looked = looked_at(names, source, rec->event);
	if (looked)
		names_tell(names, looked, rec, &listener);
}
