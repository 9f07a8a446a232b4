/* SPDX-License-Identifier: GPL-2.0 */

/*
 * How to write events: a lesson that compiles.
 *
 * Nothing in this header is special to Etch. An event that is described once
 * serves every tracer of the kernel; read from top to bottom, each event adds
 * one idea to those before it. The code that fires them is etch-sample.c.
 *
 * The system is the folder that the events appear in: events/etch_sample/. It
 * becomes part of C names, so it is made of letters, digits and underscores.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM etch_sample

/*
 * The guard lets the header in a second time when TRACE_HEADER_MULTI_READ is
 * set: the last line of this file reads the header again for each of the
 * things that are made of an event.
 */
#if !defined(_ETCH_SAMPLE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _ETCH_SAMPLE_H

#include <linux/cpumask.h>
#include <linux/in.h>
#include <linux/socket.h>
#include <linux/tracepoint.h>

/*
 * LESSON 1: an event.
 *
 * TP_PROTO	what trace_etch_sample_greet() takes, as in a C prototype.
 * TP_ARGS	the same names once more, bare.
 * TP_STRUCT__entry	what is kept. Every byte is paid for in each record: keep
 *		what the reader needs and no more. No comma and no semicolon.
 * TP_fast_assign	how it is filled in, plain C; it runs where the event is
 *		hit, be it an interrupt: no sleeping, no locks.
 * TP_printk	how it reads. It runs much later and in another task: it may
 *		look at nothing but the record.
 *
 * A __string() is as long as it has to be. Its source is given here and
 * remembered, so __assign_str() is given the name alone. __array() is of a
 * fixed length: fit for what always fills it.
 */
TRACE_EVENT(etch_sample_greet,

	TP_PROTO(unsigned int round, const char *name),

	TP_ARGS(round, name),

	TP_STRUCT__entry(
		__field(	unsigned int,	round		)
		__array(	u8,		digest, 4	)
		__string(	name,		name		)
	),

	TP_fast_assign(
		__entry->round = round;
		memset(__entry->digest, round, sizeof(__entry->digest));
		__assign_str(name);
	),

	TP_printk("round=%u name=%s digest=%s",
		  __entry->round, __get_str(name),
		  __print_hex(__entry->digest, 4))
);

/*
 * LESSON 2: names for numbers.
 *
 * __print_symbolic() shows one of several values by name, __print_flags() every
 * bit that is set, with the given separator; a value without a name is shown as
 * a number. The record has the number alone: names cost nothing until read.
 *
 * A program that reads binary records sees the print format as text, and does
 * not know this kernel's enums. TRACE_DEFINE_ENUM() tells their values, and
 * the format file shows the numbers. The enum itself may be defined only once,
 * however often the header is read: hence a guard of its own around it.
 */
#ifndef _ETCH_SAMPLE_ONCE
#define _ETCH_SAMPLE_ONCE

enum etch_sample_state {
	ETCH_SAMPLE_IDLE,
	ETCH_SAMPLE_BUSY,
	ETCH_SAMPLE_TIRED = 7,
};

#define ETCH_SAMPLE_URGENT	0x1
#define ETCH_SAMPLE_SECRET	0x4

#endif

TRACE_DEFINE_ENUM(ETCH_SAMPLE_IDLE);
TRACE_DEFINE_ENUM(ETCH_SAMPLE_BUSY);
TRACE_DEFINE_ENUM(ETCH_SAMPLE_TIRED);

TRACE_EVENT(etch_sample_state,

	TP_PROTO(enum etch_sample_state state, unsigned long flags),

	TP_ARGS(state, flags),

	TP_STRUCT__entry(
		__field(	int,		state	)
		__field(	unsigned long,	flags	)
	),

	TP_fast_assign(
		__entry->state = state;
		__entry->flags = flags;
	),

	TP_printk("state=%s flags=%s",
		  __print_symbolic(__entry->state,
				   { ETCH_SAMPLE_IDLE,	"idle" },
				   { ETCH_SAMPLE_BUSY,	"busy" },
				   { ETCH_SAMPLE_TIRED,	"tired" }),
		  __print_flags(__entry->flags, "|",
				{ ETCH_SAMPLE_URGENT,	"urgent" },
				{ ETCH_SAMPLE_SECRET,	"secret" }))
);

