// SPDX-License-Identifier: GPL-2.0
/*
 * Probe events: kprobes, uprobes and fprobes, from their definitions to events.
 *
 * The parser, the fetching of arguments and the probes themselves are those of
 * kernel/trace/trace_probe.c and its kin, which have ftrace and perf as consumers. Etch is the
 * third: a definition that is made in either tree is an event in both.
 *
 * A definition comes and goes under event_mutex. This file needs etch_mutex for events, which is
 * the outer one of the two. So code that changes definitions leaves a note in one of two lists, and
 * has the notes read when it holds no lock: etch_probes_sync(). In between a definition may have
 * no event yet, or an event no definition any more. Enabling such an event fails.
 *
 * Several probes may share an event. Their arguments have the same names and types, and so one
 * layout; each has its own way to fetch them.
 */
#define pr_fmt(fmt) "etch: " fmt

#include <linux/cleanup.h>
#include <linux/etch.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "event/event.h"
#include "source/probe.h"
#include "trace_probe.h"

/* An eprobe is an event of another event, which need not be one of Etch. */
#define ETCH_PROBE_KINDS \
	(TRACE_EVENT_FL_KPROBE | TRACE_EVENT_FL_UPROBE | TRACE_EVENT_FL_FPROBE)

/* Definitions without an event yet, and events without a definition. Under event_mutex. */
static LIST_HEAD(etch_probes_new);
static LIST_HEAD(etch_probes_gone);

/* ---- Recording ---- */

/**
 * etch_probe_fill() - let a record end where its strings were to end
 * @probe: the event
 * @record: the record
 * @last: the word of its last string
 * @start: where that string ends, or is to be, in bytes from the record's start
 * @left: bytes from there to the record's end
 *
 * A record is as long as its strings say. These were measured before the record was reserved,
 * and may have become shorter: the last one gets zeros.
 *
 * Context: any, NMI included.
 */
void etch_probe_fill(const struct etch_probe *probe, void *record, u32 *last, unsigned int start,
		     unsigned int left)
{
	memset(record + start, 0, left);
	if (get_loc_len(*last))
		*last = make_data_loc(get_loc_len(*last) + left, get_loc_offs(*last));
	else
		*last = make_data_loc(left, start);
}

NOKPROBE_SYMBOL(etch_probe_fill);

/* ---- Gates ---- */

/* Under event_mutex. */
static int etch_probe_register(struct etch_probe *probe, enum trace_reg how)
{
	struct trace_event_call *call;
	int ret;

	if (!probe->tpe)
		return how == TRACE_REG_REGISTER ? -ENODEV : 0;
	call = &probe->tpe->call;
	ret = call->class->reg(call, how, NULL);
	/* A uprobe that perf filters by process. */
	return ret == -EINTR ? -EBUSY : ret;
}

static int etch_probe_gate(struct etch_event *event, u64 mask)
{
	struct etch_probe *probe = event->data;
	u64 old = probe->mask;
	int ret = 0;

	guard(mutex)(&event_mutex);
	WRITE_ONCE(probe->mask, mask);
	if (!old && mask)
		ret = etch_probe_register(probe, TRACE_REG_REGISTER);
	else if (old && !mask)
		ret = etch_probe_register(probe, TRACE_REG_UNREGISTER);
	if (ret)
		WRITE_ONCE(probe->mask, old);
	return ret;
}

/**
 * etch_probe_of() - the probe that an event is of
 * @event: the event
 *
 * Context: any.
 * Return: the probe; or NULL, if the event is of another kind.
 */
struct etch_probe *etch_probe_of(const struct etch_event *event)
{
	return event->gate == etch_probe_gate ? event->data : NULL;
}

/* ---- Notes of what changes ---- */

/**
 * etch_probe_define() - note that there is a new definition
 * @tp: its first probe
 *
 * Context: process, may sleep; holds event_mutex.
 * Return: 0, or -ENOMEM.
 */
int etch_probe_define(struct trace_probe *tp)
{
	struct etch_probe *probe;

	lockdep_assert_held(&event_mutex);
	if (!(tp->event->call.flags & ETCH_PROBE_KINDS))
		return 0;
	probe = etch_probe_make(tp);
	if (!probe)
		return -ENOMEM;
	probe->event.gate = etch_probe_gate;
	probe->event.data = probe;
	probe->tpe = tp->event;
	list_add_tail(&probe->node, &etch_probes_new);
	tp->event->etch = probe;
	return 0;
}

/**
 * etch_probe_busy() - is there an instance that wants a probe?
 * @probe: the probe, or NULL
 *
 * Context: process; holds event_mutex.
 * Return: true if an instance has it enabled, even if it is off, or triggers need it.
 */
bool etch_probe_busy(const struct etch_probe *probe)
{
	return probe && (READ_ONCE(probe->mask) || READ_ONCE(probe->event.mask));
}

/**
 * etch_probe_forget() - note that a definition goes
 * @probe: Etch's half of it, or NULL
 *
 * Context: process; holds event_mutex.
 */
void etch_probe_forget(struct etch_probe *probe)
{
	lockdep_assert_held(&event_mutex);
	if (!probe)
		return;
	probe->tpe = NULL;
	list_move_tail(&probe->node, &etch_probes_gone);
}

/* ---- Events come and go ---- */

/* Markers may have the name, or another event that ftrace does not know. */
static bool etch_probe_name_taken(const struct etch_event *event)
{
	struct etch_event *other;

	list_for_each_entry(other, &etch_events, node)
		if (!strcmp(other->name, event->name) &&
		    !strcmp(other->class->system, event->class->system))
			return true;
	return false;
}

static void etch_probe_add(struct etch_probe *probe)
{
	struct etch_event *event = &probe->event;
	int ret = etch_probe_name_taken(event) ? -EEXIST : etch_event_register(event);

	probe->known = !ret;
	if (ret)
		pr_warn("no event %s:%s: error %d\n", event->class->system, event->name, ret);
}

static void etch_probe_drop(struct etch_probe *probe)
{
	if (probe->known) {
		etch_event_unregister(&probe->event);
		synchronize_rcu();	/* for etch_event_by_id_nowait() */
	}
	etch_probe_free(probe);
}

/*
 * An event that goes is the first: the name of a new definition may be that of an old one.
 * @gone: says which it is.
 */
static struct etch_probe *etch_probe_next_note(bool *gone)
{
	struct etch_probe *probe;

	guard(mutex)(&event_mutex);
	*gone = !list_empty(&etch_probes_gone);
	probe = list_first_entry_or_null(*gone ? &etch_probes_gone : &etch_probes_new,
					 struct etch_probe, node);
	if (probe)
		list_del_init(&probe->node);
	return probe;
}

/**
 * etch_probes_sync() - make events of new definitions, and take those away that have none
 *
 * When it returns, the events agree with what the caller did to definitions.
 *
 * Context: process, may sleep; holds neither etch_mutex nor event_mutex.
 */
void etch_probes_sync(void)
{
	struct etch_probe *probe;
	bool gone;

	guard(mutex)(&etch_mutex);
	while ((probe = etch_probe_next_note(&gone))) {
		if (gone)
			etch_probe_drop(probe);
		else
			etch_probe_add(probe);
	}
}
