/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_USER_H
#define _KERNEL_ETCH_USER_H

/*
 * Events of programs: <uapi/linux/etch_user.h> has what programs do.
 *
 * event.c has their descriptions and gates, ring.c the processes and their rings, write.c the
 * records that the kernel stores for a program, block.c what is read out of a ring, reader.c the
 * records of several rings in the order of time, device.c /dev/etch. text/user_stats.c shows
 * the counts.
 *
 * LOCKS, inside those of instance.h
 *
 *	instance->read_mutex	the instance's rings: which there are, and how far each is read
 *	etch_user_lock		a spin lock: which rings and processes there are, and which of
 *				them are mapped. Taken when mappings come and go.
 *
 * Rings are made under etch_mutex and the instance's read_mutex, but mapped under neither,
 * because a mapping comes and goes under the mmap_lock of its process.
 */

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/types.h>
#include <linux/xarray.h>
#include <uapi/linux/etch_user.h>

#include "instance/instance.h"
#include "user/reader.h"

struct file;
struct mm_struct;
struct user_struct;
struct vm_area_struct;

/**
 * struct etch_user_process - a process that has rings
 * @node: in the list of all; under etch_user_lock
 * @mm: its memory, as a key and no more; NULL: it has no mapping of a ring any more
 * @mapped: how many mappings it has; under etch_user_lock
 * @held: @mm is held until the end, because the kernel writes rings for the process
 * @ref: held by its rings
 * @tgid: its number in the initial namespace
 * @comm: its name, when it got its first ring
 * @tids: its threads that have written, by their numbers in the initial namespace
 * @written: the rings that the kernel writes for it, by etch_user_key(); under the xarray's lock
 */
struct etch_user_process {
	struct list_head node;
	struct mm_struct *mm;
	unsigned int mapped;
	bool held;
	struct kref ref;
	pid_t tgid;
	char comm[TASK_COMM_LEN];
	struct xarray tids;
	struct xarray written;
};

/**
 * struct etch_user_place - how far a ring was read
 * @next: the position behind what was read
 * @seen: records up to there, as the program counts them
 * @lost: records that the program had lost when the block of @next was begun
 * @due: records missing before @next that were not reported yet
 * @given_way: of these, how many had been stored
 * @last: the time of the record that was read last
 * @unsure: @seen is not known any more
 */
struct etch_user_place {
	u64 next;
	u64 seen;
	u64 lost;
	u64 due;
	u64 given_way;
	u64 last;
	bool unsure;
};

/**
 * struct etch_user_counts - what became of records
 * @read: they were read
 * @overwritten: they gave way to new ones
 * @lost: the program did not store them
 * @malformed: they were in a block behind something that makes no sense, or how often there was
 *	       something like that, if their number is not known
 */
struct etch_user_counts {
	u64 read;
	u64 overwritten;
	u64 lost;
	u64 malformed;
};

/**
 * struct etch_user_ring_of - a ring of a process, an instance and a CPU
 * @node: in etch_user.rings of its instance; under its read_mutex
 * @ref: held by the instance, by mappings, and by readers
 * @words: what the program has mapped, ETCH_USER_RING bytes
 * @process: whose
 * @cpu: the CPU
 * @id: where in /dev/etch it is mapped, in pages
 * @mapped: how many mappings it has; under etch_user_lock
 * @born: it was mapped, or will never be; under etch_user_lock
 * @written: the kernel writes it, and nobody can map it
 * @user: to whom its pages are charged
 * @at: how far it was taken; under the read_mutex
 * @counts: of the records that were taken; under the read_mutex
 * @forgotten: records that the program had lost when the instance was emptied last
 * @stop: where it was stopped: nothing behind this position is read; U64_MAX: it goes
 * @stop_lost: records that the program had lost then
 * @flushed: readers want records before this position at once: see etch_user_flush()
 */
struct etch_user_ring_of {
	struct list_head node;
	struct kref ref;
	struct etch_user_ring *words;
	struct etch_user_process *process;
	int cpu;
	u32 id;
	unsigned int mapped;
	bool born;
	bool written;
	struct user_struct *user;
	struct etch_user_place at;
	struct etch_user_counts counts;
	u64 forgotten;
	u64 stop;
	u64 stop_lost;
	u64 flushed;
};

/**
 * struct etch_user_base - what a CPU's packets go on from
 * @last: all records of up to this time were taken; none is taken that is older
 * @tail: counts of packets so far, and of records that no reader was given; see
 *	  struct etch_user_tail
 */
struct etch_user_base {
	u64 last;
	struct etch_user_tail tail;
};

/**
 * struct etch_user - what an instance has for programs
 * @rings: struct etch_user_ring_of
 * @generation: counts up when one comes or goes
 * @resets: counts up when they are emptied
 * @cpus: those that have a ring
 * @gone: the counts of rings that have gone
 * @bases: by CPU; under the read_mutex
 * @look: looks for records, while readers wait
 * @inst: the instance
 */
