// SPDX-License-Identifier: GPL-2.0
/*
 * The tree at /sys/kernel/debug/etch: its folders, and Etch's beginning.
 *
 *	etch/			the files of the main tree (control.c)
 *	etch/events/		what can be recorded (tree_events.c)
 *	etch/per_cpu/cpuN/	the files of a CPU, for every CPU that there can be
 *	etch/instances/NAME/	the same once more, for whoever made NAME
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

#include "etch.h"

/* What the rings of an instance have: as the main tree's, from when it is used. */
static unsigned long etch_cpu_bytes __ro_after_init;
static unsigned int etch_cpu_subbuf __ro_after_init;

/**
 * etch_tree_mkdir() - make a folder that only root may enter
 * @name: its name
 * @parent: the folder to make it in; may be an error pointer, which is returned
 *
 * Context: process, may sleep.
 * Return: the folder or an ERR_PTR().
 */
struct dentry *etch_tree_mkdir(const char *name, struct dentry *parent)
{
	struct dentry *dir = debugfs_create_dir(name, parent);

	if (!IS_ERR(dir))
		d_inode(dir)->i_mode = S_IFDIR | 0700;
	return dir;
}

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

/* Takes as many of @files as it needs, and returns those that are left. */
static struct etch_file *etch_cpu_files_add(struct etch_file *files,
					    struct etch_instance *inst, int cpu,
					    struct dentry *per_cpu)
{
	struct dentry *dir;
	char name[16];
	unsigned int i;
	int ret;

	snprintf(name, sizeof(name), "cpu%d", cpu);
	dir = etch_tree_mkdir(name, per_cpu);
	for (i = 0; i < etch_nr_cpu_controls; i++) {
		ret = etch_file_add(files++, &etch_cpu_controls[i], inst, cpu, dir);
		if (ret)
			return ERR_PTR(ret);
	}
	return files;
}

static int etch_files_add(struct etch_instance *inst)
{
	unsigned int nr = etch_nr_controls + num_possible_cpus() * etch_nr_cpu_controls;
	struct etch_file *files;
	struct dentry *per_cpu;
	int cpu, ret;
	unsigned int i;

	inst->files = kvcalloc(nr, sizeof(*inst->files), GFP_KERNEL);
	if (!inst->files)
		return -ENOMEM;
	files = inst->files;

	for (i = 0; i < etch_nr_controls; i++) {
		if (etch_controls[i].main_only && inst->bit != ETCH_MAIN)
			continue;
		ret = etch_file_add(files++, &etch_controls[i], inst, ETCH_ALL_CPUS, inst->dir);
		if (ret)
			return ret;
	}
	per_cpu = etch_tree_mkdir("per_cpu", inst->dir);
	for_each_possible_cpu(cpu) {
		files = etch_cpu_files_add(files, inst, cpu, per_cpu);
		if (IS_ERR(files))
			return PTR_ERR(files);
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

	if (inst->bit == ETCH_MAIN)
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
	debugfs_remove(inst->dir);
	inst->dir = NULL;
	etch_tree_free_events(inst);
	kvfree(inst->files);
	inst->files = NULL;
}

/* ---- instances/ ---- */

/* Names that need no quoting in a shell. */
static bool etch_name_ok(const char *name)
{
	for (; *name; name++)
		if (!isascii(*name) || (!isalnum(*name) && !strchr("_-.+:@,%=", *name)))
			return false;
	return true;
}

/* Under etch_mutex. */
static int etch_instance_make(const char *name)
{
	struct etch_instance *inst;
	int ret;

	if (!etch_name_ok(name)) {
		etch_error(etch_instances[ETCH_MAIN], "instances", name, 0,
			   "A name is made of letters, digits and _-.+:@,%%=");
		return -EINVAL;
	}
	inst = etch_instance_create(name, etch_cpu_bytes, etch_cpu_subbuf);
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

/*
 * debugfs does not let users make folders, so instances/ has inode operations of our
 * own. Whoever calls them holds the inode of instances/ and, to remove a folder,
 * that folder's too; debugfs takes both itself when it is asked to make and
 * remove files in them, and etch_mutex is taken before any inode. So we let go of
 * the inodes and take them again, in the order in which the caller took them.
 *
 * What may happen meanwhile: another mkdir of the name makes the folder first, and
 * ours gets -EEXIST; another rmdir of the folder removes it first, and ours gets
 * -ENOENT. In both cases etch_mutex decides who is first. Nobody can rename
 * or remove instances/ itself, and the caller keeps the dentries in memory.
 * The folder is found by the dentry that the caller looked up, so that the caller's
 * dentry and no other is the one that becomes, or ceases to be, a folder.
 */
static int etch_instances_mkdir(struct mnt_idmap *idmap, struct inode *parent,
				struct dentry *dentry, umode_t mode)
{
	int ret = security_locked_down(LOCKDOWN_TRACEFS);
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
	int ret = security_locked_down(LOCKDOWN_TRACEFS);

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
	int ret = security_locked_down(LOCKDOWN_TRACEFS);

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

/* Without debugfs there is no tree, but what the kernel's parameters ask for is done. */
static void __init etch_tree_make(struct etch_instance *inst)
{
	int ret = etch_tree_add_instance(inst);

	if (!ret)
		ret = etch_instances_dir_make(inst->dir);
	if (ret)
		pr_warn("no files in debugfs: error %d\n", ret);
}

static int __init etch_start(void)
{
	struct etch_instance *inst;
	int ret;

	ret = etch_instances_init();
	if (ret)
		return ret;
	etch_events_init();
	etch_syscalls_init();
	ret = etch_marker_init();
	if (ret)
		return ret;
	etch_cpu_bytes = etch_boot_cpu_bytes();
	etch_cpu_subbuf = etch_boot_subbuf_bytes();
	inst = etch_instance_create(NULL, etch_cpu_bytes, etch_cpu_subbuf);
	if (IS_ERR(inst))
		return PTR_ERR(inst);
	etch_tree_make(inst);
	etch_boot_events(inst);
	return 0;
}

/* When debugfs is there, and before drivers and user space are. */
static int __init etch_init(void)
{
	int ret;

	mutex_lock(&etch_mutex);
	ret = etch_start();
	mutex_unlock(&etch_mutex);
	ret = ret ?: etch_events_watch();
	if (ret)
		pr_err("not started: error %d\n", ret);
	return ret;
}
fs_initcall(etch_init);
