/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_SECTIONS_H
#define _ETCH_SECTIONS_H

/*
 * The restartable sequences that write into a ring; a part of <etch/user.h>.
 *
 * A thread that is interrupted by another thread, by a handler of a signal or by its move to
 * another CPU begins a sequence again. So only its last instruction counts, and each of these
 * functions is one sequence, in the machine's own language. <linux/etch_user.h> says what they
 * do to a ring. @row is an instance's part of etch_provider.rings.
 *
 *	etch__store()		stores a record, whole, or counts it as lost if the ring is full for
 *				it. Returns 0; 1: etch__slow() has to look
 *	etch__lose()		counts lost records on the CPU where the thread is by now, whose
 *				ring may be another. ETCH__LOSE, or ETCH__NONE
 *	etch__open()		tells records where the block of pos ends, if they are welcome and
 *				@len bytes fit. Any step
 *	etch__begin()		begins the next block, if @len bytes do not fit in this one, and it
 *				is free or may be overwritten. Then pos is behind end, and
 *				etch__open() is next. ETCH__AGAIN, or ETCH__LOSE
 *
 * THE ORDER that the kernel's reader, on another CPU, relies on:
 *
 *	(u)	a record, and the head of its block, are stored before the pos behind them
 *	(v)	a block's gen is 0 before anything else in the block changes, and what the block's
 *		head says is stored before its gen
 *	(w)	consumed is read before a block that it makes free is written to
 *
 * A thread and those who come after it on its CPU see its stores in their order.
 */

#include <stddef.h>
#include <stdint.h>
#include <linux/etch_user.h>

/* The C library's: where each thread's area for restartable sequences is, if it has any. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

/* The bytes in front of the fields: as struct etch_head of the kernel's. */
#define ETCH_HEAD	12

/* What a sequence has found. */
enum etch__step {
	ETCH__AGAIN,		/* the record may fit now */
	ETCH__NONE,		/* there is no ring on this CPU */
	ETCH__GONE,		/* the instance of the ring has gone */
	ETCH__LOSE,		/* full, or stopped */
	ETCH__NEXT,		/* the record does not fit in this block */
};

/* How an array of gates is aligned: as the largest page that a kernel may have there. */
#if defined(__x86_64__)
#define ETCH_PAGE	4096
#include <etch/sections_x86_64.h>
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define ETCH_PAGE	65536
#include <etch/sections_arm64.h>
#else
#error "etch/user.h knows x86-64 and arm64"
#endif

#endif /* _ETCH_SECTIONS_H */
