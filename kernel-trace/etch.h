/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_H
#define _KERNEL_ETCH_H

/*
 * What the files of kernel/etch/ know of each other.
 *
 * Upwards: event.c keeps the events, and gate.c opens their gates; write.c puts records
 * into the rings of the instances that want them; instance.c owns the rings,
 * instance_size.c makes them larger and smaller, and wait.c wakes those who wait for
 * them to fill; line.c turns a record into a line, merge.c brings the CPUs' records into
 * one order, trace.c and pipe.c are the files that people read them from; packet.c makes
 * packets of sub-buffers, raw.c and snapshot.c are the files that programs read these
 * from, and metadata.c describes them; tree.c and tree_events.c make the files;
 * error_log.c remembers what was wrong. dump.c shows what there is when the kernel dies,
 * and persist.c keeps it for the next.
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
 *	instance->read_mutex	the readers of one instance, and whatever needs
 *				its rings to stand still.
 *	etch_event_sem		read: an id may be looked up and its event's
 *				printer called. Write: an event comes or goes.
 *				Innermost, because readers print under it.
 *
 * etch_mutex is taken inside a folder's inode lock nowhere: mkdir and rmdir in
 * instances/ let go of the inode first, because making files takes it again.
 * It is taken where modules come and go, inside the lock of those who are told of it.
 * It is not taken where CPUs come and go: opening a gate waits for that, under
 * etch_mutex. A CPU's ring is made and freed under read_mutex alone, and so
 * nothing may wait for CPUs to stand still under read_mutex.
 */

#include <linux/etch.h>
#include <linux/etch_ring.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rwsem.h>
#include <linux/uuid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

/* Bit 0 of a gate is the tracepoint's own; the main tree's is 1; 31 more. */
#define ETCH_MAIN		1
#define ETCH_INSTANCES		32
#define ETCH_BITS		(ETCH_INSTANCES + 1)

/* Bytes at the start of a sub-buffer that are left for a packet's header. */
#define ETCH_PACKET_HEADER	128

struct dentry;
struct etch_file;
struct etch_input;
struct etch_node;
struct etch_persist;
struct etch_snapshot;
struct etch_stream_base;
struct seq_buf;
struct seq_file;
struct syscall_metadata;

extern struct mutex etch_mutex;
extern struct rw_semaphore etch_event_sem;

/* ---- instance.c, instance_size.c: buffers and their settings ---- */

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
 * struct etch_instance - a tree with events, buffers and readers of its own
 * @name: of its folder in instances/; NULL for the main tree
 * @bit: ETCH_MAIN and up; its bit in every event's mask
 * @on: tracing_on
 * @dumped: what it holds was dumped, and nothing was recorded since
 * @changing: rings are being changed, or are about to be: see etch_rings_stop()
 * @overwrite: a full ring drops its oldest records, else new ones are lost
 * @clock: where time stamps come from
 * @uuid: of the trace that it records: another one when what was recorded and what
 *	   comes next have no common time
 * @origin: of its clock, as metadata tells it; not yet known: nobody has asked since there
 *	   is this @uuid
 * @cpu_bytes: for CPUs that come: bytes of a ring
 * @full_bytes: what the rings grow to before something is first recorded; 0 when
 *	   they have grown
 * @subbuf_bytes: of a sub-buffer, the same in all rings
 * @percent: how full a ring has to be for waiting readers to be woken; 0: not empty
 * @rings: by CPU; NULL where there is none. This and the settings above change
 *	   under @read_mutex, for CPUs come and go without etch_mutex
 * @bases: by CPU: what its packets go on from; under @read_mutex (packet.h)
 * @snapshot: the moment that was chosen, or NULL; under @read_mutex (snapshot.c)
 * @persist: the region that the rings are in, or NULL: they are in any memory
 * @read_mutex: serialises all that the rings want serialised (etch_ring.h)
 * @epochs: by CPU: counts what makes the cursors of peeking readers void: its ring was
 *	    emptied, resized, exchanged or freed; under @read_mutex
 * @hotplug: tells of CPUs that come and go
 * @users: open files that keep the folder from being removed
 * @going: no file may be opened, because it is being made or removed
 * @dir: its folder; NULL when there is no debugfs
 * @files: what its files are, but for those in events/
 * @events: its events/ folder, with all that is in it
 * @wait: readers that wait for records, or for a change of the rings
 * @poll: wakes them; the writer never does
 * @errors: its error_log; under @errors_lock
 * @nr_errors: how many are in @errors
 * @errors_lock: innermost of all
 */
