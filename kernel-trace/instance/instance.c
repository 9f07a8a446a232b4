// SPDX-License-Identifier: GPL-2.0
/*
 * Instances: a ring for each CPU, and the settings they share.
 *
 * Writers find the ring of their CPU in etch_cpu_rings, with preemption disabled
 * and no lock. A ring is published there when it is complete. Before it is freed,
 * or anything is done to it that writers must not see, it is off or out of the
 * table, and synchronize_rcu() has waited for the writers that were using it.
 *
 * Rings come before their CPU does, and go after it: when the CPU is dead nobody
 * else writes there. One that still holds records stays for the readers, and for
 * the CPU if it comes back; emptying the instance frees it. Between the two the CPU is
 * in the instance's mask, on line or not yet: it may be stopped half-way, and goes on
 * from there without being announced again.
 *
 * A CPU comes whether there is memory for its ring or not. Without a ring its writers
 * find one that is off and has no memory, and their loss is counted there. The caller
 * that next touches the instance's rings makes the missing one.
 *
 * The main tree begins without rings, and gets those that were asked for when it is about to
 * be used: a system that does not trace does not pay for tracing. A user who makes an
 * instance wants it: it has its rings at once.
 */

#define pr_fmt(fmt) "etch: " fmt

#include <kunit/visibility.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/etch_ring.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <linux/uuid.h>
#include <linux/wait.h>

#include "event/contexts.h"
#include "event/rules.h"
#include "instance/instance_internal.h"

struct etch_instance *etch_instances[ETCH_BITS];

/* Of every instance: @users and @going. */
static DEFINE_SPINLOCK(etch_users_lock);

/* The state at which the hotplug core reports CPUs that come and go to us. */
static enum cpuhp_state etch_cpuhp_state;

/* ---- Rings, one by one ---- */

struct etch_ring *etch_cpu_ring_make(const struct etch_instance *inst, int cpu,
				     unsigned long bytes, unsigned int subbuf)
{
	/* A CPU's times do not go back, whether its ring is exchanged or comes again. */
	struct etch_ring_params params = {
		.floor = inst->rings[cpu] ? etch_ring_latest(inst->rings[cpu]) :
					    inst->bases[cpu].floor,
		.node = cpu_to_node(cpu),
		.size = bytes,
		.subbuf_size = subbuf,
		.header_size = ETCH_PACKET_HEADER,
		.overwrite = inst->overwrite,
		.clock = inst->clock,
		.alarm = etch_instance_alarm,
		.alarm_data = (void *)inst,
		.budget = (void *)&inst->budget.of_rings,
	};
	struct etch_ring *ring;

	ring = inst->store ? inst->store->ring(inst->store, cpu, &params) :
			       etch_ring_create(&params);
	if (!IS_ERR(ring) && !READ_ONCE(inst->on))
		etch_ring_off(ring);
	return ring;
}

/* Writers on @cpu go to @ring from now on, or nowhere. */
static void etch_cpu_ring_point(const struct etch_instance *inst, int cpu, struct etch_ring *ring)
{
	struct etch_ring *home = etch_home(cpu, inst->rec.bit);

	/* Pairs with etch_this_ring(). */
	smp_store_release(&per_cpu(etch_cpu_rings, cpu).by_bit[inst->rec.bit], ring);
	if (!home)
		return;
	/* Pairs with etch_ring_of(), as the one above does where there is no home. */
	smp_store_release(&home->owner, (void *)ring);
}

bool etch_rings_have_homes(const struct etch_instance *inst)
{
	return inst->rec.bit < ETCH_MAIN + ETCH_HOMES && !inst->store;
}

/* A new ring goes to its home, if there is one, and no older ring is there. */
static struct etch_ring *etch_cpu_ring_settle(const struct etch_instance *inst, int cpu,
					      struct etch_ring *ring)
{
	struct etch_ring *home = etch_home(cpu, inst->rec.bit);

	if (!etch_rings_have_homes(inst) || inst->rings[cpu] == home)
		return ring;
	return etch_ring_settle(ring, home);
}

