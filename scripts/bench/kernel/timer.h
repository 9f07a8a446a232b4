/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _BENCH_TIMER_H
#define _BENCH_TIMER_H

/*
 * Linux has hrtimer_setup() since 6.13; here is what older kernels get instead. The series has
 * the same for its own files, but these modules are built for kernels without it, too.
 */
#include <linux/hrtimer.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *timer),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}

static inline void hrtimer_setup_on_stack(struct hrtimer *timer,
					  enum hrtimer_restart (*function)(struct hrtimer *timer),
					  clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init_on_stack(timer, clock, mode);
	timer->function = function;
}
#endif

#endif /* _BENCH_TIMER_H */
