// SPDX-License-Identifier: GPL-2.0
/*
 * The rings of programs: a process asks for one, maps it, and ends.
 *
 * A ring is memory of the kernel's, and a process maps it at any place. A child has none of its
 * parent's mappings (VM_DONTCOPY), so it asks for rings of its own. What a process has written
 * stays when it is gone: its rings are orphans then, until all of it was read.
 *
 * A section of code that writes a record is neither interrupted nor moved to another CPU: the
 * program begins it again. So etch_user_settle(), which interrupts each CPU with rings, has all
 * sections of before either ended or begin again, and then read the clock again. It orders
 * records with those of the kernel, and makes a stop exact.
 */
#include <linux/cleanup.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/etch_clock.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/math.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/rseq.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/suspend.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "event/event.h"
#include "user/reader.h"
#include "user/user.h"

/* Rings of processes that have gone, for each instance. The oldest gives way. */
#define ETCH_USER_ORPHANS	256

/* How often somebody looks for records while readers wait: writers wake nobody. */
#define ETCH_USER_LOOK		DIV_ROUND_UP(HZ, 50)

#define ETCH_USER_PAGES		DIV_ROUND_UP(ETCH_USER_RING, PAGE_SIZE)

/* The machine is being suspended. Under etch_mutex. */
static bool etch_user_asleep;

DEFINE_SPINLOCK(etch_user_lock);

/* All under etch_user_lock: the processes, and rings by where they are mapped. */
static LIST_HEAD(etch_user_processes);
static DEFINE_XARRAY_FLAGS(etch_user_ids, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);

/* ---- Processes ---- */

static void etch_user_process_release(struct kref *ref)
{
	struct etch_user_process *p = container_of(ref, struct etch_user_process, ref);

	spin_lock(&etch_user_lock);
	list_del(&p->node);
	spin_unlock(&etch_user_lock);
	xa_destroy(&p->tids);
	xa_destroy(&p->written);
	if (p->held)
		mmdrop(p->mm);
	kfree(p);
}

/* Another process may get the memory of one that has no ring mapped. Under etch_user_lock. */
static void etch_user_process_detach(struct etch_user_process *p)
{
	if (!p->mapped && !p->held)
		p->mm = NULL;
}

/**
 * etch_user_process_find() - find the current process
 *
 * Context: process.
 * Return: the process, held; NULL: it has no rings.
 */
struct etch_user_process *etch_user_process_find(void)
{
	struct etch_user_process *p, *found = NULL;

	spin_lock(&etch_user_lock);
	list_for_each_entry(p, &etch_user_processes, node) {
		if (p->mm == current->mm && kref_get_unless_zero(&p->ref)) {
			found = p;
			break;
		}
	}
	spin_unlock(&etch_user_lock);
	return found;
}

/* Under etch_mutex, so that a process is made once. */
static struct etch_user_process *etch_user_process_get(void)
{
	struct etch_user_process *p = etch_user_process_find();

	if (p)
		return p;
	p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	if (!p)
		return NULL;
	kref_init(&p->ref);
	xa_init_flags(&p->tids, XA_FLAGS_ACCOUNT);
	xa_init_flags(&p->written, XA_FLAGS_ACCOUNT);
	p->mm = current->mm;
	p->tgid = current->tgid;
	get_task_comm(p->comm, current->group_leader);
	spin_lock(&etch_user_lock);
	list_add_tail(&p->node, &etch_user_processes);
	spin_unlock(&etch_user_lock);
	return p;
}

/**
 * etch_user_process_put() - do not keep a process any longer
 * @p: of etch_user_process_find()
 *
 * Context: process.
 */
void etch_user_process_put(struct etch_user_process *p)
{
	kref_put(&p->ref, etch_user_process_release);
}

/* No mapping tells when the process ends, but its memory does, which nobody else gets. */
static void etch_user_process_hold(struct etch_user_process *p)
{
	spin_lock(&etch_user_lock);
	if (!p->held) {
		p->mm = current->mm;
		mmgrab(p->mm);
		p->held = true;
	}
	spin_unlock(&etch_user_lock);
}

