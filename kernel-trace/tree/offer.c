// SPDX-License-Identifier: GPL-2.0
/*
 * The files that the rooms offer to the tree.
 */
#include <linux/init.h>
#include <linux/list.h>

#include "tree/tree.h"

/* Of the rooms, in the order of their initcalls. Does not change any more after boot. */
LIST_HEAD(etch_offers);

/**
 * etch_tree_offer() - have files shown in the folders of each instance
 * @files: the files; kept
 *
 * Context: boot, before users can look: a core_initcall(); or etch_mutex is held.
 */
void etch_tree_offer(struct etch_files *files)
{
	list_add_tail(&files->node, &etch_offers);
}
