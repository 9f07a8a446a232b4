// SPDX-License-Identifier: GPL-2.0
/*
 * The files set_event_pid, set_event_notrace_pid, set_event_cgroup and options/event-fork:
 * whose events an instance records (event/whose.h).
 *
 * A change makes a new struct etch_whose, and writers see the one or the other. A set of thread
 * IDs is handed on from one to the next, unless it is the one that changes.
 */
#include <linux/bitmap.h>
#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kstrtox.h>
#include <linux/limits.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "event/whose.h"
#include "filter/follow.h"
#include "tree/tree.h"

/* Room for the numbers of 4,096 tasks in one write. */
#define ETCH_TASKS_MAX	32768

/* ---- Changes ---- */

/* What a set of thread IDs is for. */
enum etch_tasks_kind {
	ETCH_TASKS_ONLY,
	ETCH_TASKS_NOT,
};

static unsigned long **etch_tasks_set(struct etch_whose *whose, enum etch_tasks_kind kind)
{
	return kind == ETCH_TASKS_ONLY ? &whose->only : &whose->not;
}

/* A copy of what the instance has, to be changed. NULL: no memory. */
static struct etch_whose *etch_whose_copy(const struct etch_instance *inst)
{
	const struct etch_whose *before = etch_whose_get(&inst->rec);

	if (before)
		return kmemdup(before, sizeof(*before), GFP_KERNEL);
	return kzalloc(sizeof(struct etch_whose), GFP_KERNEL);
}

/*
 * Make a choice the instance's, and free what only the choice before had. If this fails, the
 * function frees what only @whose has.
 */
static int etch_whose_change(struct etch_instance *inst, struct etch_whose *whose)
{
	struct etch_whose *before = etch_whose_get(&inst->rec), none = {};
	struct etch_whose *gone = before, *stays = whose;
	int ret;

	ret = etch_whose_set(&inst->rec, whose);
	if (ret) {
		gone = whose;
		stays = before;
	} else {
		/* No hit goes by the choice before when the write to the file returns. */
		synchronize_rcu();
		etch_follow_count(before && before->follow, whose && whose->follow);
	}
	stays = stays ?: &none;
	if (gone && gone->only != stays->only)
		vfree(gone->only);
	if (gone && gone->not != stays->not)
		vfree(gone->not);
#ifdef CONFIG_CGROUPS
	if (gone && gone->cgroup && gone->cgroup != stays->cgroup)
		cgroup_put(gone->cgroup);
#endif
	kfree(gone);
	return ret;
}

/* ---- set_event_pid and set_event_notrace_pid ---- */

/**
 * struct etch_tasks - one of the two, opened
 * @inst: whose
 * @kind: which set
 * @replace: opened with O_TRUNC, and no write has succeeded since. The first write that
 *	     succeeds replaces the set
 * @failed: the last write was refused
 */
struct etch_tasks {
	struct etch_instance *inst;
	enum etch_tasks_kind kind;
	bool replace;
	bool failed;
};

static const char * const etch_tasks_names[] = { "set_event_pid", "set_event_notrace_pid" };

static int etch_tasks_show(struct seq_file *m, void *v)
{
	const struct etch_tasks *tasks = m->private;
	unsigned long *set, pid;
	struct etch_whose *whose;

	mutex_lock(&etch_mutex);
	whose = etch_whose_get(&tasks->inst->rec);
	set = whose ? *etch_tasks_set(whose, tasks->kind) : NULL;
	if (set)
		for_each_set_bit(pid, set, PID_MAX_LIMIT)
			seq_printf(m, "%lu\n", pid);
	mutex_unlock(&etch_mutex);
	return 0;
}

/* The numbers in @in are added to @set. */
static int etch_tasks_parse(const struct etch_input *in, unsigned long *set)
{
	const char *at = skip_spaces(in->text);
	unsigned int pid;
	char word[16];
	size_t len;

	for (; *at; at = skip_spaces(at + len)) {
		len = strcspn(at, " \t\n\v\f\r");
		if (len >= sizeof(word))
			return etch_bad(in, at, -EINVAL, "This is no thread ID");
		memcpy(word, at, len);
		word[len] = '\0';
		if (kstrtouint(word, 0, &pid))
			return etch_bad(in, at, -EINVAL, "This is no thread ID");
		if (pid >= PID_MAX_LIMIT)
			return etch_bad(in, at, -EINVAL, "A thread ID is less than %d",
					(int)PID_MAX_LIMIT);
		set_bit(pid, set);
	}
	return 0;
}

