// SPDX-License-Identifier: GPL-2.0
/*
 * What a record of a probe event looks like, and as text.
 *
 * The arguments have the types that trace_probe.c knows. There they follow each other without
 * gaps; in Etch's records each is aligned, as all fields are. An array of strings is as many
 * fields, NAME_0 and so on.
 *
 * The text is ftrace's. What it takes is copied from the definition, which may go before the
 * records do.
 */
#include <linux/align.h>
#include <linux/etch.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "event/event.h"
#include "source/probe.h"
#include "trace_probe.h"

/**
 * struct etch_probe_text - how an argument is printed
 * @type: its type, which prints it
 * @name: its name
 * @offset: in the record
 * @count: elements of an array; 0: it is none
 */
struct etch_probe_text {
	const struct fetch_type *type;
	char *name;
	u16 offset;
	u16 count;
};

/* ---- Text ---- */

static void etch_probe_print_addr(struct trace_seq *s, const struct etch_probe *probe,
				  const u64 *addr)
{
	trace_seq_putc(s, '(');
	if (probe->user) {
		if (probe->returns)
			trace_seq_printf(s, "0x%llx <- ", addr[1]);
		trace_seq_printf(s, "0x%llx", addr[0]);
	} else if (probe->returns) {
		seq_print_ip_sym(s, addr[1], TRACE_ITER_SYM_OFFSET);
		trace_seq_puts(s, " <- ");
		seq_print_ip_sym(s, addr[0], 0);
	} else {
		seq_print_ip_sym(s, addr[0], TRACE_ITER_SYM_OFFSET);
	}
	trace_seq_putc(s, ')');
}

static void etch_probe_print_arg(struct trace_seq *s, const struct etch_probe_text *t,
				 void *record)
{
	void *at = record + t->offset;
	unsigned int i;

	trace_seq_printf(s, " %s=", t->name);
	if (!t->count) {
		t->type->print(s, at, record);
		return;
	}
	for (i = 0; i < t->count; i++, at += t->type->size) {
		trace_seq_putc(s, i ? ',' : '{');
		t->type->print(s, at, record);
	}
	trace_seq_putc(s, '}');
}

/* The event that has the record's id has this printer, so it is of a probe. */
static void etch_probe_print(struct etch_text *text, const void *record)
{
	const struct etch_event *event = etch_event_by_id_nowait(etch_head_id(record));
	const struct etch_probe *probe = event->data;
	struct trace_seq *s = &text->seq;
	u64 addr[2] = {};
	unsigned int i;

	memcpy(addr, record + sizeof(struct etch_head), sizeof(*addr) * (1 + probe->returns));
	etch_probe_print_addr(s, probe, addr);
	for (i = 0; probe->texts[i].type; i++)
		etch_probe_print_arg(s, &probe->texts[i], (void *)record);
	trace_seq_putc(s, '\n');
}

/* ---- Layout ---- */

static unsigned int etch_probe_nr_fields(const struct probe_arg *arg)
{
	return arg->dynamic && arg->count ? arg->count : 1;
}

static struct etch_field *etch_probe_put_addr(struct etch_field *f, const char *name,
					      unsigned int *end)
{
	*f = (struct etch_field) {
		.type = kstrdup_const("unsigned long", GFP_KERNEL),
		.name = kstrdup_const(name, GFP_KERNEL),
		.offset = *end,
		.size = sizeof(u64),
		.elem_size = sizeof(u64),
		.align = sizeof(u32),
		.kind = ETCH_FIELD_FIXED,
		.is_pointer = true,
	};
	*end += f->size;
	return f + 1;
}

/* One field of an argument: number @i, if it is an array of strings. */
static struct etch_field *etch_probe_put_arg(struct etch_field *f, const struct probe_arg *arg,
					     unsigned int i, unsigned int *end)
{
	bool several = etch_probe_nr_fields(arg) > 1, array = arg->count && !arg->dynamic;
	unsigned int size = arg->type->size;
	const char *type = array ? arg->fmt : arg->type->fmttype;

	*f = (struct etch_field) {
		.type = kstrdup(type, GFP_KERNEL),
		.name = several ? kasprintf(GFP_KERNEL, "%s_%u", arg->name, i) :
				  kstrdup(arg->name, GFP_KERNEL),
		.offset = ALIGN(*end, min(size, sizeof(u32))),
		.size = array ? size * arg->count : size,
		.elem_size = arg->dynamic ? sizeof(char) : size,
		.align = arg->dynamic ? 1 : min(size, sizeof(u32)),
		.kind = arg->dynamic ? ETCH_FIELD_DATA_LOC :
			array ? ETCH_FIELD_ARRAY : ETCH_FIELD_FIXED,
		.is_signed = !arg->dynamic && arg->type->is_signed,
		.is_string = arg->dynamic,
		.is_pointer = !arg->dynamic && !strcmp(arg->type->name, "symbol"),
	};
	*end = f->offset + f->size;
	return f + 1;
}

static void etch_probe_put_fields(struct etch_probe *probe, const struct trace_probe *tp)
{
	unsigned int end = sizeof(struct etch_head), i, n;
	struct etch_field *f = probe->fields;

	if (probe->returns) {
		f = etch_probe_put_addr(f, FIELD_STRING_FUNC, &end);
		f = etch_probe_put_addr(f, FIELD_STRING_RETIP, &end);
	} else {
		f = etch_probe_put_addr(f, FIELD_STRING_IP, &end);
	}
	for (i = 0; i < tp->nr_args; i++) {
		const struct probe_arg *arg = &tp->args[i];

		probe->strings |= arg->dynamic;
		for (n = 0; n < etch_probe_nr_fields(arg); n++) {
			f = etch_probe_put_arg(f, arg, n, &end);
			if (!n)
				probe->offsets[i] = f[-1].offset;
		}
		probe->texts[i] = (struct etch_probe_text) {
			.type = arg->type,
			.name = kstrdup(arg->name, GFP_KERNEL),
			.offset = probe->offsets[i],
			.count = arg->count,
		};
	}
	probe->size = end;
}