/* From now on the current thread may be the writer of a record. */
static int etch_user_process_join(struct etch_user_process *p)
{
	int ret = xa_err(xa_store(&p->tids, current->pid, xa_mk_value(1), GFP_KERNEL_ACCOUNT));

	return ret ?: current->pid;
}

/**
 * etch_user_thread() - the current thread is going to write records
 *
 * Context: process, may sleep.
 * Return: its number in the initial namespace; -ESRCH: the process has no rings; or -ENOMEM.
 */
int etch_user_thread(void)
{
	struct etch_user_process *p = etch_user_process_find();
	int ret;

	if (!p)
		return -ESRCH;
	ret = etch_user_process_join(p);
	etch_user_process_put(p);
	return ret;
}

/* ---- Memory ---- */

/* As for the rings of io_uring: to the user, up to the limit of the process. */
static int etch_user_charge(struct etch_user_ring_of *ring)
{
	struct user_struct *user = get_uid(current_user());
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	if (atomic_long_add_return(ETCH_USER_PAGES, &user->locked_vm) > limit &&
	    !capable(CAP_IPC_LOCK)) {
		atomic_long_sub(ETCH_USER_PAGES, &user->locked_vm);
		free_uid(user);
		return -ENOMEM;
	}
	ring->user = user;
	return 0;
}

static void etch_user_ring_free(struct etch_user_ring_of *ring)
{
	if (ring->user) {
		atomic_long_sub(ETCH_USER_PAGES, &ring->user->locked_vm);
		free_uid(ring->user);
	}
	vfree(ring->words);
	etch_user_process_put(ring->process);
	kfree(ring);
}

static void etch_user_ring_release(struct kref *ref)
{
	struct etch_user_ring_of *ring = container_of(ref, struct etch_user_ring_of, ref);

	if (ring->id)
		xa_erase(&etch_user_ids, ring->id);
	etch_user_ring_free(ring);
}

/**
 * etch_user_ring_put() - do not keep a ring any longer
 * @ring: the ring
 *
 * Context: process, may sleep.
 */
void etch_user_ring_put(struct etch_user_ring_of *ring)
{
	kref_put(&ring->ref, etch_user_ring_release);
}

