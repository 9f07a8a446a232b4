// SPDX-License-Identifier: GPL-2.0
/*
 * The events: which there are, and their ids.
 *
 * Built-in events are found in the section _etch_events at boot, a module's when
 * it comes. An id stands for one layout as long as records of it may be around: when
 * a module goes, its events leave a copy of their descriptors under their ids, so
 * that old records can still be printed (field by field, because the code of
 * TP_printk() has gone with the module; its text stays, for the names of values in it).
 * When an event of the same name and layout comes, it takes the id over, and its
 * records from before print as its own.
 */
#define pr_fmt(fmt) "etch: " fmt

#include <linux/align.h>
#include <linux/etch.h>
#include <linux/idr.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "event/event.h"

DEFINE_MUTEX(etch_mutex);
DECLARE_RWSEM(etch_event_sem);
unsigned int etch_generation;
DEFINE_PER_CPU(struct etch_cpu_rings, etch_cpu_rings);

/* Events and retired events by id, and how many are retired. Under etch_event_sem. */
static DEFINE_IDR(etch_ids);
static unsigned int etch_nr_retired;

/**
 * etch_event_by_id() - whose records carry an id
 * @id: the id
 *
 * Context: holds etch_event_sem, and uses what it gets under it only.
 * Return: the event, a retired one, or NULL.
 */
const struct etch_event *etch_event_by_id(unsigned int id)
{
	lockdep_assert_held(&etch_event_sem);
	return idr_find(&etch_ids, id);
}

/**
 * etch_event_by_id_nowait() - etch_event_by_id() that waits for nobody
 * @id: the id
 *
 * Modules wait for RCU between taking their events away and going.
 *
 * Context: any, NMI included; an RCU reader, and uses what it gets as one only.
 * Return: as there.
 */
const struct etch_event *etch_event_by_id_nowait(unsigned int id)
{
	return idr_find(&etch_ids, id);
}

/**
 * etch_event_next() - the event or retired event with the smallest id from one on
 * @id: the one
 *
 * Context: holds etch_event_sem, and uses what it gets under it only.
 * Return: the event, or NULL: there is none.
 */
const struct etch_event *etch_event_next(unsigned int id)
{
	int next = id;

	lockdep_assert_held(&etch_event_sem);
	return idr_get_next(&etch_ids, &next);
}

/* Adds up the offsets of @class's fields; they must end where the struct does. */
static int etch_class_layout(const struct etch_class *class)
{
	struct etch_field *fields = (struct etch_field *)class->fields;
	unsigned int end = sizeof(struct etch_head);
	int i;

	for (i = 0; i < class->nr_fields; i++) {
		unsigned int align = fields[i].kind >= ETCH_FIELD_DATA_LOC ?
				     sizeof(u32) : fields[i].align;

		end = ALIGN(end, align);
		/* Classes are shared: all but the first time it is there already. */
		if (fields[i].offset != end)
			fields[i].offset = end;
		end += fields[i].size;
	}
	if (WARN(end != class->size, "etch: %s: fields end at %u, the struct at %u\n",
		 class->fields[0].name ?: class->system, end, class->size))
		return -EINVAL;
	return 0;
}

/* The scheduler's events that are about two tasks, and the field that has the other one. */
static const struct etch_two_tasks {
	const char *event;
	const char *field;
} etch_two_tasks[] = {
	{ "sched_switch", "next_pid" },
	{ "sched_wakeup", "pid" },
	{ "sched_wakeup_new", "pid" },
	{ "sched_waking", "pid" },
};

static u16 etch_event_other(const struct etch_event *event)
{
	const struct etch_class *class = event->class;
	const struct etch_two_tasks *two;
	int i;

	if (strcmp(class->system, "sched"))
		return 0;
	for (two = etch_two_tasks; two < etch_two_tasks + ARRAY_SIZE(etch_two_tasks); two++)
		for (i = 0; !strcmp(two->event, event->name) && i < class->nr_fields; i++)
			if (!strcmp(two->field, class->fields[i].name) &&
			    class->fields[i].size == sizeof(pid_t))
				return class->fields[i].offset;
	return 0;
}

