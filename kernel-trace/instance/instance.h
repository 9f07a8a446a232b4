/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_INSTANCE_H
#define _KERNEL_ETCH_INSTANCE_H

/*
 * Instances: rings for each CPU, the settings they share, and the errors in the text that
 * users write to them. Knows events and rings, and nothing of files and formats.
 *
 * LOCKS, outermost first
 *
 *	etch_mutex		control: the instances, what they record, sizes,
 *				modes, clocks; events coming and going.
 *	an open file's lock	what it has taken out of the rings and not given out
 *				yet: trace_pipe's lines, trace_pipe_raw's packets,
 *				a snapshot's. Not under etch_mutex, and not held while
 *				its reader waits for records. At the end of a
 *				recording, the reader of packets has CPUs stand still
 *				under it, to flush.
 *	instance->read_mutex	the readers of one instance, and all code that needs
 *				its rings to stand still.
 *	etch_event_sem		read: an id may be looked up and its event's
 *				printer called. Write: an event comes or goes.
 *				Innermost, because readers print under it.
 *
 * etch_mutex is taken inside the inode locks of the file system of the tree (tree/fs.h).
 * It is taken where modules come and go, inside the lock of the module notifier chain.
 * It is not taken where CPUs come and go: opening a gate waits for that, under
 * etch_mutex. A CPU's ring is made and freed under read_mutex alone, which keeps
 * the CPU from coming or going meanwhile, as far as the ring is concerned. So nothing may
 * wait for CPUs to stand still under read_mutex.
 */

#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/uuid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "event/event.h"

/* Bytes at the start of a sub-buffer that are left for a packet's header. */
#define ETCH_PACKET_HEADER	128

struct etch_contexts;
struct etch_owners;
struct etch_snapshot;
struct seq_file;

struct etch_instance;
struct etch_user;

/**
 * struct etch_annex - a room that keeps records of an instance outside of its rings
 * @follow: the instance was turned on or off, or its mode or clock was changed
 * @reset: it is emptied: a CPU, or ETCH_ALL_CPUS
 * @wait: a reader waits for records, and must be woken for those, too
 * @remove: it goes, and nobody has a file of it open
 *
 * All but @remove are called under its read_mutex; @remove is called under etch_mutex.
 */
struct etch_annex {
	void (*follow)(struct etch_instance *inst);
	void (*reset)(struct etch_instance *inst, int cpu);
	void (*wait)(struct etch_instance *inst);
	void (*remove)(struct etch_instance *inst);
};

/* NULL: there is none. Set once, before there are instances. */
extern const struct etch_annex *etch_annex;

/**
 * struct etch_store - memory that an instance's rings lie in
 * @ring: makes a CPU's ring there, as etch_ring_create() does in any memory
 */
struct etch_store {
	struct etch_ring *(*ring)(struct etch_store *store, int cpu,
				  const struct etch_ring_params *params);
};

/**
 * struct etch_origin - where a clock stands in the time of the world
 * @ns: the wall clock's time when it was at zero
 * @hz: ticks per second, of which that goes
 * @uuid: of the clock with this origin
 * @known: there is something in here
 */
struct etch_origin {
	s64 ns;
	u64 hz;
	uuid_t uuid;
	bool known;
};

/**
 * struct etch_stream_base - what a CPU's rings had counted before the one of now
 * @seq: sub-buffers
 * @overwritten: records
 * @lost: records, by cause
 * @floor: not a count: the latest time in a ring that has gone
 * @reported: as of the packet that was given out last: its number, and all lost before it, in
 *	      sum and by cause, as struct etch_packet_header has them
 * @flushed: full sub-buffers are wanted at once, however few there are, up to this
 *	     number: those that were there when a flush was asked for
 * @lines: for all readers of trace_pipe together: the ring's losses of which they know,
 *	   and how many of these, and of the overwritten, no line has reported yet
 *
 * All under the instance's read_mutex.
 */
struct etch_stream_base {
	u64 seq;
	u64 overwritten;
	u64 lost[ETCH_LOST_OFF];
	u64 floor;
	struct etch_reported {
		u64 seq;
		u64 discarded;
		u64 overwritten;
		u32 full;
		u32 throttled;
		u32 nested;
		u32 too_big;
	} reported;
	u64 flushed;
	struct etch_unreported {
		u64 lost;
		u64 due;
	} lines;
};

/**
 * struct etch_absent - a stand-in for the ring of a CPU that has none
 * @ring: all zeroes, which is a ring that is off: it loses what comes, and counts it
 * @forgotten: of these, when the instance was emptied last
 * @filtered: records that had not passed a filter then, ring or not
 */
struct etch_absent {
	struct etch_ring ring;
	u64 forgotten;
	u64 filtered;
};

/* Bytes a second, and the largest figure that users can set: the ring counts in nanoseconds. */
#define ETCH_BUDGET_MAX_BYTES	BIT_ULL(40)

