// SPDX-License-Identifier: GPL-2.0
/*
 * Who owns the files of the tree, and their modes.
 *
 * All belong to the user and the group that the mount options name, root if none do, but for
 * an instance that another user made: that belongs to its maker. What users change
 * by chown and chmod stays changed, although inodes go when memory gets short: the instance
 * keeps it, by the number of the inode, which is made of the path (entry.c).
 */
#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/rbtree.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/stat.h>

#include "tree/fs.h"

/**
 * struct etch_changed - what users changed of one folder or file
 * @node: in the instance's @changed
 * @ino: the number of its inode
 * @what: ATTR_UID, ATTR_GID and ATTR_MODE, as far as they were changed
 * @uid: its owner, if ATTR_UID
 * @gid: its group, if ATTR_GID
 * @mode: its mode, if ATTR_MODE
 */
struct etch_changed {
	struct rb_node node;
	u64 ino;
	unsigned int what;
	kuid_t uid;
	kgid_t gid;
	umode_t mode;
};

/**
 * struct etch_owners - the owners of an instance's files
 * @made: another user than root made the instance: @uid and @gid
 * @uid: its maker
 * @gid: its maker's group
 * @changed: struct etch_changed, by number of inode
 */
struct etch_owners {
	bool made;
	kuid_t uid;
	kgid_t gid;
	struct rb_root changed;
};

/* Every instance's owners, and the options of the mount. */
static DEFINE_SPINLOCK(etch_owners_lock);

/**
 * etch_owners_make() - a user makes an instance
 * @inst: the instance; its files belong to the current task's user, or to all files' owner if
 *	  that is root
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int etch_owners_make(struct etch_instance *inst)
{
	struct etch_owners *owners = kzalloc(sizeof(*owners), GFP_KERNEL);

	if (!owners)
		return -ENOMEM;
	owners->made = !uid_eq(current_fsuid(), GLOBAL_ROOT_UID);
	owners->uid = current_fsuid();
	owners->gid = current_fsgid();
	owners->changed = RB_ROOT;
	inst->owners = owners;
	return 0;
}

/**
 * etch_owners_free() - an instance goes, and with it the changes to its files
 * @inst: the instance; may have no owners
 *
 * Context: process.
 */
void etch_owners_free(struct etch_instance *inst)
{
	struct etch_changed *changed, *next;
	struct etch_owners *owners;

	spin_lock(&etch_owners_lock);
	owners = inst->owners;
	inst->owners = NULL;
	spin_unlock(&etch_owners_lock);
	if (!owners)
		return;
	rbtree_postorder_for_each_entry_safe(changed, next, &owners->changed, node)
		kfree(changed);
	kfree(owners);
}

/* ---- What users changed ---- */

static int etch_changed_cmp(const void *ino, const struct rb_node *node)
{
	const struct etch_changed *changed = rb_entry(node, struct etch_changed, node);
	u64 key = *(const u64 *)ino;

	return key < changed->ino ? -1 : key > changed->ino;
}

static bool etch_changed_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct etch_changed, node)->ino <
	       rb_entry(b, struct etch_changed, node)->ino;
}

static struct etch_changed *etch_changed_find(struct etch_owners *owners, u64 ino)
{
	struct rb_node *node = rb_find(&ino, &owners->changed, etch_changed_cmp);

	return node ? rb_entry(node, struct etch_changed, node) : NULL;
}

static void etch_changed_note(struct etch_changed *changed, const struct inode *inode,
			      const struct iattr *attr)
{
	changed->what |= attr->ia_valid & (ATTR_UID | ATTR_GID | ATTR_MODE);
	changed->uid = inode->i_uid;
	changed->gid = inode->i_gid;
	changed->mode = inode->i_mode & S_IALLUGO;
}

/**
 * etch_owner_setattr() - what chown, chmod and truncate do; an inode operation
 * @idmap: of the mount
 * @dentry: of the folder or file
 * @attr: what to change
 *
 * A file that is opened to be emptied stays as it is: its text is what a write() has.
 *
 * Context: process, may sleep; holds the inode's lock.
 * Return: 0; -EPERM when the kernel is locked down, or the caller may not; -ENOENT when the
 * instance is gone; or -ENOMEM.
 */
