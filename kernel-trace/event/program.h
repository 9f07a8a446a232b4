/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_PROGRAM_H
#define _KERNEL_ETCH_PROGRAM_H

/*
 * Programs that tell whether a record passes a filter.
 *
 * A program is a row of tests, which begins with the first. Each test looks at one field of a
 * record, or at the task or the CPU that makes the record, and says which test is next: if it is
 * true, and if it is not. Tests that are skipped lie ahead, so each program ends. One of the two
 * is mostly the test that stands behind it: ETCH_NEXT, for which nothing has to be read.
 *
 * All numbers are compared in one way: eight bytes are read where the number begins, and
 *
 *	((bytes & @and) - @low) & @field <= @span
 *
 * tells whether it lies in a range. @field has the bits that the number has, so the subtraction
 * wraps as numbers of that size do, signed and unsigned ones alike. It is an error to run a
 * program on a record behind which less than eight bytes of memory follow.
 */

#include <linux/compiler.h>
#include <linux/cpumask_types.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "event/context.h"

struct bpf_insn;
struct bpf_prog;

#define ETCH_PROGRAM_MAX	1024	/* tests */
#define ETCH_PATTERN_MAX	256	/* bytes, the zero at the end included */

/* Where a test goes on, if not with the test of that index. */
#define ETCH_NEXT		0
#define ETCH_PASS		0xfffe
#define ETCH_FAIL		0xffff

/**
 * enum etch_operand - what a test looks at
 * @ETCH_OF_FIELD: bytes at an offset in the record
 * @ETCH_OF_ELEMENT: one element of an array whose place and length stand in the record
 * @ETCH_OF_STRING: characters at an offset in the record
 * @ETCH_OF_DYNAMIC: characters whose place and length stand in the record
 * @ETCH_OF_POINTER: characters in kernel memory, to which the record points
 * @ETCH_OF_USER: characters in user memory, to which the record points
 * @ETCH_OF_MASK: a cpumask whose place and length stand in the record
 * @ETCH_OF_LATENCY: the latency that the hit has ended, in the instance of the bit in the test
 * @ETCH_OF_LONGEST: the same: 1 if it lasted longer than all before, else 0
 * @ETCH_OF_COMM: the name of the task. From here on no record is looked at
 * @ETCH_OF_PID: the thread ID of the task
 * @ETCH_OF_CPU: the number of the CPU
 * @ETCH_OF_CONTEXT: what the CPU is doing, enum etch_context
 * @ETCH_OF_FLAGS: the state of interrupts and preemption, TRACE_FLAG_*
 * @ETCH_OF_PREEMPT: how often preemption is disabled
 * @ETCH_OF_MIGRATE: how often the task is kept on its CPU
 * @ETCH_OF_PRIO: the priority of the task
 * @ETCH_OF_CGROUP: the number of its group in the v2 hierarchy
 */
enum etch_operand {
	ETCH_OF_FIELD,
	ETCH_OF_ELEMENT,
	ETCH_OF_STRING,
	ETCH_OF_DYNAMIC,
	ETCH_OF_POINTER,
	ETCH_OF_USER,
	ETCH_OF_MASK,
	ETCH_OF_LATENCY,
	ETCH_OF_LONGEST,
	ETCH_OF_COMM,
	ETCH_OF_PID,
	ETCH_OF_CPU,
	ETCH_OF_CONTEXT,
	ETCH_OF_FLAGS,
	ETCH_OF_PREEMPT,
	ETCH_OF_MIGRATE,
	ETCH_OF_PRIO,
	ETCH_OF_CGROUP,
};

/**
 * enum etch_relation - how a test compares
 * @ETCH_IN_RANGE: the number lies in the range
 * @ETCH_EQUALS: the characters are the pattern's
 * @ETCH_GLOBS: they match the pattern, with * ? [...] and backslash
 * @ETCH_CPU_IN: the number is that of a CPU in the set
 * @ETCH_CPUS_ARE: the mask is the set
 * @ETCH_CPUS_MEET: a CPU is in both
 */
enum etch_relation {
	ETCH_IN_RANGE,
	ETCH_EQUALS,
	ETCH_GLOBS,
	ETCH_CPU_IN,
	ETCH_CPUS_ARE,
	ETCH_CPUS_MEET,
};

/**
 * struct etch_test_of - a test of a program
 * @plain: it is ETCH_OF_FIELD and ETCH_IN_RANGE, as most are
 * @of: what it looks at
 * @how: and how
 * @size: bytes of a number: 1, 2, 4 or 8
 * @is_signed: so is the number
 * @not: ETCH_OF_POINTER and ETCH_OF_USER: the text is another one. Of text that cannot be read,
 *	 neither is true
 * @relative: the place counts from the end of the word that has it, not from the record
 * @offset: of the field, from the start of the record
 * @most: ETCH_OF_STRING: bytes that the field has
 * @index: ETCH_OF_ELEMENT: which; ETCH_OF_LATENCY and ETCH_OF_LONGEST: the instance's bit
 * @yes: the test to go on with if this one is true; ETCH_NEXT, ETCH_PASS or ETCH_FAIL
 * @no: the same if it is not
 * @and: ETCH_IN_RANGE: see above
 * @low: ETCH_IN_RANGE
 * @field: ETCH_IN_RANGE
 * @span: ETCH_IN_RANGE
 * @pattern: ETCH_EQUALS, ETCH_GLOBS; of the program
 * @len: its bytes, without the zero at the end
 * @first: ETCH_EQUALS: the first eight of them, or all if there are fewer, and zeros
 * @bits: ETCH_EQUALS: those of @first that belong to @pattern
 * @cpus: the last three relations; of the program
 */
