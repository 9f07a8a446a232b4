// SPDX-License-Identifier: GPL-2.0
/* The functions of shim.h, and the clocks that the ring reads out of line. */

#include <time.h>

#include <linux/etch_clock.h>

#include "shim.h"

__thread shim_hook shim_point;
int shim_warnings;
long shim_allocs = -1;
long shim_live;

/* Zeroed, and with nothing behind it that an overrun would not be caught in. */
void *shim_alloc(size_t align, size_t size)
{
	void *p;

	if (!shim_allocs)
		return NULL;
	if (shim_allocs > 0)
		shim_allocs--;
	if (posix_memalign(&p, align, size))
		return NULL;
	shim_live++;
	return memset(p, 0, size);
}

void shim_free(void *p)
{
	if (p)
		shim_live--;
	free(p);
}

#undef memcpy
void *shim_memcpy(void *to, const void *from, size_t size)
{
	SHIM_POINT();
	memcpy(to, from, size / 2);
	SHIM_POINT();
	memcpy(to + size / 2, from + size / 2, size - size / 2);
	SHIM_POINT();
	return to;
}

u64 shim_stopped;

u64 ktime_get_mono_fast_ns(void)
{
	struct timespec ts;

	if (shim_stopped)
		return shim_stopped;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* A test may set the counter back, or say that it might be. */
u64 etch_clock_step;
bool shim_asleep;

bool etch_clock_steady(void)
{
	return !shim_asleep && !etch_clock_step;
}

bool shim_leap_asked, shim_leap;
unsigned int shim_leaps;

u64 etch_clock_read_slow(enum etch_clock clock)
{
	static u64 seq, tai, boot;
	u64 n;

	if (clock == ETCH_CLOCK_SEQ)
		return __atomic_add_fetch(&seq, 1, __ATOMIC_RELAXED);
	/* This one is set back every now and then, for longer than a record takes. */
	if (clock == ETCH_CLOCK_TAI) {
		n = __atomic_add_fetch(&tai, 1, __ATOMIC_RELAXED);
		return 1000 + 2 * n - (n / 16 % 2 ? 50 : 0);
	}
	/*
	 * And this one leaps ahead by more than a record's time can tell, as often as it can
	 * before times have a sign: at every 16th look, or at the first look after the test
	 * asked for a leap.
	 */
	if (clock == ETCH_CLOCK_BOOT) {
		n = __atomic_add_fetch(&boot, 1, __ATOMIC_RELAXED);
		if (shim_leap_asked ? __atomic_exchange_n(&shim_leap, false, __ATOMIC_RELAXED)
				    : n % 16 == 0)
			__atomic_add_fetch(&shim_leaps, 1, __ATOMIC_RELAXED);
		return n + ((u64)min(shim_leaps, SHIM_MAX_LEAPS) << 48);
	}
	if (clock == ETCH_CLOCK_STEPPED)
		return etch_clock_counter() + etch_clock_step;
	return ktime_get_mono_fast_ns();
}
