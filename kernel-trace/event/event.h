/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_EVENT_H
#define _KERNEL_ETCH_EVENT_H

/*
 * The events: which there are, who records them, and the way of a record into the rings.
 * Knows the rings, and nothing of instances and files.
 */

#include <linux/etch.h>
#include <linux/etch_ring.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rwsem.h>
#include <linux/tracepoint.h>

struct seq_buf;
struct syscall_metadata;

/* Bit 0 of a gate is the tracepoint's own; the main tree's is 1; 31 more. */
#define ETCH_MAIN		1
#define ETCH_INSTANCES		32
#define ETCH_BITS		(ETCH_INSTANCES + 1)

extern struct mutex etch_mutex;
extern struct rw_semaphore etch_event_sem;

/**
 * struct etch_recorder - a recorder of events; an instance has one
 * @bit: ETCH_MAIN and up; its bit in every event's mask
 * @user: it takes events of programs, whose time is the counter's
 * @admit: asked before an event is enabled for it: 0, or an errno and it is not. NULL:
 *	   all events are welcome. Under etch_mutex
 */
struct etch_recorder {
	int bit;
	bool user;
	int (*admit)(struct etch_recorder *rec, const struct etch_event *event);
};

/*
 * What writers use: the ring of this CPU, by the instance's bit. While the instance is there
 * no possible CPU has NULL: one without a ring has what stands in for it.
 *
 * A stub has from its gate where the pointer to the ring stands. @rules, @several and @given
 * stand in for a ring where one pointer does not tell it all: write.c.
 *
 * The first instances, the main tree among them, have a home here for this CPU's ring. The gate of
 * such an instance names @owner of the home, a pointer like that in by_bit[]. It stands in the
 * cache line that writers use of the ring, and mostly points to the same ring: a writer with empty
 * caches waits once for both. The pointer leads elsewhere while the CPU has no ring, for a moment
 * when the ring gets other sub-buffers, and if the ring is in memory that outlives the kernel.
 */
#define ETCH_HOMES		TRACEPOINT_HOMES

struct etch_cpu_rings {
	struct etch_ring *by_bit[ETCH_BITS];
	struct etch_ring *rules;
	struct etch_ring *several;
	struct etch_ring *given;
	struct etch_home {
		struct etch_ring ring;
	} __aligned(512) homes[ETCH_HOMES];	/* by bit - ETCH_MAIN */
};

DECLARE_PER_CPU(struct etch_cpu_rings, etch_cpu_rings);

/* Where a CPU has room for the ring of the instance of that bit; NULL: nowhere. */
static inline struct etch_ring *etch_home(int cpu, int bit)
{
	if (bit >= ETCH_MAIN + ETCH_HOMES)
		return NULL;
	return &per_cpu_ptr(&etch_cpu_rings, cpu)->homes[bit - ETCH_MAIN].ring;
}

/* ---- event.c: which events there are ---- */

/* In the order they are shown. Under etch_mutex. */
extern struct list_head etch_events;

/*
 * Counts up when an event comes or goes, so the holder of a description of the events can
 * tell whether that is the newest. Written under etch_event_sem; an event is registered,
 * and counted, before there is a record of it.
 */
extern unsigned int etch_generation;

/* NULL if there is none. Under etch_event_sem, but for nowait. */
const struct etch_event *etch_event_by_id(unsigned int id);
const struct etch_event *etch_event_by_id_nowait(unsigned int id);
const struct etch_event *etch_event_next(unsigned int id);
int etch_event_register(struct etch_event *event);
void etch_event_unregister(struct etch_event *event);

/* ---- gate.c: the instances that record an event, and its gate ---- */

/*
 * A caller of etch_events_enable() leaves, enables or disables each event. One that means all
 * events tries to: those that the instance cannot take are left.
 */
enum etch_verdict {
	ETCH_LEAVE,
	ETCH_TRY,
	ETCH_ENABLE,
	ETCH_DISABLE,
};

typedef enum etch_verdict (*etch_verdict_fn)(const struct etch_event *event, void *data);

/* Can the instance take it? */
static inline bool etch_recorder_takes(const struct etch_recorder *rec,
				       const struct etch_event *event)
{
	return !event->user || rec->user;
}

int etch_gates_set_on(struct etch_recorder *rec, bool on);
int etch_event_enable(struct etch_recorder *rec, struct etch_event *event, bool on);
int etch_event_open(struct etch_recorder *rec, struct etch_event *event, bool on);
int etch_events_enable(struct etch_recorder *rec, etch_verdict_fn verdict, void *data);
void etch_event_close(struct etch_event *event);
int etch_events_disable_all(struct etch_recorder *rec);
int etch_gate_follow_rules(struct etch_event *event);
int etch_gates_follow(struct etch_recorder *rec);
int etch_gates_flush(void);
u64 etch_gate_instances(const struct etch_event *event);