void etch_cpu_ring_publish(struct etch_instance *inst, int cpu, struct etch_ring *ring)
{
	if (ring)
		ring = etch_cpu_ring_settle(inst, cpu, ring);
	/* A reader or writer that finds the ring finds it complete. The first is for a dump. */
	smp_store_release(&inst->rings[cpu], ring);
	etch_cpu_ring_point(inst, cpu, ring ?: &per_cpu_ptr(inst->absent, cpu)->ring);
	/* (S) the ring, then @on: pairs with etch_instance_turn(), which may have missed it. */
	smp_mb();
	if (ring && !READ_ONCE(inst->on))
		etch_ring_off(ring);
	/* Waiting readers set the alarm in this one, too. */
	wake_up_interruptible_all(&inst->wait);
}

int etch_cpu_ring_create(struct etch_instance *inst, int cpu, unsigned long bytes)
{
	struct etch_ring *ring = etch_cpu_ring_make(inst, cpu, bytes, inst->subbuf_bytes);

	if (IS_ERR(ring))
		return PTR_ERR(ring);
	etch_cpu_ring_publish(inst, cpu, ring);
	return 0;
}

int etch_rings_complete(struct etch_instance *inst)
{
	int cpu, err, ret = 0;

	if (inst->full_bytes)
		return 0;
	for_each_cpu(cpu, inst->cpus) {
		if (inst->rings[cpu])
			continue;
		err = etch_cpu_ring_create(inst, cpu, inst->cpu_bytes);
		ret = ret ?: err;
	}
	return ret;
}

void etch_rings_invalidate(struct etch_instance *inst, int want)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (want == ETCH_ALL_CPUS || want == cpu)
			inst->epochs[cpu]++;
}

/* Under read_mutex. No writer can be using the ring, nor come to: see the callers. */
static void etch_cpu_ring_free(struct etch_instance *inst, int cpu)
{
	struct etch_ring *ring = inst->rings[cpu];

	etch_cpu_ring_publish(inst, cpu, NULL);
	/* For dumps, which hold no lock. */
	synchronize_rcu();
	etch_stream_rebase(inst, cpu, ring);
	etch_ring_free(ring);
	etch_rings_invalidate(inst, cpu);
}

/*
 * On a CPU that works; @cpu is about to come, and does. While an instance is being made,
 * its maker makes the rings, too, and checks that all are there.
 */
VISIBLE_IF_KUNIT int etch_cpu_prepare(unsigned int cpu, struct hlist_node *node)
{
	struct etch_instance *inst = hlist_entry(node, struct etch_instance, hotplug);

	mutex_lock(&inst->read_mutex);
	cpumask_set_cpu(cpu, inst->cpus);
	if (etch_instances[inst->rec.bit] == inst && !inst->full_bytes && !inst->rings[cpu] &&
	    etch_cpu_ring_create(inst, cpu, inst->cpu_bytes))
		pr_warn("%s: no memory for the buffer of CPU %u: what it records is lost\n",
			inst->name ?: "main tree", cpu);
	mutex_unlock(&inst->read_mutex);
	return 0;
}

/* On a CPU that works; @cpu is dead, and with it all that could write there. */
VISIBLE_IF_KUNIT int etch_cpu_dead(unsigned int cpu, struct hlist_node *node)
{
	struct etch_instance *inst = hlist_entry(node, struct etch_instance, hotplug);

	mutex_lock(&inst->read_mutex);
	cpumask_clear_cpu(cpu, inst->cpus);
	if (inst->rings[cpu] && etch_ring_empty(inst->rings[cpu]))
		etch_cpu_ring_free(inst, cpu);
	mutex_unlock(&inst->read_mutex);
	return 0;
}

/* ---- CPUs without a ring ---- */

static u64 etch_absent_lost(const struct etch_absent *absent)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < ETCH_LOST_NR; i++)
		sum += local_read(&absent->ring.lost[i]);
	return sum;
}

/* Records that filters kept from the instances that have had this bit. */
static u64 etch_filtered_by(int bit, int cpu)
{
	return local_read(&per_cpu_ptr(&etch_filtered, cpu)->by_bit[bit]);
}

