// SPDX-License-Identifier: GPL-2.0
/*
 * trace: the records as text, without consuming them.
 *
 * Reading from the start shows what the rings hold at that moment. Writers go on:
 * what they overwrite before it is shown is missing, and there is a line which
 * says so; what they add is not shown. So the file has an end. Should a CPU's ring be
 * emptied, resized or freed during a read, its end is the position of the reader.
 *
 * Writing, whatever it is, empties the rings, and so does opening the file to
 * write with O_TRUNC, as the shell does for "echo > trace".
 *
 * The iterator is the merge: it stands at the line that seq_file wants next,
 * usually. If seq_file wants another one, the way there is from the start.
 */

#include <linux/cpumask.h>
#include <linux/etch.h>
#include <linux/etch_ring.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/trace_seq.h>

#include "event/contexts.h"
#include "text/merge.h"

/**
 * struct etch_trace - a trace file, open for reading
 * @inst: whose
 * @cpu: which ring's, or ETCH_ALL_CPUS
 * @merge: the records
 * @pos: seq_file's name for the item where @merge is: the header is 0, the first
 *	 record 1
 * @begun: @merge is at some place
 * @line: scratch
 */
struct etch_trace {
	struct etch_instance *inst;
	int cpu;
	struct etch_merge *merge;
	loff_t pos;
	bool begun;
	struct etch_line line;
};

/* ---- Output ---- */

/* The header's figures. Under the read_mutex. */
static void etch_trace_count(const struct etch_trace *t, u64 *entries, u64 *written)
{
	int cpu;

	*entries = 0;
	*written = 0;
	for_each_possible_cpu(cpu) {
		struct etch_ring *ring = t->inst->rings[cpu];
		struct etch_ring_stats stats;

		if (!ring || (t->cpu != ETCH_ALL_CPUS && t->cpu != cpu))
			continue;
		etch_ring_stats(ring, &stats);
		*entries += stats.entries;
		*written += stats.written;
	}
}

static void etch_trace_show_header(struct seq_file *m, const struct etch_trace *t)
{
	u64 entries, written;

	etch_trace_count(t, &entries, &written);
	seq_puts(m, "# tracer: etch\n#\n");
	seq_printf(m, "# entries-in-buffer/entries-written: %llu/%llu   #P:%u\n#\n",
		   entries, written, num_online_cpus());
	seq_puts(m, etch_contexts_have(t->inst->contexts, ETCH_CONTEXT_FLAGS) ?
		    "#               flags: off (d interrupts, b softirqs, D both), preemption wanted\n"
		    "#               (n p N), context (. task, s softirq, h hardirq, z NMI, H Z both),\n"
		    "#               and how often preemption and migration are disabled\n"
		    "#                              |||||\n" :
		    "#                                 context: . task, s softirq,\n"
		    "#                                 h hardirq, z NMI\n"
		    "#                                |\n");
	seq_puts(m, "#           TASK-PID     CPU#    |      TIMESTAMP  EVENT: FIELDS\n"
		    "#              | |         |     |         |         |\n");
}

static int etch_trace_show(struct seq_file *m, void *v)
{
	struct etch_trace *t = m->private;
	struct trace_seq *seq = &t->line.text.seq;

	if (v == SEQ_START_TOKEN) {
		etch_trace_show_header(m, t);
		return 0;
	}
	trace_seq_init(seq);
	etch_item_print(&t->line, v);
	seq_write(m, seq->buffer, trace_seq_used(seq));
	return 0;
}

/* ---- Where we are ---- */

static void *etch_trace_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct etch_trace *t = m->private;

	/* The way to a place that is far may be long. */
	cond_resched();
	/* From the header, the first record is where the merge is already. */
	if (v != SEQ_START_TOKEN)
		etch_merge_next(t->merge);
	t->pos = ++*pos;
	return (void *)etch_merge_item(t->merge);
}

static int etch_trace_rewind(struct etch_trace *t)
{
	t->pos = 0;
	t->begun = false;
	return etch_merge_begin(t->merge);
}

