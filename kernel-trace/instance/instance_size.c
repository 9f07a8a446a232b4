// SPDX-License-Identifier: GPL-2.0
/*
 * How large an instance's rings are, and their sub-buffers.
 *
 * Each change has the memory that it needs before it touches a ring: all rings have
 * what was asked for, or none has. A ring with another number of sub-buffers is the
 * same ring and keeps its records; with sub-buffers of another size it is a new one.
 */

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/etch_ring.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "instance/instance_internal.h"

/* ---- How much a ring holds ---- */

/* Makes the new memory for those rings, without touching the rings. */
static int etch_resize_prepare(struct etch_instance *inst, int want, unsigned long bytes,
			       struct etch_resize **resize)
{
	unsigned long pages = 0;
	int cpu;

	for_each_etch_ring(inst, cpu, want) {
		struct etch_ring *ring = inst->rings[cpu];
		unsigned long subbuf = etch_ring_subbuf_size(ring);
		unsigned long nr = bytes / subbuf + !!(bytes % subbuf);

		if (nr > UINT_MAX / 2)
			return -EINVAL;
		/* Do not have others killed for memory that there cannot be. */
		pages += bytes >> PAGE_SHIFT;
		if (pages > totalram_pages())
			return -ENOMEM;
		nr = roundup_pow_of_two(max(nr, 2UL));
		if (nr == etch_ring_nr_subbufs(ring))
			continue;
		resize[cpu] = etch_ring_resize_prepare(ring, nr);
		if (IS_ERR(resize[cpu]))
			return PTR_ERR(resize[cpu]);
	}
	return 0;
}

/*
 * Makes the first rings of an instance that has none yet. All are made, or none is.
 * Do not have others killed for memory that there cannot be: that is refused first.
 */
static int etch_rings_begin_prepare(struct etch_instance *inst, int want, unsigned long bytes,
				    struct etch_ring **rings)
{
	unsigned long pages = 0;
	struct etch_ring *ring;
	int cpu;

	if (want != ETCH_ALL_CPUS && !cpumask_test_cpu(want, inst->cpus))
		return -ENODEV;
	if (bytes / inst->subbuf_bytes > UINT_MAX / 2)
		return -EINVAL;
	for_each_cpu(cpu, inst->cpus) {
		unsigned long size = want == ETCH_ALL_CPUS || want == cpu ? bytes :
									    inst->full_bytes;

		pages += size >> PAGE_SHIFT;
		if (pages > totalram_pages())
			return -ENOMEM;
		ring = etch_cpu_ring_make(inst, cpu, size, inst->subbuf_bytes);
		if (IS_ERR(ring))
			return PTR_ERR(ring);
		rings[cpu] = ring;
	}
	return 0;
}

static int etch_rings_begin(struct etch_instance *inst, int want, unsigned long bytes)
{
	struct etch_ring **rings = kcalloc(nr_cpu_ids, sizeof(*rings), GFP_KERNEL);
	int cpu, ret;

	if (!rings)
		return -ENOMEM;
	mutex_lock(&inst->read_mutex);
	ret = etch_rings_begin_prepare(inst, want, bytes, rings);
	if (!ret) {
		inst->cpu_bytes = want == ETCH_ALL_CPUS ? bytes : inst->full_bytes;
		/* etch_marker_write() looks without a lock. */
		WRITE_ONCE(inst->full_bytes, 0);
	}
	for_each_possible_cpu(cpu) {
		if (rings[cpu] && ret)
			etch_ring_free(rings[cpu]);
		else if (rings[cpu])
			etch_cpu_ring_publish(inst, cpu, rings[cpu]);
	}
	etch_rings_invalidate(inst, ETCH_ALL_CPUS);
	mutex_unlock(&inst->read_mutex);
	wake_up_interruptible_all(&inst->wait);
	kfree(rings);
	return ret;
}

/* A CPU whose ring there was no memory for gets one now, of that size. */
static int etch_resize_find(struct etch_instance *inst, int want, unsigned long bytes)
{
	if (want == ETCH_ALL_CPUS || inst->rings[want])
		return 0;
	if (!cpumask_test_cpu(want, inst->cpus))
		return -ENODEV;
	return etch_cpu_ring_create(inst, want, bytes);
}

static void etch_resize_commit(struct etch_instance *inst, int want,
			       struct etch_resize **resize)
{
	int cpu;

