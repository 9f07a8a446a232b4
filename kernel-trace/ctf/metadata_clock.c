// SPDX-License-Identifier: GPL-2.0
/*
 * The clock of a trace, in metadata: how its times become those of the wall clock.
 *
 * That is one offset for a whole trace, or its records would move with each reading
 * of the metadata. It is taken when somebody first asks: soon after boot the wall clock
 * may still be wrong. The next reader, of another instance with the same clock, gets
 * the same offset, and the same uuid, which tells readers that the times of both traces
 * are of one clock. When the wall clock has been set meanwhile, new traces get a
 * new offset, and the clock a new uuid.
 */
#include <linux/etch.h>
#include <linux/etch_clock.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/string_choices.h>
#include <linux/timekeeping.h>
#include <linux/uuid.h>

#include "ctf/ctf.h"
#include "ctf/metadata.h"

/* The newest of each clock. @real: used to detect that the wall clock was set. */
static DEFINE_MUTEX(etch_origins_lock);
static struct {
	struct etch_origin origin;
	ktime_t real;
} etch_origins[ETCH_CLOCK_NR];

static const char * const etch_clock_descriptions[ETCH_CLOCK_NR] = {
	[ETCH_CLOCK_COUNTER]	= "The processor's counter of time",
	[ETCH_CLOCK_MONO]	= "CLOCK_MONOTONIC",
	[ETCH_CLOCK_MONO_RAW]	= "CLOCK_MONOTONIC_RAW",
	[ETCH_CLOCK_BOOT]	= "CLOCK_BOOTTIME",
	[ETCH_CLOCK_TAI]	= "CLOCK_TAI",
	[ETCH_CLOCK_LOCAL]	= "The scheduler's clock, of each CPU for itself",
	[ETCH_CLOCK_GLOBAL]	= "The scheduler's clock, in one order for all CPUs",
	[ETCH_CLOCK_SEQ]	= "A number that counts the records: no time",
};

/**
 * etch_origin_get() - when a clock was at zero
 * @clock: which one
 * @origin: gets it
 *
 * Context: process; the first call for the counter may sleep some 20 ms.
 */
void etch_origin_get(enum etch_clock clock, struct etch_origin *origin)
{
	u64 hz = clock == ETCH_CLOCK_COUNTER ? etch_clock_hz() : NSEC_PER_SEC;
	ktime_t real = ktime_mono_to_real(0);

	mutex_lock(&etch_origins_lock);
	if (!etch_origins[clock].origin.known || etch_origins[clock].real != real ||
	    etch_origins[clock].origin.hz != hz) {
		etch_origins[clock].real = real;
		etch_origins[clock].origin.hz = hz;
		etch_origins[clock].origin.ns = etch_clock_zero(clock);
		uuid_gen(&etch_origins[clock].origin.uuid);
		etch_origins[clock].origin.known = true;
	}
	*origin = etch_origins[clock].origin;
	mutex_unlock(&etch_origins_lock);
}

/**
 * etch_metadata_clock() - describe a clock, and the types of its times
 * @m: where to
 * @clock: the clock
 * @origin: its zero, and its rate
 *
 * Only clocks with a known place in the time of the world are absolute: seq is not, and
 * babeltrace2 rightly refuses to sort its traces among others.
 *
 * Context: process.
 */
void etch_metadata_clock(struct seq_file *m, enum etch_clock clock,
			 const struct etch_origin *origin)
{
	const char *name = etch_clock_names[clock];
	s64 seconds;
	s32 ns;

	/* Rounded down: the remainder is not negative. */
	seconds = div_s64_rem(origin->ns, NSEC_PER_SEC, &ns);
	if (ns < 0) {
		seconds--;
		ns += NSEC_PER_SEC;
	}
	seq_printf(m, "\nclock {\n\tname = %s;\n\tuuid = \"%pUb\";\n\tdescription = \"%s\";\n",
		   name, &origin->uuid, etch_clock_descriptions[clock]);
	seq_printf(m, "\tfreq = %llu;\n\toffset_s = %lld;\n\toffset = %llu;\n\tabsolute = %s;\n};\n",
		   origin->hz, seconds, mul_u64_u64_div_u64(ns, origin->hz, NSEC_PER_SEC),
		   str_true_false(etch_clock_in_ns(clock)));
	seq_printf(m, "\ntypealias integer { size = 64; align = 32; signed = false; "
		   "map = clock.%s.value; } := ts64_t;\n", name);
	seq_printf(m, "typealias integer { size = 64; align = 128; signed = false; "
		   "map = clock.%s.value; } := ts64_begin_t;\n", name);
	seq_printf(m, "typealias integer { size = %u; align = 1; signed = false; "
		   "map = clock.%s.value; } := ts%u_t;\n", ETCH_TIME_BITS, name, ETCH_TIME_BITS);
}
