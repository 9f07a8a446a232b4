// SPDX-License-Identifier: GPL-2.0
/*
 * The files of packets in the tree.
 */
#include <linux/etch.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "ctf/ctf.h"

/* Any write asks for a flush. */
static int etch_flush_store(const struct etch_input *in)
{
	etch_instance_flush(in->inst, in->cpu);
	return 0;
}

static void etch_snapshot_show(struct seq_file *m, const struct etch_view_of *of)
{
	mutex_lock(&of->inst->read_mutex);
	seq_printf(m, "%d\n", !!of->inst->snapshot);
	mutex_unlock(&of->inst->read_mutex);
}

static int etch_snapshot_store(const struct etch_input *in)
{
	bool take;
	int ret;

	ret = etch_input_bool(in, &take);
	if (ret)
		return ret;
	if (!take)
		etch_snapshot_drop(in->inst);
	else if (etch_snapshot_take(in->inst))
		return etch_bad(in, skip_spaces(in->text), -ENOMEM, "Not enough memory");
	return 0;
}

static const struct etch_control etch_ctf_controls[] = {
	{ "metadata", 0400, .fops = &etch_metadata_fops },
	{ "flush", 0200, .store = etch_flush_store },
	{ "snapshot", 0600, .show = etch_snapshot_show, .store = etch_snapshot_store },
	{}
};

static const struct etch_control etch_ctf_cpu_controls[] = {
	{ "trace_pipe_raw", 0400, .fops = &etch_raw_fops },
	{ "flush", 0200, .store = etch_flush_store },
	{ "snapshot", 0400, .fops = &etch_snapshot_fops },
#ifdef CONFIG_ETCH_USER
	{ "user_pipe_raw", 0400, .fops = &etch_user_raw_fops },
	{ "user_snapshot", 0400, .fops = &etch_user_snapshot_fops },
#endif
	{}
};

static struct etch_files etch_ctf_files = {
	.of_tree = etch_ctf_controls,
	.of_cpu = etch_ctf_cpu_controls,
	.remove = etch_snapshot_drop,
};

static int __init etch_ctf_offer(void)
{
	etch_tree_offer(&etch_ctf_files);
	return 0;
}
core_initcall(etch_ctf_offer);