/* Go to a place that is not where we are: from the start. */
static int etch_trace_seek(struct etch_trace *t, loff_t pos)
{
	int ret = etch_trace_rewind(t);

	if (ret)
		return ret;
	for (t->pos = 1; t->pos < pos && etch_merge_item(t->merge); t->pos++) {
		etch_merge_next(t->merge);
		cond_resched();
	}
	t->begun = t->pos == pos;
	return 0;
}

static void *etch_trace_start(struct seq_file *m, loff_t *pos)
{
	struct etch_trace *t = m->private;
	int ret;

	mutex_lock(&t->inst->read_mutex);
	if (*pos && t->begun && t->pos == *pos)
		return (void *)etch_merge_item(t->merge);

	ret = *pos ? etch_trace_seek(t, *pos) : etch_trace_rewind(t);
	if (ret)
		return ERR_PTR(ret);
	if (!*pos) {
		t->begun = true;
		return SEQ_START_TOKEN;
	}
	return t->begun ? (void *)etch_merge_item(t->merge) : NULL;
}

static void etch_trace_stop(struct seq_file *m, void *v)
{
	struct etch_trace *t = m->private;

	mutex_unlock(&t->inst->read_mutex);
}

static const struct seq_operations etch_trace_seq_ops = {
	.start	= etch_trace_start,
	.next	= etch_trace_next,
	.stop	= etch_trace_stop,
	.show	= etch_trace_show,
};

/* ---- The file ---- */

static void etch_trace_free(struct etch_trace *t)
{
	etch_line_free(&t->line);
	etch_merge_free(t->merge);
	kvfree(t);
}

static struct etch_trace *etch_trace_alloc(const struct etch_view_of *of)
{
	struct etch_trace *t = kvzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return NULL;
	t->inst = of->inst;
	t->cpu = of->cpu;
	t->merge = etch_merge_create(of->inst, of->cpu, ETCH_MERGE_PEEK);
	if (!t->merge || etch_line_init(&t->line)) {
		etch_trace_free(t);
		return NULL;
	}
	return t;
}

static int etch_trace_open_read(const struct etch_view_of *of, struct file *file)
{
	struct etch_trace *t = etch_trace_alloc(of);
	int ret;

	if (!t)
		return -ENOMEM;
	ret = seq_open(file, &etch_trace_seq_ops);
	if (ret)
		etch_trace_free(t);
	else
		((struct seq_file *)file->private_data)->private = t;
	return ret;
}

static int etch_trace_open(struct inode *inode, struct file *file)
{
	const struct etch_view_of *of = inode->i_private;
	int ret;

	ret = etch_view_open(of);
	if (ret)
		return ret;

	if (file->f_mode & FMODE_READ)
		ret = etch_trace_open_read(of, file);
	if (ret)
		etch_instance_put(of->inst);
	else if ((file->f_mode & FMODE_WRITE) && (file->f_flags & O_TRUNC))
		etch_instance_reset(of->inst, of->cpu);
	return ret;
}

static ssize_t etch_trace_write(struct file *file, const char __user *buf, size_t count,
				loff_t *ppos)
{
	const struct etch_view_of *of = file_inode(file)->i_private;

	etch_instance_reset(of->inst, of->cpu);
	*ppos += count;
	return count;
}

static loff_t etch_trace_lseek(struct file *file, loff_t offset, int whence)
{
	if (file->f_mode & FMODE_READ)
		return seq_lseek(file, offset, whence);
	return no_seek_end_llseek(file, offset, whence);
}

static int etch_trace_release(struct inode *inode, struct file *file)
{
	const struct etch_view_of *of = inode->i_private;
	struct etch_instance *inst = of->inst;

	if (file->f_mode & FMODE_READ) {
		struct seq_file *m = file->private_data;

		etch_trace_free(m->private);
		seq_release(inode, file);
	}
	etch_instance_put(inst);
	return 0;
}

const struct file_operations etch_trace_fops = {
	.owner	 = THIS_MODULE,
	.open	 = etch_trace_open,
	.read	 = seq_read,
	.write	 = etch_trace_write,
	.llseek	 = etch_trace_lseek,
	.release = etch_trace_release,
};
