/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of the machine, written into a trace when a user asks for it: the tasks, files
 * and devices that exist at that moment. See Documentation/trace/etch/users.rst.
 *
 * The first argument of each event is a count. TP_fast_assign() runs only if the record has
 * room, so it counts the record as stored.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM statedump

#if !defined(_TRACE_ETCH_STATEDUMP_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_ETCH_STATEDUMP_H

#include <linux/blkdev.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>

#ifndef _ETCH_STATE_KINDS
#define _ETCH_STATE_KINDS
/* The records between statedump_begin and statedump_end. */
enum etch_state_kind {
	ETCH_STATE_TASK,
	ETCH_STATE_EXE,
	ETCH_STATE_FILE,
	ETCH_STATE_MOUNT,
	ETCH_STATE_IRQ,
	ETCH_STATE_BLOCK,
	ETCH_STATE_NETIF,
	ETCH_STATE_MODULE,
	ETCH_STATE_KINDS,
};

/* What task_state_index() returns, as "ps" shows it. */
#define etch_state_show_task(index)					\
	__print_symbolic(index, { 0, "R" }, { 1, "S" }, { 2, "D" },	\
			 { 3, "T" }, { 4, "t" }, { 5, "X" },		\
			 { 6, "Z" }, { 7, "P" }, { 8, "I" })
#endif

/* The first record of a dump. @number: that of the dump, from 1, in its instance. */
TRACE_EVENT(statedump_begin,

	TP_PROTO(unsigned int *stored, unsigned int number),

	TP_ARGS(stored, number),

	TP_STRUCT__entry(
		__field(	unsigned int,	number	)
	),

	TP_fast_assign(
		++*stored;
		__entry->number = number;
	),

	TP_printk("number=%u", __entry->number)
);

/*
 * The last record of a dump. @by_kind: how many records of each enum etch_state_kind it
 * stored. @lost: how many records it could not store.
 */
TRACE_EVENT(statedump_end,

	TP_PROTO(unsigned int *stored, unsigned int number, const unsigned int *by_kind,
		 unsigned int lost),

	TP_ARGS(stored, number, by_kind, lost),

	TP_STRUCT__entry(
		__field(	unsigned int,	number	)
		__field(	unsigned int,	tasks	)
		__field(	unsigned int,	exes	)
		__field(	unsigned int,	files	)
		__field(	unsigned int,	mounts	)
		__field(	unsigned int,	irqs	)
		__field(	unsigned int,	blocks	)
		__field(	unsigned int,	netifs	)
		__field(	unsigned int,	modules	)
		__field(	unsigned int,	lost	)
	),

	TP_fast_assign(
		++*stored;
		__entry->number = number;
		__entry->tasks = by_kind[ETCH_STATE_TASK];
		__entry->exes = by_kind[ETCH_STATE_EXE];
		__entry->files = by_kind[ETCH_STATE_FILE];
		__entry->mounts = by_kind[ETCH_STATE_MOUNT];
		__entry->irqs = by_kind[ETCH_STATE_IRQ];
		__entry->blocks = by_kind[ETCH_STATE_BLOCK];
		__entry->netifs = by_kind[ETCH_STATE_NETIF];
		__entry->modules = by_kind[ETCH_STATE_MODULE];
		__entry->lost = lost;
	),

	TP_printk("number=%u tasks=%u exes=%u files=%u mounts=%u irqs=%u blocks=%u netifs=%u modules=%u lost=%u",
		  __entry->number, __entry->tasks, __entry->exes, __entry->files,
		  __entry->mounts, __entry->irqs, __entry->blocks, __entry->netifs,
		  __entry->modules, __entry->lost)
);

/*
 * A thread. Numbers of tasks are those of the initial namespace, @start is the time since
 * boot in nanoseconds, and @cgroup the id in the unified hierarchy; 0 without cgroups.
 */
TRACE_EVENT(statedump_task,

	TP_PROTO(unsigned int *stored, struct task_struct *task, u64 cgroup),

	TP_ARGS(stored, task, cgroup),

	TP_STRUCT__entry(
		__field(	pid_t,		tid			)
		__field(	pid_t,		tgid			)
		__field(	pid_t,		ppid			)
		__array(	char,		comm,	TASK_COMM_LEN	)
		__field(	int,		prio			)
		__field(	unsigned char,	state			)
		__field(	bool,		kthread			)
		__field(	u64,		start			)
		__field(	u64,		cgroup			)
	),

	TP_fast_assign(
		++*stored;
		__entry->tid = task_pid_nr(task);
		__entry->tgid = task_tgid_nr(task);
		__entry->ppid = task_ppid_nr(task);
		memcpy(__entry->comm, task->comm, TASK_COMM_LEN);
		__entry->prio = task->prio;
		__entry->state = task_state_index(task);
		__entry->kthread = task->flags & PF_KTHREAD;
		__entry->start = task->start_boottime;
		__entry->cgroup = cgroup;
	),

	TP_printk("tid=%d tgid=%d ppid=%d comm=%s prio=%d state=%s kthread=%d start=%llu cgroup=%llu",
		  __entry->tid, __entry->tgid, __entry->ppid, __entry->comm, __entry->prio,
		  etch_state_show_task(__entry->state), __entry->kthread, __entry->start,
		  __entry->cgroup)
);

/* The program that a process runs. */
TRACE_EVENT(statedump_exe,

	TP_PROTO(unsigned int *stored, pid_t tgid, const char *path, const struct file *file),

	TP_ARGS(stored, tgid, path, file),

	TP_STRUCT__entry(
		__field(	pid_t,		tgid		)
		__field(	dev_t,		dev		)
		__field(	u64,		inode		)
		__string(	path,		path		)
	),

	TP_fast_assign(
		++*stored;
		__entry->tgid = tgid;
		__entry->dev = file_inode(file)->i_sb->s_dev;
		__entry->inode = file_inode(file)->i_ino;
		__assign_str(path);
	),

	TP_printk("tgid=%d dev=%d,%d inode=%llu path=%s", __entry->tgid,
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->inode, __get_str(path))
);