/*
 * match: "SYSTEM", "SYSTEM:EVENT", "SYSTEM:*", "EVENT", with globs in either
 * part. Returns how many events it named, or a negative errno (-ENOENT: none).
 */
int etch_events_set(struct etch_recorder *rec, const char *match, bool on);
int etch_events_match(const char *match, u32 *notes, u32 note);

/* From the linker script: the kernel's own events, its names for numbers, its system calls. */
extern struct etch_event *__start_etch_events[], *__stop_etch_events[];
extern const struct etch_enum * const __start_etch_enums[];
extern const struct etch_enum * const __stop_etch_enums[];
extern struct syscall_metadata *__start_syscalls_metadata[], *__stop_syscalls_metadata[];

/* ---- rules.c: what a gate says of rules (rules.h), and the end of an event ---- */

u64 etch_rules_gate(struct etch_event *event, u64 mask);
bool etch_rules_soft(struct etch_event *event, u64 bit, bool on);
bool etch_rules_unlink(struct etch_event *event);
void etch_rules_drop(struct etch_event *event);

bool etch_event_enabled(const struct etch_recorder *rec, const struct etch_event *event);
bool etch_event_is_soft(const struct etch_recorder *rec, const struct etch_event *event);

/* ---- enums.c: names in print formats ---- */

/**
 * struct etch_enum_part - the part of a table of names that has all of a system's
 * @first: the first of them
 * @nr: how many, with others that stand between them
 */
struct etch_enum_part {
	const struct etch_enum * const *first;
	unsigned int nr;
};

/**
 * struct etch_enums - the names that an event's print format may have
 * @system: the event's system
 * @of_module: those of its module; they hide the kernel's
 * @of_kernel: the kernel's own
 */
struct etch_enums {
	const char *system;
	struct etch_enum_part of_module;
	struct etch_enum_part of_kernel;
};

struct etch_enums etch_enums_of(const struct etch_event *event);
const struct etch_enum *etch_enum_find(const struct etch_enums *enums, const char *name,
				       size_t len);
size_t etch_piece_len(const char *text);
void etch_print_fmt(struct seq_buf *s, const struct etch_event *event);
char *etch_print_fmt_dup(const struct etch_event *event);

/* ---- print_fmt.c: of events that programs describe ---- */

char *etch_print_fmt_make(const struct etch_class *class);

/* ---- record.c: what a record is ---- */

/**
 * etch_time_full() - give a record's time its upper bits back
 * @last: the full time of the record before, or the begin time of its block
 * @word: the first word of a struct etch_head
 *
 * Times never decrease in a ring, so the upper bits are those that make the
 * result the first one not before @last.
 *
 * Return: the time of the record, in full.
 */
static inline u64 etch_time_full(u64 last, u64 word)
{
	return last + ((word - last) & ETCH_TIME_MASK);
}

static inline bool etch_is_dynamic(const struct etch_field *field)
{
	return field->kind == ETCH_FIELD_DATA_LOC || field->kind == ETCH_FIELD_REL_LOC;
}

static inline unsigned int etch_head_id(const struct etch_head *head)
{
	return (head->word >> ETCH_TIME_BITS) & ETCH_ID_MAX;
}

unsigned int etch_dynamic_content(const struct etch_field *field, const void *record,
				  unsigned int *start);
unsigned int etch_class_len(const struct etch_class *class, const void *record,
			    unsigned int left);

/*
 * Bytes of the record at @record, of which at most @left are there; 0 when it makes no sense.
 * @more: of these, the bytes of its contexts.
 */
unsigned int etch_record_len(const void *record, unsigned int left, unsigned int more);
unsigned int etch_record_len_nowait(const void *record, unsigned int left, unsigned int more);
bool etch_record_known(const void *record, unsigned int left);

/* ---- comm.c: the names of tasks ---- */

/* Kept by a probe on exit while any event is enabled. Under etch_mutex. */
bool etch_comm_make(void);
void etch_comm_get(void);
void etch_comm_put(void);

void etch_comm_note(void);
void etch_comm_find(pid_t pid, char comm[TASK_COMM_LEN]);

#if IS_ENABLED(CONFIG_KUNIT)
void etch_comm_store(pid_t pid, const char *comm);
bool etch_comm_recall(pid_t pid, char comm[TASK_COMM_LEN]);
#endif

/* ---- write.c: records on their way ---- */

unsigned int etch_write_abandon(void);
unsigned long etch_write_given(u64 mask);

#endif /* _KERNEL_ETCH_EVENT_H */
