// SPDX-License-Identifier: GPL-2.0
/*
 * The clocks of <linux/etch_clock.h>, and the counter's way to nanoseconds.
 *
 * A counter whose frequency the architecture knows is converted with that. Under
 * um nobody knows it: two readings of the counter and of CLOCK_MONOTONIC, one
 * early in boot and one when a reader first asks, give it, and from then on it
 * stays as it is, so that a time is shown the same each time.
 *
 * Suspending to RAM starts the counter of most x86 machines anew. What it was set back by is
 * added from then on, with the time that the machine was asleep, so it goes on as that of a
 * machine which counts while it sleeps. Rings read the counter without that sum as long as
 * there is none, and not while the machine suspends and resumes: see etch_clock_steady().
 */

#include <linux/delay.h>
#include <linux/etch_clock.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/string.h>
#include <linux/suspend.h>
#include <linux/timekeeping.h>
#include <linux/trace_clock.h>
#include <trace/events/power.h>

#include "ring/ring_internal.h"

#if defined(CONFIG_X86) && !defined(CONFIG_UML)
#include <asm/cpufeature.h>
#include <asm/tsc.h>
#elif defined(CONFIG_ARM64)
#include <asm/arch_timer.h>
#endif

const char * const etch_clock_names[ETCH_CLOCK_NR] = {
	[ETCH_CLOCK_COUNTER]	= "counter",
	[ETCH_CLOCK_MONO]	= "mono",
	[ETCH_CLOCK_MONO_RAW]	= "mono_raw",
	[ETCH_CLOCK_BOOT]	= "boot",
	[ETCH_CLOCK_TAI]	= "tai",
	[ETCH_CLOCK_LOCAL]	= "local",
	[ETCH_CLOCK_GLOBAL]	= "global",
	[ETCH_CLOCK_SEQ]	= "seq",
};
EXPORT_SYMBOL_GPL(etch_clock_names);

u64 etch_clock_step __read_mostly;
EXPORT_SYMBOL_GPL(etch_clock_step);

/* From before the machine suspends until it has resumed. */
static bool asleep;

/* The counter and CLOCK_MONOTONIC at one moment; zero is none. */
struct moment {
	u64	ticks;
	u64	ns;
};

static struct moment early;	/* written at boot, then only read */

/* How ticks become nanoseconds. */
struct scale {
	u64		hz;
	struct moment	base;
};

/* The scales. Each is written once, before @scale points to it. */
enum {
	SCALE_FIRST,		/* under the lock: by the first caller that needs a scale */
	SCALE_REFINED,		/* under the lock: the kernel knew the counter better by then */
	SCALE_DYING,		/* without it: in a dump */
	SCALE_NR
};

static DEFINE_MUTEX(scale_lock);
static struct scale scales[SCALE_NR];
static struct scale *scale;

/* The kernel's fast clocks. */
static __always_inline u64 latched_ns(enum etch_clock clock)
{
	switch (clock) {
	case ETCH_CLOCK_MONO:
		return ktime_get_mono_fast_ns();
	case ETCH_CLOCK_MONO_RAW:
		return ktime_get_raw_fast_ns();
	case ETCH_CLOCK_BOOT:
		return ktime_get_boot_fast_ns();
	default:
		return ktime_get_tai_fast_ns();
	}
}

/**
 * etch_clock_read_slow() - read a clock that is not inline
 * @clock: which one
 *
 * Context: any, NMI included.
 * Return: its time; for a clock that there is not the counter's, as etch_clock_read().
 */
u64 notrace etch_clock_read_slow(enum etch_clock clock)
{
	switch (clock) {
	case ETCH_CLOCK_MONO:
	case ETCH_CLOCK_MONO_RAW:
	case ETCH_CLOCK_BOOT:
	case ETCH_CLOCK_TAI:
		/*
		 * They read one of two copies, and again if a sequence number says that it
		 * has changed meanwhile. KCSAN does not know that.
		 */
		return data_race(latched_ns(clock));
	case ETCH_CLOCK_LOCAL:
		return trace_clock_local();
	case ETCH_CLOCK_GLOBAL:
		/* It stores its latest time as it is, under its lock, and looks at it without. */
		return data_race(trace_clock_global());
	case ETCH_CLOCK_SEQ:
		return trace_clock_counter();
	default:
		return etch_clock_counter() + READ_ONCE(etch_clock_step);
	}
}
EXPORT_SYMBOL_GPL(etch_clock_read_slow);

