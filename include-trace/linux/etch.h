/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_ETCH_H
#define _LINUX_ETCH_H

/*
 * Etch: events.
 *
 * This is what the expansions of an event header (include/trace/etch/) and the
 * framework (kernel/etch/) know of each other. For every event header there is
 *
 *	a payload struct	etch_raw_CLASS		struct.h
 *	its dynamic lengths	etch_len_CLASS()	lengths.h
 *	a serializer		etch_write_CLASS()	serializer.h
 *	a text printer		etch_print_CLASS()	printer.h
 *	field descriptors	etch_fields_CLASS[]	fields.h
 *	descriptors		etch_class_CLASS, etch_event_EVENT	event.h
 *
 * THE RECORD
 *
 * A record starts on 4 bytes with struct etch_head, and the payload follows at
 * once. No field is aligned to more than 4 bytes, from the start of the record.
 * Nothing is carried from one record to the next.
 *
 * A dynamic field is a 32-bit word in the payload, offset in the low half and
 * length in bytes in the high half, and its content behind the payload, aligned
 * like its element, to 4 bytes at most. A __data_loc offset counts from the start of the
 * record, a __rel_loc offset from the end of the word.
 */

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/kconfig.h>
#include <linux/list.h>
#include <linux/trace_seq.h>
#include <linux/types.h>

struct dentry;
struct etch_event;
struct etch_ring;
struct etch_rules;
struct module;
struct tracepoint;

#define ETCH_TIME_BITS		48
#define ETCH_TIME_MASK		((1ULL << ETCH_TIME_BITS) - 1)
#define ETCH_ID_BITS		14
#define ETCH_ID_MAX		((1U << ETCH_ID_BITS) - 1)
#define ETCH_CONTEXT_SHIFT	(ETCH_TIME_BITS + ETCH_ID_BITS)

/**
 * enum etch_context - what the CPU was doing when the event was hit
 * @ETCH_TASK: a task, or a kernel thread
 * @ETCH_SOFTIRQ: a softirq
 * @ETCH_HARDIRQ: an interrupt
 * @ETCH_NMI: a non-maskable interrupt
 *
 * The values are those of interrupt_context_level(), which does not know softirqs with
 * PREEMPT_RT.
 */
enum etch_context {
	ETCH_TASK,
	ETCH_SOFTIRQ,
	ETCH_HARDIRQ,
	ETCH_NMI,
};

/**
 * struct etch_head - what every record starts with
 * @word: time stamp in bits 0 to 47, event id in 48 to 61, enum etch_context
 *	  in 62 and 63
 * @pid: thread id in the initial namespace
 */
struct etch_head {
	u64 word;
	s32 pid;
} __packed __aligned(4);

/* The greatest alignment in a record is 4, in Common Trace Format too. */
#define ETCH_ALIGN(type)						\
	(__alignof__(type) < 4 ? __alignof__(type) : 4)

/**
 * enum etch_field_kind - how long a field is
 * @ETCH_FIELD_FIXED: as long as its type
 * @ETCH_FIELD_ARRAY: a fixed number of elements
 * @ETCH_FIELD_DATA_LOC: says so in the record, offset from the record's start
 * @ETCH_FIELD_REL_LOC: says so in the record, offset from the end of the word
 */
enum etch_field_kind {
	ETCH_FIELD_FIXED,
	ETCH_FIELD_ARRAY,
	ETCH_FIELD_DATA_LOC,
	ETCH_FIELD_REL_LOC,
};

/**
 * struct etch_field - describes one field of a payload
 * @type: its C type as the header spells it and as format files show it: "int",
 *	  "char[TASK_COMM_LEN]", "__data_loc char[]", "__rel_loc u8[]"
 * @name: its name
 * @offset: bytes from the start of the record
 * @size: bytes in the payload: 4 for a dynamic field
 * @elem_size: bytes of one element
 * @align: bytes, of the field or of the content of a dynamic one; at most 4
 * @kind: enum etch_field_kind
 * @is_signed: an element is of a signed type
 * @is_string: characters with a zero at the end
 * @is_pointer: holds an address; with @is_string, that of a string
 */
