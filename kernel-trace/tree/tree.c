// SPDX-License-Identifier: GPL-2.0
/*
 * The tree at /sys/kernel/debug/etch: its folders, and instances/.
 *
 *	etch/			the files of the main tree (control.c)
 *	etch/events/		what can be recorded (tree_events.c)
 *	etch/per_cpu/cpuN/	the files of a CPU, for every CPU that there can be
 *	etch/persist/		what an earlier kernel left (persist_files.c)
 *	etch/options/		switches (filter/tasks.c)
 *	etch/instances/NAME/	the same once more, for the instance NAME
 *
 * All is root's alone unless root changes that, because records hold what others must not see.
 */
#define pr_fmt(fmt) "etch: " fmt

#include <linux/cpumask.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/security.h>
#include <linux/string.h>

#include "tree/fs.h"

/* ---- The files of an instance, and of a CPU ---- */

static struct etch_child etch_control_child(const struct etch_entry *dir,
					    const struct etch_control *control, u32 place)
{
	return (struct etch_child) {
		.name = control->name,
		.place = place,
		.entry = {
			.of = dir->of,
			.mode = S_IFREG | control->mode,
			.fops = control->fops ?: &etch_control_fops,
			.control = control,
		},
	};
}

/* The files of one table. Each takes a place, in all instances. */
static bool etch_each_control(const struct etch_entry *dir, const struct etch_control *control,
			      u32 *place, struct etch_visit *visit)
{
	for (; control && control->name; control++) {
		struct etch_child child = etch_control_child(dir, control, ++*place);

		if (control->main_only && dir->of.inst->rec.bit != ETCH_MAIN)
			continue;
		if (visit->child(visit, &child))
			return true;
	}
	return false;
}

static bool etch_each_folder(const struct etch_entry *dir, const char *name, u32 place,
			     const struct etch_folder *folder, struct etch_visit *visit)
{
	const struct etch_child child = {
		.name = name,
		.place = place,
		.entry = { .of = dir->of, .mode = S_IFDIR, .folder = folder },
	};

	return visit->child(visit, &child);
}

static bool etch_cpu_each(const struct etch_entry *dir, struct etch_visit *visit)
{
	struct etch_files *offer;
	u32 place = 0;

	list_for_each_entry(offer, &etch_offers, node)
		if (etch_each_control(dir, offer->of_cpu, &place, visit))
			return true;
	return false;
}

static const struct etch_folder etch_cpu_folder = { .each = etch_cpu_each };

static bool etch_per_cpu_each(const struct etch_entry *dir, struct etch_visit *visit)
{
	struct etch_entry of_cpu = *dir;
	char name[16];
	int cpu;

	for_each_possible_cpu(cpu) {
		snprintf(name, sizeof(name), "cpu%d", cpu);
		of_cpu.of.cpu = cpu;
		if (etch_each_folder(&of_cpu, name, ETCH_PLACE_OTHERS + cpu, &etch_cpu_folder,
				     visit))
			return true;
	}
	return false;
}

static const struct etch_folder etch_per_cpu_folder = { .each = etch_per_cpu_each };

/* ---- The folder that a room has ---- */

static bool etch_room_each(const struct etch_entry *dir, struct etch_visit *visit)
{
	const struct etch_control *control;
	struct etch_child child = {};

	for (control = dir->offer->of_folder; control->name; control++) {
		child = etch_control_child(dir, control, child.place + 1);
		child.entry.of.cpu = control->cpu;
		child.entry.offer = dir->offer;
		if (visit->child(visit, &child))
			return true;
	}
	return false;
}

static const struct etch_folder etch_room_folder = { .each = etch_room_each };

static bool etch_each_room(const struct etch_entry *dir, struct etch_visit *visit)
{
	struct etch_files *offer;
	struct etch_child child = {
		.place = ETCH_PLACE_OTHERS,
		.entry = { .of = dir->of, .mode = S_IFDIR, .folder = &etch_room_folder },
	};

	list_for_each_entry(offer, &etch_offers, node) {
		child.name = offer->folder;
		child.place++;
		child.entry.offer = offer;
		if (dir->of.inst->rec.bit != ETCH_MAIN && !offer->in_instances)
			continue;
		if (child.name && visit->child(visit, &child))
			return true;
	}
	return false;
}

/* ---- The folder of an instance, and instances/ ---- */

static const struct etch_folder etch_instances_folder;