static struct etch_user_ring_of *etch_user_ring_alloc(struct etch_user_process *p, int cpu)
{
	struct etch_user_ring_of *ring = kzalloc(sizeof(*ring), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!ring)
		return ERR_PTR(-ENOMEM);
	kref_init(&ring->ref);
	kref_get(&p->ref);
	ring->process = p;
	ring->cpu = cpu;
	ret = etch_user_charge(ring);
	if (ret)
		goto err;
	/* Where its memory group has no room, a process is to lose records, not to be killed. */
	ring->words = __vmalloc(ETCH_USER_PAGES << PAGE_SHIFT,
				GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN |
				__GFP_RETRY_MAYFAIL);
	ret = ring->words ? 0 : -ENOMEM;
	if (ret)
		goto err;
	/* What vmalloc_user() says of its memory, which is charged to nobody. */
	find_vm_area(ring->words)->flags |= VM_USERMAP;
	ret = xa_alloc(&etch_user_ids, &ring->id, ring, XA_LIMIT(1, INT_MAX), GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err;
	return ring;
err:
	ring->id = 0;
	etch_user_ring_free(ring);
	return ERR_PTR(ret);
}

/* ---- An instance's rings ---- */

static bool etch_user_goes(const struct etch_instance *inst)
{
	return READ_ONCE(inst->on) && inst->rec.user && !etch_user_asleep;
}

/* What the kernel's rings of the instance do at a time, those of programs do as well. */
static void etch_user_ring_follow(const struct etch_instance *inst,
				  struct etch_user_ring_of *ring)
{
	WRITE_ONCE(ring->words->overwrite, inst->overwrite);
	WRITE_ONCE(ring->words->step, READ_ONCE(etch_clock_step));
	WRITE_ONCE(ring->words->stopped,
		   etch_user_goes(inst) ? ETCH_USER_GOES : ETCH_USER_STOPPED);
}

/* Nothing is stored in a ring that was stopped: where it ends, the kernel remembers by itself. */
static void etch_user_ring_note(const struct etch_instance *inst, struct etch_user_ring_of *ring)
{
	if (etch_user_goes(inst)) {
		ring->stop = U64_MAX;
	} else if (ring->stop == U64_MAX) {
		ring->stop = etch_user_limit(ring);
		ring->stop_lost = READ_ONCE(ring->words->lost);
	}
}

static void etch_user_restart(void *unused)
{
	/* (x) Pairs with the reader's look at the clock: it comes before the program's next one. */
	smp_mb();
	rseq_preempt(current);
}

/**
 * etch_user_settle() - wait for programs that are writing a record
 * @inst: the instance
 *
 * A record that is not in its ring afterwards has a time behind that of the call.
 *
 * Context: process, may sleep; holds the instance's read_mutex.
 */
void etch_user_settle(struct etch_instance *inst)
{
	if (inst->user)
		on_each_cpu_mask(inst->user->cpus, etch_user_restart, NULL, true);
}

/**
 * etch_user_follow() - the instance was turned on or off, or has another mode or clock
 * @inst: the instance
 *
 * When this returns, no record goes into a ring that is stopped.
 *
 * Context: process, may sleep; holds the instance's read_mutex.
 */
void etch_user_follow(struct etch_instance *inst)
{
	struct etch_user_ring_of *ring;

	if (!inst->user)
		return;
	list_for_each_entry(ring, &inst->user->rings, node)
		etch_user_ring_follow(inst, ring);
	/* The programs know it now: none stores another end. Then they have none. */
	etch_user_settle(inst);
	list_for_each_entry(ring, &inst->user->rings, node)
		WRITE_ONCE(ring->words->end, 0);
	etch_user_settle(inst);
	list_for_each_entry(ring, &inst->user->rings, node)
		etch_user_ring_note(inst, ring);
}

static void etch_user_find_cpus(struct etch_user *user)
{
	struct etch_user_ring_of *ring;

	cpumask_clear(user->cpus);
	list_for_each_entry(ring, &user->rings, node)
		cpumask_set_cpu(ring->cpu, user->cpus);
}

/**
 * etch_user_ring_orphan() - has the process of a ring gone?
 * @ring: the ring
 *
 * Context: process; holds the instance's read_mutex.
 * Return: true if nobody can write any more.
 */
bool etch_user_ring_orphan(const struct etch_user_ring_of *ring)
{
	bool orphan;

	if (ring->written)
		return !atomic_read(&ring->process->mm->mm_users);
	spin_lock(&etch_user_lock);
	orphan = ring->born && !ring->mapped;
	spin_unlock(&etch_user_lock);
	return orphan;
}

/**
 * etch_user_abandon() - a ring could not be mapped
 * @ring: the ring
 *
 * Context: process.
 */
void etch_user_abandon(struct etch_user_ring_of *ring)
{
	spin_lock(&etch_user_lock);
	ring->born = true;
	etch_user_process_detach(ring->process);
	spin_unlock(&etch_user_lock);
}

/**
 * etch_user_untold() - count losses that no reader knows of, for the CPU's next packet
 * @inst: the instance
 * @ring: where they were
 *
 * Context: process; holds the instance's read_mutex.
 */
void etch_user_untold(struct etch_instance *inst, struct etch_user_ring_of *ring)
{
	struct etch_user_tail *tail = &inst->user->bases[ring->cpu].tail;
	u64 lost = etch_user_unread_lost(ring);

	tail->overwritten += ring->at.given_way;
	tail->lost += ring->at.due - ring->at.given_way + lost;
	ring->at.given_way = 0;
	ring->at.due = 0;
	ring->at.lost += lost;
}

/**
 * etch_user_ring_drop() - forget a ring, and the records that nobody has read
 * @inst: the instance
 * @ring: its ring; a reader may keep it
 *
 * Context: process, may sleep; holds the instance's read_mutex.
 */
void etch_user_ring_drop(struct etch_instance *inst, struct etch_user_ring_of *ring)
{
	u64 unread = etch_user_unread(ring);
	struct etch_user *user = inst->user;
	struct etch_user_counts counts;

	etch_user_counts(ring, &counts);
	etch_user_untold(inst, ring);
	user->bases[ring->cpu].tail.overwritten += unread;
	user->gone.read += counts.read;
	user->gone.overwritten += counts.overwritten + unread;
	user->gone.lost += counts.lost;
	user->gone.malformed += counts.malformed;
	WRITE_ONCE(ring->words->stopped, ETCH_USER_GONE);
	WRITE_ONCE(ring->words->end, 0);
	if (ring->written)
		xa_erase(&ring->process->written, etch_user_key(inst->rec.bit, ring->cpu));
	list_del_init(&ring->node);
	user->generation++;
	etch_user_find_cpus(user);
	etch_user_ring_put(ring);
}

/* Rings of processes that have gone, and that are read to the end; and one if there are many. */
static void etch_user_reap(struct etch_instance *inst, bool one)
{
	struct etch_user_ring_of *ring, *next, *oldest = NULL;
	unsigned int nr = 0;

	list_for_each_entry_safe(ring, next, &inst->user->rings, node) {
		if (!etch_user_ring_orphan(ring))
			continue;
		if (etch_user_ring_empty(ring)) {
			etch_user_ring_drop(inst, ring);
			continue;
		}
		oldest = oldest ?: ring;
		nr++;
	}
	if (oldest && (one || nr > ETCH_USER_ORPHANS))
		etch_user_ring_drop(inst, oldest);
}

/* ---- Readers that wait ---- */

static void etch_user_look(struct work_struct *work)
{
	struct etch_user *user = container_of(to_delayed_work(work), struct etch_user, look);
	struct etch_instance *inst = user->inst;
	bool more = wq_has_sleeper(&inst->wait);

	mutex_lock(&inst->read_mutex);
	etch_user_reap(inst, false);
	if (more && etch_user_reached(inst, 0, nr_cpu_ids))
		wake_up_interruptible_all(&inst->wait);
	more = more && !list_empty(&user->rings);
	mutex_unlock(&inst->read_mutex);
	if (more)
		schedule_delayed_work(&user->look, ETCH_USER_LOOK);
}

/**
 * etch_user_wait() - somebody waits for records
 * @inst: the instance
 *
 * Context: process, may sleep; holds the instance's read_mutex.
 */
void etch_user_wait(struct etch_instance *inst)
{
	if (inst->user && !list_empty(&inst->user->rings))
		schedule_delayed_work(&inst->user->look, ETCH_USER_LOOK);
}

/* ---- Attaching ---- */

static int etch_user_make(struct etch_instance *inst)
{
	struct etch_user *user;

	if (inst->user)
		return 0;
	user = kzalloc(sizeof(*user), GFP_KERNEL);
	if (!user)
		return -ENOMEM;
	user->bases = kvcalloc(nr_cpu_ids, sizeof(*user->bases), GFP_KERNEL);
	if (!user->bases || !zalloc_cpumask_var(&user->cpus, GFP_KERNEL)) {
		kvfree(user->bases);
		kfree(user);
		return -ENOMEM;
	}
	INIT_LIST_HEAD(&user->rings);
	INIT_DELAYED_WORK(&user->look, etch_user_look);
	user->inst = inst;
	inst->user = user;
	return 0;
}

static struct etch_user_ring_of *etch_user_ring_find(const struct etch_user *user,
						     const struct etch_user_process *p, int cpu,
						     bool written)
{
	struct etch_user_ring_of *ring;

	list_for_each_entry(ring, &user->rings, node)
		if (ring->process == p && ring->cpu == cpu && ring->written == written)
			return ring;
	return NULL;
}

static struct etch_user_ring_of *etch_user_ring_make(struct etch_instance *inst,
						     struct etch_user_process *p, int cpu,
						     bool written)
{
	struct etch_user_ring_of *ring = etch_user_ring_alloc(p, cpu);

	/* The memory of a process that has gone may be what there is too little of. */
	if (IS_ERR(ring) && inst->overwrite) {
		etch_user_reap(inst, true);
		ring = etch_user_ring_alloc(p, cpu);
	}
	if (IS_ERR(ring))
		return ring;
	ring->written = written;
	if (written && xa_err(xa_store(&p->written, etch_user_key(inst->rec.bit, cpu), ring,
				       GFP_KERNEL_ACCOUNT))) {
		etch_user_ring_put(ring);
		return ERR_PTR(-ENOMEM);
	}
	ring->at.last = etch_clock_read(ETCH_CLOCK_COUNTER);
	ring->stop = U64_MAX;
	etch_user_ring_follow(inst, ring);
	etch_user_ring_note(inst, ring);
	list_add_tail(&ring->node, &inst->user->rings);
	inst->user->generation++;
	cpumask_set_cpu(cpu, inst->user->cpus);
	if (wq_has_sleeper(&inst->wait))
		schedule_delayed_work(&inst->user->look, ETCH_USER_LOOK);
	return ring;
}

/* The record that the kernel has no ring for: packets and user/stats tell of it all the same. */
static void etch_user_count_lost(struct etch_user *user, int cpu)
{
	user->gone.lost++;
	user->bases[cpu].tail.lost++;
}

/**
 * etch_user_attach() - get the current process's ring
 * @inst: of an instance
 * @cpu: and a CPU
 * @written: that which the kernel writes for it; if there is none, a record is lost, and counted
 *
 * The current thread may write into it.
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: the ring, held, to be mapped; or an ERR_PTR() of -ENOMEM.
 */
struct etch_user_ring_of *etch_user_attach(struct etch_instance *inst, int cpu, bool written)
{
	struct etch_user_process *p = etch_user_process_get();
	struct etch_user_ring_of *ring;
	int ret;

