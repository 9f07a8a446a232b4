// SPDX-License-Identifier: GPL-2.0
/*
 * Etch's beginning: the only file that knows all others.
 */
#define pr_fmt(fmt) "etch: " fmt

#include <linux/err.h>
#include <linux/etch.h>
#include <linux/init.h>

#include "ctf/ctf.h"
#include "persist/persist.h"
#include "source/source.h"
#include "text/text.h"
#include "tree/tree.h"

/* Whose files there are, in this order. */
static struct etch_files * const etch_offers[] __initconst = {
	&etch_control_files,
#ifdef CONFIG_ETCH_TEXT
	&etch_text_files,
#endif
#ifdef CONFIG_ETCH_CTF
	&etch_ctf_files,
#endif
	&etch_marker_files,
};

static int __init etch_sources_init(void)
{
	etch_events_init();
	etch_syscalls_init();
	return etch_marker_init();
}

/* Without debugfs there is no tree, but what the kernel's parameters ask for is done. */
static void __init etch_show(struct etch_instance *inst)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(etch_offers); i++)
		etch_tree_offer(etch_offers[i]);
	ret = etch_tree_make(inst);
	if (ret)
		pr_warn("no files in debugfs: error %d\n", ret);
	etch_tree_watch();
}

static int __init etch_start(void)
{
	struct etch_instance *inst;
	int ret;

	ret = etch_instances_init() ?: etch_sources_init();
	if (ret)
		return ret;
	inst = etch_instance_create(NULL, etch_boot_cpu_bytes(), etch_boot_subbuf_bytes());
	if (IS_ERR(inst))
		return PTR_ERR(inst);
	etch_show(inst);
	etch_dump_init();
	etch_persist_init();
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
