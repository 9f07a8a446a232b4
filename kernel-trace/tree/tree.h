/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_TREE_H
#define _KERNEL_ETCH_TREE_H

/*
 * The tree at /sys/kernel/debug/etch: folders, and files that are one setting each. Those who
 * have files of their own, of records as text for instance, offer them.
 */

#include "instance/instance.h"

struct dentry;
struct seq_file;

/**
 * struct etch_control - a file of the tree, but for those in events/
 * @name: of the file
 * @mode: its permissions
 * @main_only: the trees in instances/ have none
 * @direct: debugfs is not in between: it passes neither splice() nor mmap() on. What an
 *	  open file needs of its instance, etch_view_open() keeps
 * @fops: for files that need more than the rest of this; i_private is
 *	  struct etch_view_of
 * @show: what reading gives
 * @store: what writing does; under etch_mutex; 0 or a negative errno, reported
 */
struct etch_control {
	const char *name;
	umode_t mode;
	bool main_only;
	bool direct;
	const struct file_operations *fops;
	void (*show)(struct seq_file *m, const struct etch_view_of *of);
	int (*store)(const struct etch_input *in);
};

/* A file's i_private. @of is first: it is all that the files with fops of their own see. */
struct etch_file {
	struct etch_view_of of;
	const struct etch_control *control;
};

/**
 * struct etch_files - files that somebody offers
 * @of_tree: those in an instance's folder, @nr_tree of them
 * @of_cpu: those in a CPU's folder, @nr_cpu of them
 * @remove: an instance's files are gone: what they have kept may go, too; may be NULL
 * @nr_tree: how many
 * @nr_cpu: how many
 * @node: in the list of those who offer
 */
struct etch_files {
	const struct etch_control *of_tree;
	const struct etch_control *of_cpu;
	void (*remove)(struct etch_instance *inst);
	unsigned int nr_tree;
	unsigned int nr_cpu;
	struct list_head node;
};

/* Before the first instance is there. */
void etch_tree_offer(struct etch_files *files);

/* Under etch_mutex. */
int etch_tree_add_instance(struct etch_instance *inst);
void etch_tree_remove_instance(struct etch_instance *inst);

extern const struct file_operations etch_control_fops, etch_set_event_fops;

int etch_tree_add_events(struct etch_instance *inst);
void etch_tree_free_events(struct etch_instance *inst);
struct dentry *etch_tree_mkdir(const char *name, struct dentry *parent);
void etch_available_events_show(struct seq_file *m, const struct etch_view_of *of);

void etch_tree_watch(void);
int etch_tree_make(struct etch_instance *inst);
extern struct etch_files etch_control_files;

/* ---- format.c: an event's format file ---- */

void etch_format_show(struct seq_file *m, const struct etch_event *event);

/* ---- boot.c: the kernel's parameters ---- */

unsigned long etch_boot_cpu_bytes(void);
unsigned int etch_boot_subbuf_bytes(void);
void etch_boot_events(struct etch_instance *inst);

#endif /* _KERNEL_ETCH_TREE_H */
