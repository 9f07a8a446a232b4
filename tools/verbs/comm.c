// SPDX-License-Identifier: GPL-2.0
/*
 * Names of threads: see comm.h. A hash table of those that are known.
 */
#include "verbs/comm.h"

#include <stdlib.h>

struct comm {
	int pid;
	char name[COMM_ROOM];
};

/* Fields of an event: a thread and its name. */
struct teller {
	const struct etch_field *pid[2], *comm[2];
};

/**
 * struct comms - the names
 * @source: the trace
 * @list: a hash table of @room places, of which @nr have a name
 * @room: a power of two
 * @nr: see @list
 * @tellers: by event's index; of events that tell no name, empty
 * @packets: by CPU: how many had been begun when its name was taken
 */
struct comms {
	struct etch_source *source;
	struct comm *list;
	size_t room, nr;
	struct teller *tellers;
	unsigned long long *packets;
};

static size_t place_of(const struct comms *comms, int pid)
{
	size_t at = (uint32_t)pid * 2654435761u & (comms->room - 1);

	while (*comms->list[at].name && comms->list[at].pid != pid)
		at = (at + 1) & (comms->room - 1);
	return at;
}

static void double_room(struct comms *comms)
{
	struct comm *old = comms->list;
	size_t nr = comms->room;

	comms->list = calloc(2 * nr, sizeof(*comms->list));
	if (!comms->list) {
		comms->list = old;
		return;
	}
	comms->room = 2 * nr;
	for (size_t i = 0; i < nr; i++)
		if (*old[i].name)
			comms->list[place_of(comms, old[i].pid)] = old[i];
	free(old);
}

static void learn(struct comms *comms, int pid, const char *name, size_t len)
{
	struct comm *comm;

	len = strnlen(name, len < COMM_ROOM - 1 ? len : COMM_ROOM - 1);
	if (!len || !pid)
		return;
	if (2 * comms->nr >= comms->room)
		double_room(comms);
	if (comms->nr + 1 >= comms->room)
		return;
	comm = &comms->list[place_of(comms, pid)];
	comms->nr += !*comm->name;
	comm->pid = pid;
	memcpy(comm->name, name, len);
	comm->name[len] = 0;
}

/* ---- Events that tell ---- */

static void tell(struct comms *comms, const char *event, int i, const char *pid, const char *comm)
{
	for (unsigned int n = 0; n < comms->source->nr_events; n++) {
		const struct etch_event *each = comms->source->events[n];
		struct teller *teller = &comms->tellers[n];

		if (!etch_is(each, event))
			continue;
		teller->pid[i] = etch_field(each, pid);
		teller->comm[i] = etch_field(each, comm);
		if (!teller->pid[i] || !teller->comm[i] || teller->comm[i]->kind != ETCH_TEXT)
			teller->pid[i] = NULL;
	}
}

static void find_tellers(struct comms *comms)
{
	tell(comms, "sched:sched_switch", 0, "prev_pid", "prev_comm");
	tell(comms, "sched:sched_switch", 1, "next_pid", "next_comm");
	tell(comms, "sched:sched_waking", 0, "pid", "comm");
	tell(comms, "sched:sched_wakeup_new", 0, "pid", "comm");
	tell(comms, "sched:sched_process_fork", 0, "child_pid", "child_comm");
	tell(comms, "task:task_newtask", 0, "pid", "comm");
	tell(comms, "task:task_rename", 0, "pid", "newcomm");
	tell(comms, "statedump:statedump_task", 0, "tid", "comm");
}

void comms_learn(struct comms *comms, const struct etch_record *rec)
{
	unsigned long long *packets = &comms->packets[rec->where - comms->source->cpus];
	const struct teller *teller;

	if (*packets != rec->where->packets) {
		*packets = rec->where->packets;
		learn(comms, rec->where->pid, rec->where->comm, sizeof(rec->where->comm));
	}
	if (rec->loss)
		return;
	teller = &comms->tellers[rec->event->index];
	for (int i = 0; i < 2 && teller->pid[i]; i++) {
		size_t len;
		const char *name = etch_text(rec, teller->comm[i], &len);

		learn(comms, etch_number(rec, teller->pid[i]), name, len);
	}
}

const char *comm_of(const struct comms *comms, int pid)
{
	const struct comm *comm = &comms->list[place_of(comms, pid)];

	if (!pid)
		return "<idle>";
	return *comm->name ? comm->name : "<...>";
}

/* ---- All of them ---- */

static void learn_tasks(struct comms *comms)
{
	struct etch_tasks *tasks = etch_tasks_open(comms->source->path);

	/* Backwards, so that the name at the start counts. */
	for (unsigned int i = tasks ? tasks->nr : 0; i--;)
		learn(comms, tasks->list[i].tid, tasks->list[i].comm, COMM_ROOM);
	etch_tasks_close(tasks);
}

struct comms *comms_open(struct etch_source *source)
{
	struct comms *comms = calloc(1, sizeof(*comms));

	if (comms) {
		comms->source = source;
		comms->room = 1024;
		comms->list = calloc(comms->room, sizeof(*comms->list));
		comms->tellers = calloc(source->nr_events + 1, sizeof(*comms->tellers));
		comms->packets = calloc(source->nr_cpus + source->nr_programs + 1,
					sizeof(*comms->packets));
	}
	if (!comms || !comms->list || !comms->tellers || !comms->packets) {
		etch_complaint("There is no memory for names of threads");
		comms_close(comms);
		return NULL;
	}
	find_tellers(comms);
	learn_tasks(comms);
	return comms;
}

void comms_close(struct comms *comms)
{
	if (!comms)
		return;
	free(comms->list);
	free(comms->tellers);
	free(comms->packets);
	free(comms);
}
