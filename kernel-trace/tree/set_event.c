// SPDX-License-Identifier: GPL-2.0
/*
 * The files available_events and set_event.
 */
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "tree/enable.h"

/* Room for the name of every event that there can be. */
#define ETCH_SET_EVENT_MAX	(512 * 1024)

/* Longer than any name. */
#define ETCH_SET_EVENT_WORD	256

/*
 * How many bytes of words are compared with events before others may have etch_mutex:
 * milliseconds.
 */
#define ETCH_SET_EVENT_TURN	(256 * 1024)

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
 * @replace: opened with O_TRUNC, and no write has succeeded since. The first write that
 *	     succeeds replaces the selection. Not the opening: a typo must not cost it
 * @failed: the last write was refused
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
 * @in: the words that the user wrote
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
 * Lets other tasks have etch_mutex: the mutex is handed to a waiter that was woken once and
 * found it taken. Returns false if events came or went meanwhile.
 */
static bool etch_choice_let_others(const struct etch_choice *c)
{
	mutex_unlock(&etch_mutex);
	cond_resched();
	mutex_lock(&etch_mutex);
	return c->generation == etch_generation;
}

/*
 * Look at each word, and enable or disable nothing yet. There may be many words, and each is
 * compared with every event. So the loop ends when the writer has been killed, and releases
 * etch_mutex between words, because modules that are being loaded wait for it. -EAGAIN: begin
 * again, with the events that there are now.
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

/* @word is not the last one of its text. */
static bool etch_word_has_glob(const char *word)
{
	return strcspn(word, "*?[") < strcspn(word, " \t\n\v\f\r");
}

static enum etch_verdict etch_verdict_chosen(const struct etch_event *event, void *data)
{
	struct etch_choice *c = data;
	const char *word = etch_choice_word(c, event);

	if (!word)
		return c->replace ? ETCH_DISABLE : ETCH_LEAVE;
	if (*word == '!')
		return ETCH_DISABLE;
	return etch_word_has_glob(word) ? ETCH_TRY : ETCH_ENABLE;
}

/* Was an event to be enabled, and is not? One that a glob names and that is left is none. */
static bool etch_choice_lacks(struct etch_choice *c, const struct etch_event *event)
{
	const struct etch_recorder *rec = &c->in->inst->rec;

	switch (etch_verdict_chosen(event, c)) {
	case ETCH_TRY:
		return etch_recorder_takes(rec, event) && !etch_event_enabled(rec, event);
	case ETCH_ENABLE:
		return !etch_event_enabled(rec, event);
	default:
		return false;
	}
}

/* The word by which the first event that could not be enabled was to be. */
static const char *etch_choice_refused(struct etch_choice *c)
{
	struct etch_event *event;

	c->at = etch_places_first();
	list_for_each_entry(event, &etch_events, node)
		if (!event->hidden && etch_choice_lacks(c, event))
			return etch_choice_word(c, event);
	return c->in->text;
}

/* Makes all the changes that the words ask for, or none. */
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
	ret = etch_events_enable(&inst->rec, etch_verdict_chosen, c);
	if (ret) {
		if (ret == -EOPNOTSUPP)
			etch_bad(c->in, etch_choice_refused(c), ret, ETCH_NO_USER);
		else
			etch_bad(c->in, etch_choice_refused(c), ret, "Refused, error %d", ret);
		etch_enabled_restore(inst, saved);
	}
	bitmap_free(saved);
	return ret;
}

/*
 * Two writes to one open file may both look at their words. They change events one after the
 * other, and only the first replaces the selection.
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
