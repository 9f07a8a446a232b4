// SPDX-License-Identifier: GPL-2.0
/*
 * The folders of events/, and how their files are opened, read and written.
 *
 * A folder of events/ is one of all events, one of a system, or one of an event. Unlike all
 * other files, those of an event may have to go while they are open, because a module goes.
 * An open file keeps its folder's node (node.c); when the event has gone, the file can be
 * closed, and reading and writing give -ENODEV.
 */
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "tree/fs.h"

/* ---- The files ---- */

/* Printing needs the event to stay: etch_mutex keeps it. */
static int etch_node_file_show(struct seq_file *m, void *v)
{
	const struct etch_entry *file = m->private;
	int ret = 0;

	if (!file->event_control->show)
		return -EINVAL;
	mutex_lock(&etch_mutex);
	if (etch_node_there(file->node))
		file->event_control->show(m, file->node);
	else
		ret = -ENODEV;
	mutex_unlock(&etch_mutex);
	return ret;
}

/*
 * Where the buffer of seq_file ends, it begins again, with one of twice the size: from a page
 * on that is more than twice the work for all formats. So its size is right at once.
 */
static size_t etch_node_file_room(const struct etch_entry *file)
{
	size_t nr = 0;

	if (!file->event_control->room)
		return PAGE_SIZE;
	mutex_lock(&etch_mutex);
	if (etch_node_there(file->node))
		nr = etch_node_events(file->node);
	mutex_unlock(&etch_mutex);
	return PAGE_ALIGN(max_t(size_t, nr, 1) * file->event_control->room);
}

static int etch_node_file_open(struct inode *inode, struct file *filp)
{
	struct etch_entry *file = inode->i_private;
	int ret;

	ret = etch_view_open(&file->of);
	if (ret)
		return ret;
	ret = single_open_size(filp, etch_node_file_show, file, etch_node_file_room(file));
	if (ret)
		etch_instance_put(file->of.inst);
	return ret;
}

static int etch_node_file_release(struct inode *inode, struct file *filp)
{
	struct etch_entry *file = inode->i_private;

	etch_instance_put(file->of.inst);
	return single_release(inode, filp);
}

static ssize_t etch_node_file_write(struct file *filp, const char __user *buf, size_t count,
				    loff_t *pos)
{
	const struct etch_entry *file = file_inode(filp)->i_private;
	struct etch_node *node = file->node;
	struct etch_input *in;
	int ret;

	if (!file->event_control->store)
		return -EINVAL;
	in = etch_input_get(node->inst, ETCH_ALL_CPUS, buf, count, PAGE_SIZE,
			    "%s/%s", node->path, file->event_control->name);
	if (IS_ERR(in))
		return PTR_ERR(in);
	mutex_lock(&etch_mutex);
	ret = etch_node_there(node) ? file->event_control->store(node, in) : -ENODEV;
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

static bool etch_has_event_file(const struct etch_entry *dir,
				const struct etch_event_control *control)
{
	if (!(control->folders & dir->folder->event_files))
		return false;
	return !control->has || control->has(dir->node->event);
}

/* The files that all rooms have for a folder of this kind. */
static bool etch_each_event_file(const struct etch_entry *dir, struct etch_visit *visit)
{
	const struct etch_event_control *control;
	struct etch_files *offer;
	struct etch_child child = {};

	list_for_each_entry(offer, &etch_offers, node) {
		for (control = offer->of_event; control && control->name; control++) {
			child.name = control->name;
			child.place++;
			child.entry = (struct etch_entry) {
				.of = dir->of,
				.mode = S_IFREG | control->mode,
				.fops = &etch_node_file_fops,
				.event_control = control,
			};
			if (etch_has_event_file(dir, control) && visit->child(visit, &child))
				return true;
		}
	}
	return false;
}

/* ---- The folders ---- */

static const struct etch_folder etch_event_folder = {
	.each = etch_each_event_file,
	.event_files = ETCH_OF_EVENT,
};

static struct etch_child etch_event_child(const struct etch_entry *dir,
					  const struct etch_event *event)
{
	return (struct etch_child) {
		.place = ETCH_PLACE_OTHERS + event->id,
		.system = event->class->system,
		.entry = { .of = dir->of, .mode = S_IFDIR },
	};
}

/* The files and the events of a system. */
static bool etch_system_each(const struct etch_entry *dir, struct etch_visit *visit)
{
	struct etch_event *event;

	if (etch_each_event_file(dir, visit))
		return true;
	list_for_each_entry(event, &etch_events, node) {
		struct etch_child child = etch_event_child(dir, event);

		if (event->hidden || strcmp(child.system, dir->node->system))
			continue;
		child.name = event->name;
		child.event = event->name;
		child.entry.folder = &etch_event_folder;
		if (visit->child(visit, &child))
			return true;
	}
	return false;
}

static const struct etch_folder etch_system_folder = {
	.each = etch_system_each,
	.event_files = ETCH_OF_SYSTEM,
};

/* The files and the systems. In the list the events of a system follow each other. */
static bool etch_events_each(const struct etch_entry *dir, struct etch_visit *visit)
{
	const char *last = "";
	struct etch_event *event;

	if (etch_each_event_file(dir, visit))
		return true;
	list_for_each_entry(event, &etch_events, node) {
		struct etch_child child = etch_event_child(dir, event);

		if (event->hidden || !strcmp(child.system, last))
			continue;
		last = child.system;
		child.name = child.system;
		child.entry.folder = &etch_system_folder;
		if (visit->child(visit, &child))
			return true;
	}
	return false;
}

/* events/ */
const struct etch_folder etch_events_folder = {
	.each = etch_events_each,
	.event_files = ETCH_OF_ALL,
};
