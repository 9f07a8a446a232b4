// SPDX-License-Identifier: GPL-2.0
/*
 * stacktrace: a hit records the kernel's stack, behind its own record.
 *
 * The stack is the record of a hidden event, in this instance's ring and no other. It begins
 * with the functions of Etch that store it; its text leaves them out.
 */
#include <linux/etch.h>
#include <linux/etch_expand.h>
#include <linux/init.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "event/own.h"
#include "event/stack.h"
#include "trigger/trigger.h"

/**
 * struct etch_stack - the record
 * @head: as all have
 * @where: of @caller: offset in the record in the low half, bytes in the high half
 * @caller: return addresses, the innermost first
 */
struct etch_stack {
	struct etch_head head;
	u32 where;
	unsigned long caller[];
} __packed __aligned(4);

static void etch_stack_print(struct etch_text *text, const void *record)
{
	const struct etch_stack *stack = record;
	long nr = etch_text_fit(text, stack->caller, (stack->where >> 16) / sizeof(long),
				sizeof(long));
	long i;

	etch_text_printf(text, "<stack trace>\n");
	for (i = etch_stack_skip(stack->caller, nr); i < nr; i++)
		etch_text_printf(text, " => %ps\n", (void *)get_unaligned(&stack->caller[i]));
}

static const struct etch_field etch_stack_fields[] = {
	{
		.type = "unsigned long",
		.name = "caller",
		.offset = offsetof(struct etch_stack, where),
		.size = sizeof_field(struct etch_stack, where),
		.elem_size = sizeof(long),
		.align = ETCH_ALIGN(unsigned long),
		.kind = ETCH_FIELD_DATA_LOC,
		.is_pointer = true,
	},
};

static const struct etch_class etch_stack_class = {
	.system = "etch",
	.fields = etch_stack_fields,
	.nr_fields = ARRAY_SIZE(etch_stack_fields),
	.size = sizeof(struct etch_stack),
	.nameless = true,
	.print_fmt = "\"<stack trace>\"",
	.print = etch_stack_print,
};

static struct etch_event etch_stack_event = {
	.name = "kernel_stack",
	.class = &etch_stack_class,
	.hidden = true,
};

static void etch_stack_hit(struct etch_order *order, const struct etch_hit *hit)
{
	unsigned long callers[ETCH_STACK_MAX];
	unsigned int bytes = stack_trace_save(callers, ARRAY_SIZE(callers), 1) * sizeof(long);
	struct etch_stack *stack;
	struct etch_write w;

	w = etch_write_begin_mask(sizeof(*stack) + bytes, &etch_stack_event,
				  etch_own_mask(order->trigger.bit));
	stack = w.record;
	if (!stack)
		return;
	stack->where = offsetof(struct etch_stack, caller) | bytes << 16;
	memcpy(stack->caller, callers, bytes);
	etch_write_end_quick(w.ring);
}

static struct etch_trigger_kind etch_stack_kind = {
	.name = "stacktrace",
	.records = true,
	.hit = etch_stack_hit,
};

static int __init etch_stack_offer(void)
{
	etch_trigger_offer(&etch_stack_kind);
	return 0;
}
core_initcall(etch_stack_offer);

static int __init etch_stack_init(void)
{
	int ret;

	mutex_lock(&etch_mutex);
	ret = etch_event_register(&etch_stack_event);
	mutex_unlock(&etch_mutex);
	return ret;
}
fs_initcall(etch_stack_init);
