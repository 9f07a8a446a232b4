/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clocks that Etch stamps its records with.
 *
 * A ring has one clock, chosen by number. Reading it is notrace, takes no lock,
 * never sleeps and may be done in any context, NMI included. The default clock
 * is the processor's own counter, read inline and stored as it is. The code that
 * shows a time turns it into nanoseconds with etch_clock_to_ns(), long after.
 *
 *	name		unit		across CPUs
 *	counter		ticks		synchronous where it is the default
 *	mono		ns		yes: CLOCK_MONOTONIC
 *	mono_raw	ns		yes: the same, never slewed
 *	boot		ns		yes: CLOCK_BOOTTIME, counts suspend too
 *	tai		ns		yes: CLOCK_TAI, may be set
 *	local		ns		no: fast, CPUs may drift apart
 *	global		ns		yes: local, kept in order by a lock in all but NMI
 *	seq		a number	yes: counts up by one at each reading
 */
#ifndef _LINUX_ETCH_CLOCK_H
#define _LINUX_ETCH_CLOCK_H

#include <linux/compiler.h>
#include <linux/types.h>

#if defined(CONFIG_X86) && !defined(CONFIG_UML)
#include <asm/msr.h>
#elif defined(CONFIG_ARM64)
#include <asm/timex.h>
#elif !defined(CONFIG_X86_64)
#include <linux/timekeeping.h>
#endif

/**
 * enum etch_clock - the palette, in the order of etch_clock_names
 * @ETCH_CLOCK_COUNTER:  the processor's raw counter
 * @ETCH_CLOCK_MONO:     ktime_get_mono_fast_ns()
 * @ETCH_CLOCK_MONO_RAW: ktime_get_raw_fast_ns()
 * @ETCH_CLOCK_BOOT:     ktime_get_boot_fast_ns()
 * @ETCH_CLOCK_TAI:      ktime_get_tai_fast_ns()
 * @ETCH_CLOCK_LOCAL:    trace_clock_local()
 * @ETCH_CLOCK_GLOBAL:   trace_clock_global()
 * @ETCH_CLOCK_SEQ:      trace_clock_counter()
 * @ETCH_CLOCK_NR:       how many there are; not a clock
 * @ETCH_CLOCK_STEPPED:  the counter and etch_clock_step. Nobody chooses it: rings have it
 *                       instead of the counter while and after that is not steady
 */
enum etch_clock {
	ETCH_CLOCK_COUNTER,
	ETCH_CLOCK_MONO,
	ETCH_CLOCK_MONO_RAW,
	ETCH_CLOCK_BOOT,
	ETCH_CLOCK_TAI,
	ETCH_CLOCK_LOCAL,
	ETCH_CLOCK_GLOBAL,
	ETCH_CLOCK_SEQ,
	ETCH_CLOCK_NR,
	ETCH_CLOCK_STEPPED,
};

/* The names users write, indexed by enum etch_clock. */
extern const char * const etch_clock_names[ETCH_CLOCK_NR];

/* What the counter was set back by, since the kernel booted: 0 on most machines. */
extern u64 etch_clock_step;

u64 etch_clock_read_slow(enum etch_clock clock);
bool etch_clock_steady(void);
bool etch_clock_counter_usable(void);
enum etch_clock etch_clock_default(void);
bool etch_clock_in_ns(enum etch_clock clock);
u64 etch_clock_to_ns(enum etch_clock clock, u64 time);
u64 etch_clock_hz(void);
void etch_clock_learn_now(void);
s64 etch_clock_zero(enum etch_clock clock);

/**
 * struct etch_ticks - ticks of the processor's raw counter, in the registers it comes in
 * @low: the lower half
 * @high: the upper one
 * @ticks: the whole, where it comes in one register
 */
struct etch_ticks {
#ifdef CONFIG_X86_64
#define ETCH_COUNTER_HALVES
	u32 low;
	u32 high;
#else
	u64 ticks;
#endif
};

/**
 * etch_ticks_read() - read the processor's raw counter
 *
 * Not ordered against the instructions around it: two readings on one CPU never
 * go back, and that is all a time stamp needs. (Suspending to RAM may start that of an x86
 * machine anew: etch_clock_read() is what goes on then.) An architecture without a counter
 * that can be read anywhere gives CLOCK_MONOTONIC's nanoseconds instead.
 *
 * Context: any, NMI included.
 * Return: ticks, for etch_ticks_whole().
 */
static __always_inline struct etch_ticks etch_ticks_read(void)
{
	struct etch_ticks counter;

#ifdef ETCH_COUNTER_HALVES
	/* User mode may read the host's counter, too; um's own get_cycles() is 0. */
	asm volatile("rdtsc" : "=a" (counter.low), "=d" (counter.high));
#elif defined(CONFIG_X86) && !defined(CONFIG_UML)
	counter.ticks = rdtsc();
#elif defined(CONFIG_ARM64)
	counter.ticks = get_cycles();
#else
	counter.ticks = ktime_get_mono_fast_ns();
#endif
	return counter;
}

/**
 * etch_ticks_whole() - make one number of what the counter gave
 * @counter: by etch_ticks_read()
 *
 * Return: ticks.
 */
static __always_inline u64 etch_ticks_whole(struct etch_ticks counter)
{
#ifdef ETCH_COUNTER_HALVES
	return counter.low | (u64)counter.high << 32;
#else
	return counter.ticks;
#endif
}

/**
 * etch_clock_counter() - read the processor's raw counter, as one number
 *
 * Context: any, NMI included.
 * Return: ticks.
 */
static __always_inline u64 etch_clock_counter(void)
{
	return etch_ticks_whole(etch_ticks_read());
}

/**
 * etch_clock_read() - read a clock of the palette
 * @clock: which one
 *
 * Inline for the counter, a call out of line for all others. The counter goes on where it
 * was when the machine was suspended, if it was set back meanwhile.
 *
 * Context: any, NMI included.
 * Return: ticks, nanoseconds or a sequence number, as the table above says.
 */
static __always_inline u64 etch_clock_read(enum etch_clock clock)
{
	if (likely(clock == ETCH_CLOCK_COUNTER))
		return etch_clock_counter() + READ_ONCE(etch_clock_step);
	return etch_clock_read_slow(clock);
}

#endif /* _LINUX_ETCH_CLOCK_H */
