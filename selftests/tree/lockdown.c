// SPDX-License-Identifier: GPL-2.0
/*
 * The files that root, with all capabilities, can still open in a kernel that is locked
 * down. That cannot be undone, so it is set at boot: lockdown=integrity or
 * lockdown=confidentiality. Files that were opened before stay open, as elsewhere in the
 * kernel; here there are none.
 */

#include <sys/mount.h>

#include "access_table.h"
#include "etch_test.h"

#define LOCKDOWN	"/sys/kernel/security/lockdown"

/* The file shows the present state in brackets. */
static bool locked_for(const char *what)
{
	char *text, word[64];
	bool is;

	if (access(LOCKDOWN, F_OK))
		mount("none", "/sys/kernel/security", "securityfs", 0, NULL);
	text = read_path(LOCKDOWN, NULL);
	snprintf(word, sizeof(word), "[%s]", what);
	is = text && strstr(text, word);
	free(text);
	return is;
}

/* Nothing can be opened to learn what there is; names can be looked up. */
static void expect_open(struct __test_metadata *_metadata, const struct entry *e,
			int reading, int writing)
{
	EXPECT_EQ(reading, try_open(e->path, O_RDONLY)) TH_LOG("%s, to read", e->path);
	if (!is_folder(e)) {
		EXPECT_EQ(writing, try_open(e->path, O_WRONLY)) TH_LOG("%s, to write", e->path);
	}
}

/* Files with mmap and ioctl among them. */
static void expect_changes(struct __test_metadata *_metadata)
{
	EXPECT_EQ(0, mkdir(ETCH "/instances/etch-locked", 0700));
	EXPECT_EQ(0, write_file(ETCH "/instances/etch-locked", "events/sched/enable", "1"));
	EXPECT_EQ(0, try_open(ETCH "/instances/etch-locked/per_cpu/cpu0/trace_pipe_raw", O_RDONLY));
	EXPECT_EQ(0, chmod(ETCH "/instances/etch-locked/trace", 0640));
	EXPECT_EQ(0, rmdir(ETCH "/instances/etch-locked"));
}

static void expect_no_changes(struct __test_metadata *_metadata)
{
	EXPECT_EQ(-1, mkdir(ETCH "/instances/etch-locked", 0700));
	EXPECT_EQ(EPERM, errno);
	EXPECT_EQ(-1, chmod(ETCH "/instances", 0777));
	EXPECT_EQ(EPERM, errno);
	EXPECT_EQ(-1, chown(ETCH "/instances", 65534, 65534));
	EXPECT_EQ(EPERM, errno);
	EXPECT_EQ(-1, chmod(ETCH "/events", 0777));
	EXPECT_EQ(EPERM, errno);
	EXPECT_EQ(-1, chmod(ETCH "/trace_pipe", 0666));
	EXPECT_EQ(EPERM, errno);
}

/* The tree changes nothing of the running kernel: integrity is no matter of it, as of tracefs. */
TEST(integrity)
{
	unsigned int files = 0;

	if (!locked_for("integrity"))
		SKIP(return, "boot with lockdown=integrity, and CONFIG_SECURITY_LOCKDOWN_LSM");
	tree_walk();
	ASSERT_LT(300, tree.nr);
	EXPECT_EQ(0, tree.unknown);
	for (size_t i = 0; i < tree.nr; i++) {
		const struct entry *e = &tree.entries[i];
		int none = strstr(e->path, "/cpu") && strstr(e->path, "snapshot") ? ENODATA : 0;

		files += !is_folder(e);
		/* The file of a snapshot is there, but there is none. */
		expect_open(_metadata, e, none, none);
	}
	EXPECT_LT(200, files);
	expect_changes(_metadata);
}

TEST(confidentiality)
{
	unsigned int refused = 0;

	if (!locked_for("confidentiality"))
		SKIP(return, "boot with lockdown=confidentiality, and CONFIG_SECURITY_LOCKDOWN_LSM");
	tree_walk();
	ASSERT_LT(300, tree.nr);
	for (size_t i = 0; i < tree.nr; i++) {
		const struct entry *e = &tree.entries[i];

		refused += !is_folder(e);
		expect_open(_metadata, e, is_folder(e) ? 0 : EPERM, EPERM);
	}
	EXPECT_LT(200, refused);
	expect_no_changes(_metadata);
}

TEST_HARNESS_MAIN
