/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_TREE_FS_H
#define _KERNEL_ETCH_TREE_FS_H

/*
 * The file system of the tree. Nothing in it is stored: a folder is a function that goes
 * through what is in it, and the VFS asks this function for the names that users ask for.
 * So a folder or file costs memory while a user looks at it, and until memory gets short.
 *
 * LOCKS, outermost first: the VFS's lock of an inode; etch_mutex, under which a folder goes
 * through what is in it; etch_owners_lock (owner.c).
 */

#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/types.h>

#include "tree/tree.h"

struct etch_folder;

/**
 * struct etch_entry - what a folder or a file is: its inode's i_private
 * @of: the instance, which stays in memory, and the CPU. First: files with functions of their
 *	own know this member alone
 * @mode: of a file, as root may use it; S_IFDIR for a folder
 * @folder: a folder's kind; NULL for a file
 * @fops: a file's
 * @control: the file is this entry of a table; of an instance's or a CPU's folder
 * @event_control: the file is this entry of a table; of a folder in events/
 * @offer: the folder that a room has, or that the file is in; else NULL
 * @node: in events/: the folder, or that which the file is in; with a reference
 * @rcu: path walks read an entry without a lock
 */
struct etch_entry {
	struct etch_view_of of;
	umode_t mode;
	const struct etch_folder *folder;
	const struct file_operations *fops;
	const struct etch_control *control;
	const struct etch_event_control *event_control;
	const struct etch_files *offer;
	struct etch_node *node;
	struct rcu_head rcu;
};

/**
 * struct etch_child - one of the things in a folder
 * @name: its name; valid during the visit
 * @place: orders the things in the folder. A thing keeps its place while others come and go
 * @system: a folder in events/: the name of the system; valid during the visit
 * @event: a folder in events/: the name of the event, or NULL; valid during the visit
 * @entry: what it is; @entry.node is missing
 */
struct etch_child {
	const char *name;
	u32 place;
	const char *system;
	const char *event;
	struct etch_entry entry;
};

/**
 * struct etch_visit - a visit to each thing in a folder
 * @child: called for each of them. True: the visit ends
 */
struct etch_visit {
	bool (*child)(struct etch_visit *visit, const struct etch_child *child);
};

/**
 * struct etch_folder - a kind of folder
 * @each: visits each thing that is in it, under etch_mutex, while the instance is there and,
 *	  in events/, the node is. Returns true if the visitor ended the visit
 * @iops: NULL: names can be looked up, and nothing else
 * @event_files: in events/: the ETCH_OF_* that it is; else 0
 */
struct etch_folder {
	bool (*each)(const struct etch_entry *dir, struct etch_visit *visit);
	const struct inode_operations *iops;
	unsigned int event_files;
};

/* Places: first the files of all rooms, then folders whose number is fixed, then the others. */
#define ETCH_PLACE_FOLDERS	0x1000
#define ETCH_PLACE_OTHERS	0x2000

/* ---- owner.c: owners and modes ---- */

/**
 * struct etch_owner - the owner of all files and folders, unless users changed theirs
 * @uid: the owner of all that is in it
 * @gid: the group
 * @mode: of the folders. A file's mode gives the group and others what it gives the owner,
 *	  as far as this allows that
 */
struct etch_owner {
	kuid_t uid;
	kgid_t gid;
	umode_t mode;
};

int etch_owners_make(struct etch_instance *inst);
void etch_owners_free(struct etch_instance *inst);
void etch_owner_apply(struct inode *inode, struct etch_entry *entry);
void etch_owner_set(struct super_block *sb, const struct etch_owner *owner);
int etch_owner_setattr(struct mnt_idmap *idmap, struct dentry *dentry, struct iattr *attr);

/* ---- node.c: folders of events/ ---- */

struct etch_node *etch_node_make(struct etch_instance *inst, const char *system,
				 const char *event);
void etch_node_get(struct etch_node *node);
void etch_node_put(struct etch_node *node);
bool etch_node_there(struct etch_node *node);
bool etch_node_same(const struct etch_node *node);

/* ---- entry.c: inodes, and the way to them ---- */

extern const struct dentry_operations etch_dentry_ops;

struct inode *etch_entry_inode(struct super_block *sb, u64 ino, const struct etch_entry *like);
struct inode *etch_child_inode(struct inode *dir, const struct etch_child *child);
void etch_entry_evict(struct inode *inode);
struct dentry *etch_entry_lookup(struct inode *dir, struct dentry *dentry, unsigned int flags);

/* ---- tree_events.c, tree.c: the folders ---- */

extern const struct etch_folder etch_events_folder, etch_instance_folder;

#endif /* _KERNEL_ETCH_TREE_FS_H */
