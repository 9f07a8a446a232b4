// SPDX-License-Identifier: GPL-2.0
/*
 * The file system of the tree: its folders are not stored, and its inodes go when memory gets
 * short. So a name must be found whenever it is listed, with the same inode number; owners and
 * modes that users changed must stay; and a folder that goes must be empty for a task in it.
 */

#define _GNU_SOURCE
#include <dirent.h>
#include <ftw.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "etch_test.h"
#include "sample.h"

#define INSTANCE	ETCH "/instances/etch-fs"
#define OTHER		ETCH "/instances/etch-fs-other"
#define EVENT		"events/sched/sched_switch"
#define SAMPLE_EVENT	ETCH "/events/" SAMPLE "/etch_sample_greet"
#define USER		1234
#define GROUP		1235

/* Frees inodes and dentries that nobody uses. */
static void forget(void)
{
	if (write_file("/proc/sys/vm", "drop_caches", "2"))
		give_up("drop_caches");
}

static struct stat stat_path(const char *tree, const char *file)
{
	struct stat st = {};

	if (stat(path_of(tree, file), &st))
		st.st_ino = 0;
	return st;
}

static int remount(const char *options)
{
	return mount(NULL, ETCH, NULL, MS_REMOUNT, options) ? errno : 0;
}

FIXTURE(fs) {
};

FIXTURE_SETUP(fs)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	sample_unload();
	rmdir(INSTANCE);
	rmdir(OTHER);
	etch_as_new();
	ASSERT_EQ(0, mkdir(INSTANCE, 0700));
}

FIXTURE_TEARDOWN(fs)
{
	EXPECT_EQ(0, remount("uid=0,gid=0,mode=700"));
	chown(ETCH "/instances", 0, 0);
	sample_unload();
	rmdir(INSTANCE);
	rmdir(OTHER);
	etch_as_new();
}

/* ---- Names ---- */

static unsigned int seen, wrong;

/* A folder's list has the names, the kinds and the inode numbers that stat() has. */
static void compare_folder(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *d;
	struct stat st;

	while (dir && (d = readdir(dir))) {
		if (!strcmp(d->d_name, "..") || !strcmp(path, ETCH "/.."))
			continue;
		seen++;
		if (!fstatat(dirfd(dir), d->d_name, &st, 0) && st.st_ino == d->d_ino &&
		    S_ISDIR(st.st_mode) == (d->d_type == DT_DIR))
			continue;
		if (wrong++ < 10)
			printf("# %s/%s is listed: inode %llu\n", path, d->d_name,
			       (unsigned long long)d->d_ino);
	}
	if (dir)
		closedir(dir);
	else
		wrong++;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	if (type == FTW_D)
		compare_folder(path);
	return 0;
}

TEST_F_TIMEOUT(fs, what_is_listed_is_found, 120)
{
	nftw(ETCH, visit, 16, FTW_PHYS);
	EXPECT_LT(2000, seen);
	EXPECT_EQ(0, wrong);
}

TEST_F(fs, what_is_not_listed_is_not_found)
{
	static const char * const names[] = {
		"nothing", "events/nothing", "events/sched/nothing", EVENT "/nothing",
		"events/sched/sched_switc", "events/sched/sched_switch_", "events/etch",
		"per_cpu/cpu99999", "per_cpu/cpu", "per_cpu/cpu0/nothing", "instances/nothing",
		"persist/nothing",
	};
	char name[300];

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		EXPECT_EQ(0, stat_path(ETCH, names[i]).st_ino) TH_LOG("%s", names[i]);
		EXPECT_EQ(ENOENT, errno) TH_LOG("%s", names[i]);
	}
	/* These are the main tree's alone. */
	EXPECT_EQ(0, stat_path(INSTANCE, "README").st_ino);
	EXPECT_EQ(0, stat_path(INSTANCE, "instances").st_ino);
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	EXPECT_EQ(0, stat_path(ETCH, name).st_ino);
	EXPECT_EQ(ENAMETOOLONG, errno);
	EXPECT_EQ(EACCES, open(ETCH "/nothing", O_CREAT | O_WRONLY, 0600) < 0 ? errno : 0);
	EXPECT_EQ(EPERM, mkdir(ETCH "/events/nothing", 0700) ? errno : 0);
	EXPECT_EQ(EPERM, unlink(ETCH "/trace") ? errno : 0);
}

TEST_F(fs, an_inode_has_one_number)
{
	static const char * const files[] = {
		"events", "events/sched", EVENT, EVENT "/format", "per_cpu/cpu0", "trace_clock",
	};
	ino_t numbers[ARRAY_LEN(files)];

	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		numbers[i] = stat_path(INSTANCE, files[i]).st_ino;
	forget();
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		EXPECT_EQ(numbers[i], stat_path(INSTANCE, files[i]).st_ino) TH_LOG("%s", files[i]);
		EXPECT_NE(numbers[i], stat_path(ETCH, files[i]).st_ino) TH_LOG("%s", files[i]);
	}
}