struct etch_user {
	struct list_head rings;
	unsigned int generation;
	unsigned int resets;
	cpumask_var_t cpus;
	struct etch_user_counts gone;
	struct etch_user_base *bases;
	struct delayed_work look;
	struct etch_instance *inst;
};

/* ---- event.c ---- */

/* Events that a user may have registered, and no program has. */
#define ETCH_USER_QUOTA		1024

/**
 * struct etch_user_gates - an open file's array of gates
 * @masks: the array, a page, that the program has mapped
 * @links: by index: to its event's list
 */
struct etch_user_gates {
	u32 *masks;
	struct etch_user_gate {
		struct list_head node;
		u32 *mask;
	} **links;
};

/* All under etch_mutex, but for the first and the last. */
struct etch_user_gates *etch_user_gates_alloc(void);
void etch_user_gates_free(struct etch_user_gates *gates);
int etch_user_event_add(struct etch_user_gates *gates, unsigned int gate, const char *name,
			const char *fields);
int etch_user_event_remove(const char *name);
u32 etch_user_event_mask(const struct etch_event *event);

/* ---- ring.c ---- */

extern spinlock_t etch_user_lock;

struct etch_user_ring_of *etch_user_attach(struct etch_instance *inst, int cpu, bool written);
struct etch_user_process *etch_user_process_find(void);
void etch_user_process_put(struct etch_user_process *p);
int etch_user_thread(void);
void etch_user_abandon(struct etch_user_ring_of *ring);
int etch_user_map(u32 id, struct vm_area_struct *vma);
void etch_user_ring_put(struct etch_user_ring_of *ring);
bool etch_user_ring_orphan(const struct etch_user_ring_of *ring);
void etch_user_ring_drop(struct etch_instance *inst, struct etch_user_ring_of *ring);
void etch_user_follow(struct etch_instance *inst);
void etch_user_settle(struct etch_instance *inst);
void etch_user_reset(struct etch_instance *inst, int cpu);
void etch_user_remove(struct etch_instance *inst);
void etch_user_wait(struct etch_instance *inst);
void etch_user_untold(struct etch_instance *inst, struct etch_user_ring_of *ring);

/* Where struct etch_user_process has the ring of an instance's bit and a CPU. */
static inline unsigned long etch_user_key(unsigned int bit, int cpu)
{
	return (unsigned long)bit * nr_cpu_ids + cpu;
}

/* ---- write.c ---- */

int etch_user_write(struct etch_head *record, unsigned int id, unsigned int len);

/* ---- block.c ---- */

/**
 * struct etch_user_view - some records of a ring, copied
 * @data: the copy, of ETCH_USER_SUBBUF bytes
 * @at: where in @data the next record is
 * @end: where the records end
 * @behind: the position to go on from when @at is there
 * @place: the position of @at, and all before it
 * @limit: positions up to which there is something to see
 * @now: no record that was copied can be newer
 * @counts: what the view has come upon
 * @pid: a thread of the program's, of which a record was seen; 0: none
 * @fixed: an event whose records all have @fixed_len bytes, as of @generation
 * @fixed_len: see @fixed; 0: no event
 * @generation: etch_generation, before the event was looked up
 */
struct etch_user_view {
	void *data;
	unsigned int at;
	unsigned int end;
	u64 behind;
	struct etch_user_place place;
	u64 limit;
	u64 now;
	struct etch_user_counts counts;
	pid_t pid;
	unsigned int fixed;
	unsigned int fixed_len;
	unsigned int generation;
};

/* Is a ring one of these CPUs'? */
static inline bool etch_user_wants(const struct etch_user_ring_of *ring, int first,
				   unsigned int nr)
{
	return ring->cpu >= first && ring->cpu - first < nr;
}

u64 etch_user_pos(const struct etch_user_ring_of *ring);
void etch_user_tell(struct etch_user_ring_of *ring);
void etch_user_forget(struct etch_user_ring_of *ring);
void etch_user_counts(const struct etch_user_ring_of *ring, struct etch_user_counts *counts);
u64 etch_user_limit(const struct etch_user_ring_of *ring);
bool etch_user_ring_empty(const struct etch_user_ring_of *ring);
u64 etch_user_unread(const struct etch_user_ring_of *ring);
u64 etch_user_unread_lost(const struct etch_user_ring_of *ring);
const struct etch_head *etch_user_view_record(const struct etch_user_ring_of *ring,
					      struct etch_user_view *view, unsigned int *len,
					      u64 *time);
unsigned int etch_user_view_run(struct etch_user_view *view, unsigned int len, u64 *time,
				u64 until, unsigned int room);
void etch_user_view_step(struct etch_user_view *view, unsigned int len, u64 time);

#endif /* _KERNEL_ETCH_USER_H */
