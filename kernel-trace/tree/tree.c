// SPDX-License-Identifier: GPL-2.0
/*
 * The tree at /sys/kernel/debug/etch: its folders, and instances/.
 *
 *	etch/			the files of the main tree (control.c)
 *	etch/events/		what can be recorded (tree_events.c)
 *	etch/per_cpu/cpuN/	the files of a CPU, for every CPU that there can be
 *	etch/persist/		what an earlier kernel left (persist_files.c)
 *	etch/instances/NAME/	the same once more, for the instance NAME
 *
 * All is root's alone, because records hold what others must not see.
 */
#define pr_fmt(fmt) "etch: " fmt

#include <linux/cpumask.h>
#include <linux/ctype.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "tree/tree.h"

/* ---- The files of an instance ---- */

static int etch_file_add(struct etch_file *file, const struct etch_control *control,
			 struct etch_instance *inst, int cpu, struct dentry *dir)
{
	file->of.inst = inst;
	file->of.cpu = cpu;
	file->control = control;
	if (control->direct)
		return PTR_ERR_OR_ZERO(debugfs_create_file_unsafe(control->name, control->mode,
								  dir, file, control->fops));
	return PTR_ERR_OR_ZERO(debugfs_create_file(control->name, control->mode, dir, file,
						   control->fops ?: &etch_control_fops));
}

static unsigned int etch_controls_nr(const struct etch_control *control)
{
	unsigned int nr = 0;

	for (; control && control->name; control++)
		nr++;
	return nr;
}

/* Makes the files of one table. Takes as many of @files as it needs. */
static int etch_offer_add(struct etch_file **files, const struct etch_control *control,
			  struct etch_instance *inst, int cpu, struct dentry *dir)
{
	int ret;

	for (; control && control->name; control++) {
		if (control->main_only && inst->rec.bit != ETCH_MAIN)
			continue;
		ret = etch_file_add((*files)++, control, inst, cpu, dir);
		if (ret)
			return ret;
	}
	return 0;
}

static int etch_cpu_files_add(struct etch_file **files, struct etch_instance *inst, int cpu,
			      struct dentry *per_cpu)
{
	struct etch_files *offer;
	struct dentry *dir;
	char name[16];
	int ret = 0;

	snprintf(name, sizeof(name), "cpu%d", cpu);
	dir = etch_tree_mkdir(name, per_cpu);
	list_for_each_entry(offer, &etch_offers, node) {
		ret = etch_offer_add(files, offer->of_cpu, inst, cpu, dir);
		if (ret)
			break;
	}
	return ret;
}

static int etch_files_add(struct etch_instance *inst)
{
	unsigned int nr = 0;
	struct etch_files *offer;
	struct etch_file *files;
	struct dentry *per_cpu;
	int cpu, ret;

	list_for_each_entry(offer, &etch_offers, node)
		nr += etch_controls_nr(offer->of_tree) +
		      num_possible_cpus() * etch_controls_nr(offer->of_cpu);
	inst->files = kvcalloc(nr, sizeof(*inst->files), GFP_KERNEL);
	if (!inst->files)
		return -ENOMEM;
	files = inst->files;

	list_for_each_entry(offer, &etch_offers, node) {
		ret = etch_offer_add(&files, offer->of_tree, inst, ETCH_ALL_CPUS, inst->dir);
		if (ret)
			return ret;
	}
	per_cpu = etch_tree_mkdir("per_cpu", inst->dir);
	for_each_possible_cpu(cpu) {
		ret = etch_cpu_files_add(&files, inst, cpu, per_cpu);
		if (ret)
			return ret;
	}
	return 0;
}

/* instances/, below which the folders of instances are */
static struct dentry *etch_instances_dir;

/**
 * etch_tree_add_instance() - make an instance's folder, with all that is in it
 * @inst: the instance
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0, or a negative errno: then no part of it is left.
 */
int etch_tree_add_instance(struct etch_instance *inst)
{
	int ret;

	inst->unshow = etch_tree_remove_instance;
	if (inst->rec.bit == ETCH_MAIN)
		inst->dir = etch_tree_mkdir("etch", NULL);
	else
		inst->dir = etch_tree_mkdir(inst->name, etch_instances_dir);
	ret = PTR_ERR_OR_ZERO(inst->dir);
	if (!ret)
		ret = etch_files_add(inst);
	if (!ret)
		ret = etch_tree_add_events(inst);
	if (ret)
		etch_tree_remove_instance(inst);
	else
		etch_instance_ready(inst);
	return ret;
}

/**
 * etch_tree_remove_instance() - remove an instance's folder, with all that is in it
 * @inst: the instance; none of its files is open
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_tree_remove_instance(struct etch_instance *inst)
{
	struct etch_files *offer;

	debugfs_remove(inst->dir);
	inst->dir = NULL;
	list_for_each_entry(offer, &etch_offers, node)
		if (offer->remove)
			offer->remove(inst);
	etch_tree_free_events(inst);
	kvfree(inst->files);
	inst->files = NULL;
}

/* ---- instances/ ---- */

