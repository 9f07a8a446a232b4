// SPDX-License-Identifier: GPL-2.0
/*
 * The folders of events/: names, each of which stands for an event, for a system, or for all.
 *
 * An event may go while its folder or one of its files is open, because its module goes. So a
 * node has the names, and looks for the event again when events have come or gone.
 */
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "tree/fs.h"

/**
 * etch_node_make() - make a node
 * @inst: the instance; a user of the node holds it
 * @system: the name of a system; NULL: all events
 * @event: the name of one of its events; NULL: all of them
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: the node, with one reference; or NULL.
 */
struct etch_node *etch_node_make(struct etch_instance *inst, const char *system,
				 const char *event)
{
	struct etch_node *node = kzalloc(sizeof(*node), GFP_KERNEL_ACCOUNT);

	if (!node)
		return NULL;
	kref_init(&node->ref);
	node->inst = inst;
	node->path = kasprintf(GFP_KERNEL_ACCOUNT, "events%s%s%s%s", system ? "/" : "",
			       system ?: "", event ? "/" : "", event ?: "");
	node->system = kstrdup(system, GFP_KERNEL_ACCOUNT);
	if (!node->path || (system && !node->system)) {
		etch_node_put(node);
		return NULL;
	}
	node->one = event;
	node->generation = etch_generation - 1;
	return node;
}

/**
 * etch_node_get() - keep a node
 * @node: the node, of which the caller has a reference
 *
 * Context: any.
 */
void etch_node_get(struct etch_node *node)
{
	kref_get(&node->ref);
}

static void etch_node_release(struct kref *ref)
{
	struct etch_node *node = container_of(ref, struct etch_node, ref);

	kfree(node->system);
	kfree(node->path);
	/* Path walks read @generation without a lock. */
	kfree_rcu(node, rcu);
}

/**
 * etch_node_put() - do not keep a node any longer
 * @node: the node, or NULL
 *
 * Context: any but NMI.
 */
void etch_node_put(struct etch_node *node)
{
	if (node)
		kref_put(&node->ref, etch_node_release);
}

static bool etch_node_find(struct etch_node *node)
{
	struct etch_event *event;

	if (!node->system)
		return true;
	list_for_each_entry(event, &etch_events, node) {
		if (event->hidden || strcmp(node->system, event->class->system))
			continue;
		if (node->one && strcmp(kbasename(node->path), event->name))
			continue;
		node->event = node->one ? event : NULL;
		return true;
	}
	node->event = NULL;
	return false;
}

/**
 * etch_node_there() - does what a node stands for exist?
 * @node: the node; if so, @node->event is right while the caller holds etch_mutex
 *
 * Context: process; holds etch_mutex.
 * Return: true if it does.
 */
bool etch_node_there(struct etch_node *node)
{
	lockdep_assert_held(&etch_mutex);
	if (!etch_node_same(node)) {
		node->gone = !etch_node_find(node);
		WRITE_ONCE(node->generation, etch_generation);
	}
	return !node->gone;
}

/**
 * etch_node_same() - are the events those of the last etch_node_there()?
 * @node: the node
 *
 * A node that was there then is there now.
 *
 * Context: any; RCU keeps @node, or a reference does.
 * Return: true if they are. Without etch_mutex: as of a moment ago.
 */
bool etch_node_same(const struct etch_node *node)
{
	return READ_ONCE(node->generation) == READ_ONCE(etch_generation) &&
	       !READ_ONCE(node->gone);
}