	if (!p)
		return ERR_PTR(-ENOMEM);
	if (written)
		etch_user_process_hold(p);
	mutex_lock(&inst->read_mutex);
	ret = etch_user_make(inst);
	if (!ret)
		ret = etch_user_process_join(p);
	if (ret < 0) {
		ring = ERR_PTR(ret);
	} else {
		etch_user_reap(inst, false);
		ring = etch_user_ring_find(inst->user, p, cpu, written) ?:
		       etch_user_ring_make(inst, p, cpu, written);
	}
	if (!IS_ERR(ring))
		kref_get(&ring->ref);
	else if (written && inst->user)
		etch_user_count_lost(inst->user, cpu);
	mutex_unlock(&inst->read_mutex);
	etch_user_process_put(p);
	return ring;
}

/* ---- Mapping ---- */

static void etch_user_count_map(struct etch_user_ring_of *ring, int by)
{
	spin_lock(&etch_user_lock);
	ring->born = true;
	ring->mapped += by;
	ring->process->mapped += by;
	etch_user_process_detach(ring->process);
	spin_unlock(&etch_user_lock);
}

static void etch_user_vma_open(struct vm_area_struct *vma)
{
	struct etch_user_ring_of *ring = vma->vm_private_data;

	kref_get(&ring->ref);
	etch_user_count_map(ring, 1);
}

static void etch_user_vma_close(struct vm_area_struct *vma)
{
	struct etch_user_ring_of *ring = vma->vm_private_data;

	etch_user_count_map(ring, -1);
	etch_user_ring_put(ring);
}

static const struct vm_operations_struct etch_user_vm_ops = {
	.open = etch_user_vma_open,
	.close = etch_user_vma_close,
};

/* The ring, held, if it is of this process. */
static struct etch_user_ring_of *etch_user_ring_get(u32 id, const struct mm_struct *mm)
{
	struct etch_user_ring_of *ring;

