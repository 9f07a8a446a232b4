/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_RING_LOOK_H
#define _KERNEL_ETCH_RING_LOOK_H

/*
 * Looking into a ring without its readers' mutex, without allocating, and without changing
 * a word of it: for the kernel's last minutes. A reader that holds the mutex may have been
 * stopped in the middle of something.
 *
 *	etch_ring_look_begin(r, &look, max);
 *	while (etch_ring_look_next(r, &look, &view))
 *		... view.len bytes at view.data, in the ring itself ...
 *
 * A look shows the records that were committed and not read when it began. Turn the ring
 * off first: otherwise writers may overwrite these records meanwhile. The ring must not be
 * freed or resized meanwhile. The caller must check all that it sees: a reader that was
 * stopped may have left its own words half-changed.
 */

#include <linux/types.h>

struct etch_ring;
struct etch_view;

/**
 * struct etch_look - how far a look has come
 * @block: start of the next sub-buffer
 * @off: of the first byte wanted in it; 0: all
 * @end: the position up to which records were committed when it began
 * @seq: the number of @block
 * @time: of a record before @block and @off; 0: there is none
 */
struct etch_look {
	u64 block;
	u64 end;
	u64 seq;
	u64 time;
	u32 off;
};

void etch_ring_look_begin(const struct etch_ring *r, struct etch_look *look, u64 max);
bool etch_ring_look_next(const struct etch_ring *r, struct etch_look *look,
			 struct etch_view *view);

#endif /* _KERNEL_ETCH_RING_LOOK_H */
