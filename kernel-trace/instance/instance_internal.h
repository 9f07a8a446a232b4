/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_INSTANCE_INTERNAL_H
#define _KERNEL_ETCH_INSTANCE_INTERNAL_H

/*
 * What instance.c, rings.c, instance_turn.c and instance_size.c share: an instance's rings, one
 * by one and all together. Under its read_mutex, all of it.
 */

#include "instance/instance.h"

/* Complete, and as the instance wants it, but nobody's yet; or an ERR_PTR(). */
struct etch_ring *etch_cpu_ring_make(const struct etch_instance *inst, int cpu,
				     unsigned long bytes, unsigned int subbuf);
/* From here on it is the CPU's, and its writers find it. NULL: they find none. */
void etch_cpu_ring_publish(struct etch_instance *inst, int cpu, struct etch_ring *ring);
/* Whether the CPUs have homes for the instance's rings: see struct etch_cpu_rings. */
bool etch_rings_have_homes(const struct etch_instance *inst);
/* Both for a CPU that has none. 0 or an errno. */
int etch_cpu_ring_create(struct etch_instance *inst, int cpu, unsigned long bytes);
/*
 * Make the rings that CPUs should have and have not, each for which there is memory, unless
 * the instance has none on purpose (@full_bytes). May sleep. 0, or the errno of the first
 * that was not made.
 */
int etch_rings_complete(struct etch_instance *inst);

/* The next CPU after @cpu that has a ring, of those asked for: a CPU, or all. */
int etch_next_ring(const struct etch_instance *inst, int cpu, int want);

#define for_each_etch_ring(inst, cpu, want)				\
	for ((cpu) = etch_next_ring(inst, -1, want); (cpu) < nr_cpu_ids; \
	     (cpu) = etch_next_ring(inst, cpu, want))

/* When it returns, no writer is in these rings, as long as they are off. May sleep. */
void etch_rings_off(struct etch_instance *inst, int want);
/* Between the two no writer is in these rings, nor does a dump look into them. May sleep. */
void etch_rings_stop(struct etch_instance *inst, int want);
void etch_rings_go(struct etch_instance *inst, int want);
void etch_rings_restart(struct etch_instance *inst);

/* Records that are not in rings of the instance follow it, too. */
static inline void etch_annex_follow(struct etch_instance *inst)
{
	if (etch_annex)
		etch_annex->follow(inst);
}

/* What peeking readers remember of these rings holds no longer. */
void etch_rings_invalidate(struct etch_instance *inst, int want);

#if IS_ENABLED(CONFIG_KUNIT)
/* What a CPU's coming and going does. */
int etch_cpu_prepare(unsigned int cpu, struct hlist_node *node);
int etch_cpu_dead(unsigned int cpu, struct hlist_node *node);
#endif

#endif /* _KERNEL_ETCH_INSTANCE_INTERNAL_H */
