// SPDX-License-Identifier: GPL-2.0
/*
 * trace_marker: records of user space's own, among the kernel's.
 *
 * Each write() is one record of a hidden event, which is written into this
 * instance's ring and no other. It is kept as it was written, up to
 * ETCH_MARKER_MAX bytes, or as many as a sub-buffer has room for. A longer one is cut to
 * that, and write() returns the bytes taken, so the program will most likely write the
 * rest as the next record.
 */
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/etch_expand.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "event/own.h"
#include "tree/tree.h"

/* With a line's head it fits in a trace_seq. */
#define ETCH_MARKER_MAX		4096UL

/**
 * struct etch_marker - the record
 * @head: as all have
 * @where: of @buf: offset in the record in the low half, bytes in the high half
 * @buf: the text that was written, and a zero
 */
struct etch_marker {
	struct etch_head head;
	u32 where;
	char buf[];
} __packed __aligned(4);

static void etch_marker_print(struct etch_text *text, const void *record)
{
	const struct etch_marker *marker = record;
	size_t len = strlen(marker->buf);
	bool ended = len && marker->buf[len - 1] == '\n';

	etch_text_printf(text, "tracing_mark_write: %s%s", marker->buf, ended ? "" : "\n");
}

static const struct etch_field etch_marker_fields[] = {
	{
		.type = "char",
		.name = "buf",
		.offset = offsetof(struct etch_marker, where),
		.size = sizeof_field(struct etch_marker, where),
		.elem_size = sizeof(char),
		.align = 1,
		.kind = ETCH_FIELD_DATA_LOC,
		.is_signed = is_signed_type(char),
		.is_string = true,
	},
};

static const struct etch_class etch_marker_class = {
	.system = "etch",
	.fields = etch_marker_fields,
	.nr_fields = ARRAY_SIZE(etch_marker_fields),
	.size = sizeof(struct etch_marker),
	.nameless = true,
	.print_fmt = "\"%s\", __get_str(buf)",
	.print = etch_marker_print,
};

static struct etch_event etch_marker_event = {
	.name = "marker",
	.class = &etch_marker_class,
	.hidden = true,
};

/* False: lost, and counted. */
static bool etch_marker_record(struct etch_instance *inst, const char *text, size_t len)
{
	struct etch_marker *marker;
	struct etch_write w;

	preempt_disable_notrace();
	w = etch_write_begin_mask(sizeof(*marker) + len + 1, &etch_marker_event,
				  etch_own_mask(inst->rec.bit));
	marker = w.record;
	if (marker) {
		marker->where = offsetof(struct etch_marker, buf) | (len + 1) << 16;
		memcpy(marker->buf, text, len);
		marker->buf[len] = '\0';
		etch_write_end_quick(w.ring);
	}
	preempt_enable_notrace();
	return marker;
}

/*
 * How much of a text one record takes. If sub-buffers become smaller before it is stored,
 * it is lost as any other record would be.
 */
static size_t etch_marker_max(struct etch_instance *inst)
{
	size_t room = READ_ONCE(inst->subbuf_bytes) - ETCH_PACKET_HEADER;
	size_t head = sizeof(struct etch_marker) + 1;

	rcu_read_lock();
	head += etch_contexts_size(rcu_dereference(etch_contexts[inst->rec.bit]));
	rcu_read_unlock();
	/* If there is no room, the record is lost as one that is too big. */
	return room > head ? min(room - head, ETCH_MARKER_MAX) : 1;
}

static ssize_t etch_marker_write(struct file *filp, const char __user *buf, size_t count,
				 loff_t *pos)
{
	struct etch_instance *inst = filp->private_data;
	size_t len = min(count, etch_marker_max(inst));
	char *text;
	int ret;

	if (!len)
		return 0;
	if (!READ_ONCE(inst->on))
		return -EBADF;
	if (READ_ONCE(inst->full_bytes)) {
		mutex_lock(&etch_mutex);
		ret = etch_instance_grow(inst);
		mutex_unlock(&etch_mutex);
		if (ret)
			return ret;
	}

	/* Getting user memory may sleep, and a record may not be left half-way. */
	text = memdup_user(buf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	ret = etch_marker_record(inst, text, len) ? 0 : -ENOSPC;
	kfree(text);
	etch_comm_note();
	return ret ?: len;
}

static int etch_marker_open(struct inode *inode, struct file *filp)
{
	struct etch_view_of *of = inode->i_private;
	int ret;

	ret = etch_view_open(of);
	if (ret)
		return ret;
	/* Tasks that write here store their names, whether events are enabled or not. */
	scoped_guard(mutex, &etch_mutex)
		etch_comm_make();
	filp->private_data = of->inst;
	return stream_open(inode, filp);
}

static int etch_marker_release(struct inode *inode, struct file *filp)
{
	etch_instance_put(filp->private_data);
	return 0;
}

/*
 * -EBADF: tracing is off. -ENOSPC: the record was lost, the buffer being full and
 * in discard mode.
 */
static const struct file_operations etch_marker_fops = {
	.open = etch_marker_open,
	.write = etch_marker_write,
	.release = etch_marker_release,
};

static const struct etch_control etch_marker_controls[] = {
	{ "trace_marker", 0200, .fops = &etch_marker_fops },
	{}
};

static struct etch_files etch_marker_files = {
	.of_tree = etch_marker_controls,
};

static int __init etch_marker_offer(void)
{
	etch_tree_offer(&etch_marker_files);
	return 0;
}
core_initcall(etch_marker_offer);

static int __init etch_marker_init(void)
{
	int ret;

	mutex_lock(&etch_mutex);
	ret = etch_event_register(&etch_marker_event);
	mutex_unlock(&etch_mutex);
	return ret;
}
fs_initcall(etch_marker_init);
