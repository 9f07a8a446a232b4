// SPDX-License-Identifier: GPL-2.0
/*
 * An instance of Etch: finding or making it, its settings, its figures.
 *
 * Settings of an instance that others use are put back at the end, the last change
 * first. An instance of our own is removed, and the kernel puts back all that it was.
 */
#include "record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define TREE_DEBUGFS	"/sys/kernel/debug"
#define TREE_ROOT	TREE_DEBUGFS "/etch"
#define TREE_TRIES	50	/* to remove an instance, a hundredth of a second apart */

const char * const account_names[STATS] = {
	[ENTRIES]	= "entries",
	[WRITTEN]	= "written",
	[READ]		= "read",
	[OVERWRITTEN]	= "overwritten",
	[LOST_FULL]	= "lost full",
	[LOST_TOO_BIG]	= "lost too big",
	[LOST_NESTED]	= "lost nested",
	[LOST_THROTTLED] = "lost throttled",
	[LOST_OFF]	= "lost off",
	[LOST_NO_BUFFER] = "lost no buffer",
};

/**
 * struct change - a setting that is not as it was found
 * @next: the change before it
 * @file: which
 * @old: its contents before
 */
struct change {
	struct change *next;
	char *file, *old;
};

/* ---- Files ---- */

static int tree_fd(const struct tree *tree, const char *file, int flags)
{
	char path[2 * PATH_MAX];

	if (tree->dir)
		return openat(tree->dir, file, flags | O_CLOEXEC);
	snprintf(path, sizeof(path), "%s/%s", tree->path, file);
	return open(path, flags | O_CLOEXEC);
}

char *tree_read(const struct tree *tree, const char *file, size_t *len)
{
	size_t have = 0, room = 1 << 16;
	int fd = tree_fd(tree, file, O_RDONLY), err;
	char *text = malloc(room), *more;
	ssize_t n = -1;

	while (fd >= 0 && text && (n = read(fd, text + have, room - have - 1)) > 0) {
		have += n;
		if (have + 1 < room)
			continue;
		room *= 2;
		more = realloc(text, room);
		if (!more) {
			n = -1;
			break;
		}
		text = more;
	}
	err = errno;
	if (fd >= 0)
		close(fd);
	if (n < 0) {
		free(text);
		errno = err;
		return NULL;
	}
	text[have] = 0;
	if (len)
		*len = have;
	return text;
}

char *tree_formats(const struct tree *tree, const char *system)
{
	char file[512];

	snprintf(file, sizeof(file), "events/%s%sformat", system ? system : "", system ? "/" : "");
	return tree_read(tree, file, NULL);
}

const char *tree_format(const char *at, struct tree_format *format)
{
	static const char begin[] = "name: ", number[] = "\nID: ";
	const char *next, *id;

	if (strncmp(at, begin, strlen(begin)))
		return NULL;
	next = strstr(at, "\n\nname: ");
	next = next ? next + 2 : at + strlen(at);
	format->text = at;
	format->len = next - at;
	/* The empty line behind it. */
	if (format->len > 2 && !strncmp(next - 2, "\n\n", 2))
		format->len--;
	format->name = at + strlen(begin);
	format->name_len = strcspn(format->name, "\n");
	id = format->name + format->name_len;
	format->id = strncmp(id, number, strlen(number)) ? -1 :
		     strtol(id + strlen(number), NULL, 10);
	return next;
}

/* What error_log has to say of a write to @file that was refused. */
static void tree_explain(const struct tree *tree, const char *file)
{
	char *log = tree_read(tree, "error_log", NULL), *at, *last = NULL;

	for (at = log; at && *at; at = strchr(at, '\n') + 1) {
		if (*at == '[')
			last = at;
		if (!strchr(at, '\n'))
			break;
	}
	if (last && strstr(last, file))
		fprintf(stderr, "%s", last);
	free(log);
}

/* 0; or -1 if @file cannot be opened, 1 if it refused @text, with errno. */
static int tree_put(const struct tree *tree, const char *file, const char *text, int flags)
{
	int fd = tree_fd(tree, file, O_WRONLY | flags);
	ssize_t len = strlen(text), n = -1;
	int err;

	if (fd >= 0)
		n = write(fd, text, len);
	err = errno;
	if (fd >= 0)
		close(fd);
	errno = n < 0 ? err : EIO;
	return n == len ? 0 : fd < 0 ? -1 : 1;
}

static int tree_write_with(const struct tree *tree, const char *file, const char *text, int flags)
{
	int ret = tree_put(tree, file, text, flags);

	if (!ret)
		return 0;
	fail("%s/%s: %m, for '%.*s'", tree->path, file, (int)strcspn(text, "\n"), text);
	if (ret > 0)
		tree_explain(tree, file);
	return -1;
}

/* The same, of a change that may be refused: nobody needs to know. */
int tree_try(const struct tree *tree, const char *file, const char *text)
{
	return tree_put(tree, file, text, O_TRUNC) ? -1 : 0;
}

