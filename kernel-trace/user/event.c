// SPDX-License-Identifier: GPL-2.0
/*
 * The events of programs: what they are called, what they look like, and their gates.
 *
 * An event belongs to no process. It stays when the last program that has registered it ends, so
 * a user can enable it before the program starts again. Programs that register the same name
 * with the same fields share one event. With other fields, the event that is there gives way if
 * no program has it and no instance wants it; otherwise the new one gets a name of its own, with
 * a number that the fields give.
 *
 * Each open file has an array of gates, of which the program has mapped the pages. Its place in
 * the array is in a list of the event. The kernel writes gates, and never reads one.
 */
#define pr_fmt(fmt) "etch: " fmt

#include <linux/align.h>
#include <linux/crc32.h>
#include <linux/cred.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/gfp.h>
#include <linux/kstrtox.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uidgid.h>

#include "event/event.h"
#include "user/user.h"

#define ETCH_USER_NR_FIELDS	32

/**
 * struct etch_user_event - an event that programs have registered
 * @node: in etch_user_events
 * @gates: struct etch_user_gate of the open files that have it
 * @mask: what their gates are
 * @owner: the user who registered it first, and whose quota it counts for
 * @text: what all strings of the event are in
 * @event: the event
 * @class: its layout
 * @fields: of @class
 */
struct etch_user_event {
	struct list_head node;
	struct list_head gates;
	u32 mask;
	kuid_t owner;
	char *text;
	struct etch_event event;
	struct etch_class class;
	struct etch_field fields[ETCH_USER_NR_FIELDS];
};

/* Under etch_mutex. */
static LIST_HEAD(etch_user_events);

/* ---- Fields ---- */

/* The types that a field may have. */
static const struct etch_user_type {
	const char *name;
	unsigned int size;
	bool is_signed;
} etch_user_types[] = {
	{ "u8", 1, false }, { "u16", 2, false },
	{ "u32", 4, false }, { "u64", 8, false },
	{ "s8", 1, true }, { "s16", 2, true },
	{ "s32", 4, true }, { "s64", 8, true },
	{ "char", 1, true }, { "signed char", 1, true },
	{ "unsigned char", 1, false }, { "bool", 1, false },
	{ "short", 2, true }, { "unsigned short", 2, false },
	{ "int", 4, true }, { "unsigned int", 4, false },
	{ "long", 8, true }, { "unsigned long", 8, false },
	{ "long long", 8, true }, { "unsigned long long", 8, false },
};

static const struct etch_user_type *etch_user_type(const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(etch_user_types); i++)
		if (strlen(etch_user_types[i].name) == len &&
		    !strncmp(etch_user_types[i].name, name, len))
			return &etch_user_types[i];
	return NULL;
}

static bool etch_user_is_name(const char *name, size_t len)
{
	size_t i;

	if (!len || isdigit(*name))
		return false;
	for (i = 0; i < len; i++)
		if (!isascii(name[i]) || (!isalnum(name[i]) && name[i] != '_'))
			return false;
	return true;
}

/* "[16]" is 16; "" is 1; 0: it is neither. */
static unsigned int etch_user_elements(const char *text)
{
	size_t len = strlen(text);
	unsigned int nr;
	char digits[8];

	if (!len)
		return 1;
	if (*text != '[' || text[len - 1] != ']' || !isdigit(text[1]) || len > sizeof(digits))
		return 0;
	memcpy(digits, text + 1, len - 2);
	digits[len - 2] = '\0';
	return !kstrtouint(digits, 10, &nr) && nr <= 1024 ? nr : 0;
}

/* "TYPE NAME" or "TYPE NAME[4]"; @f gets its type, which is written to @type, and its name. */
static bool etch_user_fixed(struct etch_field *f, char *text, char **type)
{
	const struct etch_user_type *t;
	char *name = strrchr(text, ' '), *bracket;
	unsigned int nr;

	if (!name)
		return false;
	*name++ = '\0';
	t = etch_user_type(text, strlen(text));
	bracket = strchrnul(name, '[');
	nr = etch_user_elements(bracket);
	if (!t || !nr)
		return false;
	f->kind = *bracket ? ETCH_FIELD_ARRAY : ETCH_FIELD_FIXED;
	f->elem_size = t->size;
	f->size = t->size * nr;
	f->align = min(t->size, 4U);
	f->is_signed = t->is_signed;
	f->is_string = *bracket && !strcmp(text, "char");
	f->type = *type;
	*type += sprintf(*type, "%s%s", text, bracket) + 1;
	*bracket = '\0';
	f->name = name;
	return etch_user_is_name(name, strlen(name));
}

