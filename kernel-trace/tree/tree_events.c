// SPDX-License-Identifier: GPL-2.0
/*
 * The folders of events/, and how their files are opened, read and written.
 *
 * A folder of events/ is a struct etch_node: one for all events, in it one for each
 * system, in these one for each event. Unlike all other files, those of an event
 * may have to go while they are open, because a module goes; they are removed under
 * etch_mutex, which reading and writing them takes, too. So debugfs must not guard
 * them: when it removes a file it waits for the tasks in the file's functions, and
 * these would wait for etch_mutex. Instead an open file keeps the node; when the
 * folder has gone the node says so, and all that is left to do with the file is to
 * close it. Opening alone is guarded by debugfs, and must not wait for etch_mutex.
 */
#define pr_fmt(fmt) "etch: " fmt

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "tree/tree.h"

/* ---- The files of a folder ---- */

static void etch_node_release(struct kref *ref)
{
	struct etch_node *node = container_of(ref, struct etch_node, ref);

	kfree(node->system);
	kfree(node->path);
	kfree(node);
}

static struct etch_node_file *etch_node_file_of(struct file *filp)
{
	return ((struct seq_file *)filp->private_data)->private;
}

/* Printing needs the folder to stay: etch_mutex keeps it. */
static int etch_node_file_show(struct seq_file *m, void *v)
{
	const struct etch_node_file *file = m->private;
	int ret = 0;

	if (!file->control->show)
		return -EINVAL;
	mutex_lock(&etch_mutex);
	if (file->node->gone)
		ret = -ENODEV;
	else
		file->control->show(m, file->node);
	mutex_unlock(&etch_mutex);
	return ret;
}

static int etch_node_file_open(struct inode *inode, struct file *filp)
{
	struct etch_node_file *file = inode->i_private;
	struct etch_node *node = file->node;
	struct etch_view_of of = { .inst = node->inst, .cpu = ETCH_ALL_CPUS };
	int ret;

	ret = etch_view_open(&of);
	if (ret)
		return ret;
	ret = single_open(filp, etch_node_file_show, file);
	if (ret)
		etch_instance_put(node->inst);
	else
		kref_get(&node->ref);
	return ret;
}

static int etch_node_file_release(struct inode *inode, struct file *filp)
{
	struct etch_node *node = etch_node_file_of(filp)->node;
	struct etch_instance *inst = node->inst;

	single_release(inode, filp);
	kref_put(&node->ref, etch_node_release);
	etch_instance_put(inst);
	return 0;
}

static ssize_t etch_node_file_write(struct file *filp, const char __user *buf, size_t count,
				    loff_t *pos)
{
	const struct etch_node_file *file = etch_node_file_of(filp);
	struct etch_node *node = file->node;
	struct etch_input *in;
	int ret;

	if (!file->control->store)
		return -EINVAL;
	in = etch_input_get(node->inst, ETCH_ALL_CPUS, buf, count, PAGE_SIZE,
			    "%s/%s", node->path, file->control->name);
	if (IS_ERR(in))
		return PTR_ERR(in);
	mutex_lock(&etch_mutex);
	ret = file->control->store(node, in);
	mutex_unlock(&etch_mutex);
	kvfree(in);
	if (ret)
		return ret;
	*pos += count;
	return count;
}

static const struct file_operations etch_node_file_fops = {
	.open = etch_node_file_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.write = etch_node_file_write,
	.release = etch_node_file_release,
};

/* ---- The folders ---- */

/* @event: for that of an event; @system: for that of a system; neither: events/ itself. */
static struct etch_node *etch_node_alloc(struct etch_instance *inst, const char *parent,
					 const char *system, struct etch_event *event)
{
	struct etch_node *node;

	node = kzalloc(struct_size(node, files, etch_nr_event_files), GFP_KERNEL);
	if (!node)
		return NULL;
	kref_init(&node->ref);
	INIT_LIST_HEAD(&node->siblings);
	INIT_LIST_HEAD(&node->children);
	node->inst = inst;
	node->event = event;
	node->system = kstrdup(system, GFP_KERNEL);
	node->path = parent ? kasprintf(GFP_KERNEL, "%s/%s", parent,
					event ? event->name : system) :
			      kstrdup("events", GFP_KERNEL);
	if (!node->path || (system && !node->system)) {
		etch_node_release(&node->ref);
		return NULL;
	}
	return node;
}

static unsigned int etch_node_kind(const struct etch_node *node)
{
	return node->event ? ETCH_OF_EVENT : node->system ? ETCH_OF_SYSTEM : ETCH_OF_ALL;
}

/* Makes the files that one room has for this folder, behind the @nr that are there. */
static int etch_node_add_files(struct etch_node *node, const struct etch_event_control *control,
			       unsigned int *nr)
{
	struct dentry *made;

	for (; control && control->name; control++) {
		struct etch_node_file *file = &node->files[*nr];

		if (!(control->folders & etch_node_kind(node)))
			continue;
		file->node = node;
		file->control = control;
		made = debugfs_create_file_unsafe(control->name, control->mode, node->dir, file,
						  &etch_node_file_fops);
		if (IS_ERR(made))
			return PTR_ERR(made);
		(*nr)++;
	}
	return 0;
}