static bool etch_same_fields(const struct etch_class *a, const struct etch_class *b)
{
	int i;

	if (a->size != b->size || a->nr_fields != b->nr_fields)
		return false;
	for (i = 0; i < a->nr_fields; i++)
		if (strcmp(a->fields[i].type, b->fields[i].type) ||
		    strcmp(a->fields[i].name, b->fields[i].name) ||
		    a->fields[i].size != b->fields[i].size)
			return false;
	return true;
}

/* ---- Retired events: copies that outlive the events of a module ---- */

struct etch_retired {
	struct rcu_head rcu;
	struct etch_event event;
	struct etch_class class;
	struct etch_field fields[];
};

static bool etch_is_retired(const struct etch_event *event)
{
	return list_empty(&event->node);
}

static void etch_retired_free(struct etch_retired *r)
{
	int i;

	for (i = 0; i < r->class.nr_fields; i++) {
		kfree(r->fields[i].type);
		kfree(r->fields[i].name);
	}
	kvfree(r->class.print_fmt);
	kfree(r->class.system);
	kfree(r->event.name);
	kfree(r);
}

static void etch_retired_put(struct rcu_head *rcu)
{
	etch_retired_free(container_of(rcu, struct etch_retired, rcu));
}

static struct etch_retired *etch_retired_copy(const struct etch_event *event)
{
	const struct etch_class *class = event->class;
	struct etch_retired *r;
	bool ok;
	int i;

	r = kzalloc(struct_size(r, fields, class->nr_fields), GFP_KERNEL);
	if (!r)
		return NULL;

	INIT_LIST_HEAD(&r->event.node);
	r->event.id = event->id;
	r->event.user = event->user;
	r->event.class = &r->class;
	r->event.name = kstrdup(event->name, GFP_KERNEL);
	r->class.system = kstrdup(class->system, GFP_KERNEL);
	r->class.size = class->size;
	r->class.nr_fields = class->nr_fields;
	r->class.fields = r->fields;
	r->class.print_fmt = etch_print_fmt_dup(event);
	ok = r->event.name && r->class.system && r->class.print_fmt;
	for (i = 0; i < class->nr_fields; i++) {
		r->fields[i] = class->fields[i];
		r->fields[i].type = kstrdup(class->fields[i].type, GFP_KERNEL);
		r->fields[i].name = kstrdup(class->fields[i].name, GFP_KERNEL);
		ok = ok && r->fields[i].type && r->fields[i].name;
	}
	if (!ok) {
		etch_retired_free(r);
		return NULL;
	}
	return r;
}

static struct etch_retired *etch_retired_find(const struct etch_event *event)
{
	struct etch_event *old;
	int id;

	if (!etch_nr_retired)
		return NULL;
	idr_for_each_entry(&etch_ids, old, id)
		if (etch_is_retired(old) && !strcmp(old->name, event->name) &&
		    !strcmp(old->class->system, event->class->system) &&
		    etch_same_fields(old->class, event->class))
			return container_of(old, struct etch_retired, event);
	return NULL;
}

/* ---- Coming and going ---- */

/* Under etch_event_sem for write. */
static int etch_event_take_id(struct etch_event *event)
{
	struct etch_retired *old = etch_retired_find(event);
	int id;

	if (old) {
		event->id = old->event.id;
		idr_replace(&etch_ids, event, event->id);
		call_rcu(&old->rcu, etch_retired_put);	/* for etch_event_by_id_nowait() */
		etch_nr_retired--;
		return 0;
	}
	id = idr_alloc(&etch_ids, event, 1, ETCH_ID_MAX + 1, GFP_KERNEL);
	if (id < 0)
		return id;
	event->id = id;
	return 0;
}

/* Keeps the list as available_events shows it: an event goes behind its system's. */
static void etch_event_insert(struct etch_event *event)
{
	struct etch_event *other;

	list_for_each_entry_reverse(other, &etch_events, node) {
		if (!strcmp(other->class->system, event->class->system)) {
			list_add(&event->node, &other->node);
			return;
		}
	}
	list_add_tail(&event->node, &etch_events);
}