/* Writers may go on counting: their counts are not touched. Under read_mutex. */
static void etch_absent_forget(struct etch_instance *inst, int want)
{
	struct etch_absent *absent;
	int cpu;

	for_each_possible_cpu(cpu) {
		if (want != ETCH_ALL_CPUS && want != cpu)
			continue;
		absent = per_cpu_ptr(inst->absent, cpu);
		absent->forgotten = etch_absent_lost(absent);
		absent->filtered = etch_filtered_by(inst->rec.bit, cpu);
	}
}

/**
 * etch_instance_absent() - the records lost because a CPU had no ring
 * @inst: the instance
 * @cpu: the CPU
 *
 * Context: process; holds the instance's read_mutex.
 * Return: how many records since the instance was made or emptied.
 */
u64 etch_instance_absent(struct etch_instance *inst, int cpu)
{
	const struct etch_absent *absent = per_cpu_ptr(inst->absent, cpu);

	lockdep_assert_held(&inst->read_mutex);
	return etch_absent_lost(absent) - absent->forgotten;
}

/**
 * etch_instance_filtered() - the records that did not pass a filter
 * @inst: the instance
 * @cpu: the CPU that made them
 *
 * Context: process; holds the instance's read_mutex.
 * Return: how many records since the instance was made or emptied.
 */
u64 etch_instance_filtered(struct etch_instance *inst, int cpu)
{
	lockdep_assert_held(&inst->read_mutex);
	return etch_filtered_by(inst->rec.bit, cpu) - per_cpu_ptr(inst->absent, cpu)->filtered;
}

/* The instance's bit is given to it, or no longer: no writer comes to look there. */
static void etch_absent_publish(struct etch_instance *inst, bool there)
{
	int cpu;

	for_each_possible_cpu(cpu)
		etch_cpu_ring_point(inst, cpu,
				    there ? &per_cpu_ptr(inst->absent, cpu)->ring : NULL);
}

/* ---- What all rings of an instance share ---- */

/* Programs have the counter alone, and records that they wrote are in no region. */
static bool etch_instance_takes_user(const struct etch_instance *inst)
{
	return inst->clock == ETCH_CLOCK_COUNTER && !inst->store;
}

/**
 * etch_instance_set_mode() - choose what a full ring does
 * @inst: the instance
 * @overwrite: drops its oldest records; otherwise it loses the new ones
 *
 * Records in the rings stay. Records that come during the change are lost.
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_instance_set_mode(struct etch_instance *inst, bool overwrite)
{
	int cpu;

	lockdep_assert_held(&etch_mutex);
	if (inst->overwrite == overwrite)
		return;

	mutex_lock(&inst->read_mutex);
	inst->overwrite = overwrite;
	etch_rings_stop(inst, ETCH_ALL_CPUS);
	for_each_etch_ring(inst, cpu, ETCH_ALL_CPUS)
		etch_ring_set_mode(inst->rings[cpu], overwrite);
	etch_rings_go(inst, ETCH_ALL_CPUS);
	etch_annex_follow(inst);
	mutex_unlock(&inst->read_mutex);
}

/* Let rings that were stopped go on empty, with a trace that has nothing to do with the old one. */
void etch_rings_restart(struct etch_instance *inst)
{
	int cpu;

	for_each_etch_ring(inst, cpu, ETCH_ALL_CPUS)
		etch_ring_reset(inst->rings[cpu]);
	uuid_gen(&inst->uuid);
	inst->origin.known = false;
	memset(inst->bases, 0, nr_cpu_ids * sizeof(*inst->bases));
	etch_rings_invalidate(inst, ETCH_ALL_CPUS);
	etch_rings_go(inst, ETCH_ALL_CPUS);
}