/**
 * etch_clock_counter_usable() - does the counter tell the time?
 *
 * It does if it runs at one rate, in idle states too, and alike on all CPUs. An x86-64 processor
 * tells the kernel so. An emulated one cannot; there the administrator does, by tsc=reliable.
 *
 * Context: any.
 * Return: true if it does.
 */
bool etch_clock_counter_usable(void)
{
#if defined(CONFIG_UML) && defined(CONFIG_X86_64)
	return true;	/* one CPU; the host would not let us live with worse */
#elif defined(CONFIG_X86_TSC) && !defined(CONFIG_UML)
	return (tsc_clocksource_reliable || (boot_cpu_has(X86_FEATURE_CONSTANT_TSC) &&
					     boot_cpu_has(X86_FEATURE_NONSTOP_TSC))) &&
	       !check_tsc_unstable();
#else
	return IS_ENABLED(CONFIG_ARM64);
#endif
}
EXPORT_SYMBOL_GPL(etch_clock_counter_usable);

/**
 * etch_clock_default() - the clock for a buffer that nobody chose one for
 *
 * Context: any.
 * Return: the counter where it is usable, else mono.
 */
enum etch_clock etch_clock_default(void)
{
	return etch_clock_counter_usable() ? ETCH_CLOCK_COUNTER : ETCH_CLOCK_MONO;
}
EXPORT_SYMBOL_GPL(etch_clock_default);

/**
 * etch_clock_in_ns() - are this clock's times, once converted, nanoseconds?
 * @clock: which one
 *
 * Context: any.
 * Return: true for all but seq.
 */
bool etch_clock_in_ns(enum etch_clock clock)
{
	return clock != ETCH_CLOCK_SEQ;
}
EXPORT_SYMBOL_GPL(etch_clock_in_ns);

/* Both clocks as close together as can be: the best of a few tries. */
static struct moment now(void)
{
	struct moment best = {};
	u64 width = U64_MAX;
	unsigned long flags;
	int i;

	local_irq_save(flags);
	for (i = 0; i < 5; i++) {
		u64 before = etch_clock_read(ETCH_CLOCK_COUNTER);
		/* as in etch_clock_read_slow() */
		u64 ns = data_race(latched_ns(ETCH_CLOCK_MONO));
		u64 after = etch_clock_read(ETCH_CLOCK_COUNTER);

		if (after - before >= width)
			continue;
		width = after - before;
		best.ticks = before + width / 2;
		best.ns = ns;
	}
	local_irq_restore(flags);
	return best;
}

/* What the architecture says; 0 if it does not. */
static u64 known_hz(void)
{
#if defined(CONFIG_X86_TSC) && !defined(CONFIG_UML)
	return (u64)tsc_khz * 1000;
#elif defined(CONFIG_ARM64)
	/* A device tree may know better than the register. */
	return arch_timer_get_rate();
#elif defined(CONFIG_UML) && defined(CONFIG_X86_64)
	return 0;
#else
	return NSEC_PER_SEC;	/* the counter is CLOCK_MONOTONIC */
#endif
}

/* Measured since boot; 0 if that is not long enough. */
static u64 measured_hz(const struct moment *m)
{
	if (!early.ns || m->ns - early.ns < 10 * NSEC_PER_MSEC)
		return 0;
	return mul_u64_u64_div_u64(m->ticks - early.ticks, NSEC_PER_SEC, m->ns - early.ns);
}

/*
 * The kernel may measure its counter once more, about a second after it has begun to use
 * it. Who asked before gets another answer from then on.
 */
static bool holds(const struct scale *s)
{
	return s && (s != &scales[SCALE_FIRST] || !known_hz() || known_hz() == s->hz);
}

