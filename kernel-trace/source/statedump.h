/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_SOURCE_STATEDUMP_H
#define _KERNEL_ETCH_SOURCE_STATEDUMP_H

/*
 * A dump of the machine's state. statedump.c has the file, and brackets a dump;
 * statedump_tasks.c and statedump_machine.c walk through what there is; statedump_write.c
 * has the events.
 *
 * The walks hold no lock while they write a record: each step takes what it needs out of
 * the kernel's lists under their locks, or a reference to it, and writes afterwards. The code
 * that these locks protect has events of its own, and reads the rings as everybody does.
 */

#include <linux/limits.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/types.h>
#include <trace/events/etch_statedump.h>

struct block_device;
struct etch_event;
struct etch_instance;
struct file;
struct super_block;
struct task_struct;
struct vfsmount;

/**
 * struct etch_state - a dump under way
 * @inst: the instance that asked for it
 * @number: of the dump, in the instance, from 1
 * @stored: how many records it stored, by kind
 * @lost: how many records did not find room
 * @mounts: the roots of the mounts, see etch_state_take_mounts(); NULL: they are written
 * @path: scratch for a path
 */
struct etch_state {
	struct etch_instance *inst;
	unsigned int number;
	unsigned int stored[ETCH_STATE_KINDS];
	unsigned int lost;
	const struct path *mounts;
	char path[PATH_MAX];
};

/* Between two steps of a walk. False: the writer was killed, and the dump ends here. */
static inline bool etch_state_go_on(void)
{
	cond_resched();
	return !fatal_signal_pending(current);
}

/* ---- statedump_write.c: the events. Process context ---- */

struct etch_event *etch_state_event(unsigned int nr);

/* False: lost. */
bool etch_state_write_begin(struct etch_state *state);
bool etch_state_write_end(struct etch_state *state);

/* These count what they store, and what they lose. */
void etch_state_write_task(struct etch_state *state, struct task_struct *task, u64 cgroup);
void etch_state_write_exe(struct etch_state *state, pid_t tgid, const char *path,
			  const struct file *file);
void etch_state_write_file(struct etch_state *state, pid_t tid, unsigned int fd,
			   const char *path, const struct file *file);
void etch_state_write_mount(struct etch_state *state, const char *path,
			    const struct super_block *sb);
void etch_state_write_irq(struct etch_state *state, unsigned int irq, const char *actions,
			  const char *chip);
void etch_state_write_block(struct etch_state *state, struct block_device *bdev,
			    const char *name);
void etch_state_write_netif(struct etch_state *state, unsigned int ifindex, unsigned int type,
			    unsigned int netns, const char *name);
void etch_state_write_module(struct etch_state *state, const char *name, const void *base,
			     unsigned int size);

/* ---- statedump_tasks.c, statedump_machine.c: the walks. They may sleep ---- */

void etch_state_walk_tasks(struct etch_state *state);

int etch_state_take_mounts(struct etch_state *state);
void etch_state_drop_mounts(struct etch_state *state);
void etch_state_walk_machine(struct etch_state *state);

#endif /* _KERNEL_ETCH_SOURCE_STATEDUMP_H */