/* "__data_loc char[] NAME", and the same with __rel_loc or another type. */
static bool etch_user_dynamic(struct etch_field *f, char *text, char **type)
{
	char *elem = strchr(text, ' ') + 1, *end = strstr(elem, "[] ");
	const struct etch_user_type *t = end ? etch_user_type(elem, end - elem) : NULL;

	if (!t)
		return false;
	f->kind = *text == '_' && text[2] == 'd' ? ETCH_FIELD_DATA_LOC : ETCH_FIELD_REL_LOC;
	f->elem_size = t->size;
	f->size = sizeof(u32);
	f->align = min(t->size, 4U);
	f->is_signed = t->is_signed;
	f->is_string = !strcmp(t->name, "char");
	end[2] = '\0';
	f->type = *type;
	*type += sprintf(*type, "%s", text) + 1;
	f->name = end + 3;
	return etch_user_is_name(f->name, strlen(f->name));
}

static bool etch_user_field(struct etch_field *f, char *text, char **type)
{
	if (str_has_prefix(text, "__data_loc ") || str_has_prefix(text, "__rel_loc "))
		return etch_user_dynamic(f, text, type);
	return etch_user_fixed(f, text, type);
}

/* Two fields of one name are none for a program that reads the trace. */
static bool etch_user_taken(const struct etch_user_event *ue, const char *name)
{
	unsigned int i;

	for (i = 0; i < ue->class.nr_fields; i++)
		if (!strcmp(ue->fields[i].name, name))
			return true;
	return false;
}

/* Takes @text apart, and writes the types to @types. */
static int etch_user_layout(struct etch_user_event *ue, char *text, char *types)
{
	unsigned int end = sizeof(struct etch_head);
	char *one;

	while ((one = strsep(&text, ";"))) {
		struct etch_field *f = &ue->fields[ue->class.nr_fields];

		one = strim(one);
		if (!*one)
			continue;
		if (ue->class.nr_fields == ETCH_USER_NR_FIELDS)
			return -E2BIG;
		if (!etch_user_field(f, one, &types) || etch_user_taken(ue, f->name))
			return -EINVAL;
		f->offset = ALIGN(end, etch_is_dynamic(f) ? sizeof(u32) : f->align);
		end = f->offset + f->size;
		ue->class.nr_fields++;
	}
	ue->class.size = end;
	return end > ETCH_USER_SUBBUF / 2 ? -E2BIG : 0;
}

/* ---- Gates ---- */

/**
 * etch_user_gates_alloc() - make an open file's array of gates
 *
 * Context: process, may sleep.
 * Return: the array, all gates closed; or NULL.
 */
struct etch_user_gates *etch_user_gates_alloc(void)
{
	struct etch_user_gates *gates = kzalloc(sizeof(*gates), GFP_KERNEL_ACCOUNT);

	if (!gates)
		return NULL;
	gates->links = kvcalloc(ETCH_USER_GATES, sizeof(*gates->links), GFP_KERNEL_ACCOUNT);
	gates->masks = (u32 *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (gates->links && gates->masks)
		return gates;
	kvfree(gates->links);
	free_page((unsigned long)gates->masks);
	kfree(gates);
	return NULL;
}

/**
 * etch_user_gates_free() - an open file goes: its gates are no event's any more
 * @gates: its array, which nobody has mapped
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_user_gates_free(struct etch_user_gates *gates)
{
	unsigned int i;

	for (i = 0; i < ETCH_USER_GATES; i++) {
		if (!gates->links[i])
			continue;
		list_del(&gates->links[i]->node);
		kfree(gates->links[i]);
	}
	kvfree(gates->links);
	/* Pages that are mapped still are not freed. */
	free_page((unsigned long)gates->masks);
	kfree(gates);
}

/* Bit 0 of a mask is no instance's. */
static int etch_user_gate(struct etch_event *event, u64 mask)
{
	struct etch_user_event *ue = event->data;
	struct etch_user_gate *gate;

	WRITE_ONCE(ue->mask, mask >> ETCH_MAIN);
	list_for_each_entry(gate, &ue->gates, node)
		WRITE_ONCE(*gate->mask, ue->mask);
	return 0;
}