/* A file descriptor of task @tid, and of all tasks that share its table of them. */
TRACE_EVENT(statedump_file,

	TP_PROTO(unsigned int *stored, pid_t tid, unsigned int fd, const char *path,
		 const struct file *file),

	TP_ARGS(stored, tid, fd, path, file),

	TP_STRUCT__entry(
		__field(	pid_t,		tid		)
		__field(	unsigned int,	fd		)
		__field(	unsigned int,	flags		)
		__field(	dev_t,		dev		)
		__field(	u64,		inode		)
		__string(	path,		path		)
	),

	TP_fast_assign(
		++*stored;
		__entry->tid = tid;
		__entry->fd = fd;
		__entry->flags = file->f_flags;
		__entry->dev = file_inode(file)->i_sb->s_dev;
		__entry->inode = file_inode(file)->i_ino;
		__assign_str(path);
	),

	TP_printk("tid=%d fd=%u flags=0%o dev=%d,%d inode=%llu path=%s", __entry->tid,
		  __entry->fd, __entry->flags, MAJOR(__entry->dev), MINOR(__entry->dev),
		  __entry->inode, __get_str(path))
);

/* A mount of the writer's namespace, below its root directory. */
TRACE_EVENT(statedump_mount,

	TP_PROTO(unsigned int *stored, const char *path, const struct super_block *sb),

	TP_ARGS(stored, path, sb),

	TP_STRUCT__entry(
		__field(	dev_t,		dev			)
		__string(	path,		path			)
		__string(	type,		sb->s_type->name	)
		__string(	source,		sb->s_id		)
	),

	TP_fast_assign(
		++*stored;
		__entry->dev = sb->s_dev;
		__assign_str(path);
		__assign_str(type);
		__assign_str(source);
	),

	TP_printk("dev=%d,%d path=%s type=%s source=%s", MAJOR(__entry->dev),
		  MINOR(__entry->dev), __get_str(path), __get_str(type), __get_str(source))
);

/* An interrupt that has a handler. @actions: their names, with commas in between. */
TRACE_EVENT(statedump_irq,

	TP_PROTO(unsigned int *stored, unsigned int irq, const char *actions, const char *chip),

	TP_ARGS(stored, irq, actions, chip),

	TP_STRUCT__entry(
		__field(	unsigned int,	irq		)
		__string(	actions,	actions		)
		__string(	chip,		chip		)
	),

	TP_fast_assign(
		++*stored;
		__entry->irq = irq;
		__assign_str(actions);
		__assign_str(chip);
	),

	TP_printk("irq=%u actions=%s chip=%s", __entry->irq, __get_str(actions),
		  __get_str(chip))
);

#ifdef CONFIG_BLOCK
/* A disk, or a partition of one. */
TRACE_EVENT(statedump_block,

	TP_PROTO(unsigned int *stored, struct block_device *bdev, const char *name),

	TP_ARGS(stored, bdev, name),

	TP_STRUCT__entry(
		__field(	dev_t,		dev		)
		__field(	bool,		partition	)
		__field(	u64,		bytes		)
		__string(	name,		name		)
	),

	TP_fast_assign(
		++*stored;
		__entry->dev = bdev->bd_dev;
		__entry->partition = bdev_is_partition(bdev);
		__entry->bytes = bdev_nr_bytes(bdev);
		__assign_str(name);
	),

	TP_printk("dev=%d,%d name=%s partition=%d bytes=%llu", MAJOR(__entry->dev),
		  MINOR(__entry->dev), __get_str(name), __entry->partition, __entry->bytes)
);
#endif

#ifdef CONFIG_NET
/* A network device in the writer's namespace. @type: ARPHRD_*. @netns: /proc/PID/ns/net. */
TRACE_EVENT(statedump_netif,

	TP_PROTO(unsigned int *stored, unsigned int ifindex, unsigned int type,
		 unsigned int netns, const char *name),

	TP_ARGS(stored, ifindex, type, netns, name),

	TP_STRUCT__entry(
		__field(	unsigned int,	ifindex		)
		__field(	unsigned int,	type		)
		__field(	unsigned int,	netns		)
		__string(	name,		name		)
	),

	TP_fast_assign(
		++*stored;
		__entry->ifindex = ifindex;
		__entry->type = type;
		__entry->netns = netns;
		__assign_str(name);
	),

	TP_printk("ifindex=%u name=%s type=%u netns=%u", __entry->ifindex, __get_str(name),
		  __entry->type, __entry->netns)
);
#endif

#if defined(CONFIG_MODULES) && defined(CONFIG_SYSFS)
/* A module, and where its code is. */
TRACE_EVENT(statedump_module,

	TP_PROTO(unsigned int *stored, const char *name, const void *base, unsigned int size),

	TP_ARGS(stored, name, base, size),

	TP_STRUCT__entry(
		__field(	const void *,	base	)
		__field(	unsigned int,	size	)
		__string(	name,		name	)
	),

	TP_fast_assign(
		++*stored;
		__entry->base = base;
		__entry->size = size;
		__assign_str(name);
	),

	TP_printk("name=%s base=%p size=%u", __get_str(name), __entry->base, __entry->size)
);
#endif

#endif /* _TRACE_ETCH_STATEDUMP_H */

#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE etch_statedump
#include <trace/define_trace.h>
