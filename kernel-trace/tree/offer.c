// SPDX-License-Identifier: GPL-2.0
/*
 * The files that the rooms offer to the tree, and the making of folders for them.
 */
#include <linux/dcache.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/list.h>

#include "tree/tree.h"

/**
 * etch_tree_mkdir() - make a folder that only root may enter
 * @name: its name
 * @parent: the folder to make it in; may be an error pointer, which is returned
 *
 * Context: process, may sleep.
 * Return: the folder or an ERR_PTR().
 */
struct dentry *etch_tree_mkdir(const char *name, struct dentry *parent)
{
	struct dentry *dir = debugfs_create_dir(name, parent);

	if (!IS_ERR(dir))
		d_inode(dir)->i_mode = S_IFDIR | 0700;
	return dir;
}

/* Of the rooms, in the order of their initcalls. Does not change any more after boot. */
LIST_HEAD(etch_offers);
unsigned int etch_nr_event_files __ro_after_init;

/**
 * etch_tree_offer() - have files made in the folders of each instance
 * @files: the files; kept
 *
 * Context: boot, before the first instance: a core_initcall().
 */
void __init etch_tree_offer(struct etch_files *files)
{
	const struct etch_event_control *control;

	for (control = files->of_event; control && control->name; control++)
		etch_nr_event_files++;
	list_add_tail(&files->node, &etch_offers);
}
