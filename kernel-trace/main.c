// SPDX-License-Identifier: GPL-2.0
/*
 * Etch's beginning: the main tree, when all rooms have said what they bring.
 *
 * The order of the initcalls, each below the next:
 *
 *	core_initcall		the rooms offer files to the tree (etch_tree_offer())
 *	fs_initcall		event/ and source/ register events; then this file makes
 *				the main tree, last because the Makefile has it last
 *	fs_initcall_sync	persist/ makes an instance of its own
 */
#define pr_fmt(fmt) "etch: " fmt

#include <linux/err.h>
#include <linux/init.h>
#include <linux/mutex.h>

#include "instance/instance.h"
#include "tree/tree.h"

/* Without debugfs users have to mount the tree. The kernel's parameters have their effect. */
static void __init etch_show(struct etch_instance *inst)
{
	int ret = etch_tree_make(inst);

	if (ret)
		pr_warn("no folder in debugfs: error %d\n", ret);
}

/* Under etch_mutex. */
static int __init etch_start(void)
{
	struct etch_instance *inst;
	int ret;

	ret = etch_instances_init();
	if (!ret)
		ret = etch_contexts_init();
	if (ret)
		return ret;
	inst = etch_instance_create(NULL, etch_boot_cpu_bytes(), etch_boot_subbuf_bytes());
	if (IS_ERR(inst))
		return PTR_ERR(inst);
	etch_show(inst);
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
	if (ret)
		pr_err("not started: error %d\n", ret);
	return ret;
}
fs_initcall(etch_init);