	spin_lock(&etch_user_lock);
	xa_lock(&etch_user_ids);
	ring = xa_load(&etch_user_ids, id);
	if (ring && (ring->process->mm != mm || ring->written ||
		     !kref_get_unless_zero(&ring->ref)))
		ring = NULL;
	xa_unlock(&etch_user_ids);
	spin_unlock(&etch_user_lock);
	return ring;
}

/**
 * etch_user_map() - map a ring
 * @id: of etch_user_attach()'s
 * @vma: where
 *
 * A child gets no copy of the mapping, and cannot ask for one: VM_IO forbids MADV_DOFORK.
 *
 * Context: process, may sleep; holds the mmap_lock.
 * Return: 0; -EINVAL: the process has no such ring, or wants something else than all of it, to
 * be read and written, shared; or -ENOMEM.
 */
int etch_user_map(u32 id, struct vm_area_struct *vma)
{
	struct etch_user_ring_of *ring;
	int ret;

	if (!(vma->vm_flags & VM_SHARED) || vma->vm_flags & VM_EXEC ||
	    vma_pages(vma) != ETCH_USER_PAGES)
		return -EINVAL;
	ring = etch_user_ring_get(id, vma->vm_mm);
	if (!ring)
		return -EINVAL;
	vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP | VM_IO, VM_MAYEXEC);
	ret = remap_vmalloc_range_partial(vma, vma->vm_start, ring->words, 0,
					  ETCH_USER_PAGES << PAGE_SHIFT);
	if (ret) {
		etch_user_ring_put(ring);
		return ret;
	}
	vma->vm_private_data = ring;
	vma->vm_ops = &etch_user_vm_ops;
	etch_user_count_map(ring, 1);
	return 0;
}