/**
 * struct etch_budget - how much may be recorded, all CPUs together
 * @of_rings: as rings understand it
 * @bytes: a second; 0: any number
 * @percent: of the time of one CPU; 0: any share
 * @ns: what a record counts as, when @percent is not 0
 */
struct etch_budget {
	struct etch_ring_budget of_rings;
	u64 bytes;
	unsigned int percent;
	unsigned int ns;
};

/**
 * struct etch_instance - a tree with events, buffers and readers of its own
 * @name: of its folder in instances/; NULL for the main tree
 * @rec: what events know of it
 * @on: tracing_on, as users and hits of triggers want it: see etch_instance_turn()
 * @dumped: what it holds was dumped, and nothing was recorded since
 * @changing: rings are being changed, or are about to be: see etch_rings_stop()
 * @overwrite: a full ring drops its oldest records, else new ones are lost
 * @clock: where time stamps come from
 * @uuid: of the trace that it records; changed when the records so far and those to come
 *	   have no common time
 * @origin: of its clock, as metadata tells it; not yet known: nobody has asked since there
 *	   is this @uuid
 * @cpu_bytes: for CPUs that come: bytes of a ring
 * @full_bytes: it has no rings yet, and gets rings of so many bytes before something is first
 *		recorded; 0: it has rings
 * @subbuf_bytes: of a sub-buffer, the same in all rings
 * @percent: how full a ring has to be for waiting readers to be woken; 0: not empty
 * @budget: of all its rings; set under etch_mutex
 * @contexts: of its records, or NULL; set under etch_mutex and @read_mutex
 * @rings: by CPU; NULL where there is none. This and the settings above change
 *	   under @read_mutex, for CPUs come and go without etch_mutex
 * @cpus: those that may write: all that are on line, and those on their way there or from
 *	  there that have been announced to us; under @read_mutex
 * @absent: what writers on CPUs without a ring find instead
 * @bases: by CPU: what its packets go on from; under @read_mutex
 * @snapshot: the moment that was chosen, or NULL; under @read_mutex (snapshot.c)
 * @store: where the rings are, or NULL: in any memory
 * @user: what programs have recorded, or NULL: nothing yet; under @read_mutex (user/)
 * @read_mutex: serialises all that the rings want serialised (etch_ring.h)
 * @epochs: by CPU: counts what makes the cursors of peeking readers void: its ring was
 *	    emptied, resized, exchanged or freed; under @read_mutex
 * @hotplug: tells of CPUs that come and go
 * @users: open files that keep the folder from being removed
 * @going: no file may be opened, because it is being made or removed
 * @ref: keeps this structure, and nothing else of the instance, for inodes of its files
 * @unshow: called when it is destroyed and no file of it can be opened; NULL: it has none
 * @owners: of its files (tree/owner.c)
 * @wait: readers that wait for records, or for a change of the rings
 * @alarm: wakes them, when a writer has raised the alarm that they set
 * @pressed: one of the alarms since @alarm ran last may not be put off
 * @woken: the tick in which an alarm, or @look_again, woke them last
 * @later: wakes them in the next tick, for alarms that were put off
 * @look_again: wakes them, if a writer did not know of the alarm
 * @again: alarms were set when @look_again was on its way already; under @read_mutex
 * @asked: by CPU: what @look_again is to look for, of enum etch_asked; under @read_mutex
 * @errors: its error_log; under @errors_lock
 * @nr_errors: how many are in @errors
 * @errors_lock: innermost of all
 */
struct etch_instance {
	char *name;
	struct etch_recorder rec;
	int on;
	bool dumped;
	bool changing;
	bool overwrite;
	enum etch_clock clock;
	uuid_t uuid;
	struct etch_origin origin;
	unsigned long cpu_bytes;
	unsigned long full_bytes;
	unsigned int subbuf_bytes;
	unsigned int percent;
	struct etch_budget budget;
	struct etch_contexts *contexts;
	struct etch_ring **rings;
	cpumask_var_t cpus;
	struct etch_absent __percpu *absent;
	struct etch_stream_base *bases;
	struct etch_snapshot *snapshot;
	struct etch_store *store;
	struct etch_user *user;
	struct mutex read_mutex;
	unsigned int *epochs;
	struct hlist_node hotplug;
	unsigned int users;
	bool going;
	struct kref ref;
	void (*unshow)(struct etch_instance *inst);
	struct etch_owners *owners;
	wait_queue_head_t wait;
	struct irq_work alarm;
	bool pressed;
	unsigned long woken;
	struct timer_list later;
	struct rcu_work look_again;
	bool again;
	u8 *asked;
	struct list_head errors;
	unsigned int nr_errors;
	struct mutex errors_lock;
};

/* By bit; NULL where there is none. Under etch_mutex. */
extern struct etch_instance *etch_instances[ETCH_BITS];

