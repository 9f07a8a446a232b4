// SPDX-License-Identifier: GPL-2.0
/*
 * The events of user_events: programs register and write them by the files of tracefs.
 *
 * kernel/trace/trace_events_user.c has ftrace and perf as consumers. Etch is the third: what a
 * program registers there is an event in both trees, and a program whose event is enabled in
 * either of them sees its bit set, and calls write(). So it needs no change.
 *
 * An event comes and goes under event_mutex. This file needs etch_mutex for events, which is the
 * outer one of the two. So trace_events_user.c leaves a note in one of two lists, and has the
 * notes read when it holds neither lock: etch_ue_sync(). In between an event may be missing here,
 * or be here when it has gone already. Enabling such an event fails.
 *
 * As long as an instance records an event, it has a reference to it, so the event stays when its
 * program ends.
 *
 * What a program writes has its fields side by side, and texts anywhere behind them. It is copied
 * and checked before there is a record, because a record cannot be taken back. In the record
 * fields are aligned, as all are, texts follow them, and what no field names is left out.
 */
#define pr_fmt(fmt) "etch: " fmt

#include <linux/align.h>
#include <linux/cleanup.h>
#include <linux/ctype.h>
#include <linux/etch.h>
#include <linux/etch_expand.h>
#include <linux/etch_user_events.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_events.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/unaligned.h>

#include "event/event.h"
#include "trace.h"

struct user_event;

/* What a program may write at once. More is lost, as too big. */
#define ETCH_UE_PAYLOAD		SZ_8K
#define ETCH_UE_TOO_BIG		SZ_16M

/**
 * struct etch_ue - Etch's half of an event
 * @mask: the instances that record it; as the event's own, but for writers to read
 * @from: of each field, its place in what the program writes
 * @least: bytes that the program has to write: up to the end of the last field
 * @event: the event
 * @class: its layout
 * @fields: of @class
 * @call: ftrace's half; NULL once the event has gone. Under event_mutex
 * @known: @event is registered. Under etch_mutex
 * @node: in one of the two lists
 */
struct etch_ue {
	u64 mask;
	u16 *from;
	unsigned int least;
	struct etch_event event;
	struct etch_class class;
	struct etch_field *fields;
	struct trace_event_call *call;
	bool known;
	struct list_head node;
};

/* Events that are not here yet, and those that have gone. Under event_mutex. */
static LIST_HEAD(etch_ue_new);
static LIST_HEAD(etch_ue_gone);

/* Where what a program writes is copied to, on its CPU. Made with the first event enabled. */
static char __percpu *etch_ue_payload;

/* ---- Recording ---- */

/*
 * The text, or the array, that a word at @payload + @from is for. Return where it begins in
 * @payload; -1: it does not lie in the @len bytes, or is a text without an end.
 */
static int etch_ue_content(const struct etch_field *f, const char *payload, unsigned int from,
			   unsigned int len, unsigned int *size)
{
	u32 word = get_unaligned((const u32 *)(payload + from));
	int at = word & U16_MAX;

	*size = word >> 16;
	if (!*size)
		return 0;
	/* To the program, a record begins with the head that ftrace gives it. */
	at += f->kind == ETCH_FIELD_REL_LOC ? from + sizeof(word) : -sizeof(struct trace_entry);
	if (at < 0 || at + *size > len)
		return -1;
	if (f->is_string && payload[at + *size - 1])
		return -1;
	return at;
}

/*
 * Store fields, and behind them texts and arrays, into @record; if that is NULL, only measure.
 * Return the bytes of the record; 0: a word makes no sense.
 */