/**
 * etch_user_event_mask() - which instances want records of an event?
 * @event: an event of programs
 *
 * Context: process; holds etch_event_sem.
 * Return: what its gates are: a bit for each instance from ETCH_MAIN on.
 */
u32 etch_user_event_mask(const struct etch_event *event)
{
	const struct etch_user_event *ue = event->data;

	return READ_ONCE(ue->mask);
}

static int etch_user_gate_link(struct etch_user_gates *gates, unsigned int index,
			       struct etch_user_event *ue)
{
	struct etch_user_gate *gate = kmalloc(sizeof(*gate), GFP_KERNEL_ACCOUNT);

	if (!gate)
		return -ENOMEM;
	gate->mask = &gates->masks[index];
	list_add_tail(&gate->node, &ue->gates);
	gates->links[index] = gate;
	WRITE_ONCE(*gate->mask, ue->mask);
	return 0;
}

/* ---- Coming and going ---- */

static void etch_user_event_free(struct etch_user_event *ue)
{
	kfree(ue->class.print_fmt);
	kfree(ue->text);
	kfree(ue);
}

/* @name is "PROVIDER:EVENT". The strings of the event are parts of one copy of both texts. */
static struct etch_user_event *etch_user_event_make(const char *name, const char *fields)
{
	size_t room = strlen(name) + 10 + 2 * strlen(fields) + 2 * ETCH_USER_NR_FIELDS + 4;
	struct etch_user_event *ue = kzalloc(sizeof(*ue), GFP_KERNEL_ACCOUNT);
	char *event, *text;
	int ret = -ENOMEM;

	if (!ue)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&ue->gates);
	ue->owner = current_uid();
	ue->text = kzalloc(room, GFP_KERNEL_ACCOUNT);
	if (!ue->text)
		goto err;
	memcpy(ue->text, name, strlen(name) + 1);
	event = strchr(ue->text, ':');
	*event++ = '\0';
	/* Room behind the name for "_" and a number. */
	text = event + strlen(event) + 10;
	memcpy(text, fields, strlen(fields) + 1);
	ue->event.name = event;
	ue->event.class = &ue->class;
	ue->event.gate = etch_user_gate;
	ue->event.data = ue;
	ue->event.user = true;
	ue->class.system = ue->text;
	ue->class.fields = ue->fields;
	ret = etch_user_layout(ue, text, text + strlen(text) + 1);
	if (ret)
		goto err;
	ue->class.print_fmt = etch_print_fmt_make(&ue->class);
	if (ue->class.print_fmt)
		return ue;
	ret = -ENOMEM;
err:
	etch_user_event_free(ue);
	return ERR_PTR(ret);
}

static bool etch_user_agrees(const struct etch_user_event *a, const struct etch_user_event *b)
{
	unsigned int i;

	if (a->class.nr_fields != b->class.nr_fields)
		return false;
	for (i = 0; i < a->class.nr_fields; i++)
		if (strcmp(a->fields[i].type, b->fields[i].type) ||
		    strcmp(a->fields[i].name, b->fields[i].name))
			return false;
	return true;
}

static struct etch_user_event *etch_user_find(const char *system, const char *name)
{
	struct etch_user_event *ue;

	list_for_each_entry(ue, &etch_user_events, node)
		if (!strcmp(ue->class.system, system) && !strcmp(ue->event.name, name))
			return ue;
	return NULL;
}

static bool etch_user_idle(const struct etch_user_event *ue)
{
	return list_empty(&ue->gates) && !ue->event.mask;
}

static void etch_user_event_drop(struct etch_user_event *ue)
{
	list_del(&ue->node);
	etch_event_unregister(&ue->event);
	synchronize_rcu();	/* for etch_event_by_id_nowait() */
	etch_user_event_free(ue);
}

/* Parts of the kernel keep the names of their systems for themselves. */
static bool etch_user_system_is_ours(const char *system)
{
	const struct etch_event *event;

	list_for_each_entry(event, &etch_events, node)
		if (!event->user && !strcmp(event->class->system, system))
			return true;
	return false;
}

