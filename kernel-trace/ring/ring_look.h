/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_RING_LOOK_H
#define _KERNEL_ETCH_RING_LOOK_H

/*
 * Looking into a ring without the mutex that its readers have, without memory of one's
 * own, and without changing a word of it: for the kernel's last minutes. Whoever has
 * the mutex may have been stopped in the middle of something.
 *
 *	etch_ring_look_begin(r, &look, max);
 *	while (etch_ring_look_next(r, &look, &view))
 *		... view.len bytes at view.data, in the ring itself ...
 *
 * What is seen is what was committed and not read when it began. Turn the ring off
 * first: else writers may overwrite what is being looked at. The ring must not be
 * freed or resized meanwhile. All that is seen must be taken with care: a reader that was
 * stopped leaves its own words as they happened to be.
 */

#include <linux/types.h>

struct etch_ring;
struct etch_view;

/**
 * struct etch_look - how far one has looked
 * @block: start of the next sub-buffer
 * @off: of the first byte wanted in it; 0: all
 * @end: what was committed when it began
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