static unsigned int etch_ue_store(const struct etch_ue *ue, const char *payload, unsigned int len,
				  char *record)
{
	unsigned int end = ue->class.size, size, i;

	for (i = 0; i < ue->class.nr_fields; i++) {
		const struct etch_field *f = &ue->fields[i];
		int at;

		if (!etch_is_dynamic(f)) {
			if (record)
				memcpy(record + f->offset, payload + ue->from[i], f->size);
			continue;
		}
		at = etch_ue_content(f, payload, ue->from[i], len, &size);
		if (at < 0)
			return 0;
		end = ALIGN(end, f->align);
		if (record) {
			unsigned int base = f->kind == ETCH_FIELD_REL_LOC ?
					    f->offset + sizeof(u32) : 0;

			*(u32 *)(record + f->offset) = (end - base) | size << 16;
			memcpy(record + end, payload + at, size);
		}
		end += size;
	}
	return end;
}

static void etch_ue_record(const struct etch_ue *ue, const char *payload, unsigned int len,
			   unsigned int size, u64 mask)
{
	struct etch_write w;

	w = etch_write_begin_mask(size > U16_MAX ? ETCH_UE_TOO_BIG : size, &ue->event, mask);
	if (!w.record)
		return;
	/* Holes between fields, and in front of arrays. */
	memset(w.record + sizeof(struct etch_head), 0, size - sizeof(struct etch_head));
	etch_ue_store(ue, payload, len, w.record);
	etch_write_end_quick(w.ring);
}

/*
 * A program has written to the event; trace_events_user.c calls this for each consumer. Preemption
 * is off, so nobody else takes this CPU's payload, and an instance or the event that is removed
 * waits.
 */
static void etch_ue_hit(struct user_event *user, struct iov_iter *i, void *data, bool *faulted)
{
	const struct etch_ue *ue = data;
	char *payload = this_cpu_ptr(etch_ue_payload);
	unsigned int len, size;
	u64 mask = READ_ONCE(ue->mask);

	if (!mask)
		return;
	if (i->count > ETCH_UE_PAYLOAD) {
		etch_write_begin_mask(ETCH_UE_TOO_BIG, &ue->event, mask);
		return;
	}
	pagefault_disable();
	len = copy_from_iter(payload, i->count, i);
	pagefault_enable();
	size = i->count || len < ue->least ? 0 : etch_ue_store(ue, payload, len, NULL);
	if (size)
		etch_ue_record(ue, payload, len, size, mask);
	else
		*faulted = true;
}

/* ---- Gates ---- */

/* Under event_mutex. */
static int etch_ue_open(struct etch_ue *ue)
{
	if (!ue->call)
		return -ENODEV;
	if (!etch_ue_payload)
		etch_ue_payload = __alloc_percpu(ETCH_UE_PAYLOAD, sizeof(u64));
	if (!etch_ue_payload)
		return -ENOMEM;
	return user_event_add_probe(ue->call, etch_ue_hit, ue);
}

static int etch_ue_gate(struct etch_event *event, u64 mask)
{
	struct etch_ue *ue = event->data;
	u64 old = ue->mask;
	int ret = 0;

	guard(mutex)(&event_mutex);
	WRITE_ONCE(ue->mask, mask);
	if (!old && mask)
		ret = etch_ue_open(ue);
	else if (old && !mask)
		user_event_remove_probe(ue->call, etch_ue_hit, ue);
	if (ret)
		WRITE_ONCE(ue->mask, old);
	return ret;
}

/* ---- Layout ---- */

static bool etch_ue_is_name(const char *name, const char *others)
{
	for (; *name; name++)
		if (!isascii(*name) || (!isalnum(*name) && !strchr(others, *name)))
			return false;
	return true;
}

/* "__data_loc char[]", "__rel_loc unsigned char[]"; brackets may be missing. */
static bool etch_ue_put_dynamic(struct etch_field *f, const char *type)
{
	const char *elem = strchr(type, ' ') + 1;
	int len = strcspn(elem, "[");

	f->kind = str_has_prefix(type, "__rel_loc ") ? ETCH_FIELD_REL_LOC : ETCH_FIELD_DATA_LOC;
	f->is_string = len == 4 && str_has_prefix(elem, "char");
	f->is_signed = f->is_string;
	f->elem_size = 1;
	f->align = 1;
	f->size = sizeof(u32);
	/* Of what is no text the bytes are shown: nobody says how long an element is. */
	f->type = kasprintf(GFP_KERNEL, "%.*s %s[]", (int)(elem - type - 1), type,
			    f->is_string ? "char" : "u8");
	return f->type;
}

