// SPDX-License-Identifier: GPL-2.0
/*
 * The system calls as events: syscalls:sys_enter_NAME and syscalls:sys_exit_NAME.
 *
 * They come from no header. SYSCALL_DEFINE() leaves a struct syscall_metadata, the
 * call's name and the names and types of its arguments, and from these two events
 * are made at boot for each call that has a number. All of them are hit in the
 * same two places, the tracepoints sys_enter and sys_exit: as long as any event of
 * one end is enabled there is one probe on that end's tracepoint, which looks up by
 * the number who wants the call.
 *
 * A call that has several numbers is recorded for the last of them, and the calls of
 * 32-bit tasks are not recorded, because their numbers are others (ftrace does the
 * same). raw_syscalls has them all.
 *
 * Nothing of this is ever freed: the kernel's calls do not come and go, so a probe
 * that is late finds everything in its place.
 */
#define pr_fmt(fmt) "etch: " fmt

#include <linux/etch.h>
#include <linux/etch_expand.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/nospec.h>
#include <linux/preempt.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/syscalls.h>

#include <asm/syscall.h>
#include <trace/events/syscalls.h>
#include <trace/syscall.h>

#include "source/syscalls.h"
#include "tree/tree.h"

/* Room for the print format of six arguments. */
#define ETCH_SYS_FORMAT_MAX	1024

/* The two ends of a system call, each an event. */
enum etch_sys_end {
	ETCH_SYS_ENTER,
	ETCH_SYS_EXIT,
	ETCH_SYS_ENDS,
};

/**
 * struct etch_sys_enter - the record of a call that begins
 * @head: as all have
 * @nr: the call's number
 * @args: as many as the call takes
 */
struct etch_sys_enter {
	struct etch_head head;
	s32 nr;
	unsigned long args[];
} __packed __aligned(4);

/**
 * struct etch_sys_exit - the record of a call that returns
 * @head: as all have
 * @nr: the call's number
 * @ret: what it returns
 */
struct etch_sys_exit {
	struct etch_head head;
	s32 nr;
	long ret;
} __packed __aligned(4);

/**
 * struct etch_syscall - a system call and its events
 * @masks: the instances that want each end; as the events' own, but for the probes to read
 * @meta: its name and arguments
 * @nr: its number
 * @events: of each end
 * @enter: the layout of the first one; the second one's is shared by all calls
 * @fields: of @enter
 */
struct etch_syscall {
	u64 masks[ETCH_SYS_ENDS];
	const struct syscall_metadata *meta;
	int nr;
	struct etch_event events[ETCH_SYS_ENDS];
	struct etch_class enter;
	struct etch_field fields[];
};

/* By number; NULL where there is no event. */
static struct etch_syscall *etch_syscalls[NR_syscalls] __ro_after_init;

/* How many events of an end are enabled. Under etch_mutex. */
static unsigned int etch_sys_users[ETCH_SYS_ENDS];

/* The number may be whatever user space left in a register. */
static struct etch_syscall *etch_syscall_by_nr(int nr)
{
	if (nr < 0 || nr >= NR_syscalls)
		return NULL;
	return etch_syscalls[array_index_nospec(nr, NR_syscalls)];
}

/**
 * etch_syscall_name() - the name of a system call
 * @nr: its number
 *
 * Context: any.
 * Return: its name, which begins with "sys_"; NULL: no call that has events has this number.
 */
const char *etch_syscall_name(u64 nr)
{
	const struct etch_syscall *call = nr < NR_syscalls ? etch_syscall_by_nr(nr) : NULL;

	return call ? call->meta->name : NULL;
}

/* ---- Recording ---- */

#ifndef ARCH_TRACE_IGNORE_COMPAT_SYSCALLS
static inline bool arch_trace_is_compat_syscall(struct pt_regs *regs)
{
	return false;
}
#endif

/*
 * The call that the current task is in, if somebody wants this end of it. With
 * preemption disabled from here to the end of the record, because an instance that
 * has cleared its bit waits for that before it frees its rings.
 */
static struct etch_syscall *etch_syscall_wanted(struct pt_regs *regs, enum etch_sys_end end,
						u64 *mask)
{
	struct etch_syscall *call;

	if (unlikely(arch_trace_is_compat_syscall(regs)))
		return NULL;
	call = etch_syscall_by_nr(syscall_get_nr(current, regs));
	if (!call)
		return NULL;
	/* Written by etch_sys_gate(), at any time. */
	*mask = READ_ONCE(call->masks[end]);
	return *mask ? call : NULL;
}

static void etch_sys_enter(void *data, struct pt_regs *regs, long id)
{
	unsigned long args[SYSCALL_DEFINE_MAXARGS];
	struct etch_sys_enter *record;
	struct etch_syscall *call;
	struct etch_write w;
	unsigned int len;
	u64 mask;

	guard(preempt_notrace)();

	call = etch_syscall_wanted(regs, ETCH_SYS_ENTER, &mask);
	if (!call)
		return;
	syscall_get_arguments(current, regs, args);

	len = call->enter.size;
	w = etch_write_begin_mask(len, &call->events[ETCH_SYS_ENTER], mask);
	record = w.record;
	if (!record)
		return;
	record->nr = call->nr;
	memcpy(record->args, args, len - sizeof(*record));
	etch_write_end_quick(w.ring);
}

