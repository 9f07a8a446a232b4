// SPDX-License-Identifier: GPL-2.0
/*
 * A dump's walk through what tasks use: mounts, interrupts, block and network devices, and
 * modules.
 */
#include <linux/blkdev.h>
#include <linux/device/class.h>
#include <linux/err.h>
#include <linux/fs_struct.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/irqnr.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/path.h>
#include <linux/rcupdate.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include "source/statedump.h"

/* ---- Mounts ---- */

/**
 * etch_state_take_mounts() - collect the mounts that the writer sees
 * @state: the dump
 *
 * The mounts' own list is private to the VFS. What it collects keeps the file systems from
 * going until etch_state_drop_mounts().
 *
 * Context: process, may sleep; holds no lock of Etch, for the VFS takes the lock of the
 * namespace, and may release a file system.
 * Return: 0, or -ENOMEM. A writer whose root is in no namespace has no mounts: 0.
 */
int etch_state_take_mounts(struct etch_state *state)
{
	const struct path *mounts;
	struct path root;

	get_fs_root(current->fs, &root);
	mounts = collect_paths(&root, NULL, 0);
	path_put(&root);
	if (!IS_ERR(mounts))
		state->mounts = mounts;
	else if (PTR_ERR(mounts) == -ENOMEM)
		return -ENOMEM;
	return 0;
}

/**
 * etch_state_drop_mounts() - undo etch_state_take_mounts()
 * @state: the dump
 *
 * Context: as there.
 */
void etch_state_drop_mounts(struct etch_state *state)
{
	if (state->mounts)
		drop_collected_paths(state->mounts, NULL);
	state->mounts = NULL;
}

static void etch_state_mount(struct etch_state *state, const struct path *root)
{
	const char *name = d_path(root, state->path, sizeof(state->path));

	etch_state_write_mount(state, IS_ERR(name) ? "(too long)" : name, root->mnt->mnt_sb);
}

static void etch_state_mounts(struct etch_state *state)
{
	const struct path *root;

	for (root = state->mounts; root && root->mnt; root++) {
		etch_state_mount(state, root);
		if (!etch_state_go_on())
			break;
	}
	etch_state_drop_mounts(state);
}

/* ---- Interrupts ---- */

/* Names go when their driver does: copies are what is left outside of the lock. */
struct etch_state_irq {
	char actions[128];
	char chip[32];
};

/*
 * The chip of an interrupt that has a handler, as /proc/interrupts prints it: some chips have no
 * name for that, but a function.
 */
static void etch_state_irq_chip(struct irq_desc *desc, char *text, size_t size)
{
	struct irq_chip *chip = irq_desc_get_chip(desc);
	/* seq_printf() uses nothing else of a file. */
	struct seq_file line = { .buf = text, .size = size - 1 };

	/* A name that is too long may leave nothing, or a part. */
	memset(text, 0, size);
	if (chip && chip->irq_print_chip)
		chip->irq_print_chip(&desc->irq_data, &line);
	else if (chip && chip->name)
		strscpy(text, chip->name, size);
}

/* False: the interrupt has no handler. */
static bool etch_state_irq_copy(struct irq_desc *desc, struct etch_state_irq *copy)
{
	struct irqaction *action;
	struct seq_buf names;
	unsigned long flags;

	seq_buf_init(&names, copy->actions, sizeof(copy->actions));
	raw_spin_lock_irqsave(&desc->lock, flags);
	for (action = desc->action; action; action = action->next)
		seq_buf_printf(&names, "%s%s", action == desc->action ? "" : ",",
			       action->name ?: "");
	action = desc->action;
	if (action)
		etch_state_irq_chip(desc, copy->chip, sizeof(copy->chip));
	raw_spin_unlock_irqrestore(&desc->lock, flags);
	seq_buf_str(&names);
	return action;
}

static void etch_state_irqs(struct etch_state *state)
{
	struct etch_state_irq copy;
	struct irq_desc *desc;
	unsigned int irq;
	bool used;

	for_each_irq_nr(irq) {
		if (!etch_state_go_on())
			return;
		rcu_read_lock();
		desc = irq_to_desc(irq);
		used = desc && etch_state_irq_copy(desc, &copy);
		rcu_read_unlock();
		if (used)
			etch_state_write_irq(state, irq, copy.actions, strim(copy.chip));
	}
}