/**
 * etch_instance_set_clock() - choose the clock
 * @inst: the instance
 * @clock: one that can be used
 *
 * Empties the rings: nobody could tell the times of two clocks apart. The records from
 * then on are another trace, with a uuid of its own.
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_instance_set_clock(struct etch_instance *inst, enum etch_clock clock)
{
	int cpu;

	lockdep_assert_held(&etch_mutex);
	if (inst->clock == clock)
		return;

	mutex_lock(&inst->read_mutex);
	inst->clock = clock;
	etch_rings_stop(inst, ETCH_ALL_CPUS);
	for_each_etch_ring(inst, cpu, ETCH_ALL_CPUS)
		etch_ring_set_clock(inst->rings[cpu], clock);
	etch_rings_restart(inst);
	inst->rec.user = etch_instance_takes_user(inst);
	etch_annex_follow(inst);
	if (etch_annex)
		etch_annex->reset(inst, ETCH_ALL_CPUS);
	mutex_unlock(&inst->read_mutex);
	wake_up_interruptible_all(&inst->wait);
}

/**
 * etch_instance_reset() - empty the rings and set their counts to zero
 * @inst: the instance
 * @want: the CPU whose ring it is, or ETCH_ALL_CPUS
 *
 * Rings that were left by CPUs which have gone are freed; those that there was no memory
 * for are made, if there is now.
 *
 * Context: process, may sleep; takes etch_mutex.
 */
void etch_instance_reset(struct etch_instance *inst, int want)
{
	int cpu;

	mutex_lock(&etch_mutex);
	mutex_lock(&inst->read_mutex);
	etch_rings_stop(inst, want);
	for_each_etch_ring(inst, cpu, want) {
		if (!cpumask_test_cpu(cpu, inst->cpus)) {
			etch_cpu_ring_free(inst, cpu);
			continue;
		}
		etch_stream_rebase(inst, cpu, inst->rings[cpu]);
		etch_ring_reset(inst->rings[cpu]);
	}
	etch_absent_forget(inst, want);
	if (etch_annex)
		etch_annex->reset(inst, want);
	etch_rings_invalidate(inst, want);
	etch_rings_go(inst, want);
	etch_rings_complete(inst);
	mutex_unlock(&inst->read_mutex);
	wake_up_interruptible_all(&inst->wait);
	mutex_unlock(&etch_mutex);
}

/* ---- Coming and going ---- */

/**
 * etch_instance_get() - keep an instance for an open file
 * @inst: the instance; the caller holds it
 *
 * Context: any but interrupts.
 * Return: 0, or -ENODEV when the instance is going.
 */
int etch_instance_get(struct etch_instance *inst)
{
	int ret = 0;

	spin_lock(&etch_users_lock);
	if (inst->going)
		ret = -ENODEV;
	else
		inst->users++;
	spin_unlock(&etch_users_lock);
	return ret;
}

/**
 * etch_instance_put() - the open file is closed
 * @inst: the instance; the caller holds it
 *
 * Context: any but interrupts.
 */
void etch_instance_put(struct etch_instance *inst)
{
	spin_lock(&etch_users_lock);
	inst->users--;
	spin_unlock(&etch_users_lock);
}

/**
 * etch_instance_hold() - keep the structure of an instance in memory
 * @inst: the instance; is there, or kept by another hold
 *
 * Context: any.
 */
void etch_instance_hold(struct etch_instance *inst)
{
	kref_get(&inst->ref);
}

static void etch_instance_release(struct kref *ref)
{
	kfree(container_of(ref, struct etch_instance, ref));
}

/**
 * etch_instance_drop() - do not keep the structure any longer
 * @inst: the instance
 *
 * Context: any but NMI.
 */
void etch_instance_drop(struct etch_instance *inst)
{
	kref_put(&inst->ref, etch_instance_release);
}

/**
 * etch_instance_shown() - has an instance files?
 * @inst: the instance, or its structure
 *
 * Context: process; holds etch_mutex.
 * Return: true between etch_instance_ready() and its end.
 */
bool etch_instance_shown(const struct etch_instance *inst)
{
	lockdep_assert_held(&etch_mutex);
	return !inst->going;
}

/**
 * etch_view_open() - may a file of an instance be opened?
 * @of: the file's
 *
 * Context: process.
 * Return: 0, and etch_instance_put() when it is closed; -EPERM when the kernel is
 * locked down; -ENODEV when the instance is going.
 */
int etch_view_open(const struct etch_view_of *of)
{
	int ret = security_locked_down(LOCKDOWN_TRACEFS);

	return ret ?: etch_instance_get(of->inst);
}

static int etch_instance_find_bit(const char *name)
{
	int bit, free = -ENOSPC;

	if (!name)
		return ETCH_MAIN;
	for (bit = ETCH_BITS - 1; bit > ETCH_MAIN; bit--) {
		if (!etch_instances[bit])
			free = bit;
		else if (!strcmp(etch_instances[bit]->name, name))
			return -EEXIST;
	}
	return free;
}

