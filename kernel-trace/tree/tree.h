/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_TREE_H
#define _KERNEL_ETCH_TREE_H

/*
 * The tree at /sys/kernel/debug/etch: its folders, and the files that are one setting each.
 *
 * The rooms above bring the other files. A room that has files for each instance, CPU, system
 * or event lists them in tables, and offers these once, at boot, by etch_tree_offer().
 * Documentation/trace/etch/design-tree.rst has a room that adds a file to each event's folder.
 */

#include <linux/bits.h>
#include <linux/kref.h>
#include <linux/list.h>

#include "instance/instance.h"

struct dentry;
struct seq_file;

/**
 * struct etch_control - a file of an instance's folder, or of a CPU's folder in it
 * @name: of the file
 * @mode: its permissions
 * @main_only: instances other than the main tree do not have the file
 * @direct: debugfs must not stand in between, since it passes neither splice() nor mmap()
 *	  on. etch_view_open() keeps what an open file needs of its instance
 * @fops: for a file that needs more than @show and @store; its i_private is a
 *	  struct etch_view_of
 * @show: prints what a reader gets; called under etch_mutex
 * @store: does what was written; returns 0, or a negative errno that etch_bad() has
 *	  reported; called under etch_mutex
 *
 * A table of these ends with an entry without a name.
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

/* A file's i_private. Files with fops of their own know the first member only. */
struct etch_file {
	struct etch_view_of of;
	const struct etch_control *control;
};

/* The kinds of folders in events/: events/ itself, those of systems, those of events. */
#define ETCH_OF_ALL		BIT(0)
#define ETCH_OF_SYSTEM		BIT(1)
#define ETCH_OF_EVENT		BIT(2)

struct etch_node;

/**
 * struct etch_event_control - a file of the folders in events/
 * @name: of the file
 * @mode: its permissions
 * @folders: ETCH_OF_* of the folders that have the file
 * @show: prints what a reader gets; called under etch_mutex, while the folder is there
 * @store: does what was written; returns 0, or a negative errno that etch_bad() has
 *	  reported; called under etch_mutex. The folder may have gone: see @node->gone
 *
 * A table of these ends with an entry without a name.
 */
struct etch_event_control {
	const char *name;
	umode_t mode;
	unsigned int folders;
	void (*show)(struct seq_file *m, const struct etch_node *node);
	int (*store)(struct etch_node *node, const struct etch_input *in);
};

/* A file's i_private. */
struct etch_node_file {
	struct etch_node *node;
	const struct etch_event_control *control;
};

/**
 * struct etch_node - a folder of events/
 * @inst: the instance that has it
 * @system: the name of the system whose folder it is; NULL for events/ and for an event's
 * @event: the event whose folder it is, which does not exist any more if @gone; else NULL
 * @gone: the folder was removed; under etch_mutex
 * @ref: held for the folder, and for each of its open files
 * @dir: the folder
 * @path: of the folder, from the instance's
 * @siblings: in @children of the folder above
 * @children: the folders in it
 * @files: its files
 */
struct etch_node {
	struct etch_instance *inst;
	char *system;
	struct etch_event *event;
	bool gone;
	struct kref ref;
	struct dentry *dir;
	char *path;
	struct list_head siblings;
	struct list_head children;
	struct etch_node_file files[];
};

/**
 * struct etch_files - the files that a room has
 * @of_tree: in an instance's folder; may be NULL
 * @of_cpu: in a CPU's folder; may be NULL
 * @of_event: in the folders of events/; may be NULL
 * @remove: called when an instance's files have gone, to free what they kept; may be NULL
 * @node: in the list of all rooms' files
 */
struct etch_files {
	const struct etch_control *of_tree;
	const struct etch_control *of_cpu;
	const struct etch_event_control *of_event;
	void (*remove)(struct etch_instance *inst);
	struct list_head node;
};

/* From an initcall before fs_initcall(), which makes the main tree. */
void etch_tree_offer(struct etch_files *files);

/* ---- offer.c ---- */

/* The rooms' files, and how many files of events/ there are at most in one folder. */
extern struct list_head etch_offers;
extern unsigned int etch_nr_event_files;

struct dentry *etch_tree_mkdir(const char *name, struct dentry *parent);

/* ---- The rest of the tree ---- */

/* Under etch_mutex. */
int etch_tree_add_instance(struct etch_instance *inst);
void etch_tree_remove_instance(struct etch_instance *inst);

extern const struct file_operations etch_control_fops, etch_set_event_fops;
extern const struct etch_event_control etch_event_controls[];

int etch_tree_add_events(struct etch_instance *inst);
void etch_tree_free_events(struct etch_instance *inst);
void etch_available_events_show(struct seq_file *m, const struct etch_view_of *of);

void etch_tree_watch(void);
int etch_tree_make(struct etch_instance *inst);

/* ---- format.c: an event's format file ---- */

void etch_format_show(struct seq_file *m, const struct etch_event *event);

/* ---- boot.c: the kernel's parameters ---- */

unsigned long etch_boot_cpu_bytes(void);
unsigned int etch_boot_subbuf_bytes(void);
void etch_boot_events(struct etch_instance *inst);

#endif /* _KERNEL_ETCH_TREE_H */