static void etch_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	struct etch_sys_exit *record;
	struct etch_syscall *call;
	struct etch_write w;
	u64 mask;

	guard(preempt_notrace)();

	call = etch_syscall_wanted(regs, ETCH_SYS_EXIT, &mask);
	if (!call)
		return;
	w = etch_write_begin_mask(sizeof(*record), &call->events[ETCH_SYS_EXIT], mask);
	record = w.record;
	if (!record)
		return;
	record->nr = call->nr;
	record->ret = syscall_get_return_value(current, regs);
	etch_write_end_quick(w.ring);
}

/* ---- Gates ---- */

static int etch_sys_probe(enum etch_sys_end end)
{
	if (end == ETCH_SYS_ENTER)
		return register_trace_sys_enter(etch_sys_enter, NULL);
	return register_trace_sys_exit(etch_sys_exit, NULL);
}

static void etch_sys_unprobe(enum etch_sys_end end)
{
	if (end == ETCH_SYS_ENTER)
		unregister_trace_sys_enter(etch_sys_enter, NULL);
	else
		unregister_trace_sys_exit(etch_sys_exit, NULL);
}

/* The first event that is enabled brings the end's probe, the last takes it away. */
static int etch_sys_gate(struct etch_event *event, u64 mask)
{
	struct etch_syscall *call = event->data;
	enum etch_sys_end end = event - call->events;
	u64 old = call->masks[end];
	int ret;

	if (!old && mask) {
		ret = etch_sys_users[end] ? 0 : etch_sys_probe(end);
		if (ret)
			return ret;
		etch_sys_users[end]++;
	}
	WRITE_ONCE(call->masks[end], mask);
	if (old && !mask && !--etch_sys_users[end])
		etch_sys_unprobe(end);
	return 0;
}

/* ---- Text ---- */

#ifndef ETCH_SYS_VALUE
/* As ftrace has it: a digit needs no base. */
#define ETCH_SYS_VALUE(value)	((value) < 10 ? "%s%s: %lu" : "%s%s: 0x%lx")
#endif

static void etch_sys_print_enter(struct etch_text *text, const void *record)
{
	const struct etch_sys_enter *enter = record;
	const struct etch_syscall *call = etch_syscall_by_nr(enter->nr);
	int i;

	if (call) {
		etch_text_printf(text, "%s(", call->meta->name);
		for (i = 0; i < call->meta->nb_args; i++)
			etch_text_printf(text, ETCH_SYS_VALUE(enter->args[i]), i ? ", " : "",
					 call->meta->args[i], enter->args[i]);
		etch_text_printf(text, ")");
	}
	etch_text_printf(text, "\n");
}

static void etch_sys_print_exit(struct etch_text *text, const void *record)
{
	const struct etch_sys_exit *exit = record;
	const struct etch_syscall *call = etch_syscall_by_nr(exit->nr);

	if (call)
		etch_text_printf(text, "%s -> 0x%lx", call->meta->name, exit->ret);
	etch_text_printf(text, "\n");
}

/* ---- Layouts ---- */

#define ETCH_SYS_FIELD(_type, _ctype, _name) {				\
	.type = _type, .name = _name,					\
	.size = sizeof(_ctype), .elem_size = sizeof(_ctype),		\
	.align = ETCH_ALIGN(_ctype), .kind = ETCH_FIELD_FIXED,		\
	.is_signed = is_signed_type(_ctype) }

static struct etch_field etch_sys_exit_fields[] = {
	ETCH_SYS_FIELD("int", s32, "__syscall_nr"),
	ETCH_SYS_FIELD("long", long, "ret"),
};

static const struct etch_class etch_sys_exit_class = {
	.system = "syscalls",
	.fields = etch_sys_exit_fields,
	.nr_fields = ARRAY_SIZE(etch_sys_exit_fields),
	.size = sizeof(struct etch_sys_exit),
	.nameless = true,
	.print_fmt = "\"0x%lx\", REC->ret",
	.print = etch_sys_print_exit,
};

/*
 * "dfd: 0x%08lx, filename: 0x%08lx", ((unsigned long)(REC->dfd)), ((unsigned long)...
 * as ftrace has it, for programs that parse it. NULL if there is no memory.
 */
static char * __init etch_sys_format(const struct syscall_metadata *meta)
{
	static char text[ETCH_SYS_FORMAT_MAX] __initdata;
	struct seq_buf s;
	int i;

	seq_buf_init(&s, text, sizeof(text));
	seq_buf_puts(&s, "\"");
	for (i = 0; i < meta->nb_args; i++)
		seq_buf_printf(&s, "%s%s: 0x%%0%zulx", i ? ", " : "",
			       meta->args[i], sizeof(unsigned long));
	seq_buf_puts(&s, "\"");
	for (i = 0; i < meta->nb_args; i++)
		seq_buf_printf(&s, ", ((unsigned long)(REC->%s))", meta->args[i]);
	WARN_ON(seq_buf_has_overflowed(&s));
	return kstrdup(seq_buf_str(&s), GFP_KERNEL);
}

