// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's parameters: tracing that starts before user space does.
 *
 *	etch_event=sched:sched_switch,irq:*	events, as set_event takes them
 *	etch_buf_size=4M			of the main tree's buffer, for each CPU
 *	etch_subbuf_size=64K			of the parts that it is made of
 *
 * dump.c and persist.c have more. The parameters are parsed before memory can be allocated,
 * and applied when Etch starts. etch_event= may be given several times.
 */
#define pr_fmt(fmt) "etch: " fmt

#include <linux/etch.h>
#include <linux/etch_ring.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include <asm/setup.h>

#include "tree/tree.h"

/* What a ring has if nothing is said. */
#define ETCH_CPU_BYTES		(1024 * 1024UL)

static char etch_boot_list[COMMAND_LINE_SIZE] __initdata;
static unsigned long etch_boot_bytes __ro_after_init;
static unsigned int etch_boot_subbuf __ro_after_init;

static int __init etch_event_setup(char *text)
{
	size_t len = strlen(etch_boot_list);

	snprintf(etch_boot_list + len, sizeof(etch_boot_list) - len, "%s%s",
		 len ? "," : "", text);
	return 1;
}
__setup("etch_event=", etch_event_setup);

static int __init etch_buf_size_setup(char *text)
{
	unsigned long long bytes = memparse(text, &text);

	/* No ring has a quarter of the address space: this only keeps sums from wrapping. */
	if (*text || !bytes || bytes > ULONG_MAX / 4)
		pr_warn("etch_buf_size: not a size\n");
	else
		etch_boot_bytes = bytes;
	return 1;
}
__setup("etch_buf_size=", etch_buf_size_setup);

static int __init etch_subbuf_size_setup(char *text)
{
	unsigned long long bytes = memparse(text, &text);
	unsigned int subbuf = etch_subbuf_bytes(min_t(u64, bytes, ULONG_MAX));

	if (*text || !subbuf)
		pr_warn("etch_subbuf_size: not a size up to %u KiB\n",
			ETCH_RING_MAX_SUBBUF >> 10);
	else
		etch_boot_subbuf = subbuf;
	return 1;
}
__setup("etch_subbuf_size=", etch_subbuf_size_setup);

/**
 * etch_boot_cpu_bytes() - the size that was asked for
 *
 * Context: boot.
 * Return: bytes of a ring.
 */
unsigned long etch_boot_cpu_bytes(void)
{
	return etch_boot_bytes ?: ETCH_CPU_BYTES;
}

/**
 * etch_boot_subbuf_bytes() - the size of sub-buffers that was asked for
 *
 * Context: boot.
 * Return: bytes of a sub-buffer.
 */
unsigned int etch_boot_subbuf_bytes(void)
{
	return etch_boot_subbuf ?: etch_subbuf_bytes(ETCH_RING_SUBBUF);
}

/**
 * etch_boot_events() - enable what the kernel's parameters name
 * @inst: the main tree
 *
 * Events that cannot be enabled, and buffers for which there is no memory, are logged; the
 * other events are enabled.
 *
 * Context: boot; holds etch_mutex.
 */
void __init etch_boot_events(struct etch_instance *inst)
{
	char *list = etch_boot_list, *name;
	int ret;

	if (!*list && !etch_boot_bytes)
		return;
	ret = etch_instance_grow(inst);
	if (ret)
		pr_warn("no buffers of %lu bytes: error %d\n", inst->full_bytes, ret);

	while ((name = strsep(&list, ", "))) {
		if (!*name)
			continue;
		ret = etch_events_set(&inst->rec, name, true);
		if (ret < 0)
			pr_warn("etch_event=%s: error %d\n", name, ret);
	}
}
