// SPDX-License-Identifier: GPL-2.0
/*
 * user/stats: what became of programs' records.
 *
 *	PROCESS-PID: cpus N read N overwritten N lost N malformed N, alive or gone
 *
 * A line for each process that has rings; then one for those that have gone, without a name.
 * Counts of the records that are still to be read come with reading.
 */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>

#include "tree/tree.h"
#include "user/user.h"

static void etch_user_print(struct seq_file *m, const struct etch_user_counts *counts)
{
	seq_printf(m, "read %llu overwritten %llu lost %llu malformed %llu\n", counts->read,
		   counts->overwritten, counts->lost, counts->malformed);
}

static void etch_user_add(struct etch_user_counts *sum, const struct etch_user_ring_of *ring)
{
	struct etch_user_counts counts;

	etch_user_counts(ring, &counts);
	sum->read += counts.read;
	sum->overwritten += counts.overwritten;
	sum->lost += counts.lost;
	sum->malformed += counts.malformed;
}

/* Of a process's rings this is the first. */
static bool etch_user_leads(const struct etch_user *user, const struct etch_user_ring_of *ring)
{
	const struct etch_user_ring_of *other;

	list_for_each_entry(other, &user->rings, node)
		if (other->process == ring->process)
			return other == ring;
	return false;
}

static void etch_user_show_process(struct seq_file *m, const struct etch_user *user,
				   const struct etch_user_process *p)
{
	const struct etch_user_ring_of *ring;
	struct etch_user_counts sum = {};
	unsigned int cpus = 0;
	bool alive = false;

	list_for_each_entry(ring, &user->rings, node) {
		if (ring->process != p)
			continue;
		etch_user_add(&sum, ring);
		cpus++;
		alive = alive || !etch_user_ring_orphan(ring);
	}
	seq_printf(m, "%s-%d: %s cpus %u ", p->comm, p->tgid, alive ? "alive" : "gone", cpus);
	etch_user_print(m, &sum);
}

static void etch_user_stats_show(struct seq_file *m, const struct etch_view_of *of)
{
	const struct etch_user_ring_of *ring;
	struct etch_instance *inst = of->inst;

	mutex_lock(&inst->read_mutex);
	if (inst->user) {
		list_for_each_entry(ring, &inst->user->rings, node)
			if (etch_user_leads(inst->user, ring))
				etch_user_show_process(m, inst->user, ring->process);
		seq_puts(m, "others: ");
		etch_user_print(m, &inst->user->gone);
	}
	mutex_unlock(&inst->read_mutex);
}

static const struct etch_control etch_user_controls[] = {
	{ "stats", 0400, .cpu = ETCH_ALL_CPUS, .show = etch_user_stats_show },
	{}
};

static struct etch_files etch_user_files = {
	.folder = "user",
	.of_folder = etch_user_controls,
	.in_instances = true,
};

static int __init etch_user_stats_offer(void)
{
	etch_tree_offer(&etch_user_files);
	return 0;
}
core_initcall(etch_user_stats_offer);
