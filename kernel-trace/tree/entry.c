// SPDX-License-Identifier: GPL-2.0
/*
 * Inodes, how a name becomes one, and what a folder lists.
 *
 * A name is looked up by going through its folder (struct etch_folder). The inode that is made
 * for it knows what it stands for (struct etch_entry), and goes with the last user of its
 * dentry when memory gets short. Names that do not exist are not remembered.
 */
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/namei.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "tree/fs.h"

/* ---- Inodes ---- */

/*
 * The number of an inode is made of its folder's number and its name, so that it is the same
 * when the inode is made again. That it is another's, too, has a chance of one in 2^64.
 */
static u64 etch_entry_ino(const struct inode *dir, const char *name)
{
	const siphash_key_t key = { { dir->i_ino, 0 } };

	return siphash(name, strlen(name), &key);
}

static const struct inode_operations etch_file_iops = {
	.setattr = etch_owner_setattr,
};

static const struct inode_operations etch_folder_iops = {
	.lookup = etch_entry_lookup,
	.setattr = etch_owner_setattr,
};

static const struct file_operations etch_folder_fops;

/**
 * etch_entry_inode() - make an inode
 * @sb: the file system
 * @ino: the number of the inode
 * @like: what it stands for; copied. Its node's reference goes to the inode, unless this fails
 *
 * Context: process, may sleep.
 * Return: the inode, or an ERR_PTR().
 */
struct inode *etch_entry_inode(struct super_block *sb, u64 ino, const struct etch_entry *like)
{
	struct etch_entry *entry = kmemdup(like, sizeof(*like), GFP_KERNEL_ACCOUNT);
	struct inode *inode = entry ? new_inode(sb) : NULL;

	if (!inode) {
		kfree(entry);
		return ERR_PTR(-ENOMEM);
	}
	inode->i_ino = ino;
	simple_inode_init_ts(inode);
	if (entry->folder) {
		inode->i_op = entry->folder->iops ?: &etch_folder_iops;
		inode->i_fop = &etch_folder_fops;
	} else {
		inode->i_op = &etch_file_iops;
		inode->i_fop = entry->fops;
	}
	etch_instance_hold(entry->of.inst);
	etch_owner_apply(inode, entry);
	return inode;
}

/**
 * etch_entry_evict() - an inode goes; an operation of the file system
 * @inode: the inode
 *
 * Context: process; no lock of ours, because memory is wanted under each of them.
 */
void etch_entry_evict(struct inode *inode)
{
	struct etch_entry *entry = inode->i_private;

	truncate_inode_pages_final(&inode->i_data);
	clear_inode(inode);
	if (!entry)
		return;
	etch_node_put(entry->node);
	etch_instance_drop(entry->of.inst);
	/* Path walks read it without a lock. */
	kfree_rcu(entry, rcu);
}

/* In events/ a folder has a node of its own, and a file that of its folder. */
static struct etch_node *etch_child_node(const struct etch_entry *dir,
					 const struct etch_child *child)
{
	const struct etch_folder *folder = child->entry.folder;

	if (folder && folder->event_files)
		return etch_node_make(child->entry.of.inst, child->system, child->event) ?:
		       ERR_PTR(-ENOMEM);
	if (!folder && dir->node)
		etch_node_get(dir->node);
	return folder ? NULL : dir->node;
}

/**
 * etch_child_inode() - make the inode of one of the things in a folder
 * @dir: the folder
 * @child: the thing in it
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: the inode, or an ERR_PTR().
 */
struct inode *etch_child_inode(struct inode *dir, const struct etch_child *child)
{
	struct etch_entry entry = child->entry;
	struct inode *inode;

	entry.node = etch_child_node(dir->i_private, child);
	if (IS_ERR(entry.node))
		return ERR_CAST(entry.node);
	inode = etch_entry_inode(dir->i_sb, etch_entry_ino(dir, child->name), &entry);
	if (IS_ERR(inode))
		etch_node_put(entry.node);
	return inode;
}

/* ---- Names ---- */

/* Does what a folder stands for exist? Under etch_mutex. */
static bool etch_entry_there(const struct etch_entry *dir)
{
	return etch_instance_shown(dir->of.inst) && (!dir->node || etch_node_there(dir->node));
}

struct etch_search {
	struct etch_visit visit;
	const struct qstr *name;
	struct inode *dir;
	struct inode *found;
};

static bool etch_search_child(struct etch_visit *visit, const struct etch_child *child)
{
	struct etch_search *search = container_of(visit, struct etch_search, visit);
	const struct qstr *name = search->name;

	if (strlen(child->name) != name->len || memcmp(child->name, name->name, name->len))
		return false;
	search->found = etch_child_inode(search->dir, child);
	return true;
}

/**
 * etch_entry_lookup() - find a name in a folder; an inode operation
 * @dir: the folder
 * @dentry: has the name
 * @flags: of the path walk
 *
 * Context: process, may sleep; holds @dir's lock.
 * Return: as the VFS wants it. A name that does not exist is no error: mkdir may follow.
 */