struct etch_test_of {
	bool plain;
	u8 of;
	u8 how;
	u8 size;
	bool is_signed;
	bool not;
	bool relative;
	u16 offset;
	union {
		u16 most;
		u16 index;
	};
	u16 yes;
	u16 no;
	union {
		struct {
			u64 and;
			u64 low;
			u64 field;
			u64 span;
		};
		struct {
			char *pattern;
			unsigned int len;
			u64 first;
			u64 bits;
		};
		struct cpumask *cpus;
	};
};

/**
 * struct etch_program - a filter of records of one layout
 * @rcu: frees it
 * @text: as the user wrote it
 * @nr: tests in @tests
 * @early: the first test needs no record
 * @at_once: what the first test looks at, if no record passes unless that test is true, and if
 *	     etch_program_refuses_at_once() or etch_program_rejects_at_once() knows it; else
 *	     ETCH_OF_FIELD
 * @plain: so are all tests, and there is no @native
 * @native: the tests as machine code, called with the record and NULL, in the context of
 *	    etch_program_run(); 0 if the record does not pass. NULL: there is none
 * @native_of: what @native_free frees
 * @native_free: called when nobody runs @native any more. Context: any that is not a hard
 *		 interrupt; it must not sleep
 * @tests: the row
 */
struct etch_program {
	struct rcu_head rcu;
	char *text;
	u16 nr;
	bool early;
	u8 at_once;
	bool plain;
	unsigned int (*native)(const void *record, const struct bpf_insn *none);
	struct bpf_prog *native_of;
	void (*native_free)(struct bpf_prog *native_of);
	struct etch_test_of tests[];
};

/* Does a test need no record? */
static inline bool etch_is_early(enum etch_operand of)
{
	return of >= ETCH_OF_COMM;
}

u64 etch_number_other(enum etch_operand of);

/* Is it about a latency? A hit that ended none has no number for it. */
static inline bool etch_is_latency(unsigned int of)
{
	return of == ETCH_OF_LATENCY || of == ETCH_OF_LONGEST;
}

/* The number of an operand that needs no record; 0 for the name of the task. */
static __always_inline u64 etch_number_now(enum etch_operand of)
{
	switch (of) {
	case ETCH_OF_PID:
		return current->pid;
	case ETCH_OF_CPU:
		return smp_processor_id();
	case ETCH_OF_CONTEXT:
		return etch_context_now();
	default:
		return etch_number_other(of);
	}
}

bool etch_latency_now(enum etch_operand of, unsigned int bit, u64 *number);
bool etch_test_other(const struct etch_test_of *t, const void *record);
bool etch_program_passes_other(const struct etch_program *program, const void *record);
bool etch_program_refuses(const struct etch_program *program);
void etch_program_free(struct etch_program *program);
void etch_program_free_later(struct etch_program *program);

static __always_inline bool etch_in_range(const struct etch_test_of *t, u64 number)
{
	return (((number & t->and) - t->low) & t->field) <= t->span;
}

static __always_inline bool etch_test_plain(const struct etch_test_of *t, const void *record)
{
	return etch_in_range(t, get_unaligned((const u64 *)(record + t->offset)));
}

/* Can the text be the pattern, by its first eight bytes? So many are readable. */
static __always_inline bool etch_begins(const struct etch_test_of *t, const void *text)
{
	return !((get_unaligned((const u64 *)text) ^ t->first) & t->bits);
}

/* Does the first test alone refuse all records? etch_program_refuses() knows if this does not. */
static __always_inline bool etch_program_refuses_at_once(const struct etch_program *program)
{
	const struct etch_test_of *t = program->tests;

	switch (program->at_once) {
	case ETCH_OF_PID:
		return !etch_in_range(t, current->pid);
	case ETCH_OF_CPU:
		return !etch_in_range(t, smp_processor_id());
	case ETCH_OF_COMM:
		return !etch_begins(t, current->comm);
	default:
		return false;
	}
}

/* The same if that test needs the record: does it alone reject this one? */
static __always_inline bool etch_program_rejects_at_once(const struct etch_program *program,
							 const void *record)
{
	const struct etch_test_of *t = program->tests;
	unsigned int at = t->offset;

	if (program->at_once == ETCH_OF_DYNAMIC)
		at = (u16)get_unaligned((const u32 *)(record + at));
	else if (program->at_once != ETCH_OF_STRING)
		return false;
	return !etch_begins(t, record + at);
}

/**
 * etch_program_run() - run a program
 * @program: the filter, made for records of this class
 * @record: complete, but for its time; with eight bytes of memory behind it
 * @plain: a constant: all tests are plain, so nothing is called
 *
 * Context: any, NMI included, in the task and on the CPU that made the record, preemption
 * disabled.
 * Return: true if the record passes.
 */
static __always_inline bool etch_program_run(const struct etch_program *program,
					     const void *record, bool plain)
{
	const struct etch_test_of *t = program->tests;
	unsigned int go;

	/* Branches: a choice by data would have each test wait for the one before. */
	for (;;) {
		if (plain || likely(t->plain) ? etch_test_plain(t, record) :
						etch_test_other(t, record))
			go = t->yes;
		else
			go = t->no;
		if (go == ETCH_NEXT)
			t++;
		else if (go < ETCH_PASS)
			t = &program->tests[go];
		else
			return go == ETCH_PASS;
	}
}

/* etch_program_run(), for all kinds of program. */
static __always_inline bool etch_program_passes(const struct etch_program *program,
						const void *record)
{
	if (likely(program->plain))
		return etch_program_run(program, record, true);
	return etch_program_passes_other(program, record);
}

#endif /* _KERNEL_ETCH_PROGRAM_H */
