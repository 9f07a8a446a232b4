// SPDX-License-Identifier: GPL-2.0
/*
 * trace_marker and trace_marker_raw: records of user space's own, among the kernel's.
 *
 * Each write() is one record of a hidden event, which is written into this
 * instance's ring and no other. It is kept as it was written, up to
 * ETCH_MARKER_MAX bytes, or as many as a sub-buffer has room for. A longer text is cut to
 * that, and write() returns the bytes taken, so the program will most likely write the
 * rest as the next record. trace_marker_raw refuses a longer write: the rest would be
 * taken for a record of its own, which begins with a number.
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

/* ---- The records ---- */

/**
 * struct etch_marker - the record of trace_marker
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

/**
 * struct etch_marker_raw - the record of trace_marker_raw
 * @head: as all have
 * @id: the number that the program wrote first
 * @where: of @buf: offset in the record in the low half, bytes in the high half
 * @buf: the bytes that follow the number, as they were written
 */
struct etch_marker_raw {
	struct etch_head head;
	u32 id;
	u32 where;
	u8 buf[];
} __packed __aligned(4);

/* The text is ftrace's. */
static void etch_marker_raw_print(struct etch_text *text, const void *record)
{
	const struct etch_marker_raw *raw = record;
	unsigned int i;

	etch_text_printf(text, "# %x buf:", raw->id);
	for (i = 0; i < raw->where >> 16; i++)
		etch_text_printf(text, " %02x", raw->buf[i]);
	etch_text_printf(text, "\n");
}

static const struct etch_field etch_marker_raw_fields[] = {
	{
		.type = "unsigned int",
		.name = "id",
		.offset = offsetof(struct etch_marker_raw, id),
		.size = sizeof_field(struct etch_marker_raw, id),
		.elem_size = sizeof_field(struct etch_marker_raw, id),
		.align = sizeof(u32),
		.kind = ETCH_FIELD_FIXED,
	},
	{
		.type = "u8",
		.name = "buf",
		.offset = offsetof(struct etch_marker_raw, where),
		.size = sizeof_field(struct etch_marker_raw, where),
		.elem_size = sizeof(u8),
		.align = 1,
		.kind = ETCH_FIELD_DATA_LOC,
	},
};

static const struct etch_class etch_marker_raw_class = {
	.system = "etch",
	.fields = etch_marker_raw_fields,
	.nr_fields = ARRAY_SIZE(etch_marker_raw_fields),
	.size = sizeof(struct etch_marker_raw),
	.nameless = true,
	.print_fmt = "\"# %x buf: %s\", REC->id, "
		     "__print_hex(__get_dynamic_array(buf), __get_dynamic_array_len(buf))",
	.print = etch_marker_raw_print,
};

static struct etch_event etch_marker_raw_event = {
	.name = "marker_raw",
	.class = &etch_marker_raw_class,
	.hidden = true,
};

/* ---- Recording ---- */

/* Both return false if the record is lost, and counted. */

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

static bool etch_marker_raw_record(struct etch_instance *inst, const char *bytes, size_t len)
{
	struct etch_marker_raw *raw;
	struct etch_write w;

	len -= sizeof(raw->id);
	preempt_disable_notrace();
	w = etch_write_begin_mask(sizeof(*raw) + len, &etch_marker_raw_event,
				  etch_own_mask(inst->rec.bit));
	raw = w.record;
	if (raw) {
		memcpy(&raw->id, bytes, sizeof(raw->id));
		raw->where = offsetof(struct etch_marker_raw, buf) | len << 16;
		memcpy(raw->buf, bytes + sizeof(raw->id), len);
		etch_write_end_quick(w.ring);
	}
	preempt_enable_notrace();
	return raw;
}

/*
 * How many bytes one record takes, beside @head of its own. If sub-buffers become
 * smaller before it is stored, it is lost as any other record would be.
 */
static size_t etch_marker_max(struct etch_instance *inst, size_t head)
{
	size_t room = READ_ONCE(inst->subbuf_bytes) - ETCH_PACKET_HEADER;

	rcu_read_lock();
	head += etch_contexts_size(rcu_dereference(etch_contexts[inst->rec.bit]));
	rcu_read_unlock();
	/* If there is no room, the record is lost as one that is too big. */
	return room > head ? min(room - head, ETCH_MARKER_MAX) : sizeof(u32);
}

/* 0: the instance has rings, and records. */
static int etch_marker_ready(struct etch_instance *inst)
{
	if (!READ_ONCE(inst->on))
		return -EBADF;
	if (!READ_ONCE(inst->full_bytes))
		return 0;
	guard(mutex)(&etch_mutex);
	return etch_instance_grow(inst);
}

static ssize_t etch_marker_take(struct etch_instance *inst, const char __user *buf, size_t len,
				bool (*record)(struct etch_instance *inst, const char *bytes,
					       size_t len))
{
	int ret = etch_marker_ready(inst);
	char *bytes;

	if (ret)
		return ret;
	/* Getting user memory may sleep, and a record may not be left half-way. */
	bytes = memdup_user(buf, len);
	if (IS_ERR(bytes))
		return PTR_ERR(bytes);
	ret = record(inst, bytes, len) ? 0 : -ENOSPC;
	kfree(bytes);
	etch_comm_note();
	return ret ?: len;
}

static ssize_t etch_marker_write(struct file *filp, const char __user *buf, size_t count,
				 loff_t *pos)
{
	struct etch_instance *inst = filp->private_data;
	size_t len = min(count, etch_marker_max(inst, sizeof(struct etch_marker) + 1));

	return len ? etch_marker_take(inst, buf, len, etch_marker_record) : 0;
}

static ssize_t etch_marker_raw_write(struct file *filp, const char __user *buf, size_t count,
				     loff_t *pos)
{
	struct etch_instance *inst = filp->private_data;
	size_t head = sizeof(struct etch_marker_raw) - sizeof(u32);

	if (count < sizeof(u32) || count > etch_marker_max(inst, head))
		return -EINVAL;
	return etch_marker_take(inst, buf, count, etch_marker_raw_record);
}

/* ---- The files ---- */

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
 * in discard mode. -EINVAL: less than a number in trace_marker_raw, or more than a record takes.
 */
static const struct file_operations etch_marker_fops = {
	.open = etch_marker_open,
	.write = etch_marker_write,
	.release = etch_marker_release,
};

static const struct file_operations etch_marker_raw_fops = {
	.open = etch_marker_open,
	.write = etch_marker_raw_write,
	.release = etch_marker_release,
};

static const struct etch_control etch_marker_controls[] = {
	{ "trace_marker", 0200, .fops = &etch_marker_fops },
	{ "trace_marker_raw", 0200, .fops = &etch_marker_raw_fops },
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
	ret = etch_event_register(&etch_marker_event) ?:
	      etch_event_register(&etch_marker_raw_event);
	mutex_unlock(&etch_mutex);
	return ret;
}
fs_initcall(etch_marker_init);
