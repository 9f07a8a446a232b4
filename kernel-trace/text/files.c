// SPDX-License-Identifier: GPL-2.0
/*
 * The files of text in the tree.
 */
#include <linux/fs.h>
#include <linux/kernel.h>

#include "text/text.h"

static const struct etch_control etch_text_controls[] = {
	{ "trace", 0600, .fops = &etch_trace_fops },
	{ "trace_pipe", 0400, .fops = &etch_pipe_fops },
	{ "dump_on_oops", 0600, .main_only = true, .show = etch_dump_show,
	  .store = etch_dump_store },
};

static const struct etch_control etch_text_cpu_controls[] = {
	{ "trace", 0600, .fops = &etch_trace_fops },
	{ "trace_pipe", 0400, .fops = &etch_pipe_fops },
};

struct etch_files etch_text_files = {
	.of_tree = etch_text_controls,
	.nr_tree = ARRAY_SIZE(etch_text_controls),
	.of_cpu = etch_text_cpu_controls,
	.nr_cpu = ARRAY_SIZE(etch_text_cpu_controls),
};
