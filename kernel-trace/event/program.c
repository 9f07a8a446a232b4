// SPDX-License-Identifier: GPL-2.0
/*
 * Making a program's tests on a record: see program.h.
 *
 * The record is complete, as a serializer leaves it, but nobody has checked it, and nobody need:
 * offsets and sizes are those of its own class, and what a dynamic field says of its length was
 * worked out by the serializer.
 */
#include <linux/cpumask.h>
#include <linux/glob.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/unaligned.h>

#include "event/ended.h"
#include "event/program.h"

DEFINE_PER_CPU(struct etch_ended *, etch_ended_now);

/* What a dynamic field has, and how many bytes of it there are. */
static const void *etch_content(const struct etch_test_of *t, const void *record,
				unsigned int *bytes)
{
	u32 loc = get_unaligned((const u32 *)(record + t->offset));

	*bytes = loc >> 16;
	return record + (loc & 0xffff) + (t->relative ? t->offset + sizeof(loc) : 0);
}

/* ---- Numbers ---- */

/**
 * etch_number_other() - the number of an operand that needs no record, and is rarely asked for
 * @of: the operand
 *
 * Context: as etch_program_passes().
 * Return: its number; 0 for the name of the task.
 */
u64 etch_number_other(enum etch_operand of)
{
	switch (of) {
	case ETCH_OF_FLAGS:
		return etch_context_flags();
	case ETCH_OF_PREEMPT:
		return etch_context_preempt_count();
	case ETCH_OF_MIGRATE:
		return etch_context_migrate_disable();
	case ETCH_OF_PRIO:
		return current->prio;
	case ETCH_OF_CGROUP:
		return etch_context_cgroup();
	default:
		return 0;
	}
}

/* False: the array has no such element. */
static bool etch_test_element(const struct etch_test_of *t, const void *record)
{
	unsigned int bytes, at = t->index * t->size;
	const void *elements = etch_content(t, record, &bytes);

	return at + t->size <= bytes && etch_in_range(t, get_unaligned((u64 *)(elements + at)));
}

/**
 * etch_latency_now() - the number of an operand that is about a latency
 * @of: the operand
 * @bit: of the instance
 * @number: gets it
 *
 * Context: as etch_ended_latency().
 * Return: true; false: the hit has ended none.
 */
bool etch_latency_now(enum etch_operand of, unsigned int bit, u64 *number)
{
	if (!etch_ended_latency(bit, number))
		return false;
	if (of == ETCH_OF_LONGEST)
		*number = etch_ended_longest(bit);
	return true;
}

/* False, whatever the comparison: there is no latency. */
static bool etch_test_latency(const struct etch_test_of *t)
{
	u64 number;

	return etch_latency_now(t->of, t->index, &number) && etch_in_range(t, number);
}

static __always_inline u64 etch_number(const struct etch_test_of *t, const void *record)
{
	u64 number = U64_MAX;	/* of no CPU */

	if (etch_is_early(t->of))
		return etch_number_now(t->of);
	if (etch_is_latency(t->of)) {
		etch_latency_now(t->of, t->index, &number);
		return number;
	}
	return get_unaligned((u64 *)(record + t->offset));
}

/* ---- Characters ---- */

/* More than a pattern can have: a text that is as long is equal to none. */
#define ETCH_TEXT_MAX	(ETCH_PATTERN_MAX + 1)

/* The text that stands in the record or the task, and the bytes of its field. */
static __always_inline const char *etch_text_of(const struct etch_test_of *t, const void *record,
						unsigned int *bytes)
{
	switch (t->of) {
	case ETCH_OF_COMM:
		*bytes = TASK_COMM_LEN;
		return current->comm;
	case ETCH_OF_DYNAMIC:
		return etch_content(t, record, bytes);
	default:
		*bytes = t->most;
		return record + t->offset;
	}
}

/* As long as the pattern, and the same. A text need not have a zero where its field ends. */
static __always_inline bool etch_equals(const struct etch_test_of *t, const char *text,
					unsigned int bytes)
{
	return t->len <= bytes && *text == *t->pattern && !memcmp(text, t->pattern, t->len) &&
	       (t->len == bytes || !text[t->len]);
}

/* glob_match() wants a zero at the end. */
static noinline bool etch_globs_unended(const struct etch_test_of *t, const char *text,
					unsigned int bytes)
{
	char copy[ETCH_TEXT_MAX];

	bytes = min(bytes, ETCH_TEXT_MAX - 1U);
	memcpy(copy, text, bytes);
	copy[bytes] = '\0';
	return glob_match(t->pattern, copy);
}

static bool etch_test_string(const struct etch_test_of *t, const void *record)
{
	unsigned int bytes;
	const char *text = etch_text_of(t, record, &bytes);

	if (t->how == ETCH_EQUALS)
		return etch_equals(t, text, bytes);
	if (!memchr(text, '\0', bytes))
		return etch_globs_unended(t, text, bytes);
	return glob_match(t->pattern, text);
}

