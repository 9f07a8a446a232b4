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

/* More than a pattern can have: a text that is as long is equal to none. */
#define ETCH_TEXT_MAX	(ETCH_PATTERN_MAX + 1)

/*
 * The text that @t looks at, and at most how many bytes it has. It is copied to @copy only from
 * where it cannot be read in place. NULL: it cannot be read at all.
 */
static __always_inline const char *etch_text_of(const struct etch_test_of *t, const void *record,
						char copy[ETCH_TEXT_MAX], unsigned int *bytes)
{
	const void *at = record + t->offset;
	long len;

	switch (t->of) {
	case ETCH_OF_STRING:
		*bytes = t->most;
		return at;
	case ETCH_OF_COMM:
		*bytes = TASK_COMM_LEN;
		return current->comm;
	case ETCH_OF_DYNAMIC:
		return etch_content(t, record, bytes);
	case ETCH_OF_POINTER:
		len = strncpy_from_kernel_nofault(copy, get_unaligned((const void **)at),
						  ETCH_TEXT_MAX);
		break;
	default:
		len = strncpy_from_user_nofault(copy, get_unaligned((const void __user **)at),
						ETCH_TEXT_MAX);
		break;
	}
	*bytes = ETCH_TEXT_MAX;
	return len < 0 ? NULL : copy;
}

/* glob_match() wants a zero at the end, which characters that fill their field do not have. */
static bool etch_globs(const char *pattern, const char *text, unsigned int bytes,
		       char copy[ETCH_TEXT_MAX])
{
	if (!memchr(text, '\0', bytes)) {
		bytes = min(bytes, ETCH_TEXT_MAX - 1U);
		memcpy(copy, text, bytes);
		copy[bytes] = '\0';
		text = copy;
	}
	return glob_match(pattern, text);
}

static noinline bool etch_test_string(const struct etch_test_of *t, const void *record)
{
	char copy[ETCH_TEXT_MAX];
	unsigned int bytes;
	const char *text = etch_text_of(t, record, copy, &bytes);

	if (!text)
		return false;
	if (t->how == ETCH_GLOBS)
		return etch_globs(t->pattern, text, bytes, copy);
	/* As long as the pattern, and the same. */
	return t->len <= bytes && !memcmp(text, t->pattern, t->len) &&
	       (t->len == bytes || !text[t->len]);
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
