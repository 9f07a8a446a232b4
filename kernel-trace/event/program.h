/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_PROGRAM_H
#define _KERNEL_ETCH_PROGRAM_H

/*
 * Programs that tell whether a record passes a filter.
 *
 * A program is a row of tests. Each test looks at one field of a record, or at the task or the
 * CPU that makes the record, and names two tests, of which one is next: the test to go on with
 * if it is true, and the other one. ETCH_PASS and ETCH_FAIL stand in the place of a test at the
 * end. A test names only tests that stand before it in the row, so each program ends.
 *
 * All numbers are compared in one way: does (field & mask) lie in a range? A signed field is
 * extended to 64 bits, and low and high bounds wrap as its values do.
 */

#include <linux/compiler_attributes.h>
#include <linux/cpumask_types.h>
#include <linux/types.h>

#define ETCH_PROGRAM_MAX	1024	/* tests */
#define ETCH_PATTERN_MAX	256	/* bytes, the zero at the end included */

/* Where a test goes on, if with no other test. */
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
 * @ETCH_OF_COMM: the name of the task. From here on no record is looked at
 * @ETCH_OF_PID: the thread ID of the task
 * @ETCH_OF_CPU: the number of the CPU
 * @ETCH_OF_CONTEXT: what the CPU is doing, enum etch_context
 */
enum etch_operand {
	ETCH_OF_FIELD,
	ETCH_OF_ELEMENT,
	ETCH_OF_STRING,
	ETCH_OF_DYNAMIC,
	ETCH_OF_POINTER,
	ETCH_OF_USER,
	ETCH_OF_MASK,
	ETCH_OF_COMM,
	ETCH_OF_PID,
	ETCH_OF_CPU,
	ETCH_OF_CONTEXT,
};

/**
 * enum etch_relation - how a test compares
 * @ETCH_IN_RANGE: (number & mask) - low <= span
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
 * @of: what it looks at
 * @how: and how
 * @size: bytes of a number: 1, 2, 4 or 8
 * @is_signed: that is extended with its sign
 * @relative: the place counts from the end of the word that has it, not from the record
 * @offset: of the field, from the start of the record
 * @most: ETCH_OF_STRING: bytes that the field has
 * @index: ETCH_OF_ELEMENT: which
 * @yes: the test to go on with if this one is true, ETCH_PASS or ETCH_FAIL
 * @no: the same if it is not
 * @mask: ETCH_IN_RANGE
 * @low: ETCH_IN_RANGE: the least value
 * @span: ETCH_IN_RANGE: the greatest value less @low
 * @pattern: ETCH_EQUALS, ETCH_GLOBS; of the program
 * @len: its bytes, without the zero at the end
 * @cpus: the last three relations; of the program
 */
struct etch_test_of {
	u8 of;
	u8 how;
	u8 size;
	bool is_signed;
	bool relative;
	u16 offset;
	u16 most;
	u16 index;
	u16 yes;
	u16 no;
	union {
		struct {
			u64 mask;
			u64 low;
			u64 span;
		};
		struct {
			char *pattern;
			unsigned int len;
		};
		struct cpumask *cpus;
	};
};

/**
 * struct etch_program - a filter of records of one layout
 * @rcu: frees it
 * @text: as the user wrote it
 * @first: the test that is made first
 * @nr: tests in @tests
 * @early: @first needs no record
 * @tests: the row
 */
struct etch_program {
	struct rcu_head rcu;
	char *text;
	u16 first;
	u16 nr;
	bool early;
	struct etch_test_of tests[];
};

/* Does a test need no record? */
static inline bool etch_is_early(enum etch_operand of)
{
	return of >= ETCH_OF_COMM;
}

bool etch_program_passes(const struct etch_program *program, const void *record);
bool etch_program_refuses(const struct etch_program *program);
void etch_program_free(struct etch_program *program);
void etch_program_free_later(struct etch_program *program);

#endif /* _KERNEL_ETCH_PROGRAM_H */