	etch_rings_stop(inst, want);
	for_each_possible_cpu(cpu)
		if (resize[cpu])
			etch_ring_resize_commit(resize[cpu]);
	etch_rings_invalidate(inst, want);
	etch_rings_go(inst, want);
}

static void etch_resize_abort(struct etch_resize **resize)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (!IS_ERR_OR_NULL(resize[cpu]))
			etch_ring_resize_abort(resize[cpu]);
}

/**
 * etch_instance_resize() - give rings another size
 * @inst: the instance
 * @want: the CPU whose ring it is, or ETCH_ALL_CPUS: then for CPUs that come, too
 * @bytes: of a ring; rounded up to what a ring can have
 *
 * Keeps the newest records. All rings get the new size or none does. If the instance has
 * no rings yet, all are made; those that were not asked for get the size that they are
 * meant to have. Rings that there was no memory for are made, if there is now.
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0, -ENOMEM, -EINVAL for a size no ring can have, or -ENODEV for a CPU
 * that has no ring.
 */
int etch_instance_resize(struct etch_instance *inst, int want, unsigned long bytes)
{
	struct etch_resize **resize;
	int ret;

	lockdep_assert_held(&etch_mutex);
	if (inst->full_bytes)
		return etch_rings_begin(inst, want, bytes);
	resize = kcalloc(nr_cpu_ids, sizeof(*resize), GFP_KERNEL);
	if (!resize)
		return -ENOMEM;

	mutex_lock(&inst->read_mutex);
	ret = etch_resize_find(inst, want, bytes);
	if (!ret)
		ret = etch_resize_prepare(inst, want, bytes, resize);
	if (!ret) {
		etch_resize_commit(inst, want, resize);
		if (want == ETCH_ALL_CPUS)
			inst->cpu_bytes = bytes;
		etch_rings_complete(inst);
	} else {
		etch_resize_abort(resize);
	}
	mutex_unlock(&inst->read_mutex);
	wake_up_interruptible_all(&inst->wait);
	kfree(resize);
	return ret;
}

/* ---- Sub-buffers ---- */

/*
 * The size to ask for when a ring gets new sub-buffers: the size that was asked for first,
 * if the ring came of that. So a size is not rounded up again and again.
 */
static unsigned long etch_ring_wanted(const struct etch_instance *inst,
				      const struct etch_ring *ring)
{
	unsigned long subbuf = etch_ring_subbuf_size(ring);
	unsigned long nr = DIV_ROUND_UP(inst->cpu_bytes, subbuf);

	if (etch_ring_nr_subbufs(ring) == roundup_pow_of_two(max(nr, 2UL)))
		return inst->cpu_bytes;
	return etch_ring_size(ring);
}

/*
 * A new ring for each CPU that is there and has one, as large as that one or as small as can be;
 * for a CPU that is gone there is NULL, as for one that has none.
 */
static int etch_subbuf_prepare(const struct etch_instance *inst, unsigned int subbuf, bool small,
			       struct etch_ring **rings)
{
	struct etch_ring *ring;
	int cpu;

	for_each_etch_ring(inst, cpu, ETCH_ALL_CPUS) {
		if (!cpumask_test_cpu(cpu, inst->cpus))
			continue;
		ring = etch_cpu_ring_make(inst, cpu,
					  small ? 0 : etch_ring_wanted(inst, inst->rings[cpu]),
					  subbuf);
		if (IS_ERR(ring))
			return PTR_ERR(ring);
		rings[cpu] = ring;
	}
	return 0;
}

static void etch_rings_free(struct etch_ring **rings)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		etch_ring_free(rings[cpu]);
		rings[cpu] = NULL;
	}
}

/*
 * Exchange the instance's rings for @rings. A writer that has begun a record ends it
 * in the ring where it began; when this returns, none is left in the old ones.
 */
static void etch_rings_exchange(struct etch_instance *inst, struct etch_ring **rings)
{
	struct etch_ring *old;
	int cpu;

	for_each_etch_ring(inst, cpu, ETCH_ALL_CPUS) {
		old = inst->rings[cpu];
		etch_cpu_ring_publish(inst, cpu, rings[cpu]);
		rings[cpu] = old;
	}
	etch_rings_invalidate(inst, ETCH_ALL_CPUS);
	synchronize_rcu();
	/* That of a CPU which has gone, too: it has got none for it. */
	for_each_possible_cpu(cpu)
		if (rings[cpu])
			etch_stream_rebase(inst, cpu, rings[cpu]);
}