/* Under etch_event_sem for write. The code that makes packets reads it without the lock. */
static void etch_generation_next(void)
{
	WRITE_ONCE(etch_generation, etch_generation + 1);
}

/**
 * etch_event_register() - make an event known
 * @event: the event, with everything but @id, @mask, @other and @node filled in
 *
 * Context: process; holds etch_mutex.
 * Return: 0, -ENOSPC when there are no ids left, -ENOMEM, or -EINVAL for a
 * layout that does not add up.
 */
int etch_event_register(struct etch_event *event)
{
	int ret;

	lockdep_assert_held(&etch_mutex);
	ret = etch_class_layout(event->class);
	if (ret)
		return ret;
	event->other = etch_event_other(event);

	down_write(&etch_event_sem);
	ret = etch_event_take_id(event);
	if (!ret) {
		etch_event_insert(event);
		etch_generation_next();
	}
	up_write(&etch_event_sem);
	return ret;
}

/*
 * Nobody is past its gate any more. If there is no memory to remember its layout, its id
 * stays taken by nobody: old records have an unknown event, and never another one.
 */
static void etch_event_retire(struct etch_event *event)
{
	struct etch_retired *r;

	etch_rules_drop(event);
	r = etch_retired_copy(event);
	down_write(&etch_event_sem);
	list_del_init(&event->node);
	idr_replace(&etch_ids, r ? &r->event : NULL, event->id);
	etch_nr_retired += !!r;
	etch_generation_next();
	up_write(&etch_event_sem);
}

/**
 * etch_event_unregister() - forget an event, but not its records
 * @event: the event
 *
 * Closes its gate, and waits for those who are past it.
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_event_unregister(struct etch_event *event)
{
	etch_event_close(event);
	synchronize_rcu();
	etch_event_retire(event);
}

/* ---- Modules ---- */

static void etch_events_add(struct etch_event **events, unsigned int nr, struct module *mod)
{
	unsigned int i;
	int ret;

	for (i = 0; i < nr; i++) {
		events[i]->mod = mod;
		ret = etch_event_register(events[i]);
		if (ret)
			pr_warn("no event %s:%s: error %d\n",
				events[i]->class->system, events[i]->name, ret);
	}
}

#ifdef CONFIG_MODULES
/* As etch_event_unregister(), for all at once: they may be hundreds, and one wait will do. */
static void etch_events_remove(struct module *mod)
{
	struct etch_event *event, *next;

	list_for_each_entry(event, &etch_events, node)
		if (event->mod == mod)
			etch_event_close(event);
	synchronize_rcu();
	list_for_each_entry_safe(event, next, &etch_events, node)
		if (event->mod == mod)
			etch_event_retire(event);
}

static int etch_module_notify(struct notifier_block *nb, unsigned long state, void *data)
{
	struct module *mod = data;

	if (!mod->num_etch_events || trace_module_has_bad_taint(mod))
		return NOTIFY_OK;

	mutex_lock(&etch_mutex);
	if (state == MODULE_STATE_COMING)
		etch_events_add(mod->etch_events, mod->num_etch_events, mod);
	else if (state == MODULE_STATE_GOING)
		etch_events_remove(mod);
	mutex_unlock(&etch_mutex);
	return NOTIFY_OK;
}

/* The tracepoints' own notifier has priority 0: a gate is there before us, and after. */
static struct notifier_block etch_module_nb = {
	.notifier_call = etch_module_notify,
};
#endif

/*
 * Registers the kernel's own events, and from then on those of modules. The module
 * notifier takes etch_mutex inside the notifier chain's lock: so etch_mutex must not be
 * held when the notifier is registered.
 */
static int __init etch_events_init(void)
{
	int ret = 0;

	mutex_lock(&etch_mutex);
	etch_events_add(__start_etch_events,
			__stop_etch_events - __start_etch_events, NULL);
	mutex_unlock(&etch_mutex);
#ifdef CONFIG_MODULES
	ret = register_module_notifier(&etch_module_nb);
#endif
	if (ret)
		pr_err("the events of modules cannot be recorded: error %d\n", ret);
	return ret;
}
fs_initcall(etch_events_init);