/* Names need no quoting in a shell. Returns how many characters of one are good. */
static size_t etch_name_good(const char *name)
{
	const char *at;

	for (at = name; *at; at++)
		if (!isascii(*at) || (!isalnum(*at) && !strchr("_-.+:@,%=", *at)))
			break;
	return at - name;
}

/* Under etch_mutex. */
static int etch_instance_make(const char *name)
{
	size_t good = etch_name_good(name);
	struct etch_instance *inst;
	int ret;

	if (name[good]) {
		etch_error(etch_instances[ETCH_MAIN], "instances", name, good,
			   "A name is made of letters, digits and _-.+:@,%%=");
		return -EINVAL;
	}
	inst = etch_instance_create(name, etch_boot_cpu_bytes(), etch_boot_subbuf_bytes());
	if (IS_ERR(inst))
		return PTR_ERR(inst);
	ret = etch_tree_add_instance(inst);
	if (ret)
		etch_instance_destroy(inst);
	return ret;
}

/* Under etch_mutex. By folder, not by name: another may have the name by now. */
static int etch_instance_unmake(const struct dentry *dir)
{
	int bit;

	for (bit = ETCH_MAIN + 1; bit < ETCH_BITS; bit++)
		if (etch_instances[bit] && etch_instances[bit]->dir == dir)
			return etch_instance_destroy(etch_instances[bit]);
	return -ENOENT;
}

/* Lockdown refuses changes in this folder as debugfs does in its others. */
static int etch_instances_locked_down(void)
{
	return security_locked_down(LOCKDOWN_DEBUGFS) ?: security_locked_down(LOCKDOWN_TRACEFS);
}

/*
 * debugfs does not let users make folders, so instances/ has inode operations of our
 * own. The VFS calls them with the inode of instances/ locked and, to remove a folder,
 * that folder's too; debugfs locks both itself when it makes and removes files in
 * them, and etch_mutex is taken before any inode. So these functions unlock the
 * inodes and lock them again, in the order in which the caller locked them.
 *
 * Meanwhile another mkdir of the name may make the folder first, and ours gets
 * -EEXIST; or another rmdir of the folder removes it first, and ours gets -ENOENT.
 * In both cases etch_mutex decides which one is first. Nobody can rename
 * or remove instances/ itself, and the caller keeps the dentries in memory.
 * The folder is found by the dentry that the caller looked up, so that the caller's
 * dentry and no other is the one that becomes, or ceases to be, a folder.
 */
static int etch_instances_mkdir(struct mnt_idmap *idmap, struct inode *parent,
				struct dentry *dentry, umode_t mode)
{
	int ret = etch_instances_locked_down();
	char *name;

	if (ret)
		return ret;
	name = kstrdup(dentry->d_name.name, GFP_KERNEL);
	if (!name)
		return -ENOMEM;

	inode_unlock(parent);
	mutex_lock(&etch_mutex);
	ret = etch_instance_make(name);
	mutex_unlock(&etch_mutex);
	inode_lock_nested(parent, I_MUTEX_PARENT);

	kfree(name);
	return ret;
}

static int etch_instances_rmdir(struct inode *parent, struct dentry *dentry)
{
	struct inode *inode = d_inode(dentry);
	int ret = etch_instances_locked_down();

	if (ret)
		return ret;

	inode_unlock(inode);
	inode_unlock(parent);
	mutex_lock(&etch_mutex);
	ret = etch_instance_unmake(dentry);
	mutex_unlock(&etch_mutex);
	inode_lock_nested(parent, I_MUTEX_PARENT);
	inode_lock(inode);
	return ret;
}

static int etch_instances_setattr(struct mnt_idmap *idmap, struct dentry *dentry,
				  struct iattr *attr)
{
	int ret = etch_instances_locked_down();

	return ret ?: simple_setattr(idmap, dentry, attr);
}

static const struct inode_operations etch_instances_iops = {
	.lookup = simple_lookup,
	.setattr = etch_instances_setattr,
	.mkdir = etch_instances_mkdir,
	.rmdir = etch_instances_rmdir,
};

static int __init etch_instances_dir_make(struct dentry *root)
{
	struct dentry *dir = etch_tree_mkdir("instances", root);

	if (IS_ERR(dir))
		return PTR_ERR(dir);
	etch_instances_dir = dir;
	d_inode(dir)->i_op = &etch_instances_iops;
	return 0;
}

/* ---- The beginning ---- */

/**
 * etch_tree_make() - make the main tree
 * @inst: whose it is
 *
 * Context: boot; holds etch_mutex.
 * Return: 0 or a negative errno.
 */
int __init etch_tree_make(struct etch_instance *inst)
{
	int ret = etch_tree_add_instance(inst);

	return ret ?: etch_instances_dir_make(inst->dir);
}