/* Under the lock. */
static struct scale *learn_scale(void)
{
	struct scale *s = &scales[scale ? SCALE_REFINED : SCALE_FIRST];

	s->base = now();
	s->hz = known_hz();
	if (!s->hz && !early.ns)
		early = s->base;
	while (!s->hz) {
		s->hz = measured_hz(&s->base);
		if (s->hz)
			break;
		msleep(20);
		s->base = now();
	}
	/* The scale before the news of it; pairs with the acquire below. */
	smp_store_release(&scale, s);
	return s;
}

/* The scale; found out at the first need of it, which may sleep. */
static const struct scale *get_scale(void)
{
	/* Pairs with the releases. */
	struct scale *s = smp_load_acquire(&scale);

	if (holds(s))
		return s;
	mutex_lock(&scale_lock);
	s = holds(scale) ? scale : learn_scale();
	mutex_unlock(&scale_lock);
	return s;
}

/**
 * etch_clock_learn_now() - determine the counter's scale from the measurements so far
 *
 * After this, etch_clock_to_ns() does not sleep. If another CPU is in its first
 * etch_clock_to_ns() at this very moment, the scale may change once more, by too little
 * to matter in a dump.
 *
 * Context: any, NMI included; one caller at a time.
 */
void etch_clock_learn_now(void)
{
	struct scale *s = &scales[SCALE_DYING];
	/* Pairs with the releases. */
	const struct scale *old = smp_load_acquire(&scale);

	/* These two hold for good; the first one may be replaced, under the lock, meanwhile. */
	if (old == &scales[SCALE_REFINED] || old == s)
		return;
	if (holds(old)) {
		*s = *old;
	} else {
		s->base = now();
		s->hz = known_hz() ?: measured_hz(&s->base) ?: NSEC_PER_SEC;
	}
	/* The scale before the news of it; pairs with the acquires. */
	smp_store_release(&scale, s);
}

/**
 * etch_clock_hz() - the counter's frequency
 *
 * Context: task; the first call may sleep some 20 ms.
 * Return: ticks per second.
 */
u64 etch_clock_hz(void)
{
	return get_scale()->hz;
}
EXPORT_SYMBOL_GPL(etch_clock_hz);

/**
 * etch_clock_to_ns() - turn a time into one to show
 * @clock: whose it is
 * @time:  what etch_clock_read() gave, in full
 *
 * The counter's times come out as CLOCK_MONOTONIC's, as far as one frequency can
 * tell, and with what the machine was asleep since somebody first asked; all others are
 * what they are.
 *
 * Context: task; the first call for the counter may sleep some 20 ms.
 * Return: nanoseconds, or for seq the number.
 */
u64 etch_clock_to_ns(enum etch_clock clock, u64 time)
{
	const struct scale *s;
	u64 ns;

	if (clock != ETCH_CLOCK_COUNTER)
		return time;

	s = get_scale();
	if (time >= s->base.ticks)
		return s->base.ns + mul_u64_u64_div_u64(time - s->base.ticks, NSEC_PER_SEC, s->hz);

	ns = mul_u64_u64_div_u64(s->base.ticks - time, NSEC_PER_SEC, s->hz);
	return ns < s->base.ns ? s->base.ns - ns : 0;	/* 0: before time began */
}
EXPORT_SYMBOL_GPL(etch_clock_to_ns);

/* A clock that has no fixed distance to the wall clock: by two readings of the latter. */
static s64 zero_by_reading(enum etch_clock clock)
{
	u64 width = U64_MAX, before, time, after;
	unsigned long flags;
	s64 zero = 0;
	int i;

	local_irq_save(flags);
	for (i = 0; i < 5; i++) {
		before = ktime_get_real_fast_ns();
		time = etch_clock_read(clock);
		after = ktime_get_real_fast_ns();
		if (after - before >= width)
			continue;
		width = after - before;
		zero = before + width / 2 - time;
	}
	local_irq_restore(flags);
	return zero;
}

