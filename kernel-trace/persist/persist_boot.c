// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that survives, at boot: etch_persist= names it, and the records of an earlier kernel
 * in it are looked through. Its folder is made; and if no records were left, its instance.
 */
#define pr_fmt(fmt) "etch: " fmt

#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/setup.h>

#include "persist/persist.h"

static char etch_persist_text[COMMAND_LINE_SIZE] __initdata;
static struct etch_persist etch_persist;

static int __init etch_persist_setup(char *text)
{
	strscpy(etch_persist_text, text);
	return 1;
}
__setup("etch_persist=", etch_persist_setup);

static int __init etch_persist_find(struct etch_persist *p, const char *name)
{
	phys_addr_t start, size;

	if (!reserve_mem_find_by_name(name, &start, &size)) {
		pr_warn("etch_persist: there is no reserve_mem=...:%s\n", name);
		return -ENOENT;
	}
	if (etch_persist_shape(&p->shape, round_down(size, PAGE_SIZE), etch_boot_subbuf_bytes(),
			       nr_cpu_ids) || !PAGE_ALIGNED(start)) {
		pr_warn("etch_persist: %s is too small, or not aligned to pages\n", name);
		return -EINVAL;
	}
	p->name = kstrdup(name, GFP_KERNEL);
	p->described = kvzalloc(ETCH_ID_MAX + 1, GFP_KERNEL);
	if (!p->name || !p->described)
		return -ENOMEM;
	p->memory = phys_to_virt(start);
	return 0;
}

static bool etch_persist_any(const struct etch_persist_found *found)
{
	unsigned int cpu;

	if (!found->any || found->why)
		return found->any;
	for (cpu = 0; cpu < found->nr_cpus; cpu++)
		if (found->cpus[cpu].nr || found->cpus[cpu].torn || found->cpus[cpu].damaged)
			return true;
	return false;
}

/* Looks for what an earlier kernel left, and goes on there. Under etch_mutex. */
static void __init etch_persist_begin(void)
{
	struct etch_persist *p = &etch_persist;
	char *events = etch_persist_text, *name;
	int ret;

	if (!*events)
		return;
	name = strsep(&events, ",");
	ret = etch_persist_find(p, name);
	if (ret)
		return;
	p->events = kstrdup(events, GFP_KERNEL);
	ret = etch_persist_check(p->memory, p->shape.bytes, &p->found);
	if (!ret)
		ret = etch_persist_add_files(p);
	if (!ret && etch_persist_any(&p->found)) {
		pr_info("%s holds records of an earlier kernel: see persist/status\n", p->name);
		return;
	}
	if (!ret)
		ret = etch_persist_start(p);
	if (ret)
		pr_warn("etch_persist: %s: error %d\n", p->name, ret);
}

static int __init etch_persist_init(void)
{
	mutex_lock(&etch_mutex);
	if (etch_instances[ETCH_MAIN])
		etch_persist_begin();
	mutex_unlock(&etch_mutex);
	return 0;
}
fs_initcall_sync(etch_persist_init);
