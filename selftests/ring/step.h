/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RING_STEP_H
#define _RING_STEP_H

/*
 * Interrupting an operation at one of its places by another operation. step_test.c has the
 * operations.
 *
 * A place is where a stand-in calls its hook or, if by_trap is set, any instruction.
 */

#include <signal.h>
#include <ucontext.h>

#include "ring_test.h"

#define DEPTH	2		/* operations interrupted at a time */

/* The interruptions, by depth: at the @at-th place @then runs. */
static struct step {
	long	at;
	long	at_too;		/* a place behind @at, to do it once more; or 0 */
	long	count;
	long	rip;		/* by traps: where the last one was */
	bool	done;
	void	(*then)(void);
} steps[DEPTH];
static int depth = -1;
static u64 places;

static bool count_place(void)
{
	struct step *s = &steps[depth];

	return ++s->count == s->at;
}

static void interrupt_here(void)
{
	struct step *s = &steps[depth];

	s->done = true;
	places++;
	shim_point = NULL;
	s->then();
}

static void on_point(void)
{
	struct step *s = &steps[depth];

	if (!count_place())
		return;
	interrupt_here();
	if (s->at_too) {
		s->at = s->at_too;
		s->at_too = 0;
		s->done = false;
		shim_point = on_point;
	}
}

#ifdef __x86_64__
#define TF	0x100
static bool by_trap;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct step *s = &steps[depth];

	if (s->done) {
		regs[REG_EFL] &= ~TF;
		return;
	}
	/* A repeated string instruction traps each time round; once will do. */
	if (s->rip == regs[REG_RIP])
		return;
	s->rip = regs[REG_RIP];
	if (!count_place())
		return;
	regs[REG_EFL] &= ~TF;
	interrupt_here();
}

/* Change the flags as they lie on the stack, where the compiler keeps nothing. */
#define BELOW_RED_ZONE(change)						\
	"lea -128(%%rsp), %%rsp\n\tpushfq\n\t" change "\n\tpopfq\n\tlea 128(%%rsp), %%rsp"

static __always_inline void trap(bool on)
{
	if (on)
		__asm__ __volatile__(BELOW_RED_ZONE("orq %0, (%%rsp)")
				     : : "i" (TF) : "memory", "cc");
	else
		__asm__ __volatile__(BELOW_RED_ZONE("andq %0, (%%rsp)")
				     : : "i" (~TF) : "memory", "cc");
}

static __maybe_unused bool trap_works(void)
{
	struct sigaction act = {
		.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER,
	};

	return !sigaction(SIGTRAP, &act, NULL);
}
#else
#define by_trap		false
#define trap(on)	((void)(on))
#endif

/* Around what need not be interrupted: it touches no more than its own record. */
static __always_inline void full_speed(void)
{
	shim_point = NULL;
	if (by_trap)
		trap(false);
}

static __always_inline void step_again(void)
{
	if (depth < 0 || steps[depth].done)
		return;
	if (by_trap)
		trap(true);
	else
		shim_point = on_point;
}

/*
 * Do @op, and @then at its @at-th place and, if that is not 0, its @at_too-th. False: it
 * does not have so many.
 */
static bool step_twice(void (*op)(void), long at, long at_too, void (*then)(void))
{
	struct step *s = &steps[++depth];

	*s = (struct step){ .at = at, .at_too = at_too, .then = then };
	step_again();
	op();
	full_speed();
	depth--;
	return s->done;
}

static bool step(void (*op)(void), long at, void (*then)(void))
{
	return step_twice(op, at, 0, then);
}

#endif /* _RING_STEP_H */
