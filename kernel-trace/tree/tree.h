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
#include <linux/rcupdate.h>

#include "instance/instance.h"

struct seq_file;

/**
 * struct etch_control - a file of an instance's folder, or of a CPU's folder in it
 * @name: of the file
 * @mode: its permissions
 * @max: how many bytes one may write; 0: as many as a setting needs
 * @cpu: in a room's own folder: what its etch_view_of is to have
 * @main_only: instances other than the main tree do not have the file
 * @unlocked: @store takes long: it is called without etch_mutex, and takes it when it has to
 * @fops: for a file that needs more than @show and @store; its i_private is a
 *	  struct etch_view_of, for etch_view_open() to keep the instance
 * @show: prints what a reader gets; called under etch_mutex
 * @store: does what was written; returns 0, or a negative errno that etch_bad() has
 *	  reported; called under etch_mutex, unless @unlocked
 *
 * A table of these ends with an entry without a name.
 */
struct etch_control {
	const char *name;
	umode_t mode;
	unsigned short max;
	int cpu;
	bool main_only;
	bool unlocked;
	const struct file_operations *fops;
	void (*show)(struct seq_file *m, const struct etch_view_of *of);
	int (*store)(const struct etch_input *in);
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
 * @room: bytes of the file, about, for each event of the folder; 0: it is small
 * @has: of events' folders, those of which this is true have the file; NULL: all
 * @show: prints what a reader gets; called under etch_mutex, while the folder is there
 * @store: does what was written; returns 0, or a negative errno that etch_bad() has
 *	  reported; called under etch_mutex, while the folder is there
 *
 * A table of these ends with an entry without a name.
 */
struct etch_event_control {
	const char *name;
	umode_t mode;
	unsigned int folders;
	unsigned int room;
	bool (*has)(const struct etch_event *event);
	void (*show)(struct seq_file *m, const struct etch_node *node);
	int (*store)(struct etch_node *node, const struct etch_input *in);
};

/**
 * struct etch_node - a folder of events/ that a user looked at
 * @inst: the instance that has it
 * @system: the name of the system that the folder is of, or that its event belongs to; NULL
 *	    for events/
 * @event: the event whose folder it is; else NULL. Under etch_mutex, as etch_node_there()
 *	   left it
 * @path: of the folder, from the instance's
 * @one: it is an event's
 * @gone: as of @generation, there was no such event or system
 * @generation: etch_generation when that was looked up; under etch_mutex
 * @ref: held for the folder's inode, and for those of its files
 * @rcu: frees it
 */
struct etch_node {
	struct etch_instance *inst;
	char *system;
	struct etch_event *event;
	char *path;
	bool one;
	bool gone;
	unsigned int generation;
	struct kref ref;
	struct rcu_head rcu;
};

/**
 * struct etch_files - the files that a room has
 * @of_tree: in an instance's folder; may be NULL
 * @of_cpu: in a CPU's folder; may be NULL
 * @of_event: in the folders of events/; may be NULL
 * @folder: the name of a folder in the main tree; NULL: the room has none
 * @of_folder: in that folder
 * @in_instances: the other instances have the folder, too
 * @remove: called when nobody can open an instance's files any more, to free what they kept;
 *	    may be NULL
 * @node: in the list of all rooms' files
 */
struct etch_files {
	const struct etch_control *of_tree;
	const struct etch_control *of_cpu;
	const struct etch_event_control *of_event;
	const char *folder;
	const struct etch_control *of_folder;
	bool in_instances;
	void (*remove)(struct etch_instance *inst);
	struct list_head node;
};

/* From an initcall before fs_initcall(), which makes the main tree; or under etch_mutex. */
void etch_tree_offer(struct etch_files *files);

/* The rooms' files. */
extern struct list_head etch_offers;

/* ---- The rest of the tree ---- */

/* Under etch_mutex. */
int etch_tree_add_instance(struct etch_instance *inst);
int etch_tree_make(struct etch_instance *inst);

extern const struct file_operations etch_control_fops, etch_set_event_fops;
extern const struct etch_event_control etch_event_controls[];

unsigned int etch_node_events(const struct etch_node *node);
void etch_available_events_show(struct seq_file *m, const struct etch_view_of *of);

/* ---- budget.c ---- */

void etch_budget_show(struct seq_file *m, const struct etch_view_of *of);
int etch_budget_store(const struct etch_input *in);

/* ---- contexts.c ---- */

void etch_contexts_show(struct seq_file *m, const struct etch_view_of *of);
int etch_contexts_store(const struct etch_input *in);

/* ---- format.c: an event's format file ---- */

void etch_format_show(struct seq_file *m, const struct etch_event *event,
		      const struct etch_contexts *contexts);

/* ---- boot.c: the kernel's parameters ---- */

unsigned long etch_boot_cpu_bytes(void);
unsigned int etch_boot_subbuf_bytes(void);
void etch_boot_events(struct etch_instance *inst);

#endif /* _KERNEL_ETCH_TREE_H */