/* Arguments are recorded as registers, whatever their types. */
static void __init etch_sys_layout(struct etch_syscall *call)
{
	const struct syscall_metadata *meta = call->meta;
	struct etch_class *class = &call->enter;
	int i;

	call->fields[0] = etch_sys_exit_fields[0];
	for (i = 0; i < meta->nb_args; i++) {
		call->fields[1 + i] = (struct etch_field)
			ETCH_SYS_FIELD(meta->types[i], unsigned long, meta->args[i]);
	}
	class->system = etch_sys_exit_class.system;
	class->fields = call->fields;
	class->nr_fields = 1 + meta->nb_args;
	class->size = struct_size_t(struct etch_sys_enter, args, meta->nb_args);
	class->nameless = true;
	class->print = etch_sys_print_enter;
}

/* ---- Which there are ---- */

/* False if there is no memory for its name: "sys_NAME" is "sys_enter_NAME" here. */
static bool __init etch_sys_event(struct etch_syscall *call, enum etch_sys_end end,
				  const char *prefix, const struct etch_class *class)
{
	struct etch_event *event = &call->events[end];

	event->name = kasprintf(GFP_KERNEL, "%s%s", prefix,
				call->meta->name + strlen("sys"));
	event->class = class;
	event->gate = etch_sys_gate;
	event->data = call;
	return event->name;
}

static void __init etch_syscall_free(struct etch_syscall *call)
{
	kfree(call->events[ETCH_SYS_EXIT].name);
	kfree(call->events[ETCH_SYS_ENTER].name);
	kfree(call->enter.print_fmt);
	kfree(call);
}

static struct etch_syscall * __init etch_syscall_make(const struct syscall_metadata *meta)
{
	struct etch_syscall *call;

	call = kzalloc(struct_size(call, fields, 1 + meta->nb_args), GFP_KERNEL);
	if (!call)
		return NULL;
	call->meta = meta;
	call->nr = meta->syscall_nr;
	etch_sys_layout(call);
	call->enter.print_fmt = etch_sys_format(meta);
	if (!call->enter.print_fmt ||
	    !etch_sys_event(call, ETCH_SYS_ENTER, "sys_enter", &call->enter) ||
	    !etch_sys_event(call, ETCH_SYS_EXIT, "sys_exit", &etch_sys_exit_class)) {
		etch_syscall_free(call);
		return NULL;
	}
	return call;
}

static int __init etch_syscall_add(const struct syscall_metadata *meta)
{
	struct etch_syscall *call = etch_syscall_make(meta);
	int ret;

	if (!call)
		return -ENOMEM;
	etch_syscalls[call->nr] = call;
	ret = etch_event_register(&call->events[ETCH_SYS_ENTER]);
	if (!ret)
		ret = etch_event_register(&call->events[ETCH_SYS_EXIT]);
	return ret;
}

#ifndef ARCH_HAS_SYSCALL_MATCH_SYM_NAME
static inline bool arch_syscall_match_sym_name(const char *sym, const char *name)
{
	return !strcmp(sym, name);
}
#endif

/* The call whose function is called @symbol; NULL also for those that are missing. */
static struct syscall_metadata * __init etch_syscall_meta(const char *symbol)
{
	struct syscall_metadata **meta;

	if (arch_syscall_match_sym_name(symbol, "sys_ni_syscall"))
		return NULL;
	for (meta = __start_syscalls_metadata; meta < __stop_syscalls_metadata; meta++)
		if (arch_syscall_match_sym_name(symbol, (*meta)->name))
			return *meta;
	return NULL;
}

/* The numbers are not in the metadata until someone looks; ftrace does so earlier. */
static void __init etch_syscalls_number(void)
{
	struct syscall_metadata *meta;
	char symbol[KSYM_NAME_LEN];
	int nr;

	if (IS_ENABLED(CONFIG_FTRACE_SYSCALLS))
		return;
	for (nr = 0; nr < NR_syscalls; nr++) {
		if (!kallsyms_lookup((unsigned long)sys_call_table[nr], NULL, NULL, NULL,
				     symbol))
			continue;
		meta = etch_syscall_meta(symbol);
		if (meta)
			meta->syscall_nr = nr;
	}
}

/* Registers the events of the system calls. The log says which ones cannot be. */
static int __init etch_syscalls_init(void)
{
	struct syscall_metadata **meta;
	int ret;

	mutex_lock(&etch_mutex);
	etch_syscalls_number();
	for (meta = __start_syscalls_metadata; meta < __stop_syscalls_metadata; meta++) {
		if ((*meta)->syscall_nr < 0)
			continue;
		ret = etch_syscall_add(*meta);
		if (ret)
			pr_warn("no events of %s: error %d\n", (*meta)->name, ret);
	}
	mutex_unlock(&etch_mutex);
	return 0;
}
fs_initcall(etch_syscalls_init);