/* A set with what @in says, to be freed; NULL: no task. */
static unsigned long *etch_tasks_make(const struct etch_input *in)
{
	unsigned long *set = vzalloc(ETCH_PIDS_BYTES);
	int ret;

	if (!set)
		return ERR_PTR(etch_bad(in, in->text, -ENOMEM, "Not enough memory"));
	ret = etch_tasks_parse(in, set);
	if (!ret && !bitmap_empty(set, PID_MAX_LIMIT))
		return set;
	vfree(set);
	return ERR_PTR(ret);
}

static int etch_tasks_replace(const struct etch_tasks *tasks, unsigned long *set)
{
	struct etch_whose *whose = etch_whose_copy(tasks->inst);

	if (!whose) {
		vfree(set);
		return -ENOMEM;
	}
	*etch_tasks_set(whose, tasks->kind) = set;
	return etch_whose_change(tasks->inst, whose);
}

/* In place, so that no fork is missed that is followed meanwhile. */
static void etch_tasks_add(unsigned long *to, unsigned long *set)
{
	unsigned long pid;

	if (set)
		for_each_set_bit(pid, set, PID_MAX_LIMIT)
			set_bit(pid, to);
	vfree(set);
}

static int etch_tasks_choose(const struct etch_tasks *tasks, const struct etch_input *in)
{
	struct etch_whose *whose = etch_whose_get(&tasks->inst->rec);
	unsigned long *before = whose ? *etch_tasks_set(whose, tasks->kind) : NULL;
	unsigned long *set = etch_tasks_make(in);
	int ret;

	if (IS_ERR(set))
		return PTR_ERR(set);
	if (before && !tasks->replace) {
		etch_tasks_add(before, set);
		return 0;
	}
	if (!before && !set)
		return 0;
	ret = etch_tasks_replace(tasks, set);
	return ret ? etch_bad(in, in->text, ret, "The tasks cannot be chosen: error %d", ret) : 0;
}

static ssize_t etch_tasks_write(struct file *filp, const char __user *buf, size_t count,
				loff_t *pos)
{
	struct etch_tasks *tasks = ((struct seq_file *)filp->private_data)->private;
	struct etch_input *in;
	int ret;

	in = etch_input_get(tasks->inst, ETCH_ALL_CPUS, buf, count, ETCH_TASKS_MAX, "%s",
			    etch_tasks_names[tasks->kind]);
	mutex_lock(&etch_mutex);
	ret = IS_ERR(in) ? PTR_ERR(in) : etch_tasks_choose(tasks, in);
	tasks->failed = ret;
	if (!ret)
		tasks->replace = false;
	mutex_unlock(&etch_mutex);
	if (!IS_ERR(in))
		kvfree(in);
	if (ret)
		return ret;
	*pos += count;
	return count;
}

static int etch_tasks_open(struct inode *inode, struct file *filp, enum etch_tasks_kind kind)
{
	const struct etch_view_of *of = inode->i_private;
	struct etch_tasks *tasks;
	int ret;

	ret = etch_view_open(of);
	if (ret)
		return ret;
	tasks = kzalloc(sizeof(*tasks), GFP_KERNEL);
	ret = tasks ? single_open(filp, etch_tasks_show, tasks) : -ENOMEM;
	if (ret) {
		kfree(tasks);
		etch_instance_put(of->inst);
		return ret;
	}
	tasks->inst = of->inst;
	tasks->kind = kind;
	tasks->replace = (filp->f_mode & FMODE_WRITE) && (filp->f_flags & O_TRUNC);
	return 0;
}

static int etch_tasks_open_only(struct inode *inode, struct file *filp)
{
	return etch_tasks_open(inode, filp, ETCH_TASKS_ONLY);
}

static int etch_tasks_open_not(struct inode *inode, struct file *filp)
{
	return etch_tasks_open(inode, filp, ETCH_TASKS_NOT);
}

/* Opened to replace the set, by nothing. */
static void etch_tasks_clear(const struct etch_tasks *tasks)
{
	struct etch_whose *whose;

	mutex_lock(&etch_mutex);
	whose = etch_whose_get(&tasks->inst->rec);
	if (whose && *etch_tasks_set(whose, tasks->kind))
		etch_tasks_replace(tasks, NULL);
	mutex_unlock(&etch_mutex);
}