/*
 * LESSON 3: as many as there are.
 *
 * The length of a __dynamic_array() is an expression over the arguments,
 * computed before space is reserved. It counts elements; when reading,
 * __get_dynamic_array_len() counts bytes.
 */
TRACE_EVENT(etch_sample_list,

	TP_PROTO(const int *values, unsigned int nr),

	TP_ARGS(values, nr),

	TP_STRUCT__entry(
		__field(		unsigned int,	nr		)
		__dynamic_array(	int,		values, nr	)
	),

	TP_fast_assign(
		__entry->nr = nr;
		memcpy(__get_dynamic_array(values), values, nr * sizeof(*values));
	),

	TP_printk("nr=%u values=%s", __entry->nr,
		  __print_array(__get_dynamic_array(values),
				__get_dynamic_array_len(values) / sizeof(int),
				sizeof(int)))
);

/*
 * LESSON 4: masks.
 *
 * A __bitmask() has the number of bits that one gives it, a __cpumask() as many
 * as this machine may have processors. Both print as numbers in base 16; the
 * content is there to be formatted in another way, such as %*pbl.
 */
TRACE_EVENT(etch_sample_masks,

	TP_PROTO(const unsigned long *bits, unsigned int nr,
		 const struct cpumask *cpus),

	TP_ARGS(bits, nr, cpus),

	TP_STRUCT__entry(
		__bitmask(	bits,	nr	)
		__cpumask(	cpus		)
	),

	TP_fast_assign(
		__assign_bitmask(bits, bits, nr);
		__assign_cpumask(cpus, cpumask_bits(cpus));
	),

	TP_printk("bits=%s cpus=%s", __get_bitmask(bits), __get_cpumask(cpus))
);

/*
 * LESSON 5: text that has to be put together, and places relative to a field.
 *
 * A __vstring() is formatted where the event is hit, for functions that are
 * given a format and arguments. That is slow: keep the arguments instead, where
 * they are known. The __rel_ family differs in one thing: the place of the
 * content is counted from the field, not from the start of the record.
 */
TRACE_EVENT(etch_sample_message,

	TP_PROTO(const char *topic, struct va_format *message),

	TP_ARGS(topic, message),

	TP_STRUCT__entry(
		__rel_string(	topic,		topic				)
		__vstring(	message,	message->fmt, message->va	)
	),

	TP_fast_assign(
		__assign_rel_str(topic);
		__assign_vstr(message, message->fmt, message->va);
	),

	TP_printk("%s: %s", __get_rel_str(topic), __get_str(message))
);

/*
 * LESSON 6: addresses of sockets.
 *
 * They differ in length by family; a __sockaddr() holds as many bytes as its
 * length argument says, and %pISpc prints whichever family it finds.
 */
TRACE_EVENT(etch_sample_peer,

	TP_PROTO(const struct sockaddr *address, int len),

	TP_ARGS(address, len),

	TP_STRUCT__entry(
		__sockaddr(	address,	len	)
	),

	TP_fast_assign(
		__assign_sockaddr(address, address, len);
	),

	TP_printk("address=%pISpc", __get_sockaddr(address))
);

/*
 * LESSON 7: a class.
 *
 * Events that keep the same and read the same share the code for it. Declare
 * the class once and give it events: each has a name, a switch and an id of its
 * own and costs little besides. DEFINE_EVENT_PRINT() lets one of them read
 * differently.
 */
DECLARE_EVENT_CLASS(etch_sample_step,

	TP_PROTO(unsigned int round, int result),

	TP_ARGS(round, result),

	TP_STRUCT__entry(
		__field(	unsigned int,	round	)
		__field(	int,		result	)
	),

	TP_fast_assign(
		__entry->round = round;
		__entry->result = result;
	),

	TP_printk("round=%u result=%d", __entry->round, __entry->result)
);

DEFINE_EVENT(etch_sample_step, etch_sample_begin,
	TP_PROTO(unsigned int round, int result),
	TP_ARGS(round, result)
);

DEFINE_EVENT(etch_sample_step, etch_sample_end,
	TP_PROTO(unsigned int round, int result),
	TP_ARGS(round, result)
);

DEFINE_EVENT_PRINT(etch_sample_step, etch_sample_pause,
	TP_PROTO(unsigned int round, int result),
	TP_ARGS(round, result),
	TP_printk("after round %u (%d)", __entry->round, __entry->result)
);