/* Text to which the record points. Of a long one, only the beginning can match. */
static noinline bool etch_test_far_string(const struct etch_test_of *t, const void *record)
{
	const void *at = record + t->offset;
	char copy[ETCH_TEXT_MAX];
	bool same;
	long len;

	if (t->of == ETCH_OF_POINTER)
		len = strncpy_from_kernel_nofault(copy, get_unaligned((const void **)at),
						  ETCH_TEXT_MAX);
	else
		len = strncpy_from_user_nofault(copy, get_unaligned((const void __user **)at),
						ETCH_TEXT_MAX);
	if (len < 0)
		return false;
	same = t->how == ETCH_EQUALS ? etch_equals(t, copy, ETCH_TEXT_MAX) :
				       glob_match(t->pattern, copy);
	return same != t->not;
}

/* ---- CPUs ---- */

/* A mask in a record has whole words, and as many as this kernel's masks need. */
static bool etch_test_mask(const struct etch_test_of *t, const void *record)
{
	unsigned int bytes, cpu;
	const unsigned long *words = etch_content(t, record, &bytes);
	bool meet = false, same = true;

	for (cpu = 0; cpu < min(nr_cpu_ids, bytes * BITS_PER_BYTE); cpu++) {
		unsigned long word = get_unaligned(words + BIT_WORD(cpu));
		bool there = word & BIT_MASK(cpu), wanted = cpumask_test_cpu(cpu, t->cpus);

		meet |= there && wanted;
		same &= there == wanted;
	}
	return t->how == ETCH_CPUS_ARE ? same : meet;
}

static bool etch_test_cpu(const struct etch_test_of *t, const void *record)
{
	u64 number = etch_number(t, record) & GENMASK_ULL(t->size * BITS_PER_BYTE - 1, 0);

	return number < nr_cpu_ids && cpumask_test_cpu(number, t->cpus);
}

/* ---- All ---- */

/**
 * etch_test_other() - make a test
 * @t: the test; etch_program_run() makes those itself that are plain
 * @record: as there; NULL if the test needs none
 *
 * Context: as there.
 * Return: what it says.
 */
bool etch_test_other(const struct etch_test_of *t, const void *record)
{
	switch (t->how) {
	case ETCH_IN_RANGE:
		if (t->of == ETCH_OF_ELEMENT)
			return etch_test_element(t, record);
		if (etch_is_latency(t->of))
			return etch_test_latency(t);
		return etch_in_range(t, etch_number(t, record));
	case ETCH_EQUALS:
	case ETCH_GLOBS:
		if (t->of == ETCH_OF_POINTER || t->of == ETCH_OF_USER)
			return etch_test_far_string(t, record);
		return etch_test_string(t, record);
	case ETCH_CPU_IN:
		return etch_test_cpu(t, record);
	default:
		return etch_test_mask(t, record);
	}
}

/**
 * etch_program_passes_other() - run a program that is not plain
 * @program: the filter
 * @record: as etch_program_run() takes it
 *
 * Context: as there.
 * Return: true if the record passes.
 */
bool etch_program_passes_other(const struct etch_program *program, const void *record)
{
	if (program->native)
		return program->native(record, NULL);
	return etch_program_run(program, record, false);
}

/* etch_test_other() for a test that needs no record: the usual ones in line. */
static __always_inline bool etch_test_early(const struct etch_test_of *t)
{
	if (t->how == ETCH_IN_RANGE)
		return etch_in_range(t, etch_number(t, NULL));
	if (t->how == ETCH_EQUALS)
		return etch_equals(t, current->comm, TASK_COMM_LEN);
	return etch_test_other(t, NULL);
}

/**
 * etch_program_refuses() - is it known before there is a record that it does not pass?
 * @program: the filter
 *
 * It is, if the tests up to the first one that needs the record say so.
 *
 * Context: as etch_program_passes().
 * Return: true if no record can pass here and now.
 */
bool etch_program_refuses(const struct etch_program *program)
{
	const struct etch_test_of *t = program->tests;
	unsigned int go;

	do {
		if (!etch_is_early(t->of))
			return false;
		if (etch_test_early(t))
			go = t->yes;
		else
			go = t->no;
		t = go == ETCH_NEXT ? t + 1 : &program->tests[go];
	} while (go < ETCH_PASS);
	return go == ETCH_FAIL;
}

/**
 * etch_program_free() - free a program
 * @program: may be NULL; nobody runs it any more
 *
 * Context: process.
 */
void etch_program_free(struct etch_program *program)
{
	unsigned int i;

	for (i = 0; program && i < program->nr; i++) {
		struct etch_test_of *t = &program->tests[i];

		if (t->how == ETCH_EQUALS || t->how == ETCH_GLOBS)
			kfree(t->pattern);
		else if (t->how != ETCH_IN_RANGE)
			kfree(t->cpus);
	}
	if (program && program->native)
		program->native_free(program->native_of);
	if (program)
		kfree(program->text);
	kfree(program);
}

static void etch_program_free_now(struct rcu_head *rcu)
{
	etch_program_free(container_of(rcu, struct etch_program, rcu));
}

/**
 * etch_program_free_later() - free a program when no writer runs it any more
 * @program: may be NULL; no writer finds it from now on
 *
 * Context: process.
 */
void etch_program_free_later(struct etch_program *program)
{
	if (program)
		call_rcu(&program->rcu, etch_program_free_now);
}