/* ---- Listings in small pieces ---- */

struct kernel_dirent {
	uint64_t ino;
	int64_t off;
	unsigned short len;
	unsigned char type;
	char name[];
};

/*
 * How often a folder lists @name, as many names at a time as fit into @size bytes, with @between
 * called in between.
 */
static unsigned int listed(const char *path, const char *name, size_t size,
			   void (*between)(unsigned int))
{
	char buf[256] __attribute__((aligned(8)));
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unsigned int calls = 0, found = 0;
	long n;

	while ((n = syscall(SYS_getdents64, fd, buf, size)) > 0) {
		for (long at = 0; at < n;) {
			struct kernel_dirent *d = (struct kernel_dirent *)(buf + at);

			found += !strcmp(d->name, name);
			at += d->len;
		}
		between(calls++);
	}
	close(fd);
	return n ? 0 : found;
}

static void load_and_unload(unsigned int call)
{
	if (call % 2 ? sample_unload() : sample_load())
		give_up(SAMPLE);
}

/* An entry that stays is listed once, while a module's come and go, whose place is the last. */
TEST_F_TIMEOUT(fs, events_that_come_and_go_hide_no_others, 120)
{
	static const char * const systems[] = { "alarmtimer", "sched", "timer", "workqueue" };

	if (!sample_path())
		SKIP(return, "%s", no_sample());
	for (size_t i = 0; i < ARRAY_LEN(systems); i++) {
		EXPECT_EQ(1, listed(ETCH "/events", systems[i], 256, load_and_unload))
			TH_LOG("%s", systems[i]);
		sample_unload();
	}
}

static void remove_and_make(unsigned int call)
{
	if (call % 2 ? mkdir(OTHER, 0700) : rmdir(OTHER))
		give_up(OTHER);
}

TEST_F(fs, instances_that_come_and_go_hide_no_others)
{
	/* The older one is listed first, and when it is made again, too. */
	ASSERT_EQ(0, rmdir(INSTANCE));
	ASSERT_EQ(0, mkdir(OTHER, 0700));
	ASSERT_EQ(0, mkdir(INSTANCE, 0700));
	EXPECT_EQ(1, listed(ETCH "/instances", "etch-fs", 64, remove_and_make));
}

/* ---- Events and instances that go ---- */

static int open_at(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC), err = fd < 0 ? errno : 0;

	if (!err)
		close(fd);
	return err;
}

/* The folder and the file are of names: they work again when the event is there again. */
TEST_F(fs, an_events_folder_outlives_its_module)
{
	char c;
	int dir, fd;

	if (!sample_path())
		SKIP(return, "%s", no_sample());
	ASSERT_EQ(0, sample_load());
	dir = open(SAMPLE_EVENT, O_PATH | O_CLOEXEC);
	fd = open(SAMPLE_EVENT "/enable", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, dir);
	ASSERT_LE(0, fd);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(0, open_at(dir, "format"));
		EXPECT_EQ(1, pread(fd, &c, 1, 0));
		EXPECT_EQ(1, write(fd, "1", 1));
		ASSERT_EQ(0, sample_unload());
		EXPECT_EQ(ENOENT, open_at(dir, "format"));
		EXPECT_EQ(-1, access(SAMPLE_EVENT, F_OK));
		EXPECT_EQ(-1, access(ETCH "/events/" SAMPLE, F_OK));
		EXPECT_EQ(-1, pread(fd, &c, 1, 0));
		EXPECT_EQ(ENODEV, errno);
		EXPECT_EQ(-1, write(fd, "1", 1));
		EXPECT_EQ(ENODEV, errno);
		ASSERT_EQ(0, sample_load());
		EXPECT_EQ(0, access(SAMPLE_EVENT "/format", F_OK));
	}
	close(fd);
	close(dir);
}