/*
 * LESSON 8: only when.
 *
 * The condition is looked at only while the event is on, where an if around
 * the call would be paid for always. This one is hit in rounds with odd
 * numbers.
 */
TRACE_EVENT_CONDITION(etch_sample_odd,

	TP_PROTO(unsigned int round),

	TP_ARGS(round),

	TP_CONDITION(round & 1),

	TP_STRUCT__entry(
		__field(	unsigned int,	round	)
	),

	TP_fast_assign(
		__entry->round = round;
	),

	TP_printk("round=%u", __entry->round)
);

/*
 * LESSON 9: something to do when the event is turned on.
 *
 * Some events need a hook in place before they can be hit. The first function
 * is called before the first user of the event gets it and may refuse with a
 * negative errno; the second after the last has let go. Both may sleep.
 */
#ifndef _ETCH_SAMPLE_REG
#define _ETCH_SAMPLE_REG
int etch_sample_reg(void);
void etch_sample_unreg(void);
#endif

TRACE_EVENT_FN(etch_sample_counted,

	TP_PROTO(unsigned int round, unsigned int users),

	TP_ARGS(round, users),

	TP_STRUCT__entry(
		__field(	unsigned int,	round	)
		__field(	unsigned int,	users	)
	),

	TP_fast_assign(
		__entry->round = round;
		__entry->users = users;
	),

	TP_printk("round=%u users=%u", __entry->round, __entry->users),

	etch_sample_reg, etch_sample_unreg
);

/*
 * LESSON 10: what a filter can ask for.
 *
 * A filter compares a number as its field has it: of this size, and signed or not. It compares
 * the text of a __string() and of an array of char, and the text to which a char pointer points;
 * a cpumask it compares with CPUs. All of these are here, so this event is the one to try
 * filters on:
 *
 *	echo 'signed_8 < 0 && text ~ "A*"' > events/etch_sample/etch_sample_values/filter
 *	echo '0xff Ada' > /sys/module/etch_sample/parameters/values
 */
TRACE_EVENT(etch_sample_values,

	TP_PROTO(u64 number, const char *text, const char *label, const struct cpumask *cpus),

	TP_ARGS(number, text, label, cpus),

	TP_STRUCT__entry(
		__field(	u64,		unsigned_64	)
		__field(	s64,		signed_64	)
		__field(	u32,		unsigned_32	)
		__field(	s32,		signed_32	)
		__field(	u16,		unsigned_16	)
		__field(	s16,		signed_16	)
		__field(	u8,		unsigned_8	)
		__field(	s8,		signed_8	)
		__field(	bool,		flag		)
		__field(	void *,		address		)
		__field(	const char *,	label		)
		__array(	char,		fixed, 12	)
		__array(	u16,		parts, 4	)
		__string(	text,		text		)
		__rel_string(	rel_text,	text		)
		__cpumask(	cpus				)
	),

	TP_fast_assign(
		__entry->unsigned_64 = number;
		__entry->signed_64 = number;
		__entry->unsigned_32 = number >> 32;
		__entry->signed_32 = number;
		__entry->unsigned_16 = number >> 16;
		__entry->signed_16 = number >> 8;
		__entry->unsigned_8 = number >> 24;
		__entry->signed_8 = number;
		__entry->flag = number & 1;
		__entry->address = (void *)(unsigned long)number;
		__entry->label = label;
		/* A text that fills it has no zero at its end. */
		memcpy_and_pad(__entry->fixed, sizeof(__entry->fixed), text,
			       strnlen(text, sizeof(__entry->fixed)), 0);
		memcpy(__entry->parts, &number, sizeof(__entry->parts));
		__assign_str(text);
		__assign_rel_str(rel_text);
		__assign_cpumask(cpus, cpumask_bits(cpus));
	),

	TP_printk("number=%llx text=%s", __entry->unsigned_64, __get_str(text))
);

#endif /* _ETCH_SAMPLE_H */

/*
 * The last part stands outside of the guard. It says where this header is: by
 * default one called TRACE_SYSTEM.h in include/trace/events/ is looked for.
 * Exactly one C file defines CREATE_TRACE_POINTS before it includes the header,
 * and there the events are made.
 */
#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE etch-sample
#include <trace/define_trace.h>