static int etch_tasks_release(struct inode *inode, struct file *filp)
{
	struct etch_tasks *tasks = ((struct seq_file *)filp->private_data)->private;
	struct etch_instance *inst = tasks->inst;

	if (tasks->replace && !tasks->failed)
		etch_tasks_clear(tasks);
	kfree(tasks);
	single_release(inode, filp);
	etch_instance_put(inst);
	return 0;
}

static const struct file_operations etch_tasks_only_fops = {
	.open = etch_tasks_open_only,
	.read = seq_read,
	.llseek = seq_lseek,
	.write = etch_tasks_write,
	.release = etch_tasks_release,
};

static const struct file_operations etch_tasks_not_fops = {
	.open = etch_tasks_open_not,
	.read = seq_read,
	.llseek = seq_lseek,
	.write = etch_tasks_write,
	.release = etch_tasks_release,
};

/* ---- set_event_cgroup ---- */

#ifdef CONFIG_CGROUPS
static void etch_group_show(struct seq_file *m, const struct etch_view_of *of)
{
	const struct etch_whose *whose = etch_whose_get(&of->inst->rec);
	char *path;

	if (!whose || !whose->cgroup)
		return;
	path = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!path)
		return;
	if (cgroup_path(whose->cgroup, path, PATH_MAX) > 0)
		seq_printf(m, "%s\n", path);
	kfree(path);
}

/* A path in the v2 hierarchy; nothing: all groups. */
static int etch_group_store(const struct etch_input *in)
{
	const char *path = skip_spaces(in->text);
	struct etch_whose *whose;
	struct cgroup *cgroup = NULL;

	if (*path) {
		cgroup = cgroup_get_from_path(path);
		if (IS_ERR(cgroup))
			return etch_bad(in, path, PTR_ERR(cgroup) == -ENOMEM ? -ENOMEM : -EINVAL,
					"No such group: a path begins with /, the root of all groups");
	}
	whose = etch_whose_copy(in->inst);
	if (!whose) {
		if (cgroup)
			cgroup_put(cgroup);
		return etch_bad(in, path, -ENOMEM, "Not enough memory");
	}
	/* The same group again: the reference that was there stays. */
	if (cgroup && cgroup == whose->cgroup)
		cgroup_put(cgroup);
	whose->cgroup = cgroup;
	return etch_whose_change(in->inst, whose);
}
#endif

/* ---- options/event-fork ---- */

static void etch_fork_show(struct seq_file *m, const struct etch_view_of *of)
{
	const struct etch_whose *whose = etch_whose_get(&of->inst->rec);

	seq_printf(m, "%d\n", whose && whose->follow);
}

static int etch_fork_store(const struct etch_input *in)
{
	struct etch_whose *whose;
	bool follow;
	int ret;

	ret = etch_input_bool(in, &follow);
	if (ret)
		return ret;
	whose = etch_whose_get(&in->inst->rec);
	if (follow == (whose && whose->follow))
		return 0;
	ret = follow ? etch_follow_start() : 0;
	if (ret)
		return etch_bad(in, in->text, ret, "Forks cannot be followed: error %d", ret);
	whose = etch_whose_copy(in->inst);
	if (!whose) {
		etch_follow_count(true, true);
		return etch_bad(in, in->text, -ENOMEM, "Not enough memory");
	}
	whose->follow = follow;
	return etch_whose_change(in->inst, whose);
}

/* ---- The files ---- */

static const struct etch_control etch_tasks_controls[] = {
	{ "set_event_pid", 0600, .fops = &etch_tasks_only_fops },
	{ "set_event_notrace_pid", 0600, .fops = &etch_tasks_not_fops },
#ifdef CONFIG_CGROUPS
	{ "set_event_cgroup", 0600, .max = PATH_MAX,
	  .show = etch_group_show, .store = etch_group_store },
#endif
	{}
};

static const struct etch_control etch_options_controls[] = {
	{ "event-fork", 0600, .cpu = ETCH_ALL_CPUS,
	  .show = etch_fork_show, .store = etch_fork_store },
	{}
};

/* The instance goes. */
static void etch_tasks_remove(struct etch_instance *inst)
{
	if (etch_whose_get(&inst->rec))
		etch_whose_change(inst, NULL);
}

static struct etch_files etch_tasks_files = {
	.of_tree = etch_tasks_controls,
	.folder = "options",
	.of_folder = etch_options_controls,
	.in_instances = true,
	.remove = etch_tasks_remove,
};

static int __init etch_tasks_offer(void)
{
	etch_tree_offer(&etch_tasks_files);
	return 0;
}
core_initcall(etch_tasks_offer);