static int etch_node_fill(struct etch_node *node, struct dentry *parent)
{
	struct etch_files *offer;
	unsigned int nr = 0;
	int ret = 0;

	node->dir = etch_tree_mkdir(kbasename(node->path), parent);
	list_for_each_entry(offer, &etch_offers, node) {
		ret = etch_node_add_files(node, offer->of_event, &nr);
		if (ret)
			break;
	}
	return ret;
}

/* With the folders in it, which debugfs removes with their parent. */
static void etch_node_forget(struct etch_node *node)
{
	struct etch_node *child, *next;

	list_for_each_entry_safe(child, next, &node->children, siblings)
		etch_node_forget(child);
	list_del(&node->siblings);
	node->gone = true;
	kref_put(&node->ref, etch_node_release);
}

static void etch_node_remove(struct etch_node *node)
{
	debugfs_remove(node->dir);
	etch_node_forget(node);
}

static struct etch_node *etch_node_add(struct etch_instance *inst, struct etch_node *parent,
				       const char *system, struct etch_event *event)
{
	struct etch_node *node;
	int ret;

	node = etch_node_alloc(inst, parent ? parent->path : NULL, system, event);
	if (!node)
		return ERR_PTR(-ENOMEM);
	ret = etch_node_fill(node, parent ? parent->dir : inst->dir);
	if (ret) {
		etch_node_remove(node);
		return ERR_PTR(ret);
	}
	if (parent)
		list_add_tail(&node->siblings, &parent->children);
	return node;
}

static struct etch_node *etch_node_find(struct etch_node *root, const char *system)
{
	struct etch_node *node;

	/* Events come system by system: it is the last one, mostly. */
	list_for_each_entry_reverse(node, &root->children, siblings)
		if (!strcmp(node->system, system))
			return node;
	return NULL;
}

static int etch_instance_add_event(struct etch_instance *inst, struct etch_event *event)
{
	struct etch_node *system, *node;

	system = etch_node_find(inst->events, event->class->system);
	if (!system)
		system = etch_node_add(inst, inst->events, event->class->system, NULL);
	if (IS_ERR(system))
		return PTR_ERR(system);
	node = etch_node_add(inst, system, NULL, event);
	if (!IS_ERR(node))
		return 0;
	if (list_empty(&system->children))
		etch_node_remove(system);
	return PTR_ERR(node);
}

static void etch_instance_remove_event(struct etch_instance *inst, struct etch_event *event)
{
	struct etch_node *system, *node;

	system = etch_node_find(inst->events, event->class->system);
	if (!system)
		return;
	list_for_each_entry(node, &system->children, siblings) {
		if (node->event == event) {
			etch_node_remove(node);
			break;
		}
	}
	if (list_empty(&system->children))
		etch_node_remove(system);
}

/**
 * etch_tree_add_event() - an event came: make its files in every instance
 * @event: the event
 *
 * Where that fails, the event has no files, and can be set by set_event only.
 *
 * Context: process, may sleep; holds etch_mutex.
 */
static void etch_tree_add_event(struct etch_event *event)
{
	int bit, ret;

	for (bit = ETCH_MAIN; bit < ETCH_BITS; bit++) {
		if (!etch_instances[bit] || !etch_instances[bit]->events)
			continue;
		ret = etch_instance_add_event(etch_instances[bit], event);
		if (ret)
			pr_warn("no files for %s:%s: error %d\n",
				event->class->system, event->name, ret);
	}
}

/**
 * etch_tree_remove_event() - an event goes: so do its files, open or not
 * @event: the event
 *
 * Context: process, may sleep; holds etch_mutex.
 */
static void etch_tree_remove_event(struct etch_event *event)
{
	int bit;

	for (bit = ETCH_MAIN; bit < ETCH_BITS; bit++)
		if (etch_instances[bit] && etch_instances[bit]->events)
			etch_instance_remove_event(etch_instances[bit], event);
}

static const struct etch_event_watcher etch_tree_watcher = {
	.came = etch_tree_add_event,
	.going = etch_tree_remove_event,
};

/**
 * etch_tree_watch() - from now on, show events that come
 *
 * Context: boot; holds etch_mutex.
 */
void __init etch_tree_watch(void)
{
	etch_event_watcher = &etch_tree_watcher;
}

/**
 * etch_tree_add_events() - make events/, for all events there are
 * @inst: the instance; its folder is there
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0, or a negative errno: then it is incomplete, for etch_tree_free_events()
 * after removal of the instance's folder.
 */
int etch_tree_add_events(struct etch_instance *inst)
{
	struct etch_node *root = etch_node_add(inst, NULL, NULL, NULL);
	struct etch_event *event;
	int ret = 0;

	if (IS_ERR(root))
		return PTR_ERR(root);
	inst->events = root;
	list_for_each_entry(event, &etch_events, node) {
		if (!event->hidden)
			ret = etch_instance_add_event(inst, event);
		if (ret)
			break;
	}
	return ret;
}

/**
 * etch_tree_free_events() - forget events/, which has been removed
 * @inst: the instance
 *
 * Context: process; holds etch_mutex.
 */
void etch_tree_free_events(struct etch_instance *inst)
{
	if (inst->events)
		etch_node_forget(inst->events);
	inst->events = NULL;
}