/* "__get_str(names[1])", which nobody can parse, is "__get_str(names_1)" of a field of its own. */
static char *etch_probe_format(const char *format)
{
	char *text = kstrdup(format, GFP_KERNEL), *from, *to;

	if (!text)
		return NULL;
	for (from = text; (from = strstr(from, "__get_str(")); ) {
		size_t len = strcspn(from, ")");
		char *open = strnchr(from, len, '[');

		from += len;
		if (!open)
			continue;
		*open = '_';
		/* Over the closing bracket, which stands before the parenthesis. */
		to = from - 1;
		memmove(to, from, strlen(from) + 1);
	}
	return text;
}

/*
 * All arguments are numbers that the CPU has, so that no fault can leave a hole. Those on the stack
 * of a program are in its memory.
 */
static bool etch_probe_is_plain(const struct trace_probe *tp, bool user)
{
	const struct fetch_insn *code;
	unsigned int i;

	for (i = 0; i < tp->nr_args; i++)
		for (code = tp->args[i].code; code->op != FETCH_OP_END; code++)
			if (code->op == FETCH_OP_DEREF || code->op == FETCH_OP_UDEREF ||
			    (code->op == FETCH_OP_STACK && user) ||
			    (code->op >= FETCH_OP_ST_MEM && code->op <= FETCH_OP_ST_SYMSTR))
				return false;
	return true;
}

/* ---- Making ---- */

static bool etch_probe_complete(const struct etch_probe *probe, unsigned int nr_args)
{
	const struct etch_class *class = &probe->class;
	unsigned int i;

	if (!probe->event.name || !class->system || !class->print_fmt)
		return false;
	for (i = 0; i < class->nr_fields; i++)
		if (!probe->fields[i].type || !probe->fields[i].name)
			return false;
	for (i = 0; i < nr_args; i++)
		if (!probe->texts[i].name)
			return false;
	return true;
}

static struct etch_probe *etch_probe_alloc(const struct trace_probe *tp, bool returns)
{
	struct etch_probe *probe = kzalloc(sizeof(*probe), GFP_KERNEL);
	unsigned int i, nr = returns ? 2 : 1;

	if (!probe)
		return NULL;
	for (i = 0; i < tp->nr_args; i++)
		nr += etch_probe_nr_fields(&tp->args[i]);
	probe->returns = returns;
	probe->fields = kcalloc(nr, sizeof(*probe->fields), GFP_KERNEL);
	probe->class.fields = probe->fields;
	probe->offsets = kcalloc(tp->nr_args + 1, sizeof(*probe->offsets), GFP_KERNEL);
	/* One more, which is zero, ends it. */
	probe->texts = kcalloc(tp->nr_args + 1, sizeof(*probe->texts), GFP_KERNEL);
	if (!probe->fields || !probe->offsets || !probe->texts) {
		etch_probe_free(probe);
		return NULL;
	}
	probe->class.nr_fields = nr;
	return probe;
}

/**
 * etch_probe_make() - make the event of a definition
 * @tp: its first probe
 *
 * Context: process, may sleep; holds event_mutex.
 * Return: the event, without a gate; or NULL, if there is no memory.
 */
struct etch_probe *etch_probe_make(struct trace_probe *tp)
{
	const struct trace_event_call *call = &tp->event->call;
	bool returns = str_has_prefix(call->print_fmt, "\"(%lx <- %lx)");
	struct etch_probe *probe = etch_probe_alloc(tp, returns);

	if (!probe)
		return NULL;
	probe->user = call->flags & TRACE_EVENT_FL_UPROBE;
	probe->plain = etch_probe_is_plain(tp, probe->user);
	etch_probe_put_fields(probe, tp);
	probe->class.size = probe->size;
	probe->class.system = kstrdup(trace_probe_group_name(tp), GFP_KERNEL);
	probe->class.print_fmt = etch_probe_format(call->print_fmt);
	probe->class.print = etch_probe_print;
	probe->event.name = kstrdup(trace_probe_name(tp), GFP_KERNEL);
	probe->event.class = &probe->class;
	INIT_LIST_HEAD(&probe->node);
	if (!etch_probe_complete(probe, tp->nr_args)) {
		etch_probe_free(probe);
		return NULL;
	}
	return probe;
}

/**
 * etch_probe_free() - free what etch_probe_make() made
 * @probe: the event, which nobody knows any more
 *
 * Context: process.
 */
void etch_probe_free(struct etch_probe *probe)
{
	struct etch_class *class = &probe->class;
	unsigned int i;

	for (i = 0; i < class->nr_fields; i++) {
		kfree_const(probe->fields[i].type);
		kfree_const(probe->fields[i].name);
	}
	for (i = 0; probe->texts && probe->texts[i].type; i++)
		kfree(probe->texts[i].name);
	kfree(class->print_fmt);
	kfree(class->system);
	kfree(probe->event.name);
	kfree(probe->texts);
	kfree(probe->offsets);
	kfree(probe->fields);
	kfree(probe);
}