struct dentry *etch_entry_lookup(struct inode *dir, struct dentry *dentry, unsigned int flags)
{
	const struct etch_entry *entry = dir->i_private;
	struct etch_search search = {
		.visit.child = etch_search_child,
		.name = &dentry->d_name,
		.dir = dir,
	};

	if (dentry->d_name.len > NAME_MAX)
		return ERR_PTR(-ENAMETOOLONG);
	mutex_lock(&etch_mutex);
	if (etch_entry_there(entry))
		entry->folder->each(entry, &search.visit);
	mutex_unlock(&etch_mutex);
	return d_splice_alias(search.found, dentry);
}

/* Names that do not exist are looked up each time, for an event may have come. */
static int etch_dentry_revalidate(struct inode *parent, const struct qstr *name,
				  struct dentry *dentry, unsigned int flags)
{
	const struct inode *inode = d_inode_rcu(dentry);
	const struct etch_entry *entry;
	int valid;

	if (!inode)
		return 0;
	entry = inode->i_private;
	if (!entry->node || etch_node_same(entry->node))
		return 1;
	if (flags & LOOKUP_RCU)
		return -ECHILD;
	mutex_lock(&etch_mutex);
	valid = etch_node_there(entry->node);
	mutex_unlock(&etch_mutex);
	return valid;
}

static int etch_dentry_delete(const struct dentry *dentry)
{
	return d_is_negative(dentry);
}

const struct dentry_operations etch_dentry_ops = {
	.d_revalidate = etch_dentry_revalidate,
	.d_delete = etch_dentry_delete,
};

/* ---- Listings ---- */

struct etch_listed {
	u32 place;
	u32 name;
	bool folder;
};

/*
 * The things in a folder from a place on. User memory may take for ever to be there, so
 * all names are copied first, under etch_mutex, and then given to the user.
 */
struct etch_listing {
	struct etch_visit visit;
	u32 from;
	size_t nr;
	size_t bytes;
	struct etch_listed *listed;
	char *names;
};

static bool etch_listing_count(struct etch_visit *visit, const struct etch_child *child)
{
	struct etch_listing *l = container_of(visit, struct etch_listing, visit);

	if (child->place >= l->from) {
		l->nr++;
		l->bytes += strlen(child->name) + 1;
	}
	return false;
}

static bool etch_listing_copy(struct etch_visit *visit, const struct etch_child *child)
{
	struct etch_listing *l = container_of(visit, struct etch_listing, visit);
	size_t len = strlen(child->name) + 1;

	if (child->place >= l->from) {
		l->listed[l->nr++] = (struct etch_listed) {
			.place = child->place,
			.name = l->bytes,
			.folder = child->entry.folder,
		};
		memcpy(l->names + l->bytes, child->name, len);
		l->bytes += len;
	}
	return false;
}

static int etch_listed_cmp(const void *a, const void *b)
{
	u32 one = ((const struct etch_listed *)a)->place;
	u32 other = ((const struct etch_listed *)b)->place;

	return one < other ? -1 : one > other;
}

/* Under etch_mutex. */
static int etch_listing_fill(struct etch_listing *l, const struct etch_entry *dir)
{
	if (!etch_entry_there(dir))
		return 0;
	l->visit.child = etch_listing_count;
	dir->folder->each(dir, &l->visit);
	l->listed = kvmalloc_array(l->nr, sizeof(*l->listed), GFP_KERNEL);
	l->names = kvmalloc(l->bytes, GFP_KERNEL);
	if (!l->listed || !l->names)
		return -ENOMEM;
	l->nr = 0;
	l->bytes = 0;
	l->visit.child = etch_listing_copy;
	dir->folder->each(dir, &l->visit);
	sort(l->listed, l->nr, sizeof(*l->listed), etch_listed_cmp, NULL);
	return 0;
}

/* The place in the folder is the position in the listing, behind "." and "..". */
#define ETCH_LISTING_DOTS	2

static void etch_listing_emit(const struct etch_listing *l, const struct inode *dir,
			      struct dir_context *ctx)
{
	size_t i;

	for (i = 0; i < l->nr; i++) {
		const struct etch_listed *listed = &l->listed[i];
		const char *name = l->names + listed->name;

		ctx->pos = ETCH_LISTING_DOTS + listed->place;
		if (!dir_emit(ctx, name, strlen(name), etch_entry_ino(dir, name),
			      listed->folder ? DT_DIR : DT_REG))
			return;
		ctx->pos++;
	}
}

static int etch_folder_iterate(struct file *file, struct dir_context *ctx)
{
	const struct inode *dir = file_inode(file);
	struct etch_listing l = {};
	int ret;

	if (!dir_emit_dots(file, ctx))
		return 0;
	l.from = ctx->pos - ETCH_LISTING_DOTS;
	mutex_lock(&etch_mutex);
	ret = etch_listing_fill(&l, dir->i_private);
	mutex_unlock(&etch_mutex);
	if (!ret)
		etch_listing_emit(&l, dir, ctx);
	kvfree(l.listed);
	kvfree(l.names);
	return ret;
}

static const struct file_operations etch_folder_fops = {
	.llseek = generic_file_llseek,
	.read = generic_read_dir,
	.iterate_shared = etch_folder_iterate,
	.fsync = noop_fsync,
};