/* A user who has no room for one more gives up the oldest of those that nobody uses. */
static int etch_user_make_room(kuid_t owner)
{
	struct etch_user_event *ue, *idle = NULL;
	unsigned int nr = 0;

	list_for_each_entry(ue, &etch_user_events, node) {
		if (!uid_eq(ue->owner, owner))
			continue;
		nr++;
		if (!idle && etch_user_idle(ue))
			idle = ue;
	}
	if (nr < ETCH_USER_QUOTA)
		return 0;
	if (!idle)
		return -EDQUOT;
	etch_user_event_drop(idle);
	return 0;
}

/* The event that @ue is, if there is one already; NULL: @ue is new, and its name is its own. */
static struct etch_user_event *etch_user_event_settle(struct etch_user_event *ue,
						      const char *fields)
{
	struct etch_user_event *old = etch_user_find(ue->class.system, ue->event.name);

	if (!old || etch_user_agrees(old, ue))
		return old;
	if (etch_user_idle(old)) {
		etch_user_event_drop(old);
		return NULL;
	}
	sprintf((char *)ue->event.name + strlen(ue->event.name), "_%08x",
		crc32_le(~0, fields, strlen(fields)));
	old = etch_user_find(ue->class.system, ue->event.name);
	if (old && !etch_user_agrees(old, ue))
		return ERR_PTR(-EEXIST);
	return old;
}

static struct etch_user_event *etch_user_event_get(const char *name, const char *fields)
{
	struct etch_user_event *ue = etch_user_event_make(name, fields), *old;
	int ret = 0;

	if (IS_ERR(ue))
		return ue;
	old = etch_user_system_is_ours(ue->class.system) ? ERR_PTR(-EEXIST) :
							   etch_user_event_settle(ue, fields);
	if (!old)
		ret = etch_user_make_room(ue->owner) ?: etch_event_register(&ue->event);
	if (old || ret) {
		etch_user_event_free(ue);
		return old ?: ERR_PTR(ret);
	}
	list_add_tail(&ue->node, &etch_user_events);
	return ue;
}

static int etch_user_check_name(const char *name)
{
	const char *colon = strchr(name, ':');

	if (!colon || !etch_user_is_name(name, colon - name) ||
	    !etch_user_is_name(colon + 1, strlen(colon + 1)))
		return -EINVAL;
	return 0;
}

/**
 * etch_user_event_add() - register an event for an open file
 * @gates: the file's gates
 * @gate: the index of the event's
 * @name: "PROVIDER:EVENT"
 * @fields: see struct etch_user_register
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: the event's id; or -EINVAL, -EEXIST, -EDQUOT, -ENOSPC, -E2BIG, -ENOMEM, and the gate is
 * free as before. An event that no program has may have come or gone.
 */
int etch_user_event_add(struct etch_user_gates *gates, unsigned int gate, const char *name,
			const char *fields)
{
	struct etch_user_event *ue;
	int ret;

	lockdep_assert_held(&etch_mutex);
	if (gate >= ETCH_USER_GATES)
		return -EINVAL;
	ret = etch_user_check_name(name);
	if (ret)
		return ret;
	if (gates->links[gate])
		return -EEXIST;
	ue = etch_user_event_get(name, fields);
	if (IS_ERR(ue))
		return PTR_ERR(ue);
	ret = etch_user_gate_link(gates, gate, ue);
	return ret ?: ue->event.id;
}

/**
 * etch_user_event_remove() - forget an event, but not its records
 * @name: "PROVIDER:EVENT"
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0; -ENOENT; -EPERM: it is another user's; -EBUSY: a program has registered it, or an
 * instance has it enabled.
 */
int etch_user_event_remove(const char *name)
{
	const char *colon = strchr(name, ':');
	struct etch_user_event *ue;

	lockdep_assert_held(&etch_mutex);
	list_for_each_entry(ue, &etch_user_events, node) {
		if (!colon || strncmp(ue->class.system, name, colon - name) ||
		    ue->class.system[colon - name] || strcmp(ue->event.name, colon + 1))
			continue;
		if (!uid_eq(ue->owner, current_uid()) && !capable(CAP_SYS_ADMIN))
			return -EPERM;
		if (!etch_user_idle(ue))
			return -EBUSY;
		etch_user_event_drop(ue);
		return 0;
	}
	return -ENOENT;
}