struct etch_instance {
	char *name;
	int bit;
	bool on;
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
	struct etch_ring **rings;
	struct etch_stream_base *bases;
	struct etch_snapshot *snapshot;
	struct etch_persist *persist;
	struct mutex read_mutex;
	unsigned int *epochs;
	struct hlist_node hotplug;
	unsigned int users;
	bool going;
	struct dentry *dir;
	struct etch_file *files;
	struct etch_node *events;
	wait_queue_head_t wait;
	struct delayed_work poll;
	struct list_head errors;
	unsigned int nr_errors;
	struct mutex errors_lock;
};

/* By bit; NULL where there is none. Under etch_mutex. */
extern struct etch_instance *etch_instances[ETCH_BITS];

/* What writers use: the ring of this CPU, by the instance's bit. */
struct etch_cpu_rings {
	struct etch_ring *by_bit[ETCH_BITS];
};

DECLARE_PER_CPU(struct etch_cpu_rings, etch_cpu_rings);

/* Under etch_mutex, all of these; reset takes it itself. May sleep. */
struct etch_instance *etch_instance_create(const char *name, unsigned long cpu_bytes,
					   unsigned int subbuf);
struct etch_instance *etch_instance_create_in(const char *name, struct etch_persist *persist,
					      unsigned int subbuf);
int etch_instance_may_be(const char *name);
void etch_instance_ready(struct etch_instance *inst);
int etch_instance_destroy(struct etch_instance *inst);
int etch_instance_grow(struct etch_instance *inst);
int etch_instance_set_on(struct etch_instance *inst, bool on);
int etch_instance_resize(struct etch_instance *inst, int cpu, unsigned long bytes);
unsigned long etch_instance_bytes(struct etch_instance *inst, int cpu);
int etch_instance_set_subbuf(struct etch_instance *inst, unsigned int subbuf);
void etch_instance_set_mode(struct etch_instance *inst, bool overwrite);
void etch_instance_set_clock(struct etch_instance *inst, enum etch_clock clock);
void etch_instance_reset(struct etch_instance *inst, int cpu);
int etch_instances_init(void);

/* An open file: -ENODEV when the instance is going. No lock needed. */
int etch_instance_get(struct etch_instance *inst);
void etch_instance_put(struct etch_instance *inst);

/* Bytes that a sub-buffer can have, not less than @bytes; 0: none has so many. */
unsigned int etch_subbuf_bytes(unsigned long bytes);

/* All CPUs, where a function takes one. */
#define ETCH_ALL_CPUS		(-1)

/* ---- wait.c: readers that wait ---- */

void etch_wait_init(struct etch_instance *inst);
void etch_wait_exit(struct etch_instance *inst);

/*
 * Wakes inst->wait within 20 ms of a ring being filled to inst->percent, and again
 * until nobody waits.
 */
void etch_instance_arm_poll(struct etch_instance *inst);

/* Under etch_mutex; under read_mutex. */
void etch_instance_set_percent(struct etch_instance *inst, unsigned int percent);
bool etch_ring_reached(const struct etch_instance *inst, const struct etch_ring *ring);

/* ---- packet.c: sub-buffers as packets ---- */

void etch_instance_flush(struct etch_instance *inst, int want);

/* ---- snapshot.c: packets of one moment ---- */

/* The first one under etch_mutex. */
int etch_snapshot_take(struct etch_instance *inst);
void etch_snapshot_drop(struct etch_instance *inst);

/* ---- persist.c: rings that outlive a crash ---- */

/* Where such an instance has its rings, and what it has to know of its events. Under etch_mutex. */
struct etch_ring *etch_persist_ring(struct etch_persist *p, int cpu,
				    const struct etch_ring_params *params);
int etch_persist_describe(struct etch_persist *p, const struct etch_event *event);