/**
 * etch_instance_check_new() - would an instance be one too many?
 * @name: of its folder in instances/
 *
 * Context: process; holds etch_mutex.
 * Return: 0; or -EEXIST or -ENOSPC, as etch_instance_create() would.
 */
int etch_instance_check_new(const char *name)
{
	lockdep_assert_held(&etch_mutex);
	return min(etch_instance_find_bit(name), 0);
}

/* No writer is in its rings, and no dump. */
static void etch_instance_free(struct etch_instance *inst)
{
	int cpu;

	if (inst->absent) {
		etch_absent_publish(inst, false);
		/* For a CPU that abandons a dead writer's records: no gate holds it back. */
		synchronize_rcu();
	}
	if (inst->rings)
		for_each_etch_ring(inst, cpu, ETCH_ALL_CPUS)
			etch_ring_free(inst->rings[cpu]);
	free_percpu(inst->absent);
	free_cpumask_var(inst->cpus);
	etch_errors_clear(inst);
	kfree(inst->rings);
	kfree(inst->bases);
	kfree(inst->epochs);
	kfree(inst->asked);
	kfree(inst->name);
	inst->name = NULL;
	etch_instance_drop(inst);
}

static struct etch_instance *etch_instance_alloc(const char *name, int bit,
						 unsigned int subbuf)
{
	struct etch_instance *inst;

	inst = kzalloc(sizeof(*inst), GFP_KERNEL);
	if (!inst)
		return NULL;

	kref_init(&inst->ref);
	inst->rec.bit = bit;
	inst->going = true;
	inst->on = true;
	inst->overwrite = true;
	inst->clock = etch_clock_default();
	uuid_gen(&inst->uuid);
	inst->subbuf_bytes = subbuf;
	mutex_init(&inst->read_mutex);
	mutex_init(&inst->errors_lock);
	INIT_LIST_HEAD(&inst->errors);
	etch_wait_init(inst);

	inst->rings = kcalloc(nr_cpu_ids, sizeof(*inst->rings), GFP_KERNEL);
	inst->bases = kcalloc(nr_cpu_ids, sizeof(*inst->bases), GFP_KERNEL);
	inst->epochs = kcalloc(nr_cpu_ids, sizeof(*inst->epochs), GFP_KERNEL);
	inst->asked = kcalloc(nr_cpu_ids, sizeof(*inst->asked), GFP_KERNEL);
	inst->absent = alloc_percpu(struct etch_absent);
	inst->name = kstrdup(name, GFP_KERNEL);
	if (!zalloc_cpumask_var(&inst->cpus, GFP_KERNEL) || !inst->rings || !inst->bases ||
	    !inst->epochs || !inst->asked || !inst->absent || (name && !inst->name)) {
		etch_instance_free(inst);
		return NULL;
	}
	etch_absent_forget(inst, ETCH_ALL_CPUS);
	etch_absent_publish(inst, true);
	return inst;
}

static struct etch_instance *etch_instance_new(const char *name, unsigned long cpu_bytes,
					       unsigned int subbuf, struct etch_store *store)
{
	struct etch_instance *inst;
	int bit, ret;

	lockdep_assert_held(&etch_mutex);
	bit = etch_instance_find_bit(name);
	if (bit < 0)
		return ERR_PTR(bit);
	inst = etch_instance_alloc(name, bit, subbuf);
	if (!inst)
		return ERR_PTR(-ENOMEM);

	inst->store = store;
	inst->rec.user = etch_instance_takes_user(inst);
	inst->cpu_bytes = cpu_bytes;
	inst->full_bytes = name ? 0 : cpu_bytes;
	/* Tells of the CPUs that are there. */
	ret = cpuhp_state_add_instance(etch_cpuhp_state, &inst->hotplug);
	if (ret)
		goto err_free;

	mutex_lock(&inst->read_mutex);
	ret = etch_rings_complete(inst);
	if (!ret) {
		/* Complete before a dump finds it. Pairs with that in dump.c. */
		smp_store_release(&etch_instances[bit], inst);
	}
	mutex_unlock(&inst->read_mutex);
	if (ret)
		goto err_remove;
	etch_gates_set_on(&inst->rec, true);	/* there are none yet */
	return inst;

err_remove:
	cpuhp_state_remove_instance_nocalls(etch_cpuhp_state, &inst->hotplug);
err_free:
	etch_instance_free(inst);
	return ERR_PTR(ret);
}