/* Under etch_mutex, all of these; reset takes it itself. May sleep. */
struct etch_instance *etch_instance_create(const char *name, unsigned long cpu_bytes,
					   unsigned int subbuf);
struct etch_instance *etch_instance_create_in(const char *name, struct etch_store *store,
					      unsigned int subbuf);
int etch_instance_check_new(const char *name);
void etch_instance_ready(struct etch_instance *inst);
int etch_instance_destroy(struct etch_instance *inst);
int etch_instance_grow(struct etch_instance *inst);
int etch_instance_set_on(struct etch_instance *inst, bool on);
void etch_instance_settle(struct etch_instance *inst);
int etch_instance_resize(struct etch_instance *inst, int cpu, unsigned long bytes);
unsigned long etch_instance_bytes(struct etch_instance *inst, int cpu);
u64 etch_instance_absent(struct etch_instance *inst, int cpu);
u64 etch_instance_filtered(struct etch_instance *inst, int cpu);
int etch_instance_set_subbuf(struct etch_instance *inst, unsigned int subbuf);
void etch_instance_set_mode(struct etch_instance *inst, bool overwrite);
void etch_instance_set_clock(struct etch_instance *inst, enum etch_clock clock);
void etch_instance_reset(struct etch_instance *inst, int cpu);
int etch_instances_init(void);

/* contexts.c */
int etch_contexts_init(void);
/* Under etch_mutex. */
int etch_instance_set_contexts(struct etch_instance *inst, struct etch_contexts *c);

/* budget.c. Under etch_mutex; and in any process. */
int etch_instance_set_budget(struct etch_instance *inst, u64 bytes, unsigned int percent);
u64 etch_instance_throttled(struct etch_instance *inst);

/* Any context, NMI included; an RCU reader. */
bool etch_instance_turn(struct etch_instance *inst, bool on);

/* An open file: -ENODEV when the instance is going. No lock needed. */
int etch_instance_get(struct etch_instance *inst);
void etch_instance_put(struct etch_instance *inst);

/* An inode: the structure stays in memory, and the instance may go. */
void etch_instance_hold(struct etch_instance *inst);
void etch_instance_drop(struct etch_instance *inst);
bool etch_instance_shown(const struct etch_instance *inst);

/* Bytes that a sub-buffer can have, not less than @bytes; 0: none has so many. */
unsigned int etch_subbuf_bytes(unsigned long bytes);

/* All CPUs, where a function takes one. */
#define ETCH_ALL_CPUS		(-1)

/* ---- wait.c: readers that wait ---- */

void etch_wait_init(struct etch_instance *inst);
void etch_wait_exit(struct etch_instance *inst);

void etch_instance_set_alarm(struct etch_instance *inst, int want, bool whole);
void etch_instance_alarm(void *data, bool pressing);

/* Under etch_mutex; under read_mutex. */
void etch_instance_set_percent(struct etch_instance *inst, unsigned int percent);
bool etch_ring_reached(const struct etch_instance *inst, const struct etch_ring *ring);

/* ---- age.c: what time does to rings ---- */

void etch_age_look(void);

/* ---- stream.c ---- */

/* Under read_mutex. */
void etch_stream_rebase(struct etch_instance *inst, int cpu, struct etch_ring *ring);

/* ---- error_log.c: errors in users' input, and their places ---- */

/*
 * Remembers, for error_log: the file (@where), the text written to it (@input), the
 * byte in it that is wrong (@at), and the sentence that says why.
 */
__printf(5, 6)
void etch_error(struct etch_instance *inst, const char *where, const char *input,
		unsigned int at, const char *why, ...);
void etch_errors_show(struct seq_file *m, struct etch_instance *inst);
void etch_errors_clear(struct etch_instance *inst);

/* ---- input.c: what users write ---- */

/* A per-CPU file's inode->i_private; for those of a whole instance, cpu is ETCH_ALL_CPUS. */
struct etch_view_of {
	struct etch_instance *inst;
	int cpu;
};

/**
 * struct etch_input - the complete text that a user wrote to a file
 * @inst: whose file
 * @cpu: whose file, or ETCH_ALL_CPUS
 * @where: the file, from the instance's folder
 * @text: ends in a zero; without the white space at its end
 */
struct etch_input {
	struct etch_instance *inst;
	int cpu;
	char where[160];
	char text[];
};

__printf(4, 5)
int etch_bad(const struct etch_input *in, const char *at, int err, const char *why, ...);
struct etch_input *etch_input_get(struct etch_instance *inst, int cpu,
				  const char __user *buf, size_t count, size_t max,
				  const char *where, ...) __printf(6, 7);
int etch_input_number(const struct etch_input *in, unsigned long *value);
int etch_input_bool(const struct etch_input *in, bool *value);

int etch_view_open(const struct etch_view_of *of);

#endif /* _KERNEL_ETCH_INSTANCE_H */