int etch_owner_setattr(struct mnt_idmap *idmap, struct dentry *dentry, struct iattr *attr)
{
	bool keep = attr->ia_valid & (ATTR_UID | ATTR_GID | ATTR_MODE);
	struct inode *inode = d_inode(dentry);
	struct etch_entry *entry = inode->i_private;
	struct etch_changed *changed, *made = NULL;
	struct etch_owners *owners;
	int ret;

	ret = keep ? security_locked_down(LOCKDOWN_TRACEFS) : 0;
	ret = ret ?: setattr_prepare(idmap, dentry, attr);
	if (ret)
		return ret;
	if (keep) {
		made = kzalloc(sizeof(*made), GFP_KERNEL_ACCOUNT);
		if (!made)
			return -ENOMEM;
	}

	spin_lock(&etch_owners_lock);
	owners = entry->of.inst->owners;
	if (owners)
		setattr_copy(idmap, inode, attr);
	else
		ret = -ENOENT;
	if (owners && keep) {
		changed = etch_changed_find(owners, inode->i_ino);
		if (!changed) {
			changed = made;
			made = NULL;
			changed->ino = inode->i_ino;
			rb_add(&changed->node, &owners->changed, etch_changed_less);
		}
		etch_changed_note(changed, inode, attr);
	}
	spin_unlock(&etch_owners_lock);
	kfree(made);
	return ret;
}

/* ---- What an inode has ---- */

static umode_t etch_owner_mode(const struct etch_owner *all, umode_t mode)
{
	umode_t can = mode & 0700;

	if (S_ISDIR(mode))
		return S_IFDIR | all->mode;
	return S_IFREG | ((can | can >> 3 | can >> 6) & all->mode);
}

/* Under etch_owners_lock. */
static void etch_owner_give(struct inode *inode, const struct etch_owner *all)
{
	const struct etch_entry *entry = inode->i_private;
	struct etch_owners *owners = entry->of.inst->owners;
	struct etch_changed *changed = owners ? etch_changed_find(owners, inode->i_ino) : NULL;
	unsigned int what = changed ? changed->what : 0;
	bool made = owners && owners->made;

	inode->i_uid = what & ATTR_UID ? changed->uid : made ? owners->uid : all->uid;
	inode->i_gid = what & ATTR_GID ? changed->gid : made ? owners->gid : all->gid;
	inode->i_mode = what & ATTR_MODE ? (entry->mode & S_IFMT) | changed->mode :
					   etch_owner_mode(all, entry->mode);
}

/**
 * etch_owner_apply() - give a new inode its entry, its owner and its mode
 * @inode: the inode, with its number
 * @entry: its entry
 *
 * Context: process.
 */
void etch_owner_apply(struct inode *inode, struct etch_entry *entry)
{
	spin_lock(&etch_owners_lock);
	inode->i_private = entry;
	etch_owner_give(inode, inode->i_sb->s_fs_info);
	spin_unlock(&etch_owners_lock);
}

/**
 * etch_owner_set() - change whom the file system belongs to
 * @sb: the file system
 * @owner: whom to. What users changed by chown and chmod stays
 *
 * Context: process.
 */
void etch_owner_set(struct super_block *sb, const struct etch_owner *owner)
{
	struct etch_owner *all = sb->s_fs_info;
	struct inode *inode;

	/* An inode that is being made has its entry and is in the list, or finds the new owner. */
	spin_lock(&sb->s_inode_list_lock);
	spin_lock(&etch_owners_lock);
	*all = *owner;
	list_for_each_entry(inode, &sb->s_inodes, i_sb_list)
		if (inode->i_private)
			etch_owner_give(inode, all);
	spin_unlock(&etch_owners_lock);
	spin_unlock(&sb->s_inode_list_lock);
}