struct etch_field {
	const char *type;
	const char *name;
	u16 offset;
	u16 size;
	u16 elem_size;
	u8 align;
	u8 kind : 2;
	u8 is_signed : 1;
	u8 is_string : 1;
	u8 is_pointer : 1;
};

/**
 * struct etch_text - where a printer writes
 * @seq: the line
 * @tmp: scratch for the helpers of TP_printk(), such as __print_flags()
 * @record: what the printer is given
 * @end: where that ends
 */
struct etch_text {
	struct trace_seq seq;
	struct trace_seq tmp;
	const void *record;
	const void *end;
};

/**
 * struct etch_class - what events of one layout and one print format share
 * @system: name of the system (a folder of the tree)
 * @fields: the payload's fields, in order
 * @nr_fields: how many
 * @size: bytes of a record, head included, dynamic content left out
 * @print_fmt: TP_printk(), as text
 * @print: append the text of the record to @seq, newline included; process context
 * @nameless: the text names the event itself, the line does not
 */
struct etch_class {
	const char *system;
	const struct etch_field *fields;
	u16 nr_fields;
	u16 size;
	bool nameless;
	const char *print_fmt;
	void (*print)(struct etch_text *text, const void *record);
};

/**
 * struct etch_event - an event that can be enabled
 * @name: its name
 * @class: its layout
 * @tp: its tracepoint; NULL when something else than a stub writes it
 * @gate: sets what is not a tracepoint's gate; called with those of the new @mask that
 *	  are on, before it is stored; may sleep; returns 0 or a negative errno
 * @data: private data of the code that made the event
 * @mask: bit b is set while instance b has it enabled; the bits of a tracepoint's
 *	  gate (bit 0 is not Etch's), which is open for those of them that are on
 * @mod: the module it belongs to, or NULL
 * @word: the part of struct etch_head.word that all its records share: @id in its place
 * @id: 1 to ETCH_ID_MAX, in each of its records
 * @rules: what its hits have to pass, and what else they do; NULL: there never were any
 * @other: where a record has the thread ID of the other task that the event is about, in bytes
 *	   from the record's start; 0: it is about the task alone that hits it
 * @hidden: written by the framework itself; not listed, never disabled
 * @user: programs write it, into rings of their own: it has no rules
 * @node: in the list of all events, in the order they are shown
 */
struct etch_event {
	const char *name;
	const struct etch_class *class;
	struct tracepoint *tp;
	int (*gate)(struct etch_event *event, u64 mask);
	void *data;
	u64 mask;
	struct module *mod;
	union {
		u64 word;
		struct {
			/* private: zero, where the time goes */
			u16 time[ETCH_TIME_BITS / 16];
			/* public: */
			u16 id;
		};
	};
	struct etch_rules *rules;
	u16 other;
	bool hidden;
	bool user;
	struct list_head node;
};

static_assert(IS_ENABLED(CONFIG_64BIT) && !IS_ENABLED(CONFIG_CPU_BIG_ENDIAN),
	      "an event's id stands in its word above the time");

/**
 * struct etch_enum - a name in a print format and the number it stands for
 * @system: the system whose formats use it
 * @name: as spelled in TRACE_DEFINE_ENUM(), or "sizeof(type)"
 * @value: the number
 */
struct etch_enum {
	const char *system;
	const char *name;
	long value;
};

/**
 * struct etch_write - a record on its way; travels in two registers
 * @record: where it stands, or NULL: it is lost
 * @ring: for etch_write_end()
 */
struct etch_write {
	void *record;
	struct etch_ring *ring;
};

struct etch_write etch_write_begin(unsigned long who, const struct etch_event *event,
				   unsigned long len);
struct etch_write etch_write_begin_mask(unsigned long len, const struct etch_event *event,
					u64 mask);
void etch_write_end(struct etch_ring *ring);

long etch_text_fit(const struct etch_text *text, const void *at, long nr, size_t size);
__printf(2, 3)
void etch_text_printf(struct etch_text *text, const char *fmt, ...);

#endif /* _LINUX_ETCH_H */