/* ---- event.c: which events there are ---- */

/* In the order they are shown. Under etch_mutex. */
extern struct list_head etch_events;

/*
 * Counts up when an event comes or goes: who has a description of them can tell whether
 * it is the newest. Written under etch_event_sem; an event is registered, and counted,
 * before there is a record of it.
 */
extern unsigned int etch_generation;

/* NULL if there is none. Under etch_event_sem, but for nowait. */
const struct etch_event *etch_event_by_id(unsigned int id);
const struct etch_event *etch_event_by_id_nowait(unsigned int id);
const struct etch_event *etch_event_next(unsigned int id);
int etch_event_register(struct etch_event *event);
void etch_event_unregister(struct etch_event *event);
void etch_events_init(void);
int etch_events_watch(void);

/* ---- gate.c: who records them ---- */

/* What is wanted of an event. */
enum etch_wish {
	ETCH_LEAVE,
	ETCH_ENABLE,
	ETCH_DISABLE,
};

typedef enum etch_wish (*etch_wish_fn)(const struct etch_event *event, void *data);

int etch_gates_set_on(struct etch_instance *inst, bool on);
int etch_event_enable(struct etch_instance *inst, struct etch_event *event, bool on);
int etch_events_enable(struct etch_instance *inst, etch_wish_fn wish, void *data);
int etch_events_disable_all(struct etch_instance *inst);

static inline bool etch_event_enabled(const struct etch_instance *inst,
				      const struct etch_event *event)
{
	return event->mask & (1ULL << inst->bit);
}

/*
 * match: "SYSTEM", "SYSTEM:EVENT", "SYSTEM:*", "EVENT", with globs in either
 * part. Returns how many events it named, or a negative errno (-ENOENT: none).
 */
int etch_events_set(struct etch_instance *inst, const char *match, bool on);
int etch_events_match(const char *match);

/* From the linker script: the kernel's own events, its names for numbers, its system calls. */
extern struct etch_event *__start_etch_events[], *__stop_etch_events[];
extern const struct etch_enum * const __start_etch_enums[];
extern const struct etch_enum * const __stop_etch_enums[];
extern struct syscall_metadata *__start_syscalls_metadata[], *__stop_syscalls_metadata[];

/* ---- enums.c: names in print formats ---- */

const struct etch_enum *etch_enum_find(const struct etch_event *event, const char *name,
				       size_t len);
size_t etch_piece_len(const char *text);
void etch_print_fmt(struct seq_buf *s, const struct etch_event *event);
char *etch_print_fmt_dup(const struct etch_event *event);

/* ---- format.c: an event's format file ---- */

void etch_format_show(struct seq_file *m, const struct etch_event *event);

/* ---- metadata.c: what packets are made of ---- */

int etch_metadata_text(struct seq_file *m, struct etch_instance *inst,
		       const struct etch_event *event);

/* ---- metadata_clock.c: clocks for readers of binary traces ---- */

void etch_origin_get(enum etch_clock clock, struct etch_origin *origin);

/* ---- line.c: a record as a line of text ---- */

struct etch_line {
	struct etch_text text;
	void *record;		/* aligned copy, so that printers may read it as a struct */
	unsigned int size;	/* of @record's memory */
	bool nowait;		/* in a dump: no lock is waited for, no memory asked for */
};

int etch_line_init(struct etch_line *line);
void etch_line_free(struct etch_line *line);
bool etch_line_fit(struct etch_line *line, unsigned int len);

/* Bytes of the record at @record, of which at most @left are there; 0 when it makes no sense. */
unsigned int etch_record_len(const void *record, unsigned int left);
unsigned int etch_record_len_nowait(const void *record, unsigned int left);
bool etch_record_known(const void *record, unsigned int left);

/*
 * Appends the record to line->text.seq, shaped as ftrace shapes it. Takes etch_event_sem,
 * unless line->nowait.
 */
void etch_line_print(struct etch_line *line, enum etch_clock clock, int cpu, u64 time,
		     const void *record, unsigned int len);

/* ---- comm.c: the names of tasks ---- */

