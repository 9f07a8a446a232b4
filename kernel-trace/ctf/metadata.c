// SPDX-License-Identifier: GPL-2.0
/*
 * metadata: what the packets of an instance are made of, in the language of Common
 * Trace Format 1.8. Copied into a folder beside the packets it makes a trace
 * that babeltrace2 and others read.
 *
 * It describes all events that there are, enabled or not, and those of modules that have
 * gone, because their records may be around; thousands, one piece of text for each, in
 * the order of their ids. The number metadata_generation is what
 * etch_generation was when the file was opened: all events that had come by then
 * are in it.
 */
#include <linux/build_bug.h>
#include <linux/etch.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include <linux/string_helpers.h>
#include <linux/utsname.h>
#include <linux/uuid.h>

#include <uapi/linux/etch_packet.h>

#include "ctf/ctf.h"
#include "ctf/metadata.h"
#include "event/contexts.h"

/* Of what is in a trace, for programs that look at it. */
#define ETCH_TRACER_MAJOR	1
#define ETCH_TRACER_MINOR	0
#define ETCH_TRACER_PATCH	0

/**
 * struct etch_metadata - an open file
 * @inst: whose trace it is
 * @uuid: of the trace when the file was opened, and so the rest
 * @clock: of the trace
 * @origin: of the clock
 * @contexts: of the records; held
 * @generation: etch_generation
 * @labels: room to work in
 */
struct etch_metadata {
	const struct etch_instance *inst;
	uuid_t uuid;
	enum etch_clock clock;
	struct etch_origin origin;
	struct etch_contexts *contexts;
	unsigned int generation;
	struct etch_labels labels;
};

/* ---- The trace ---- */

static void etch_metadata_trace(struct seq_file *m, const struct etch_metadata *md)
{
	BUILD_BUG_ON(offsetof(struct etch_packet_header, uuid) != 4);
	BUILD_BUG_ON(offsetof(struct etch_packet_header, stream_id) != 20);

	seq_printf(m,
		   "\ntrace {\n"
		   "\tmajor = 1;\n"
		   "\tminor = 8;\n"
		   "\tuuid = \"%pUb\";\n"
		   "\tbyte_order = le;\n"
		   "\tpacket.header := struct {\n"
		   "\t\tuint32_t magic;\n"
		   "\t\tuint8_t uuid[16];\n"
		   "\t\tuint32_t stream_id;\n"
		   "\t};\n"
		   "};\n", &md->uuid);
}

static void etch_metadata_string(struct seq_file *m, const char *name, const char *value)
{
	seq_printf(m, "\t%s = \"", name);
	seq_escape_str(m, value, ESCAPE_OCTAL, "\"\\\n\r\t");
	seq_puts(m, "\";\n");
}

static void etch_metadata_env(struct seq_file *m, const struct etch_metadata *md)
{
	const struct new_utsname *uts = init_utsname();

	seq_puts(m, "\nenv {\n");
	down_read(&uts_sem);
	etch_metadata_string(m, "hostname", uts->nodename);
	etch_metadata_string(m, "domain", "kernel");
	etch_metadata_string(m, "sysname", uts->sysname);
	etch_metadata_string(m, "kernel_release", uts->release);
	etch_metadata_string(m, "kernel_version", uts->version);
	etch_metadata_string(m, "architecture", uts->machine);
	up_read(&uts_sem);
	etch_metadata_string(m, "tracer_name", "etch");
	seq_printf(m, "\ttracer_major = %u;\n\ttracer_minor = %u;\n\ttracer_patch = %u;\n",
		   ETCH_TRACER_MAJOR, ETCH_TRACER_MINOR, ETCH_TRACER_PATCH);
	etch_metadata_string(m, "instance", md->inst->name ?: "");
	seq_printf(m, "\tmetadata_generation = %u;\n};\n", md->generation);
}

/* What the event.context of both streams begins with. */
static void etch_metadata_contexts_begin(struct seq_file *m)
{
	seq_puts(m,
		 "\tevent.header := struct {\n"
		 "\t\tts48_t timestamp;\n"
		 "\t\tinteger { size = 14; align = 1; signed = false; } id;\n"
		 "\t} align(32);\n"
		 /* The head's last bits: in the header babeltrace2 would not know them. */
		 "\tevent.context := struct {\n"
		 "\t\tenum : integer { size = 2; align = 1; signed = false; } {\n"
		 "\t\t\ttask = 0, softirq = 1, hardirq = 2, nmi = 3\n"
		 "\t\t} context;\n"
		 "\t\tinteger { size = 32; align = 1; signed = true; } pid;\n");
}

/*
 * struct etch_packet_header from cpu_id on, and struct etch_head. Before cpu_id and behind it
 * are fields that readers of the header find there, and that would only fill viewers' lines.
 */
static void etch_metadata_stream(struct seq_file *m, unsigned int id,
				 const struct etch_contexts *contexts)
{
	BUILD_BUG_ON(offsetof(struct etch_packet_header, cpu_id) != 64);
	BUILD_BUG_ON(offsetof(struct etch_packet_header, timestamp_begin) != 80);
	BUILD_BUG_ON(sizeof(struct etch_packet_header) != 128);
	BUILD_BUG_ON(ETCH_CONTEXT_SHIFT != 62);

	seq_printf(m, "\nstream {\n\tid = %u;\n", id);
	seq_puts(m,
		 "\tpacket.context := struct {\n"
		 "\t\tuint32_t cpu_id;\n"
		 "\t\tts64_begin_t timestamp_begin;\n"
		 "\t\tts64_t timestamp_end;\n"
		 "\t\tuint64_t content_size;\n"
		 "\t\tuint64_t packet_size;\n"
		 "\t\tuint64_t packet_seq_num;\n"
		 "\t\tuint64_t events_discarded;\n"
		 "\t} align(512);\n");
	etch_metadata_contexts_begin(m);
	etch_metadata_contexts(m, contexts);
	seq_puts(m, "\t};\n};\n");
}