/**
 * etch_instance_create() - make an instance, with its rings but without its files
 * @name: of its folder in instances/; NULL for the main tree
 * @cpu_bytes: of a ring; of the main tree's, from when it is used
 * @subbuf: bytes of a sub-buffer, as etch_subbuf_bytes() gives them
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: the instance, for etch_instance_destroy(); or an ERR_PTR() of -EEXIST,
 * -ENOSPC when there are as many as there can be, -EINVAL for a size no ring can have,
 * or -ENOMEM: nothing is left then.
 */
struct etch_instance *etch_instance_create(const char *name, unsigned long cpu_bytes,
					   unsigned int subbuf)
{
	return etch_instance_new(name, cpu_bytes, subbuf, NULL);
}

/**
 * etch_instance_create_in() - make an instance whose rings are in a region
 * @name: of its folder in instances/
 * @store: the region
 * @subbuf: bytes of a sub-buffer
 *
 * Context: as etch_instance_create().
 * Return: as there.
 */
struct etch_instance *etch_instance_create_in(const char *name, struct etch_store *store,
					      unsigned int subbuf)
{
	return etch_instance_new(name, 1, subbuf, store);
}

/**
 * etch_instance_ready() - its files may be opened
 * @inst: the instance
 *
 * Context: process.
 */
void etch_instance_ready(struct etch_instance *inst)
{
	spin_lock(&etch_users_lock);
	inst->going = false;
	spin_unlock(&etch_users_lock);
}

/* Nobody has a file of it open, nor will. */
static bool etch_instance_claim(struct etch_instance *inst)
{
	spin_lock(&etch_users_lock);
	inst->going = !inst->users;
	spin_unlock(&etch_users_lock);
	return inst->going;
}

/* The next instance with this bit has none. */
static void etch_instance_end_contexts(struct etch_instance *inst)
{
	if (!inst->contexts)
		return;
	etch_contexts_set(&inst->rec, NULL);
	etch_contexts_forget(&inst->rec);
	etch_contexts_end_counting(inst->contexts);
	etch_contexts_put(inst->contexts);
}

/**
 * etch_instance_destroy() - free an instance, its files and all that it recorded
 * @inst: the instance
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0; -EBUSY while any of its files is open; or the errno of an event that cannot be
 * disabled: then it stays.
 */
int etch_instance_destroy(struct etch_instance *inst)
{
	int ret;

	lockdep_assert_held(&etch_mutex);
	if (!etch_instance_claim(inst))
		return -EBUSY;

	/* Behind a gate that stays open, writers would find no ring. */
	ret = etch_events_disable_all(&inst->rec);
	if (ret) {
		etch_instance_ready(inst);
		return ret;
	}
	if (inst->unshow)
		inst->unshow(inst);
	if (etch_annex)
		etch_annex->remove(inst);
	etch_gates_set_on(&inst->rec, false);
	cpuhp_state_remove_instance_nocalls(etch_cpuhp_state, &inst->hotplug);
	WRITE_ONCE(etch_instances[inst->rec.bit], NULL);
	/* For the writers that were past an event's gate when it was closed, and for dumps. */
	synchronize_rcu();
	etch_wait_exit(inst);
	etch_instance_end_contexts(inst);
	etch_instance_free(inst);
	return 0;
}

/**
 * etch_instances_init() - have CPUs that come and go told to us
 *
 * Context: boot, once, before the first instance.
 * Return: 0 or a negative errno.
 */
int __init etch_instances_init(void)
{
	int ret = cpuhp_setup_state_multi(CPUHP_BP_PREPARE_DYN, "etch:prepare",
					  etch_cpu_prepare, etch_cpu_dead);

	if (ret < 0)
		return ret;
	etch_cpuhp_state = ret;
	return 0;
}
