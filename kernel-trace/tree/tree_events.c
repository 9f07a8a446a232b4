// SPDX-License-Identifier: GPL-2.0
/*
 * The events as files: events/ with its folders, available_events and set_event.
 *
 * A folder of events/ is a struct etch_node: one for all events, in it one for each
 * system, in these one for each event. Unlike all other files, those of an event
 * may have to go while they are open, because a module goes; that is done under
 * etch_mutex, and whoever uses the files wants etch_mutex. So debugfs must not
 * guard them: when it removes a file it waits for those who are in its functions,
 * and these would wait for etch_mutex. Instead an open file keeps the node; when the
 * folder has gone the node says so, and all that is left to do with the file is to
 * close it. Opening alone is guarded by debugfs, and must not wait for etch_mutex.
 */
#define pr_fmt(fmt) "etch: " fmt

#include <linux/bitmap.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "tree/tree.h"

/* Room for the name of every event that there can be. */
#define ETCH_SET_EVENT_MAX	(512 * 1024)

/* Longer than any name. */
#define ETCH_SET_EVENT_WORD	256

/*
 * How many bytes of words are compared with events before others may have etch_mutex:
 * milliseconds.
 */
#define ETCH_SET_EVENT_TURN	(256 * 1024)

/* Does a folder stand for an event? Ask with the node not gone. */
static bool etch_node_has(const struct etch_node *node, const struct etch_event *event)
{
	if (event->hidden)
		return false;
	if (node->event)
		return node->event == event;
	return !node->system || !strcmp(node->system, event->class->system);
}

/* ---- Changing several events, or none ---- */

/* Which events are enabled, by their place in the list. */
static unsigned long *etch_enabled_save(struct etch_instance *inst)
{
	struct etch_event *event;
	unsigned long *bits;
	unsigned int i = 0;

	bits = bitmap_zalloc(ETCH_ID_MAX, GFP_KERNEL);
	if (!bits)
		return NULL;
	list_for_each_entry(event, &etch_events, node)
		__assign_bit(i++, bits, etch_event_enabled(&inst->rec, event));
	return bits;
}

/* The events as they come, and the place in the list of the last one. */
struct etch_places {
	const struct etch_event *event;
	unsigned int i;
};

static struct etch_places etch_places_first(void)
{
	return (struct etch_places){
		.event = list_first_entry(&etch_events, struct etch_event, node),
	};
}

/* The place of an event that is behind the last one, or is it. */
static unsigned int etch_place(struct etch_places *at, const struct etch_event *event)
{
	/* Hidden ones have a place, and are not asked for. */
	while (at->event != event) {
		at->event = list_next_entry(at->event, node);
		at->i++;
	}
	return at->i;
}

/* The bits that were saved. */
struct etch_enabled {
	const unsigned long *bits;
	struct etch_places at;
};

static enum etch_wish etch_wish_saved(const struct etch_event *event, void *data)
{
	struct etch_enabled *saved = data;

	return test_bit(etch_place(&saved->at, event), saved->bits) ? ETCH_ENABLE : ETCH_DISABLE;
}

static void etch_enabled_restore(struct etch_instance *inst, const unsigned long *bits)
{
	struct etch_enabled saved = { .bits = bits, .at = etch_places_first() };

	etch_events_enable(&inst->rec, etch_wish_saved, &saved);
}

static enum etch_wish etch_wish_enable(const struct etch_event *event, void *data)
{
	return etch_node_has(data, event) ? ETCH_ENABLE : ETCH_LEAVE;
}

static enum etch_wish etch_wish_disable(const struct etch_event *event, void *data)
{
	return etch_node_has(data, event) ? ETCH_DISABLE : ETCH_LEAVE;
}