static void etch_metadata_head(struct seq_file *m, const struct etch_metadata *md)
{
	seq_puts(m, "/* CTF 1.8 */\n\n");
	etch_metadata_types(m);
	etch_metadata_trace(m, md);
	etch_metadata_env(m, md);
	etch_metadata_clock(m, md->clock, &md->origin);
	etch_metadata_stream(m, ETCH_STREAM_KERNEL, md->contexts);
#ifdef CONFIG_ETCH_USER
	/* Programs do not add the instance's contexts. */
	etch_metadata_stream(m, ETCH_STREAM_USER, NULL);
#endif
}

/* ---- The file ---- */

/* Position 0 is the head, others are ids: no event has the id 0. */
static void *etch_metadata_at(loff_t *pos)
{
	const struct etch_event *event;

	if (!*pos)
		return SEQ_START_TOKEN;
	event = *pos > ETCH_ID_MAX ? NULL : etch_event_next(*pos);
	if (event)
		*pos = event->id;
	return (void *)event;
}

static void *etch_metadata_start(struct seq_file *m, loff_t *pos)
{
	down_read(&etch_event_sem);
	return etch_metadata_at(pos);
}

static void *etch_metadata_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return etch_metadata_at(pos);
}

static void etch_metadata_stop(struct seq_file *m, void *v)
{
	up_read(&etch_event_sem);
}

static int etch_metadata_show(struct seq_file *m, void *v)
{
	struct etch_metadata *md = m->private;
	const struct etch_event *event = v;
	int ret;

	if (v == SEQ_START_TOKEN) {
		etch_metadata_head(m, md);
		return 0;
	}
	ret = etch_metadata_event(m, event, &md->labels);
	WARN_ONCE(ret, "etch: %s:%s: its fields are not where TSDL would have them\n",
		  event->class->system, event->name);
	return ret;
}

static const struct seq_operations etch_metadata_seq_ops = {
	.start	= etch_metadata_start,
	.next	= etch_metadata_next,
	.stop	= etch_metadata_stop,
	.show	= etch_metadata_show,
};

static struct etch_metadata *etch_metadata_alloc(struct etch_instance *inst)
{
	struct etch_metadata *md = kvzalloc(sizeof(*md), GFP_KERNEL);

	if (!md)
		return NULL;
	md->inst = inst;
	mutex_lock(&inst->read_mutex);
	if (!inst->origin.known)
		etch_origin_get(inst->clock, &inst->origin);
	md->uuid = inst->uuid;
	md->clock = inst->clock;
	md->origin = inst->origin;
	md->contexts = etch_contexts_get(inst->contexts);
	mutex_unlock(&inst->read_mutex);
	down_read(&etch_event_sem);
	md->generation = etch_generation;
	up_read(&etch_event_sem);
	return md;
}

static void etch_metadata_free(struct etch_metadata *md)
{
	if (md)
		etch_contexts_put(md->contexts);
	kvfree(md);
}

/**
 * etch_metadata_text() - a piece of the metadata, for a caller that keeps it
 * @m: where to
 * @inst: whose trace it is
 * @event: the event to describe; NULL: the part about the whole trace
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0, -ENOMEM, or an errno if the event cannot be described.
 */
int etch_metadata_text(struct seq_file *m, struct etch_instance *inst,
		       const struct etch_event *event)
{
	struct etch_metadata *md = etch_metadata_alloc(inst);
	int ret = 0;

	if (!md)
		return -ENOMEM;
	if (event)
		ret = etch_metadata_event(m, event, &md->labels);
	else
		etch_metadata_head(m, md);
	etch_metadata_free(md);
	return ret;
}

static int etch_metadata_open_seq(struct etch_instance *inst, struct file *file)
{
	struct etch_metadata *md = etch_metadata_alloc(inst);
	int ret;

	if (!md)
		return -ENOMEM;
	ret = seq_open(file, &etch_metadata_seq_ops);
	if (ret)
		etch_metadata_free(md);
	else
		((struct seq_file *)file->private_data)->private = md;
	return ret;
}

static int etch_metadata_open(struct inode *inode, struct file *file)
{
	const struct etch_view_of *of = inode->i_private;
	int ret;

	ret = etch_view_open(of);
	if (ret)
		return ret;
	ret = etch_metadata_open_seq(of->inst, file);
	if (ret)
		etch_instance_put(of->inst);
	return ret;
}

static int etch_metadata_release(struct inode *inode, struct file *file)
{
	const struct etch_view_of *of = inode->i_private;
	struct etch_instance *inst = of->inst;

	etch_metadata_free(((struct seq_file *)file->private_data)->private);
	seq_release(inode, file);
	etch_instance_put(inst);
	return 0;
}

const struct file_operations etch_metadata_fops = {
	.owner	 = THIS_MODULE,
	.open	 = etch_metadata_open,
	.read	 = seq_read,
	.llseek	 = seq_lseek,
	.release = etch_metadata_release,
};