/* Kept by a probe on exit while any event is enabled. Under etch_mutex. */
void etch_comm_get(void);
void etch_comm_put(void);
void etch_comm_find(pid_t pid, char comm[TASK_COMM_LEN]);
void etch_comm_find_nowait(pid_t pid, char comm[TASK_COMM_LEN]);

/* ---- write.c: records on their way ---- */

unsigned int etch_write_abandon(void);

/* ---- dump.c: the last records, to the console ---- */

/* Under etch_mutex, the last two. */
void etch_dump_init(void);
void etch_dump_show(struct seq_file *m);
int etch_dump_store(const struct etch_input *in);

/* ---- marker.c: what user space writes ---- */

/* The hidden event of trace_marker. */
extern struct etch_event etch_marker_event;

/* ---- error_log.c: what was wrong, and where ---- */

/*
 * Remembers, for error_log: which file (@where), what was written (@input), the
 * byte in it that is wrong (@at), and the sentence that says why.
 */
__printf(5, 6)
void etch_error(struct etch_instance *inst, const char *where, const char *input,
		unsigned int at, const char *why, ...);
void etch_errors_show(struct seq_file *m, struct etch_instance *inst);
void etch_errors_clear(struct etch_instance *inst);

/* ---- control.c: files that are one setting each ---- */

/* A per-CPU file's inode->i_private; for those of a whole instance, cpu is ETCH_ALL_CPUS. */
struct etch_view_of {
	struct etch_instance *inst;
	int cpu;
};

/**
 * struct etch_input - what was written to a file, complete
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

/**
 * struct etch_control - a file of the tree, but for those in events/
 * @name: of the file
 * @mode: its permissions
 * @main_only: the trees in instances/ have none
 * @direct: debugfs is not in between: it passes neither splice() nor mmap() on. What an
 *	  open file needs of its instance, etch_view_open() keeps
 * @fops: for files that need more than the rest of this; i_private is
 *	  struct etch_view_of
 * @show: what reading gives
 * @store: what writing does; under etch_mutex; 0 or a negative errno, reported
 */
struct etch_control {
	const char *name;
	umode_t mode;
	bool main_only;
	bool direct;
	const struct file_operations *fops;
	void (*show)(struct seq_file *m, const struct etch_view_of *of);
	int (*store)(const struct etch_input *in);
};

/* A file's i_private. @of is first: it is all that the files with fops of their own see. */
struct etch_file {
	struct etch_view_of of;
	const struct etch_control *control;
};

extern const struct etch_control etch_controls[], etch_cpu_controls[];
extern const unsigned int etch_nr_controls, etch_nr_cpu_controls;
extern const struct file_operations etch_control_fops;
extern const struct file_operations etch_trace_fops, etch_pipe_fops;
extern const struct file_operations etch_marker_fops, etch_set_event_fops;
extern const struct file_operations etch_metadata_fops;
extern const struct file_operations etch_raw_fops, etch_snapshot_fops;

int etch_view_open(const struct etch_view_of *of);

/* ---- tree.c, tree_events.c: the folders ---- */

/* Under etch_mutex. */
int etch_tree_add_instance(struct etch_instance *inst);
void etch_tree_remove_instance(struct etch_instance *inst);

/* Under etch_mutex: an event came, or is about to go, with all its files, in every instance. */
void etch_tree_add_event(struct etch_event *event);
void etch_tree_remove_event(struct etch_event *event);

int etch_tree_add_events(struct etch_instance *inst);
void etch_tree_free_events(struct etch_instance *inst);
struct dentry *etch_tree_mkdir(const char *name, struct dentry *parent);
void etch_available_events_show(struct seq_file *m, const struct etch_view_of *of);

/* ---- boot.c: the kernel's parameters ---- */

unsigned long etch_boot_cpu_bytes(void);
unsigned int etch_boot_subbuf_bytes(void);
void etch_boot_events(struct etch_instance *inst);

/* ---- syscalls.c: the system calls as events ---- */

#ifdef CONFIG_ETCH_SYSCALLS
void etch_syscalls_init(void);
#else
static inline void etch_syscalls_init(void)
{
}
#endif

/* ---- at boot ---- */

int etch_marker_init(void);

#endif /* _KERNEL_ETCH_H */
