// SPDX-License-Identifier: GPL-2.0
/*
 * A dump's walk through the tasks: each thread, the program that each process runs, and the
 * files that are open.
 *
 * The walk goes by task number, so it needs no lock from one step to the next. A task that
 * ends meanwhile is missing, or its files are. A task that begins is in the walk if its
 * number is still to come: its own events tell of it in either case, if these are enabled
 * before the dump.
 */
#include <linux/cgroup.h>
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>

#include "source/statedump.h"

/* The task with the smallest number from @nr on, with a reference; @nr goes past it. */
static struct task_struct *etch_state_next_task(int *nr)
{
	struct task_struct *task = NULL;
	struct pid *pid;

	rcu_read_lock();
	while (!task) {
		pid = find_ge_pid(*nr, &init_pid_ns);
		if (!pid)
			break;
		*nr = pid_nr(pid) + 1;
		/* A number may be in use for a group or a session alone. */
		task = pid_task(pid, PIDTYPE_PID);
		if (task)
			get_task_struct(task);
	}
	rcu_read_unlock();
	return task;
}

#ifdef CONFIG_CGROUPS
static u64 etch_state_cgroup(struct task_struct *task)
{
	u64 id;

	rcu_read_lock();
	id = cgroup_id(task_dfl_cgroup(task));
	rcu_read_unlock();
	return id;
}
#else
static u64 etch_state_cgroup(struct task_struct *task)
{
	return 0;
}
#endif

/* As the writer would name it. */
static const char *etch_state_path(struct etch_state *state, const struct file *file)
{
	const char *path = d_path(&file->f_path, state->path, sizeof(state->path));

	return IS_ERR(path) ? "(too long)" : path;
}

static void etch_state_exe(struct etch_state *state, struct task_struct *task)
{
	struct file *file = get_task_exe_file(task);

	if (!file)
		return;
	etch_state_write_exe(state, task_pid_nr(task), etch_state_path(state, file), file);
	fput(file);
}

/*
 * If the last other user closes a file while the walk looks at it, the file is released
 * when the writer returns to user space.
 */
static void etch_state_files(struct etch_state *state, struct task_struct *task)
{
	unsigned int fd = 0;
	struct file *file;

	while (etch_state_go_on()) {
		file = fget_task_next(task, &fd);
		if (!file)
			return;
		etch_state_write_file(state, task_pid_nr(task), fd,
				      etch_state_path(state, file), file);
		fput(file);
		fd++;
	}
}

/* The threads of a process mostly share one table of files, which is its leader's to show. */
static bool etch_state_has_files(struct task_struct *task)
{
	bool has;

	rcu_read_lock();
	has = thread_group_leader(task) ||
	      /* The pointers are compared, and nothing is read through them. */
	      data_race(task->files) != data_race(READ_ONCE(task->group_leader)->files);
	rcu_read_unlock();
	return has;
}

/**
 * etch_state_walk_tasks() - write all threads, programs and open files
 * @state: the dump
 *
 * Context: process, may sleep; holds no lock of a file, a task or Etch.
 */
void etch_state_walk_tasks(struct etch_state *state)
{
	struct task_struct *task;
	int nr = 1;

	while (etch_state_go_on()) {
		task = etch_state_next_task(&nr);
		if (!task)
			return;
		etch_state_write_task(state, task, etch_state_cgroup(task));
		if (thread_group_leader(task))
			etch_state_exe(state, task);
		if (etch_state_has_files(task))
			etch_state_files(state, task);
		put_task_struct(task);
	}
}