/* A folder is no open file: it does not keep its instance. */
TEST_F(fs, nothing_is_in_the_folder_of_a_removed_instance)
{
	static const char * const folders[] = { ".", "events", "events/sched", EVENT, "per_cpu/cpu0" };
	int fds[ARRAY_LEN(folders)];
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		fds[i] = open(path_of(INSTANCE, folders[i]), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ASSERT_LE(0, fds[i]);
	}
	ASSERT_EQ(0, rmdir(INSTANCE));
	/* The second one has the name, the bit and perhaps the address of the first. */
	for (int again = 0; again < 2; again++) {
		for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
			char buf[256];

			EXPECT_EQ(ENOENT, open_at(fds[i], "enable")) TH_LOG("%s", folders[i]);
			EXPECT_EQ(ENOENT, open_at(fds[i], "trace")) TH_LOG("%s", folders[i]);
			EXPECT_GE(0, syscall(SYS_getdents64, fds[i], buf, 8)) TH_LOG("%s", folders[i]);
			EXPECT_EQ(0, fstat(fds[i], &st)) TH_LOG("%s", folders[i]);
			EXPECT_NE(0, fchmod(fds[i], 0755)) TH_LOG("%s", folders[i]);
		}
		EXPECT_EQ(again ? EEXIST : 0, mkdir(INSTANCE, 0700) ? errno : 0);
	}
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		close(fds[i]);
	EXPECT_EQ(0, write_file(INSTANCE, EVENT "/enable", "1"));
}

/* ---- Owners and modes ---- */

static void expect_owner(struct __test_metadata *_metadata, const char *tree, const char *file,
			 uid_t uid, gid_t gid, mode_t mode)
{
	struct stat st = stat_path(tree, file);

	EXPECT_EQ(uid, st.st_uid) TH_LOG("%s/%s", tree, file);
	EXPECT_EQ(gid, st.st_gid) TH_LOG("%s/%s", tree, file);
	EXPECT_EQ(mode, st.st_mode & 07777) TH_LOG("%s/%s", tree, file);
}

TEST_F(fs, options_are_for_all_files)
{
	/* This one is in use, and the others are not. */
	int fd = open(ETCH "/" EVENT "/enable", O_RDONLY | O_CLOEXEC);

	ASSERT_EQ(0, remount("uid=1234,gid=1235,mode=750"));
	for (int forgotten = 0; forgotten < 2; forgotten++) {
		expect_owner(_metadata, ETCH, ".", USER, GROUP, 0750);
		expect_owner(_metadata, ETCH, EVENT, USER, GROUP, 0750);
		expect_owner(_metadata, ETCH, EVENT "/enable", USER, GROUP, 0640);
		expect_owner(_metadata, ETCH, "README", USER, GROUP, 0440);
		expect_owner(_metadata, ETCH, "trace_marker", USER, GROUP, 0200);
		expect_owner(_metadata, INSTANCE, "trace_pipe", USER, GROUP, 0440);
		forget();
	}
	/* An option that is not named stays as it is. */
	ASSERT_EQ(0, remount("mode=777"));
	expect_owner(_metadata, ETCH, EVENT "/enable", USER, GROUP, 0666);
	expect_owner(_metadata, ETCH, "trace_marker", USER, GROUP, 0222);
	EXPECT_EQ(EINVAL, remount("mode=1777"));
	EXPECT_EQ(EINVAL, remount("mode=8"));
	EXPECT_EQ(EINVAL, remount("owner=1"));
	EXPECT_EQ(EINVAL, remount("uid=-1"));
	expect_owner(_metadata, ETCH, EVENT "/enable", USER, GROUP, 0666);
	ASSERT_EQ(0, remount("uid=0,gid=0,mode=700"));
	expect_owner(_metadata, ETCH, EVENT "/enable", 0, 0, 0600);
	close(fd);
}

TEST_F(fs, what_users_change_stays)
{
	ASSERT_EQ(0, chown(path_of(INSTANCE, EVENT "/enable"), USER, -1));
	ASSERT_EQ(0, chmod(path_of(INSTANCE, EVENT "/enable"), 0640));
	ASSERT_EQ(0, chown(path_of(INSTANCE, "events"), -1, GROUP));
	for (int forgotten = 0; forgotten < 2; forgotten++) {
		expect_owner(_metadata, INSTANCE, EVENT "/enable", USER, 0, 0640);
		expect_owner(_metadata, INSTANCE, "events", 0, GROUP, 0700);
		/* Their neighbours, and the same files of another tree. */
		expect_owner(_metadata, INSTANCE, EVENT "/id", 0, 0, 0400);
		expect_owner(_metadata, ETCH, EVENT "/enable", 0, 0, 0600);
		forget();
	}
	/* An option is for what users did not change. */
	ASSERT_EQ(0, remount("gid=1234,mode=770"));
	expect_owner(_metadata, INSTANCE, EVENT "/enable", USER, GROUP - 1, 0640);
	expect_owner(_metadata, INSTANCE, "events", 0, GROUP, 0770);
	ASSERT_EQ(0, remount("gid=0,mode=700"));

	/* The next instance of the name is another one. */
	ASSERT_EQ(0, rmdir(INSTANCE));
	ASSERT_EQ(0, mkdir(INSTANCE, 0700));
	expect_owner(_metadata, INSTANCE, EVENT "/enable", 0, 0, 0600);
	expect_owner(_metadata, INSTANCE, "events", 0, 0, 0700);
}