/* All events of a folder; if one of them refuses, all stay as they were. */
static int etch_node_enable(struct etch_node *node, bool on)
{
	struct etch_instance *inst = node->inst;
	unsigned long *saved;
	int ret;

	ret = on ? etch_instance_grow(inst) : 0;
	if (ret)
		return ret;
	if (node->event)
		return etch_event_enable(&inst->rec, node->event, on);

	saved = etch_enabled_save(inst);
	if (!saved)
		return -ENOMEM;
	ret = etch_events_enable(&inst->rec, on ? etch_wish_enable : etch_wish_disable, node);
	if (ret)
		etch_enabled_restore(inst, saved);
	bitmap_free(saved);
	return ret;
}

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

/* ---- enable, id and format ---- */

static void etch_enable_show(struct seq_file *m, const struct etch_node *node)
{
	struct etch_event *event;
	bool on = false, off = false;

	list_for_each_entry(event, &etch_events, node) {
		if (!etch_node_has(node, event))
			continue;
		if (etch_event_enabled(&node->inst->rec, event))
			on = true;
		else
			off = true;
	}
	seq_puts(m, on && off ? "X\n" : on ? "1\n" : "0\n");
}

static int etch_enable_store(struct etch_node *node, const struct etch_input *in)
{
	bool on;
	int ret;

	ret = etch_input_bool(in, &on);
	if (ret)
		return ret;
	if (node->gone)
		return -ENODEV;
	ret = etch_node_enable(node, on);
	if (ret)
		return etch_bad(in, in->text, ret, "Refused, error %d", ret);
	return 0;
}

static void etch_id_show(struct seq_file *m, const struct etch_node *node)
{
	seq_printf(m, "%u\n", node->event->id);
}

static void etch_node_format_show(struct seq_file *m, const struct etch_node *node)
{
	etch_format_show(m, node->event);
}

