// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's stack where an event is hit, without the functions that record it: see stack.h.
 */
#include <linux/minmax.h>
#include <linux/sprintf.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "event/stack.h"

/* So many functions at most stand between the serializer and the one that walks the stack. */
#define ETCH_STACK_OWN		8

/* So many callers at most are functions of the kernel's that walk the stack. */
#define ETCH_STACK_WALKER	4

/**
 * etch_stack_save() - store the functions that called an event
 * @callers: room for their return addresses, the innermost first
 * @max: how many there is room for; at most ETCH_STACK_MAX
 * @caller: the address in the serializer to which Etch returns; the callers of the serializer are
 *	    stored. If the address does not stand in the stack, all are stored
 *
 * Context: any, NMI included.
 * Return: how many there are; 0 without CONFIG_STACKTRACE.
 */
unsigned int etch_stack_save(unsigned long *callers, unsigned int max, unsigned long caller)
{
#ifdef CONFIG_STACKTRACE
	unsigned long all[ETCH_STACK_MAX + ETCH_STACK_OWN];
	unsigned int nr, i, skip = 0;

	nr = stack_trace_save(all, min(max, ETCH_STACK_MAX) + ETCH_STACK_OWN, 1);
	for (i = 0; i < min(nr, ETCH_STACK_OWN); i++)
		if (all[i] == caller)
			skip = i + 1;
	nr = min(nr - skip, max);
	memcpy(callers, all + skip, nr * sizeof(*callers));
	return nr;
#else
	return 0;
#endif
}

/* Is an address in a function of Etch, in an event's, or in a tracepoint's? */
static bool etch_stack_own(unsigned long address)
{
	char name[8];

	snprintf(name, sizeof(name), "%ps", (void *)address);
	return str_has_prefix(name, "etch_") || str_has_prefix(name, "__trace");
}

static unsigned long etch_stack_at(const void *callers, long i)
{
	return get_unaligned((const unsigned long *)callers + i);
}

/**
 * etch_stack_skip() - find the functions that recorded a stack, in a stored one
 * @callers: return addresses, the innermost first; need not be aligned
 * @nr: how many
 *
 * They are the first ones: some of the kernel's that walk the stack, then Etch's.
 *
 * Context: any.
 * Return: how many addresses are theirs.
 */
long etch_stack_skip(const void *callers, long nr)
{
	long i = 0;

	while (i < nr && !etch_stack_own(etch_stack_at(callers, i)))
		if (++i == ETCH_STACK_WALKER)
			return 0;
	while (i < nr && etch_stack_own(etch_stack_at(callers, i)))
		i++;
	return i;
}
