// SPDX-License-Identifier: GPL-2.0
/*
 * The files of text in the tree.
 */
#include <linux/fs.h>
#include <linux/init.h>

#include "text/text.h"

static const struct etch_control etch_text_controls[] = {
	{ "trace", 0600, .fops = &etch_trace_fops },
	{ "trace_pipe", 0400, .fops = &etch_pipe_fops },
	{ "dump_on_oops", 0600, .main_only = true, .show = etch_dump_show,
	  .store = etch_dump_store },
	{}
};

static const struct etch_control etch_text_cpu_controls[] = {
	{ "trace", 0600, .fops = &etch_trace_fops },
	{ "trace_pipe", 0400, .fops = &etch_pipe_fops },
	{}
};

static struct etch_files etch_text_files = {
	.of_tree = etch_text_controls,
	.of_cpu = etch_text_cpu_controls,
};

static int __init etch_text_offer(void)
{
	etch_tree_offer(&etch_text_files);
	return 0;
}
core_initcall(etch_text_offer);