/* As a shell does, with > or, to add to the events that are on, with >>. */
int tree_write(const struct tree *tree, const char *file, const char *text)
{
	return tree_write_with(tree, file, text, strcmp(file, "set_event") ? O_TRUNC : O_APPEND);
}

/* ---- Settings ---- */

/* Keeps the value that a file had before the first change. */
static void tree_remember(struct tree *tree, const char *file, const char *old)
{
	struct change *change;

	for (change = tree->changes; change; change = change->next)
		if (!strcmp(change->file, file))
			return;
	change = malloc(sizeof(*change));
	if (!change)
		abort();
	change->file = strdup(file);
	change->old = strdup(old);
	if (!change->file || !change->old)
		abort();
	change->next = tree->changes;
	tree->changes = change;
}

/* The value to write so that the file reads as @text again: of a choice, the chosen word. */
static char *tree_value(char *text)
{
	static const char expanded[] = "(expanded: ";
	char *at;

	at = strstr(text, expanded);
	if (at) {
		at += strlen(expanded);
		at[strcspn(at, ")")] = 0;
		return at;
	}
	at = strchr(text, '[');
	if (at) {
		at++;
		at[strcspn(at, "]")] = 0;
		return at;
	}
	text[strcspn(text, "\n")] = 0;
	return text;
}

struct remember_cpu {
	struct tree *tree;
	const char *file;
};

static int tree_remember_cpu(void *arg, int cpu)
{
	struct remember_cpu *what = arg;
	char file[100], *text, *value;

	snprintf(file, sizeof(file), "per_cpu/cpu%d/%s", cpu, what->file);
	text = tree_read(what->tree, file, NULL);
	value = text ? tree_value(text) : NULL;
	if (value && strcmp(value, "0"))
		tree_remember(what->tree, file, value);
	free(text);
	return 0;
}

int tree_change(struct tree *tree, const char *file, const char *text)
{
	struct remember_cpu of_cpus = { tree, file };
	char *old, *value;

	if (tree->own)
		return tree_write(tree, file, text);
	old = tree_read(tree, file, NULL);
	if (!old)
		return fail("%s/%s cannot be read: %m", tree->path, file);
	value = strcmp(file, "set_event") ? tree_value(old) : old;
	if (!strcmp(value, text)) {
		free(old);
		return 0;
	}
	/* "X" says that the CPUs differ: each has a file of its own. */
	if (!strcmp(value, "X"))
		tree_each_cpu(tree, tree_remember_cpu, &of_cpus);
	else
		tree_remember(tree, file, value);
	free(old);
	return tree_write(tree, file, text);
}

/* An event may have gone with its module: then the others, one by one. */
static void tree_restore_events(struct tree *tree, const struct change *change)
{
	char *rest = change->old, *event;

	if (strcmp(change->file, "set_event") || tree_write_with(tree, change->file, "\n", O_TRUNC))
		return;
	while ((event = strsep(&rest, "\n")))
		if (*event)
			tree_write_with(tree, change->file, event, O_APPEND);
}

static int tree_restore(struct tree *tree)
{
	struct change *change;
	int ret = 0;

	while ((change = tree->changes)) {
		if (tree_write_with(tree, change->file, *change->old ? change->old : "\n", O_TRUNC)) {
			ret = -1;
			tree_restore_events(tree, change);
		}
		tree->changes = change->next;
		free(change->file);
		free(change->old);
		free(change);
	}
	return ret;
}

/* ---- Finding an instance, or making one ---- */

static bool tree_debugfs_mounted(void)
{
	struct statfs fs;

	return !statfs(TREE_DEBUGFS, &fs) && fs.f_type == DEBUGFS_MAGIC;
}

static int tree_check(const char *root)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/set_event", root);
	if (!access(path, R_OK | W_OK))
		return 0;
	if (geteuid())
		return fail("records show what other users do, so they are root's alone: run this as root");
	if (!strcmp(root, TREE_ROOT) && !tree_debugfs_mounted())
		return fail("debugfs is not mounted: mount -t debugfs none " TREE_DEBUGFS);
	if (errno == EPERM)
		return fail("%s: %m. The kernel is locked down", root);
	return fail("there is no %s: this kernel was built without CONFIG_ETCH", root);
}

static int tree_make(struct tree *tree, const char *root)
{
	snprintf(tree->path, sizeof(tree->path), "%s/instances/record-%d", root, getpid());
	if (!mkdir(tree->path, 0700)) {
		tree->own = true;
		return 0;
	}
	switch (errno) {
	case ENOSPC:
		return fail("there can be no more instances: rmdir one of %s/instances, or use it (-i)",
			    root);
	case ENOMEM:
		return fail("no memory for the buffers of one more instance: use one that is there (-i)");
	default:
		return fail("no instance %s can be made: %m", tree->path);
	}
}

/* The folder, which is made if @instance is NULL. */
static int tree_find(struct tree *tree, const char *root, const char *instance)
{
	snprintf(tree->root, sizeof(tree->root), "%s", root);
	if (!instance)
		return tree_make(tree, root);
	if (!*instance || !strcmp(instance, ".")) {
		snprintf(tree->path, sizeof(tree->path), "%s", root);
		return 0;
	}
	snprintf(tree->path, sizeof(tree->path), "%s/instances/%s", root, instance);
	if (strchr(instance, '/') || access(tree->path, F_OK))
		return fail("there is no instance '%s': see %s/instances, or make one there with mkdir",
			    instance, root);
	return 0;
}