/* ---- The instance's life ---- */

/* No packet tells of losses from before, neither in the sum nor by their causes. */
static void etch_user_reset_tails(struct etch_user *user, int want)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct etch_user_tail *tail = &user->bases[cpu].tail;

		if (want != ETCH_ALL_CPUS && want != cpu)
			continue;
		tail->overwritten = tail->told_overwritten;
		tail->lost = tail->told - tail->told_overwritten;
	}
}

/**
 * etch_user_reset() - empty the rings of programs
 * @inst: the instance
 * @cpu: of a CPU, or ETCH_ALL_CPUS
 *
 * Context: process, may sleep; holds the instance's read_mutex.
 */
void etch_user_reset(struct etch_instance *inst, int cpu)
{
	struct etch_user_ring_of *ring, *next;

	if (!inst->user)
		return;
	list_for_each_entry_safe(ring, next, &inst->user->rings, node) {
		if (cpu != ETCH_ALL_CPUS && cpu != ring->cpu)
			continue;
		if (etch_user_ring_orphan(ring)) {
			etch_user_ring_drop(inst, ring);
			continue;
		}
		etch_user_forget(ring);
	}
	etch_user_reset_tails(inst->user, cpu);
	if (cpu == ETCH_ALL_CPUS)
		inst->user->gone = (struct etch_user_counts) {};
	inst->user->resets++;
}

/**
 * etch_user_remove() - the instance goes
 * @inst: the instance, of which no file is open
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_user_remove(struct etch_instance *inst)
{
	struct etch_user_ring_of *ring, *next;
	struct etch_user *user = inst->user;

	if (!user)
		return;
	cancel_delayed_work_sync(&user->look);
	mutex_lock(&inst->read_mutex);
	list_for_each_entry_safe(ring, next, &user->rings, node)
		etch_user_ring_drop(inst, ring);
	inst->user = NULL;
	mutex_unlock(&inst->read_mutex);
	free_cpumask_var(user->cpus);
	kvfree(user->bases);
	kfree(user);
}

/* ---- Suspending ---- */

/*
 * Between the counter's new beginning and the time when rings know of it, programs run already.
 * They lose what they would record then.
 */
static int etch_user_pm(struct notifier_block *nb, unsigned long action, void *data)
{
	int bit;

	guard(mutex)(&etch_mutex);
	etch_user_asleep = action == PM_SUSPEND_PREPARE || action == PM_HIBERNATION_PREPARE;
	for (bit = ETCH_MAIN; bit < ETCH_BITS; bit++) {
		if (!etch_instances[bit])
			continue;
		mutex_lock(&etch_instances[bit]->read_mutex);
		etch_user_follow(etch_instances[bit]);
		mutex_unlock(&etch_instances[bit]->read_mutex);
	}
	return NOTIFY_OK;
}

static struct notifier_block etch_user_pm_nb = {
	.notifier_call = etch_user_pm,
};

static const struct etch_annex etch_user_annex = {
	.follow = etch_user_follow,
	.reset = etch_user_reset,
	.wait = etch_user_wait,
	.remove = etch_user_remove,
};

/* Before there are instances. */
static int __init etch_user_init(void)
{
	etch_annex = &etch_user_annex;
	return register_pm_notifier(&etch_user_pm_nb);
}
core_initcall(etch_user_init);