static bool etch_ue_put_fixed(struct etch_field *f, const struct ftrace_event_field *of)
{
	bool array = strchr(of->type, '['), bytes = str_has_prefix(of->type, "struct ");

	f->kind = array || bytes ? ETCH_FIELD_ARRAY : ETCH_FIELD_FIXED;
	f->elem_size = array || bytes ? 1 : of->size;
	f->align = min_t(unsigned int, f->elem_size, sizeof(u32));
	f->size = of->size;
	f->is_string = array && str_has_prefix(of->type, "char[");
	f->is_signed = !bytes && of->is_signed;
	f->type = bytes ? kasprintf(GFP_KERNEL, "u8[%d]", of->size) :
			  kstrdup(of->type, GFP_KERNEL);
	return f->type;
}

/* What other programs that read the trace cannot spell is not shown here. */
static int etch_ue_put_field(struct etch_ue *ue, const struct ftrace_event_field *of)
{
	unsigned int i = ue->class.nr_fields, place = of->offset - sizeof(struct trace_entry);
	struct etch_field *f = &ue->fields[i];
	bool dynamic = str_has_prefix(of->type, "__data_loc ") ||
		       str_has_prefix(of->type, "__rel_loc ");

	if (of->size > ETCH_UE_PAYLOAD || place > ETCH_UE_PAYLOAD - of->size)
		return -E2BIG;
	if (isdigit(*of->name) || !*of->name || !etch_ue_is_name(of->name, "_"))
		return -EINVAL;
	while (i--)
		if (!strcmp(ue->fields[i].name, of->name))
			return -EINVAL;
	if (!(dynamic ? etch_ue_put_dynamic(f, of->type) : etch_ue_put_fixed(f, of)))
		return -ENOMEM;
	ue->from[ue->class.nr_fields++] = place;
	f->name = kstrdup(of->name, GFP_KERNEL);
	f->offset = ALIGN(ue->class.size, dynamic ? sizeof(u32) : f->align);
	ue->class.size = f->offset + f->size;
	ue->least = place + of->size;
	return f->name ? 0 : -ENOMEM;
}

/* ftrace's list has the last field first. */
static int etch_ue_put_fields(struct etch_ue *ue, const struct list_head *fields)
{
	const struct ftrace_event_field *of;
	unsigned int nr = list_count_nodes((struct list_head *)fields);
	int ret = 0;

	ue->fields = kcalloc(nr + 1, sizeof(*ue->fields), GFP_KERNEL);
	ue->from = kcalloc(nr + 1, sizeof(*ue->from), GFP_KERNEL);
	if (!ue->fields || !ue->from)
		return -ENOMEM;
	ue->class.fields = ue->fields;
	ue->class.size = sizeof(struct etch_head);
	list_for_each_entry_reverse(of, fields, link) {
		ret = etch_ue_put_field(ue, of);
		if (ret)
			break;
	}
	return ret;
}

static void etch_ue_free(struct etch_ue *ue)
{
	unsigned int i;

	for (i = 0; i < ue->class.nr_fields; i++) {
		kfree(ue->fields[i].type);
		kfree(ue->fields[i].name);
	}
	kfree(ue->class.print_fmt);
	kfree(ue->class.system);
	kfree(ue->event.name);
	kfree(ue->from);
	kfree(ue->fields);
	kfree(ue);
}