/**
 * etch_clock_zero() - what the wall clock was when a clock was at zero
 * @clock: which one
 *
 * So a time, in nanoseconds at the clock's own rate, and this are wall-clock time. It changes
 * when the wall clock is set. For the clocks that it does not govern, that is mono_raw,
 * local and global, it changes slowly, all the time.
 *
 * Context: task; the first call for the counter may sleep some 20 ms.
 * Return: nanoseconds since 1970 in UTC, or before; 0 for seq.
 */
s64 etch_clock_zero(enum etch_clock clock)
{
	s64 real = ktime_to_ns(ktime_mono_to_real(0));
	const struct scale *s;

	switch (clock) {
	case ETCH_CLOCK_COUNTER:
		s = get_scale();
		return real + s->base.ns -
		       mul_u64_u64_div_u64(s->base.ticks, NSEC_PER_SEC, s->hz);
	case ETCH_CLOCK_MONO:
		return real;
	case ETCH_CLOCK_BOOT:
		return real - ktime_to_ns(ktime_mono_to_any(0, TK_OFFS_BOOT));
	case ETCH_CLOCK_TAI:
		return real - ktime_to_ns(ktime_mono_to_any(0, TK_OFFS_TAI));
	case ETCH_CLOCK_SEQ:
		return 0;
	default:
		return zero_by_reading(clock);
	}
}
EXPORT_SYMBOL_GPL(etch_clock_zero);

/* ---- Sleep ---- */

/**
 * etch_clock_steady() - does the counter alone tell the time?
 *
 * It does not if it was set back, while that may happen, or while the machine may sleep for
 * so long that the counter leaps. The owners of rings that read the counter call
 * etch_ring_suspend() before such a time, and etch_ring_resume() after it.
 *
 * Context: any.
 * Return: true if it does.
 */
bool etch_clock_steady(void)
{
	return !READ_ONCE(asleep) && !READ_ONCE(etch_clock_step);
}
EXPORT_SYMBOL_GPL(etch_clock_steady);

/**
 * etch_clock_woken() - the machine was asleep
 * @ticks: the counter before, as etch_clock_read() gives it
 * @ns: for how long; less if nobody knows
 *
 * Context: any; while it resumes, nobody else does.
 */
void etch_clock_woken(u64 ticks, u64 ns)
{
	u64 back = ticks - etch_clock_read(ETCH_CLOCK_COUNTER);

	if ((s64)back <= 0)
		return;
	back += mul_u64_u64_div_u64(ns, known_hz(), NSEC_PER_SEC);
	WRITE_ONCE(etch_clock_step, etch_clock_step + back);
}

static struct moment slept;	/* since then */

/*
 * As the kernel's core goes to sleep, and behind that, when it has woken up and its clocks
 * are right again. Both times one CPU is there, with interrupts off: the others come later.
 */
static void etch_clock_probe(void *unused, const char *action, int val, bool start)
{
	if (start && !strcmp(action, "syscore_suspend")) {
		slept.ticks = etch_clock_read(ETCH_CLOCK_COUNTER);
		slept.ns = ktime_get_boot_fast_ns();
	} else if (!start && !strcmp(action, "syscore_resume")) {
		etch_clock_woken(slept.ticks, ktime_get_boot_fast_ns() - slept.ns);
	}
}

static int etch_clock_notify(struct notifier_block *self, unsigned long what, void *unused)
{
	switch (what) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
		WRITE_ONCE(asleep, true);
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
		WRITE_ONCE(asleep, false);
		break;
	}
	return NOTIFY_DONE;
}

/* Runs before the notifiers of the rings' owners. */
static struct notifier_block etch_clock_notifier = {
	.notifier_call = etch_clock_notify,
	.priority = 1,
};

static int __init etch_clock_sleep_init(void)
{
	int ret = register_pm_notifier(&etch_clock_notifier);

	if (IS_ENABLED(CONFIG_PM_SLEEP) && !ret)
		ret = register_trace_suspend_resume(etch_clock_probe, NULL);
	return ret;
}
late_initcall(etch_clock_sleep_init);

static int __init etch_clock_init(void)
{
	early = now();
	return 0;
}

/*
 * Runs after the kernel has chosen its best clocksource: until then it keeps time by jiffies,
 * which are off by a hundredth.
 */
fs_initcall_sync(etch_clock_init);
