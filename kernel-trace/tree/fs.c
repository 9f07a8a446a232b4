// SPDX-License-Identifier: GPL-2.0
/*
 * etchfs: the file system that shows the tree, and where it is mounted.
 *
 * There is one of it, which the first look into /sys/kernel/debug/etch mounts there, and root
 * wherever it likes:
 *
 *	mount -t etchfs -o gid=tracing,mode=750 none /sys/kernel/debug/etch
 *
 * The options uid, gid and mode say who may use what is in it (owner.c). They are those of all
 * mounts, as there is one file system, and the last who names them decides.
 */
#define pr_fmt(fmt) "etch: " fmt

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/fs.h>
#include <linux/fs_context.h>
#include <linux/fs_parser.h>
#include <linux/init.h>
#include <linux/mount.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/stat.h>

#include "tree/fs.h"

/* "etch" */
#define ETCH_FS_MAGIC		0x65746368
#define ETCH_FS_ROOT		1

#define ETCH_FS_MODE		0700

/* ---- Options ---- */

enum { ETCH_OPTION_UID, ETCH_OPTION_GID, ETCH_OPTION_MODE };

static const struct fs_parameter_spec etch_fs_options[] = {
	fsparam_uid("uid", ETCH_OPTION_UID),
	fsparam_gid("gid", ETCH_OPTION_GID),
	fsparam_u32oct("mode", ETCH_OPTION_MODE),
	{}
};

/* What a mount names; the rest stays as it is. */
struct etch_fs_wishes {
	unsigned int named;
	struct etch_owner owner;
};

static int etch_fs_option(struct fs_context *fc, struct fs_parameter *param)
{
	struct etch_fs_wishes *wishes = fc->fs_private;
	struct fs_parse_result result;
	int option = fs_parse(fc, etch_fs_options, param, &result);

	if (option < 0)
		return option;
	if (option == ETCH_OPTION_MODE && result.uint_32 & ~0777)
		return invalf(fc, "etchfs: mode %o has more than rwxrwxrwx", result.uint_32);
	if (option == ETCH_OPTION_UID)
		wishes->owner.uid = result.uid;
	else if (option == ETCH_OPTION_GID)
		wishes->owner.gid = result.gid;
	else
		wishes->owner.mode = result.uint_32;
	wishes->named |= BIT(option);
	return 0;
}

static void etch_fs_change(struct super_block *sb, const struct etch_fs_wishes *wishes)
{
	struct etch_owner owner = *(struct etch_owner *)sb->s_fs_info;

	if (wishes->named & BIT(ETCH_OPTION_UID))
		owner.uid = wishes->owner.uid;
	if (wishes->named & BIT(ETCH_OPTION_GID))
		owner.gid = wishes->owner.gid;
	if (wishes->named & BIT(ETCH_OPTION_MODE))
		owner.mode = wishes->owner.mode;
	etch_owner_set(sb, &owner);
}

static int etch_fs_reconfigure(struct fs_context *fc)
{
	etch_fs_change(fc->root->d_sb, fc->fs_private);
	return 0;
}

static int etch_fs_show_options(struct seq_file *m, struct dentry *root)
{
	const struct etch_owner *owner = root->d_sb->s_fs_info;

	if (!uid_eq(owner->uid, GLOBAL_ROOT_UID))
		seq_printf(m, ",uid=%u", from_kuid_munged(&init_user_ns, owner->uid));
	if (!gid_eq(owner->gid, GLOBAL_ROOT_GID))
		seq_printf(m, ",gid=%u", from_kgid_munged(&init_user_ns, owner->gid));
	if (owner->mode != ETCH_FS_MODE)
		seq_printf(m, ",mode=%o", owner->mode);
	return 0;
}

/* ---- The file system ---- */

/* The instance in whose folder the file system begins. */
static struct etch_instance *etch_fs_main __ro_after_init;

static const struct super_operations etch_fs_ops = {
	.statfs = simple_statfs,
	.drop_inode = inode_just_drop,
	.evict_inode = etch_entry_evict,
	.show_options = etch_fs_show_options,
};

