// SPDX-License-Identifier: GPL-2.0
/*
 * The files that define probe events: dynamic_events, kprobe_events, uprobe_events. And how often
 * their probes were hit: stats.
 *
 * The first three are those of tracefs: they parse definitions, and list them. They
 * report mistakes to tracefs, too, in its own error_log; a mistake in a definition that was
 * written here is also in ours.
 */
#include <linux/cleanup.h>
#include <linux/container_of.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "source/probe.h"
#include "trace_dynevent.h"
#include "trace_probe.h"
#include "tree/tree.h"

/* How much of a text is shown in error_log, if it is shown here. */
#define ETCH_PROBE_SHOWN	256UL

/* ---- Definitions ---- */

/* One task defines events at a time, and then it knows whose mistakes are its own. */
static DEFINE_MUTEX(etch_probe_mutex);
static struct {
	struct task_struct *task;
	const char *file;
	bool told;
} etch_probe_definer;

/**
 * etch_probe_error() - note what is wrong with a definition
 * @command: the definition
 * @why: a sentence
 * @at: the wrong byte of @command
 *
 * Does nothing if the definition was not written to a file of Etch.
 *
 * Context: process, may sleep; called while the definition is parsed.
 */
void etch_probe_error(const char *command, const char *why, int at)
{
	if (READ_ONCE(etch_probe_definer.task) != current)
		return;
	etch_probe_definer.told = true;
	etch_error(etch_instances[ETCH_MAIN], etch_probe_definer.file, command, at, "%s", why);
}

/* What the parser returned without a word. */
static void etch_probe_explain(const char *file, const char __user *buf, size_t count, int err)
{
	char *text = memdup_user_nul(buf, min(count, ETCH_PROBE_SHOWN));
	const char *why = "This is no definition of a probe";

	if (IS_ERR(text))
		return;
	if (err == -EBUSY)
		why = "The event is in use: here, in tracefs, or by perf";
	else if (err == -ENOENT)
		why = "There is no such event, or nothing to probe at this place";
	else if (err == -EEXIST)
		why = "There is an event with this name";
	strim(text);
	etch_error(etch_instances[ETCH_MAIN], file, text, 0, "%s", why);
	kfree(text);
}

/**
 * struct etch_probe_file - a file that defines events
 * @fops: Etch's
 * @tracefs: those of the file with that name in tracefs
 */
struct etch_probe_file {
	const struct file_operations fops;
	const struct file_operations *tracefs;
};

static const struct file_operations *etch_probe_tracefs(const struct file *filp)
{
	return container_of(filp->f_op, struct etch_probe_file, fops)->tracefs;
}

/* With O_TRUNC this removes all definitions, as in tracefs. */
static int etch_probe_open(struct inode *inode, struct file *filp)
{
	const struct etch_view_of *of = inode->i_private;
	int ret;

	ret = etch_view_open(of);
	if (ret)
		return ret;
	ret = etch_probe_tracefs(filp)->open(inode, filp);
	if (ret)
		etch_instance_put(of->inst);
	return ret;
}

static int etch_probe_release(struct inode *inode, struct file *filp)
{
	const struct etch_view_of *of = inode->i_private;

	etch_instance_put(of->inst);
	return seq_release(inode, filp);
}

static ssize_t etch_probe_write(struct file *filp, const char __user *buf, size_t count,
				loff_t *pos)
{
	const char *file = filp->f_path.dentry->d_name.name;
	ssize_t ret;

	guard(mutex)(&etch_probe_mutex);
	etch_probe_definer.file = file;
	etch_probe_definer.told = false;
	WRITE_ONCE(etch_probe_definer.task, current);
	ret = etch_probe_tracefs(filp)->write(filp, buf, count, pos);
	WRITE_ONCE(etch_probe_definer.task, NULL);
	if (ret < 0 && !etch_probe_definer.told)
		etch_probe_explain(file, buf, count, ret);
	return ret;
}

#define ETCH_PROBE_FILE(_tracefs) {				\
	.fops = {						\
		.open = etch_probe_open,			\
		.read = seq_read,				\
		.llseek = seq_lseek,				\
		.write = etch_probe_write,			\
		.release = etch_probe_release,			\
	},							\
	.tracefs = &(_tracefs),					\
}

static const struct etch_probe_file etch_dynamic_events = ETCH_PROBE_FILE(dynamic_events_ops);
#ifdef CONFIG_KPROBE_EVENTS
static const struct etch_probe_file etch_kprobe_events = ETCH_PROBE_FILE(kprobe_events_ops);
#endif
#ifdef CONFIG_UPROBE_EVENTS
static const struct etch_probe_file etch_uprobe_events = ETCH_PROBE_FILE(uprobe_events_ops);
#endif

static const struct etch_control etch_probe_controls[] = {
	{ "dynamic_events", 0600, .main_only = true, .fops = &etch_dynamic_events.fops },
#ifdef CONFIG_KPROBE_EVENTS
	{ "kprobe_events", 0600, .main_only = true, .fops = &etch_kprobe_events.fops },
#endif
#ifdef CONFIG_UPROBE_EVENTS
	{ "uprobe_events", 0600, .main_only = true, .fops = &etch_uprobe_events.fops },
#endif
	{}
};

/* ---- Hits ---- */

static void etch_probe_count(struct etch_probe *probe, struct etch_probe_counts *counts)
{
	guard(mutex)(&event_mutex);
	if (!probe->tpe)
		return;
#ifdef CONFIG_KPROBE_EVENTS
	if (probe->tpe->call.flags & TRACE_EVENT_FL_KPROBE)
		trace_kprobe_count(&probe->tpe->call, counts);
#endif
#ifdef CONFIG_FPROBE_EVENTS
	if (probe->tpe->call.flags & TRACE_EVENT_FL_FPROBE)
		trace_fprobe_count(&probe->tpe->call, counts);
#endif
#ifdef CONFIG_UPROBE_EVENTS
	if (probe->tpe->call.flags & TRACE_EVENT_FL_UPROBE)
		trace_uprobe_count(&probe->tpe->call, counts);
#endif
}

static void etch_probe_stats_show(struct seq_file *m, const struct etch_node *node)
{
	struct etch_probe_counts counts = {};

	etch_probe_count(etch_probe_of(node->event), &counts);
	if (counts.counted)
		seq_printf(m, "hits: %lu\n", counts.hits);
	seq_printf(m, "missed: %lu\n", counts.missed);
}

static bool etch_probe_has_stats(const struct etch_event *event)
{
	return etch_probe_of(event);
}

static const struct etch_event_control etch_probe_event_controls[] = {
	{
		.name = "stats",
		.mode = 0400,
		.folders = ETCH_OF_EVENT,
		.has = etch_probe_has_stats,
		.show = etch_probe_stats_show,
	},
	{}
};

static struct etch_files etch_probe_files = {
	.of_tree = etch_probe_controls,
	.of_event = etch_probe_event_controls,
};

static int __init etch_probes_offer(void)
{
	etch_tree_offer(&etch_probe_files);
	return 0;
}
core_initcall(etch_probes_offer);
