/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines that say how long things took, for show --durations and trace:
 *
 *	... 12.345678: read(fd: 3, buf: 7ffd52a0, count: 64) = 5 <12.3 us>
 *	... 12.345690: sched_switch: prev_comm=sh ... <sh-61 ran 809.2 us, nc-62 waited 31.74 ms !>
 *	... 12.345699: softirq_exit: vec=9 [action=RCU] <55.4 us>
 *
 * A system call is one line, at the time of its end. Where records are missing, or if its other
 * half was not recorded, <?> stands for the time. A wait of DURATIONS_LONG or more has an
 * exclamation mark, and is red on a terminal.
 *
 * It comes with the patch of what it needs, states/; without that, durations_open is NULL.
 */
#ifndef _ETCH_DURATIONS_H
#define _ETCH_DURATIONS_H

#include "verbs/etch.h"
#include "verbs/line.h"

#define DURATIONS_LONG	10000000	/* ns */

struct durations;

/*
 * @on: the events that are recorded, SYSTEM:EVENT a line; NULL: perhaps all. A call whose end is
 * not among them is printed when it begins. NULL: no memory, said.
 */
struct durations *durations_open(struct liner *liner, const char *on) LATER;
/*
 * The next record, whether or not the user wants it: what went on before tells how long it
 * took. Returns how many lines it printed.
 */
unsigned int durations_line(struct durations *durations, struct out *out,
			    const struct etch_record *rec, bool wanted) LATER;
/* Lines for calls that have lasted for at least @ns at the time @now, once for each. */
void durations_tell_open(struct durations *durations, struct out *out, uint64_t now,
			 uint64_t ns) LATER;
void durations_close(struct durations *durations) LATER;

#endif /* _ETCH_DURATIONS_H */