static bool etch_instance_each(const struct etch_entry *dir, struct etch_visit *visit)
{
	struct etch_files *offer;
	u32 place = 0;

	list_for_each_entry(offer, &etch_offers, node)
		if (etch_each_control(dir, offer->of_tree, &place, visit))
			return true;
	if (etch_each_folder(dir, "events", ETCH_PLACE_FOLDERS, &etch_events_folder, visit) ||
	    etch_each_folder(dir, "per_cpu", ETCH_PLACE_FOLDERS + 1, &etch_per_cpu_folder, visit))
		return true;
	if (dir->of.inst->rec.bit == ETCH_MAIN &&
	    etch_each_folder(dir, "instances", ETCH_PLACE_FOLDERS + 2, &etch_instances_folder,
			     visit))
		return true;
	return etch_each_room(dir, visit);
}

const struct etch_folder etch_instance_folder = { .each = etch_instance_each };

static struct etch_child etch_instance_child(struct etch_instance *inst)
{
	return (struct etch_child) {
		.name = inst->name,
		.place = ETCH_PLACE_OTHERS + inst->rec.bit,
		.entry = {
			.of = { .inst = inst, .cpu = ETCH_ALL_CPUS },
			.mode = S_IFDIR,
			.folder = &etch_instance_folder,
		},
	};
}

static bool etch_instances_each(const struct etch_entry *dir, struct etch_visit *visit)
{
	int bit;

	for (bit = ETCH_MAIN + 1; bit < ETCH_BITS; bit++) {
		struct etch_instance *inst = etch_instances[bit];
		struct etch_child child;

		if (!inst || !etch_instance_shown(inst))
			continue;
		child = etch_instance_child(inst);
		if (visit->child(visit, &child))
			return true;
	}
	return false;
}

/* Before the files go, and what rooms keep for them. Under etch_mutex. */
static void etch_tree_remove_instance(struct etch_instance *inst)
{
	struct etch_files *offer;

	list_for_each_entry(offer, &etch_offers, node)
		if (offer->remove)
			offer->remove(inst);
	etch_owners_free(inst);
}

/**
 * etch_tree_add_instance() - show an instance in the tree
 * @inst: the instance
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0 or -ENOMEM.
 */
int etch_tree_add_instance(struct etch_instance *inst)
{
	int ret = etch_owners_make(inst);

	if (ret)
		return ret;
	inst->unshow = etch_tree_remove_instance;
	etch_instance_ready(inst);
	return 0;
}

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
static struct etch_instance *etch_instance_make(const char *name)
{
	size_t good = etch_name_good(name);
	struct etch_instance *inst;
	int ret;

	if (name[good]) {
		etch_error(etch_instances[ETCH_MAIN], "instances", name, good,
			   "A name is made of letters, digits and _-.+:@,%%=");
		return ERR_PTR(-EINVAL);
	}
	inst = etch_instance_create(name, etch_boot_cpu_bytes(), etch_boot_subbuf_bytes());
	if (IS_ERR(inst))
		return inst;
	ret = etch_tree_add_instance(inst);
	if (ret) {
		etch_instance_destroy(inst);
		return ERR_PTR(ret);
	}
	return inst;
}

/* Under etch_mutex, and the lock of instances/, which keeps others from its files. */
static struct inode *etch_instance_inode(struct inode *parent, const char *name)
{
	struct etch_instance *inst = etch_instance_make(name);
	struct etch_child child;
	struct inode *inode;

	if (IS_ERR(inst))
		return ERR_CAST(inst);
	child = etch_instance_child(inst);
	inode = etch_child_inode(parent, &child);
	if (IS_ERR(inode))
		etch_instance_destroy(inst);
	return inode;
}

static struct dentry *etch_instances_mkdir(struct mnt_idmap *idmap, struct inode *parent,
					   struct dentry *dentry, umode_t mode)
{
	int ret = security_locked_down(LOCKDOWN_TRACEFS);
	struct inode *inode;

	if (ret)
		return ERR_PTR(ret);
	mutex_lock(&etch_mutex);
	inode = etch_instance_inode(parent, dentry->d_name.name);
	mutex_unlock(&etch_mutex);
	if (IS_ERR(inode))
		return ERR_CAST(inode);
	d_instantiate(dentry, inode);
	return NULL;
}

static int etch_instances_rmdir(struct inode *parent, struct dentry *dentry)
{
	const struct etch_entry *entry = d_inode(dentry)->i_private;
	int ret = security_locked_down(LOCKDOWN_TRACEFS);

	if (ret)
		return ret;
	mutex_lock(&etch_mutex);
	ret = etch_instance_shown(entry->of.inst) ? etch_instance_destroy(entry->of.inst) : -ENOENT;
	mutex_unlock(&etch_mutex);
	if (!ret)
		clear_nlink(d_inode(dentry));
	return ret;
}

static const struct inode_operations etch_instances_iops = {
	.lookup = etch_entry_lookup,
	.setattr = etch_owner_setattr,
	.mkdir = etch_instances_mkdir,
	.rmdir = etch_instances_rmdir,
};

static const struct etch_folder etch_instances_folder = {
	.each = etch_instances_each,
	.iops = &etch_instances_iops,
};
