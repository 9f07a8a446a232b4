/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_WHOSE_H
#define _KERNEL_ETCH_WHOSE_H

/*
 * Whose events an instance records: those of all tasks, or of some.
 *
 * This is decided for all events of the instance alike, by the task that hits the event and
 * before there is a record. The events of the scheduler that switch to a task or wake one up are
 * also recorded if that task is the one; then its number is taken from the record.
 */

#include <linux/bitops.h>
#include <linux/rcupdate.h>
#include <linux/threads.h>
#include <linux/types.h>

#include "event/event.h"

struct cgroup;

/* A bit for each thread ID that there can be. */
#define ETCH_PIDS_BYTES		(BITS_TO_LONGS(PID_MAX_LIMIT) * sizeof(long))

/**
 * struct etch_whose - the tasks whose events an instance records
 * @rcu: frees it
 * @only: by thread ID, in the initial namespace; NULL: all
 * @not: of these, all but these; NULL: all
 * @cgroup: of these, those in this group of the v2 hierarchy or below it; NULL: all
 * @follow: children of a task in @only or @not get there, too, and tasks that end leave
 *
 * Writers read all of it. Bits of @only and @not change at any time, the rest does not.
 */
struct etch_whose {
	struct rcu_head rcu;
	unsigned long *only;
	unsigned long *not;
	struct cgroup *cgroup;
	bool follow;
};

/* By the instance's bit; NULL: all tasks. And the bits of those that leave tasks out. */
extern struct etch_whose __rcu *etch_whose[ETCH_BITS];
extern u64 etch_whose_bits;

int etch_whose_set(struct etch_recorder *rec, struct etch_whose *whose);

bool etch_whose_current(const struct etch_whose *whose);
bool etch_whose_pid(const struct etch_whose *whose, pid_t pid);

/* Do the two sets of thread IDs let this one pass? */
static __always_inline bool etch_whose_has_pid(const struct etch_whose *whose, pid_t pid)
{
	if (whose->only && !test_bit(pid, whose->only))
		return false;
	return !whose->not || !test_bit(pid, whose->not);
}

static inline bool etch_whose_restricts(const struct etch_whose *whose)
{
	return whose && (whose->only || whose->not || whose->cgroup);
}

static inline struct etch_whose *etch_whose_get(const struct etch_recorder *rec)
{
	return rcu_dereference_protected(etch_whose[rec->bit], lockdep_is_held(&etch_mutex));
}

#endif /* _KERNEL_ETCH_WHOSE_H */