int tree_open(struct tree *tree, const char *root, const char *instance)
{
	memset(tree, 0, sizeof(*tree));
	if (!root)
		root = TREE_ROOT;
	if (tree_check(root) || tree_find(tree, root, instance))
		return -1;
	tree->dir = open(tree->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tree->dir >= 0)
		return 0;
	fail("%s cannot be opened: %m", tree->path);
	if (tree->own)
		rmdir(tree->path);
	return -1;
}

static void tree_close_folder(struct tree *tree)
{
	if (tree->dir)
		close(tree->dir);
	tree->dir = 0;
}

/* Somebody who has just changed a setting may still have its file open. */
static int tree_remove(const struct tree *tree)
{
	int tries = TREE_TRIES, ret;

	while ((ret = rmdir(tree->path)) && errno == EBUSY && tries--)
		usleep(10000);
	return ret;
}

int tree_close(struct tree *tree)
{
	int ret;

	if (!tree->own) {
		ret = tree_restore(tree);
		tree_close_folder(tree);
		return ret;
	}
	tree_close_folder(tree);
	if (tree_remove(tree))
		return fail("%s cannot be removed: %m. Close what has a file of it open, then rmdir it",
			    tree->path);
	return 0;
}

/* ---- Its settings ---- */

int tree_choose_events(struct tree *tree, const char *list)
{
	char *words = strdup(list);
	int ret;

	if (!words)
		return fail("no memory");
	for (char *at = words; *at; at++)
		if (*at == ',')
			*at = ' ';
	ret = tree_change(tree, "set_event", words);
	free(words);
	return ret;
}

int tree_choose_size(struct tree *tree, const char *size)
{
	char text[32], *end;
	unsigned long long kb = strtoull(size, &end, 10);

	switch (*end) {
	case 'G':
	case 'g':
		kb <<= 10;
		/* fall through */
	case 'M':
	case 'm':
		kb <<= 10;
		/* fall through */
	case 'K':
	case 'k':
		end++;
	}
	if (end == size || *end)
		return fail("-b %s: a size is a number of KiB, or one with K, M or G behind it", size);
	snprintf(text, sizeof(text), "%llu", kb);
	return tree_change(tree, "buffer_size_kb", text);
}

/* ---- What it has to tell ---- */

char *tree_events(const struct tree *tree)
{
	struct tree main_tree = {};
	char *text;

	snprintf(main_tree.path, sizeof(main_tree.path), "%s", tree->root);
	text = tree_read(&main_tree, "available_events", NULL);
	if (!text)
		fail("%s/available_events cannot be read: %m", tree->root);
	return text;
}

bool tree_lists(const char *events, const char *event)
{
	size_t len = strlen(event);

	for (const char *at = events; (at = strstr(at, event)); at += len)
		if ((at == events || at[-1] == '\n') && (!at[len] || at[len] == '\n'))
			return true;
	return false;
}

bool tree_is_off(const struct tree *tree)
{
	char *text = tree_read(tree, "tracing_on", NULL);
	bool off = text && *text == '0';

	free(text);
	return off;
}

int tree_open_packets(const struct tree *tree, int cpu, bool programs)
{
	char file[64];

	snprintf(file, sizeof(file), "per_cpu/cpu%d/%s_pipe_raw", cpu,
		 programs ? "user" : "trace");
	return tree_fd(tree, file, O_RDONLY | O_NONBLOCK);
}

bool tree_has_programs(const struct tree *tree)
{
	int fd = tree_open_packets(tree, 0, true);

	if (fd < 0)
		return errno != ENOENT;
	close(fd);
	return true;
}

bool tree_stats(const struct tree *tree, int cpu, struct account *account)
{
	char file[64], *text, *line, *rest;
	int found = 0;

	snprintf(file, sizeof(file), "per_cpu/cpu%d/stats", cpu);
	text = tree_read(tree, file, NULL);
	memset(account, 0, sizeof(*account));
	for (line = text ? strtok_r(text, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest)) {
		for (int i = 0; i < STATS; i++) {
			size_t len = strlen(account_names[i]);

			if (strncmp(line, account_names[i], len) || line[len] != ':')
				continue;
			account->of[i] = strtoull(line + len + 1, NULL, 10);
			found++;
		}
	}
	free(text);
	return found == STATS;
}

int tree_each_cpu(const struct tree *tree, int (*each)(void *arg, int cpu), void *arg)
{
	int fd = tree_fd(tree, "per_cpu", O_RDONLY | O_DIRECTORY), cpu, ret = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		fail("%s/per_cpu: %m", tree->path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while (!ret && (entry = readdir(dir)))
		if (sscanf(entry->d_name, "cpu%d", &cpu) == 1)
			ret = each(arg, cpu);
	closedir(dir);
	return ret;
}