const struct etch_event_control etch_event_controls[] = {
	{ "enable", 0600, ETCH_OF_ALL | ETCH_OF_SYSTEM | ETCH_OF_EVENT,
	  .show = etch_enable_show, .store = etch_enable_store },
	{ "id", 0400, ETCH_OF_EVENT, .show = etch_id_show },
	{ "format", 0400, ETCH_OF_EVENT, .show = etch_node_format_show },
	{}
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

/* ---- available_events and set_event ---- */

/**
 * etch_available_events_show() - print all events but the hidden ones
 * @m: the file
 * @of: the file's
 *
 * Context: process; holds etch_mutex.
 */
void etch_available_events_show(struct seq_file *m, const struct etch_view_of *of)
{
	struct etch_event *event;

	list_for_each_entry(event, &etch_events, node)
		if (!event->hidden)
			seq_printf(m, "%s:%s\n", event->class->system, event->name);
}

/**
 * struct etch_selection - set_event, opened
 * @inst: whose
 * @replace: opened with O_TRUNC, and nothing was written since. What is written first
 *	     replaces the selection. Not the opening: a typo must not cost it
 * @failed: what was written was refused
 */
struct etch_selection {
	struct etch_instance *inst;
	bool replace;
	bool failed;
};

static int etch_set_event_show(struct seq_file *m, void *v)
{
	struct etch_selection *sel = m->private;
	struct etch_event *event;

	mutex_lock(&etch_mutex);
	list_for_each_entry(event, &etch_events, node)
		if (!event->hidden && etch_event_enabled(&sel->inst->rec, event))
			seq_printf(m, "%s:%s\n", event->class->system, event->name);
	mutex_unlock(&etch_mutex);
	return 0;
}

/* A copy of the first word at *@at or behind, which is then there; NULL: no more. */
static char *etch_word(const char **at)
{
	const char *word = skip_spaces(*at);
	size_t len = strcspn(word, " \t\n\v\f\r");

	*at = word;
	return len ? kmemdup_nul(word, len, GFP_KERNEL) ?: ERR_PTR(-ENOMEM) : NULL;
}

/* Where in a word that names no event the fault is: behind "SYSTEM:", if that exists. */
static size_t etch_word_fault(char *word)
{
	char *colon = strchr(word, ':'), name = '\0';
	bool system = false;

	if (colon) {
		swap(colon[1], name);
		system = etch_events_match(word, NULL, 0) > 0;
		swap(colon[1], name);
	}
	return system ? colon + 1 - word : 0;
}

/**
 * struct etch_choice - what one write to set_event makes of all events
 * @in: what was written
 * @replace: events that no word names are disabled
 * @generation: etch_generation, while the places of events in the list are as they were
 * @nr: how many events there are
 * @last: for each event, by its place: where in @in->text the last word that names it
 *	  begins, plus 1; 0 stands for none
 * @at: the event that was looked at last
 */
struct etch_choice {
	const struct etch_input *in;
	bool replace;
	unsigned int generation;
	unsigned int nr;
	u32 *last;
	struct etch_places at;
};

static int etch_choice_begin(struct etch_choice *c)
{
	struct etch_event *event;

	c->generation = etch_generation;
	c->nr = 0;
	list_for_each_entry(event, &etch_events, node)
		c->nr++;
	c->last = kvcalloc(max(c->nr, 1U), sizeof(*c->last), GFP_KERNEL);
	return c->last ? 0 : -ENOMEM;
}

static int etch_word_choose(struct etch_choice *c, char *word, const char *at)
{
	bool not = *word == '!';
	int ret;

	if (strlen(word) > ETCH_SET_EVENT_WORD)
		return etch_bad(c->in, at, -EINVAL, "Longer than %u bytes", ETCH_SET_EVENT_WORD);
	ret = etch_events_match(word + not, c->last, at - c->in->text + 1);
	if (ret < 0)
		return ret;
	if (!ret || !word[not])
		return etch_bad(c->in, at + not + etch_word_fault(word + not), -EINVAL,
				"No such event");
	return 0;
}

/*
 * Others have etch_mutex, if they want it: one who waits in vain when it is free is handed
 * it the next time. Returns false if events came or went meanwhile.
 */
static bool etch_choice_let_others(const struct etch_choice *c)
{
	mutex_unlock(&etch_mutex);
	cond_resched();
	mutex_lock(&etch_mutex);
	return c->generation == etch_generation;
}

/*
 * Look at each word, and enable or disable nothing yet. There may be many, and each has every
 * event looked at: a writer that has been killed does not go on, and etch_mutex, for which
 * modules wait that are loaded, is let go of between words. -EAGAIN: begin again, with the
 * events that there are now.
 */
static int etch_choice_words(struct etch_choice *c)
{
	const char *at = c->in->text;
	size_t looked = 0;
	char *word;
	int ret;

	while ((word = etch_word(&at))) {
		if (IS_ERR(word))
			return PTR_ERR(word);
		ret = etch_word_choose(c, word, at);
		looked += strlen(word) * c->nr;
		at += strlen(word);
		kfree(word);
		if (ret)
			return ret;
		if (fatal_signal_pending(current))
			return -EINTR;
		if (looked < ETCH_SET_EVENT_TURN)
			continue;
		looked = 0;
		if (!etch_choice_let_others(c))
			return -EAGAIN;
	}
	return 0;
}

static int etch_choice_make(struct etch_choice *c)
{
	int ret;

	do {
		kvfree(c->last);
		ret = etch_choice_begin(c) ?: etch_choice_words(c);
	} while (ret == -EAGAIN);
	return ret;
}

/* The word that decides on an event; NULL: there is none. */
static const char *etch_choice_word(struct etch_choice *c, const struct etch_event *event)
{
	u32 last = c->last[etch_place(&c->at, event)];

	return last ? c->in->text + last - 1 : NULL;
}

static enum etch_wish etch_wish_chosen(const struct etch_event *event, void *data)
{
	struct etch_choice *c = data;
	const char *word = etch_choice_word(c, event);

	if (!word)
		return c->replace ? ETCH_DISABLE : ETCH_LEAVE;
	return *word == '!' ? ETCH_DISABLE : ETCH_ENABLE;
}

/* The word by which the first event that could not be enabled was to be. */
static const char *etch_choice_refused(struct etch_choice *c)
{
	struct etch_event *event;

	c->at = etch_places_first();
	list_for_each_entry(event, &etch_events, node)
		if (!event->hidden && etch_wish_chosen(event, c) == ETCH_ENABLE &&
		    !etch_event_enabled(&c->in->inst->rec, event))
			return etch_choice_word(c, event);
	return c->in->text;
}

/* All of what was chosen, or nothing. */
static int etch_choice_do(struct etch_choice *c)
{
	struct etch_instance *inst = c->in->inst;
	unsigned long *saved;
	int ret;

	ret = *c->in->text ? etch_instance_grow(inst) : 0;
	if (ret)
		return etch_bad(c->in, c->in->text, ret, "Not enough memory for the buffer");
	saved = etch_enabled_save(inst);
	if (!saved)
		return -ENOMEM;
	c->at = etch_places_first();
	ret = etch_events_enable(&inst->rec, etch_wish_chosen, c);
	if (ret) {
		etch_bad(c->in, etch_choice_refused(c), ret, "Refused, error %d", ret);
		etch_enabled_restore(inst, saved);
	}
	bitmap_free(saved);
	return ret;
}

/*
 * Two writes to one open file may both look at their words. What is done by them is done one
 * after the other, and only the first replaces.
 */
static int etch_select(struct etch_selection *sel, const struct etch_input *in)
{
	struct etch_choice c = { .in = in };
	int ret;

	ret = etch_choice_make(&c);
	c.replace = sel->replace;
	if (!ret)
		ret = etch_choice_do(&c);
	kvfree(c.last);
	return ret;
}

static ssize_t etch_set_event_write(struct file *filp, const char __user *buf, size_t count,
				    loff_t *pos)
{
	struct etch_selection *sel = ((struct seq_file *)filp->private_data)->private;
	struct etch_input *in;
	int ret;

	in = etch_input_get(sel->inst, ETCH_ALL_CPUS, buf, count, ETCH_SET_EVENT_MAX,
			    "set_event");
	mutex_lock(&etch_mutex);
	ret = IS_ERR(in) ? PTR_ERR(in) : etch_select(sel, in);
	sel->failed = ret;
	if (!ret)
		sel->replace = false;
	mutex_unlock(&etch_mutex);
	if (!IS_ERR(in))
		kvfree(in);
	if (ret)
		return ret;
	*pos += count;
	return count;
}

static int etch_set_event_open(struct inode *inode, struct file *filp)
{
	const struct etch_view_of *of = inode->i_private;
	struct etch_selection *sel;
	int ret;

	ret = etch_view_open(of);
	if (ret)
		return ret;
	sel = kzalloc(sizeof(*sel), GFP_KERNEL);
	ret = sel ? single_open(filp, etch_set_event_show, sel) : -ENOMEM;
	if (ret) {
		kfree(sel);
		etch_instance_put(of->inst);
		return ret;
	}
	sel->inst = of->inst;
	sel->replace = (filp->f_mode & FMODE_WRITE) && (filp->f_flags & O_TRUNC);
	return 0;
}

static int etch_set_event_release(struct inode *inode, struct file *filp)
{
	struct etch_selection *sel = ((struct seq_file *)filp->private_data)->private;
	struct etch_instance *inst = sel->inst;

	/* Opened to replace the selection, by nothing. */
	if (sel->replace && !sel->failed) {
		mutex_lock(&etch_mutex);
		etch_events_disable_all(&inst->rec);
		mutex_unlock(&etch_mutex);
	}
	kfree(sel);
	single_release(inode, filp);
	etch_instance_put(inst);
	return 0;
}

const struct file_operations etch_set_event_fops = {
	.open = etch_set_event_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.write = etch_set_event_write,
	.release = etch_set_event_release,
};