/* Runs @part as another user, and returns the line in which it failed, or 0. */
static int as_user(int (*part)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (syscall(SYS_setgroups, 0, NULL) || syscall(SYS_setresgid, GROUP, GROUP, GROUP) ||
		    syscall(SYS_setresuid, USER, USER, USER))
			_exit(255);
		_exit(part());
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* From here on a user has a tree of its own, and nothing else. */
static int trace_in_own_instance(void)
{
	if (mkdir(OTHER, 0700))
		return 1;
	if (write_file(OTHER, "events/sched/enable", "1"))
		return 2;
	if (write_file(OTHER, "trace_marker", "mine"))
		return 3;
	if (!strstr(read_file(OTHER, "trace"), "mine"))
		return 4;
	if (write_file(OTHER, "tracing_on", "0"))
		return 5;
	if (rmdir(INSTANCE) != -1 || errno != EPERM)
		return 6;
	if (open(INSTANCE "/trace", O_RDONLY) != -1 || errno != EACCES)
		return 7;
	if (open(ETCH "/trace", O_RDONLY) != -1 || errno != EACCES)
		return 8;
	return 0;
}

static int remove_own_instance(void)
{
	return rmdir(OTHER) ? errno : 0;
}

TEST_F(fs, a_user_owns_the_instances_it_makes)
{
	if (!have_text())
		SKIP(return, NO_TEXT);
	/* Root lets users through to instances/, and make their own there. */
	ASSERT_EQ(0, chmod(DEBUGFS, 0711));
	ASSERT_EQ(0, chmod(ETCH, 0711));
	ASSERT_EQ(0, chmod(ETCH "/instances", 01777));
	EXPECT_EQ(0, as_user(trace_in_own_instance));
	expect_owner(_metadata, OTHER, "events/sched/enable", USER, GROUP, 0600);
	forget();
	expect_owner(_metadata, OTHER, "events/sched/enable", USER, GROUP, 0600);
	expect_owner(_metadata, OTHER, ".", USER, GROUP, 0700);
	EXPECT_EQ(0, as_user(remove_own_instance));
	EXPECT_EQ(0, chmod(ETCH "/instances", 0700));
	EXPECT_EQ(0, chmod(ETCH, 0700));
	EXPECT_EQ(0, chmod(DEBUGFS, 0700));
}

/* ---- Mounts ---- */

/* The same file system, wherever it is mounted; an instance can be bound into a container. */
TEST_F(fs, it_can_be_mounted_elsewhere)
{
	char at[] = "/tmp/etch-fs-XXXXXX", bound[] = "/tmp/etch-bound-XXXXXX";

	ASSERT_NE(NULL, mkdtemp(at));
	ASSERT_NE(NULL, mkdtemp(bound));
	ASSERT_EQ(0, mount("none", at, "etchfs", 0, NULL));
	EXPECT_EQ(0, write_file(at, EVENT "/enable", "1"));
	EXPECT_STREQ("1", read_line(ETCH, EVENT "/enable"));
	EXPECT_EQ(stat_path(ETCH, EVENT).st_ino, stat_path(at, EVENT).st_ino);
	EXPECT_EQ(stat_path(ETCH, ".").st_dev, stat_path(at, ".").st_dev);
	EXPECT_EQ(0, umount(at));

	ASSERT_EQ(0, mount(INSTANCE, bound, NULL, MS_BIND, NULL));
	EXPECT_EQ(0, write_file(bound, "tracing_on", "0"));
	EXPECT_STREQ("0", read_line(INSTANCE, "tracing_on"));
	/* What another mount shows may be removed in this one. */
	EXPECT_EQ(0, rmdir(INSTANCE)) TH_LOG("%s", strerror(errno));
	EXPECT_EQ(-1, access(path_of(bound, "tracing_on"), F_OK));
	umount(bound);
	rmdir(bound);
	rmdir(at);
}

/* debugfs forgets its mount, not the tree: the next look mounts it again. */
TEST_F(fs, it_comes_back_after_a_umount)
{
	ASSERT_EQ(0, chown(path_of(INSTANCE, "trace"), USER, GROUP));
	ASSERT_EQ(0, write_file(INSTANCE, EVENT "/enable", "1"));
	if (umount(ETCH))
		SKIP(return, "%s is in use: %s", ETCH, strerror(errno));
	EXPECT_STREQ("1", read_line(INSTANCE, EVENT "/enable"));
	expect_owner(_metadata, INSTANCE, "trace", USER, GROUP, 0600);
}

TEST_HARNESS_MAIN