/* ---- Block devices ---- */

#ifdef CONFIG_BLOCK
static void etch_state_blocks(struct etch_state *state)
{
	struct class_dev_iter iter;
	char name[BDEVNAME_SIZE];
	struct device *dev;

	/* The iterator keeps the device that it is at. */
	class_dev_iter_init(&iter, &block_class, NULL, NULL);
	while (etch_state_go_on()) {
		dev = class_dev_iter_next(&iter);
		if (!dev)
			break;
		snprintf(name, sizeof(name), "%pg", dev_to_bdev(dev));
		etch_state_write_block(state, dev_to_bdev(dev), name);
	}
	class_dev_iter_exit(&iter);
}
#else
static void etch_state_blocks(struct etch_state *state)
{
}
#endif

/* ---- Network devices ---- */

#ifdef CONFIG_NET
/* The device at @ifindex or the next one up; @ifindex says where. False: there is none. */
static bool etch_state_next_netif(struct net *net, unsigned long *ifindex, char name[IFNAMSIZ],
				  unsigned int *type)
{
	struct net_device *dev;

	rcu_read_lock();
	dev = xa_find(&net->dev_by_index, ifindex, ULONG_MAX, XA_PRESENT);
	if (dev) {
		/* Renamed at this moment, it may have parts of both names, as in its events. */
		strscpy(name, dev->name, IFNAMSIZ);
		*type = READ_ONCE(dev->type);
	}
	rcu_read_unlock();
	return dev;
}

static void etch_state_netifs(struct etch_state *state)
{
	struct net *net = current->nsproxy->net_ns;
	unsigned long ifindex = 0;
	char name[IFNAMSIZ];
	unsigned int type;

	for (; etch_state_go_on(); ifindex++) {
		if (!etch_state_next_netif(net, &ifindex, name, &type))
			return;
		etch_state_write_netif(state, ifindex, type, net->ns.inum, name);
	}
}
#else
static void etch_state_netifs(struct etch_state *state)
{
}
#endif

/* ---- Modules ---- */

#if defined(CONFIG_MODULES) && defined(CONFIG_SYSFS)
static struct module *etch_state_module_of(struct kobject *kobj)
{
	if (get_ktype(kobj) != &module_ktype)
		return NULL;
	/* NULL: it is the folder of parameters of a part of the kernel. */
	return container_of(kobj, struct module_kobject, kobj)->mod;
}

/*
 * The module behind @last, or the first one, with a reference to its folder in sysfs, which
 * keeps it in the list, and its memory. That of @last is put.
 */
static struct kobject *etch_state_next_module(struct kobject *last)
{
	struct kobject *kobj = list_entry(&module_kset->list, struct kobject, entry);
	struct kobject *found = NULL;

	spin_lock(&module_kset->list_lock);
	/* A module that failed to load has left the list, and leads nowhere. */
	if (!last || !list_empty(&last->entry)) {
		kobj = last ?: kobj;
		list_for_each_entry_continue(kobj, &module_kset->list, entry) {
			found = etch_state_module_of(kobj) ? kobject_get_unless_zero(kobj) : NULL;
			if (found)
				break;
		}
	}
	spin_unlock(&module_kset->list_lock);
	kobject_put(last);
	return found;
}

static void etch_state_modules(struct etch_state *state)
{
	struct kobject *kobj = NULL;
	struct module *mod;

	if (!module_kset)
		return;
	while (etch_state_go_on()) {
		kobj = etch_state_next_module(kobj);
		if (!kobj)
			return;
		mod = etch_state_module_of(kobj);
		etch_state_write_module(state, mod->name, mod->mem[MOD_TEXT].base,
					mod->mem[MOD_TEXT].size);
	}
	kobject_put(kobj);
}
#else
static void etch_state_modules(struct etch_state *state)
{
}
#endif

/**
 * etch_state_walk_machine() - write mounts, interrupts, devices and modules
 * @state: the dump, after etch_state_take_mounts()
 *
 * Context: process, may sleep; holds no lock of Etch.
 */
void etch_state_walk_machine(struct etch_state *state)
{
	etch_state_mounts(state);
	etch_state_irqs(state);
	etch_state_blocks(state);
	etch_state_netifs(state);
	etch_state_modules(state);
}
