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
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/unaligned.h>

#include "event/event.h"
#include "event/program.h"

static __always_inline u64 etch_load(const void *at, unsigned int size, bool is_signed)
{
	switch (size) {
	case 1:
		return is_signed ? (u64)*(const s8 *)at : *(const u8 *)at;
	case 2:
		return is_signed ? (u64)(s16)get_unaligned((const u16 *)at) :
				   get_unaligned((const u16 *)at);
	case 4:
		return is_signed ? (u64)(s32)get_unaligned((const u32 *)at) :
				   get_unaligned((const u32 *)at);
	default:
		return get_unaligned((const u64 *)at);
	}
}

/* What a dynamic field has, and how many bytes of it there are. */
static const void *etch_content(const struct etch_test_of *t, const void *record,
				unsigned int *bytes)
{
	u32 loc = get_unaligned((const u32 *)(record + t->offset));

	*bytes = loc >> 16;
	return record + (loc & 0xffff) + (t->relative ? t->offset + sizeof(loc) : 0);
}

/* ---- Numbers ---- */

/* False: the array has no such element. */
static bool etch_number(const struct etch_test_of *t, const void *record, u64 *number)
{
	const void *at;
	unsigned int bytes;

	switch (t->of) {
	case ETCH_OF_PID:
		*number = (u64)current->pid;
		return true;
	case ETCH_OF_CPU:
		*number = smp_processor_id();
		return true;
	case ETCH_OF_CONTEXT:
		*number = etch_context_now();
		return true;
	case ETCH_OF_ELEMENT:
		at = etch_content(t, record, &bytes);
		if ((t->index + 1) * t->size > bytes)
			return false;
		*number = etch_load(at + t->index * t->size, t->size, t->is_signed);
		return true;
	default:
		*number = etch_load(record + t->offset, t->size, t->is_signed);
		return true;
	}
}

/* ---- Characters ---- */

/* Copies at most as many as a pattern can have, and ends them with a zero. */
static bool etch_string(const struct etch_test_of *t, const void *record,
			char text[ETCH_PATTERN_MAX])
{
	const void *at = record + t->offset;
	unsigned int bytes = t->most;
	unsigned long where;

	switch (t->of) {
	case ETCH_OF_COMM:
		at = current->comm;
		bytes = TASK_COMM_LEN;
		break;
	case ETCH_OF_DYNAMIC:
		at = etch_content(t, record, &bytes);
		break;
	case ETCH_OF_POINTER:
		where = get_unaligned((const unsigned long *)at);
		return strncpy_from_kernel_nofault(text, (const void *)where,
						   ETCH_PATTERN_MAX) >= 0;
	case ETCH_OF_USER:
		where = get_unaligned((const unsigned long *)at);
		return strncpy_from_user_nofault(text, (const void __user *)where,
						 ETCH_PATTERN_MAX) >= 0;
	}
	bytes = min(bytes, ETCH_PATTERN_MAX - 1U);
	memcpy(text, at, bytes);
	text[bytes] = '\0';
	return true;
}

static noinline bool etch_test_string(const struct etch_test_of *t, const void *record)
{
	char text[ETCH_PATTERN_MAX];

	if (!etch_string(t, record, text))
		return false;
	return t->how == ETCH_GLOBS ? glob_match(t->pattern, text) : !strcmp(t->pattern, text);
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
	u64 number;

	return etch_number(t, record, &number) && number < nr_cpu_ids &&
	       cpumask_test_cpu(number, t->cpus);
}

/* ---- All ---- */

static __always_inline bool etch_test(const struct etch_test_of *t, const void *record)
{
	u64 number;

	if (likely(t->how == ETCH_IN_RANGE))
		return etch_number(t, record, &number) &&
		       (number & t->mask) - t->low <= t->span;
	if (t->how <= ETCH_GLOBS)
		return etch_test_string(t, record);
	return t->how == ETCH_CPU_IN ? etch_test_cpu(t, record) : etch_test_mask(t, record);
}

/**
 * etch_program_passes() - does a record pass?
 * @program: the filter, made for records of this class
 * @record: complete, but for its time
 *
 * Context: any, NMI included, in the task and on the CPU that made the record, preemption
 * disabled.
 * Return: true if it does.
 */
bool etch_program_passes(const struct etch_program *program, const void *record)
{
	unsigned int next = program->first;

	/* Branches: a choice by data would have each test wait for the one before. */
	while (next < ETCH_PASS) {
		const struct etch_test_of *t = &program->tests[next];

		if (etch_test(t, record))
			next = t->yes;
		else
			next = t->no;
	}
	return next == ETCH_PASS;
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
	unsigned int next = program->first;

	while (next < ETCH_PASS) {
		const struct etch_test_of *t = &program->tests[next];

		if (!etch_is_early(t->of))
			return false;
		if (etch_test(t, NULL))
			next = t->yes;
		else
			next = t->no;
	}
	return next == ETCH_FAIL;
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