static int etch_ue_fill(struct etch_ue *ue, struct trace_event_call *call,
			const struct list_head *fields)
{
	const char *name = trace_event_name(call);
	int ret;

	if (!*name || *name == '.' || !etch_ue_is_name(name, "_.-$"))
		return -EINVAL;
	ret = etch_ue_put_fields(ue, fields);
	if (ret)
		return ret;
	ue->event.name = kstrdup(name, GFP_KERNEL);
	ue->class.system = kstrdup(call->class->system, GFP_KERNEL);
	ue->class.print_fmt = etch_print_fmt_make(&ue->class);
	return ue->event.name && ue->class.system && ue->class.print_fmt ? 0 : -ENOMEM;
}

/* ---- Notes of what changes ---- */

/**
 * etch_ue_define() - note that there is a new event
 * @call: ftrace's half
 * @fields: its fields, struct ftrace_event_field, the last one first
 *
 * An event that Etch cannot show is ftrace's and perf's alone, and the log says why.
 *
 * Context: process, may sleep; holds event_mutex.
 * Return: Etch's half, or NULL.
 */
struct etch_ue *etch_ue_define(struct trace_event_call *call, const struct list_head *fields)
{
	struct etch_ue *ue = kzalloc(sizeof(*ue), GFP_KERNEL);
	int ret;

	lockdep_assert_held(&event_mutex);
	if (!ue)
		return NULL;
	ret = etch_ue_fill(ue, call, fields);
	if (ret) {
		pr_warn_ratelimited("no event of user_events: error %d\n", ret);
		etch_ue_free(ue);
		return NULL;
	}
	ue->event.class = &ue->class;
	ue->event.gate = etch_ue_gate;
	ue->event.data = ue;
	ue->call = call;
	list_add_tail(&ue->node, &etch_ue_new);
	return ue;
}

/**
 * etch_ue_forget() - note that an event has gone
 * @ue: Etch's half of it, or NULL
 *
 * Context: process; holds event_mutex.
 */
void etch_ue_forget(struct etch_ue *ue)
{
	lockdep_assert_held(&event_mutex);
	if (!ue)
		return;
	ue->call = NULL;
	list_move_tail(&ue->node, &etch_ue_gone);
}

/* ---- Events come and go ---- */

static bool etch_ue_taken(const struct etch_event *event)
{
	struct etch_event *other;

	list_for_each_entry(other, &etch_events, node)
		if (!strcmp(other->name, event->name) &&
		    !strcmp(other->class->system, event->class->system))
			return true;
	return false;
}

static void etch_ue_add(struct etch_ue *ue)
{
	int ret = etch_ue_taken(&ue->event) ? -EEXIST : etch_event_register(&ue->event);

	ue->known = !ret;
	if (ret)
		pr_warn_ratelimited("no event %s:%s: error %d\n", ue->class.system,
				    ue->event.name, ret);
}

static void etch_ue_drop(struct etch_ue *ue)
{
	if (ue->known)
		etch_event_unregister(&ue->event);
	synchronize_rcu();	/* for etch_event_by_id_nowait(), and for etch_ue_hit() */
	etch_ue_free(ue);
}

/* An event that goes is the first: a new one may have its name. @gone: says which it is. */
static struct etch_ue *etch_ue_next_note(bool *gone)
{
	struct etch_ue *ue;

	guard(mutex)(&event_mutex);
	*gone = !list_empty(&etch_ue_gone);
	ue = list_first_entry_or_null(*gone ? &etch_ue_gone : &etch_ue_new, struct etch_ue, node);
	if (ue)
		list_del_init(&ue->node);
	return ue;
}

/**
 * etch_ue_sync() - make new events known, and take those away that have gone
 *
 * When it returns, the events agree with what the caller did.
 *
 * Context: process, may sleep; holds neither etch_mutex nor event_mutex.
 */
void etch_ue_sync(void)
{
	struct etch_ue *ue;
	bool gone;

	guard(mutex)(&etch_mutex);
	while ((ue = etch_ue_next_note(&gone))) {
		if (gone)
			etch_ue_drop(ue);
		else
			etch_ue_add(ue);
	}
}