static int etch_fs_fill(struct super_block *sb, struct fs_context *fc)
{
	const struct etch_entry entry = {
		.of = { .inst = etch_fs_main, .cpu = ETCH_ALL_CPUS },
		.mode = S_IFDIR,
		.folder = &etch_instance_folder,
	};
	struct etch_owner *owner = kzalloc(sizeof(*owner), GFP_KERNEL);
	struct inode *root;

	if (!owner)
		return -ENOMEM;
	*owner = (struct etch_owner) {
		.uid = GLOBAL_ROOT_UID,
		.gid = GLOBAL_ROOT_GID,
		.mode = ETCH_FS_MODE,
	};
	sb->s_fs_info = owner;
	sb->s_maxbytes = MAX_LFS_FILESIZE;
	sb->s_blocksize = PAGE_SIZE;
	sb->s_blocksize_bits = PAGE_SHIFT;
	sb->s_magic = ETCH_FS_MAGIC;
	sb->s_iflags |= SB_I_NOEXEC | SB_I_NODEV;
	sb->s_op = &etch_fs_ops;
	set_default_d_op(sb, &etch_dentry_ops);
	sb->s_time_gran = 1;
	root = etch_entry_inode(sb, ETCH_FS_ROOT, &entry);
	if (IS_ERR(root))
		return PTR_ERR(root);
	sb->s_root = d_make_root(root);
	return sb->s_root ? 0 : -ENOMEM;
}

static int etch_fs_get_tree(struct fs_context *fc)
{
	int ret = get_tree_single(fc, etch_fs_fill);

	if (!ret)
		etch_fs_change(fc->root->d_sb, fc->fs_private);
	return ret;
}

static void etch_fs_free(struct fs_context *fc)
{
	kfree(fc->fs_private);
}

static const struct fs_context_operations etch_fs_context_ops = {
	.free = etch_fs_free,
	.parse_param = etch_fs_option,
	.get_tree = etch_fs_get_tree,
	.reconfigure = etch_fs_reconfigure,
};

static int etch_fs_context(struct fs_context *fc)
{
	struct etch_fs_wishes *wishes = kzalloc(sizeof(*wishes), GFP_KERNEL);

	if (!wishes)
		return -ENOMEM;
	fc->fs_private = wishes;
	fc->ops = &etch_fs_context_ops;
	return 0;
}

static void etch_fs_kill(struct super_block *sb)
{
	void *owner = sb->s_fs_info;

	kill_anon_super(sb);
	kfree(owner);
}

static struct file_system_type etch_fs_type = {
	.name = "etchfs",
	.init_fs_context = etch_fs_context,
	.parameters = etch_fs_options,
	.kill_sb = etch_fs_kill,
};

/* ---- Where it is mounted ---- */

static struct vfsmount *etch_fs_automount(struct dentry *mountpoint, void *unused)
{
	struct fs_context *fc = fs_context_for_submount(&etch_fs_type, mountpoint);
	struct vfsmount *mnt;

	if (IS_ERR(fc))
		return ERR_CAST(fc);
	/* What mountinfo shows; without memory, "none". */
	fc->source = kstrdup("etchfs", GFP_KERNEL);
	mnt = fc_mount(fc);
	put_fs_context(fc);
	return mnt;
}

/**
 * etch_tree_make() - show the main tree, and have it mounted when users look for it
 * @inst: whose it is
 *
 * Context: boot; holds etch_mutex.
 * Return: 0 or a negative errno. Without debugfs users can mount it elsewhere.
 */
int __init etch_tree_make(struct etch_instance *inst)
{
	int ret = etch_tree_add_instance(inst);

	if (ret)
		return ret;
	etch_fs_main = inst;
	ret = register_filesystem(&etch_fs_type);
	if (ret)
		return ret;
	return PTR_ERR_OR_ZERO(debugfs_create_automount("etch", NULL, etch_fs_automount, NULL));
}