/*
 * Free the rings that are at home, where the new ones go. Writers go to small rings in between, and
 * what they record there is thrown away: the instance is emptied when they come to the new ones.
 * 0; or -ENOMEM, and nothing has changed.
 */
static int etch_rings_vacate(struct etch_instance *inst)
{
	struct etch_ring **rings = kcalloc(nr_cpu_ids, sizeof(*rings), GFP_KERNEL);
	int ret;

	if (!rings)
		return -ENOMEM;
	ret = etch_subbuf_prepare(inst, inst->subbuf_bytes, true, rings);
	if (!ret)
		etch_rings_exchange(inst, rings);
	/* The old ones; or, if some could not be allocated, the small ones. */
	etch_rings_free(rings);
	kfree(rings);
	return ret;
}

/**
 * etch_subbuf_bytes() - the size of a sub-buffer that was asked for
 * @bytes: the size that the user asked for
 *
 * Context: any.
 * Return: bytes of a sub-buffer, not less than @bytes; 0 if none can have so many.
 */
unsigned int etch_subbuf_bytes(unsigned long bytes)
{
	if (!bytes || bytes > ETCH_RING_MAX_SUBBUF)
		return 0;
	return roundup_pow_of_two(max(bytes, PAGE_SIZE));
}

/**
 * etch_instance_set_subbuf() - give the rings sub-buffers of another size
 * @inst: the instance
 * @subbuf: bytes, as etch_subbuf_bytes() gives them
 *
 * Empties the rings and sets their counts to zero: blocks of two sizes have no place in
 * one ring. Their sizes stay, as far as they can with two sub-buffers at least. Rings
 * that were left by CPUs which have gone are freed. All is changed or nothing is. No record is
 * lost after the rings are empty: writers go from one ring to the next.
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0, -ENOMEM, or -EINVAL if a ring would have too many of them.
 */
int etch_instance_set_subbuf(struct etch_instance *inst, unsigned int subbuf)
{
	struct etch_ring **rings;
	int ret;

	lockdep_assert_held(&etch_mutex);
	if (inst->subbuf_bytes == subbuf)
		return 0;
	rings = kcalloc(nr_cpu_ids, sizeof(*rings), GFP_KERNEL);
	if (!rings)
		return -ENOMEM;

	mutex_lock(&inst->read_mutex);
	ret = etch_subbuf_prepare(inst, subbuf, false, rings);
	if (!ret && etch_rings_have_homes(inst))
		ret = etch_rings_vacate(inst);
	if (!ret) {
		WRITE_ONCE(inst->subbuf_bytes, subbuf);	/* etch_marker_max() looks */
		etch_rings_exchange(inst, rings);
		etch_rings_complete(inst);
	}
	/* The old ones; or, if some could not be allocated, the new ones. */
	etch_rings_free(rings);
	mutex_unlock(&inst->read_mutex);
	wake_up_interruptible_all(&inst->wait);
	kfree(rings);
	return ret;
}

/**
 * etch_instance_grow() - get ready to be recorded into
 * @inst: the instance
 *
 * Makes the rings, if the instance has none yet, and those that there was no memory for, if
 * there is now.
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0; or -ENOMEM, or -EINVAL for a size no ring can have, and nothing changed.
 */
int etch_instance_grow(struct etch_instance *inst)
{
	lockdep_assert_held(&etch_mutex);
	if (inst->full_bytes)
		return etch_instance_resize(inst, ETCH_ALL_CPUS, inst->full_bytes);
	mutex_lock(&inst->read_mutex);
	etch_rings_complete(inst);
	mutex_unlock(&inst->read_mutex);
	return 0;
}

/**
 * etch_instance_bytes() - how large the rings are
 * @inst: the instance
 * @want: the CPU whose ring is asked for, or ETCH_ALL_CPUS
 *
 * Context: process, may sleep.
 * Return: bytes of a ring; 0 if there is none, or if there are several sizes.
 */
unsigned long etch_instance_bytes(struct etch_instance *inst, int want)
{
	unsigned long bytes = 0, size;
	int cpu;

	mutex_lock(&inst->read_mutex);
	for_each_etch_ring(inst, cpu, want) {
		size = etch_ring_size(inst->rings[cpu]);
		if (bytes && bytes != size) {
			bytes = 0;
			break;
		}
		bytes = size;
	}
	mutex_unlock(&inst->read_mutex);
	return bytes;
}
