// SPDX-License-Identifier: GPL-2.0
/*
 * Access to the files of the tree, for tasks of several kinds: the table in access_table.c,
 * which is also in Documentation/trace/etch/access.rst. And the addresses that readers see:
 * they must be hashed. For kernels that are locked down see lockdown.c.
 */

#define _GNU_SOURCE
#include <glob.h>
#include <linux/capability.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "access_table.h"
#include "etch_test.h"

#define NOBODY	65534

/* ---- Tasks of several kinds ---- */

static int set_capabilities(uint64_t caps)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = caps, .permitted = caps },
		{ .effective = caps >> 32, .permitted = caps >> 32 },
	};

	return syscall(SYS_capset, &header, data);
}

/* Makes the task run as @uid, with the capabilities @caps and no others. */
static void become(uid_t uid, uint64_t caps)
{
	if (prctl(PR_SET_KEEPCAPS, 1) || syscall(SYS_setgroups, 0, NULL) ||
	    syscall(SYS_setresgid, uid, uid, uid) || syscall(SYS_setresuid, uid, uid, uid) ||
	    set_capabilities(caps))
		give_up("uid %u, capabilities %#llx", uid, (unsigned long long)caps);
	if (getuid() != uid || geteuid() != uid)
		give_up("uid %u", uid);
}

static unsigned int complaints;

static __printf(1, 2) void complain(const char *fmt, ...)
{
	va_list args;

	if (complaints++ >= 20)
		return;
	printf("# ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
}

/* Runs @check as a task of that kind, and returns the number of its complaints. */
static unsigned int complaints_of(uid_t uid, uint64_t caps, void (*check)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		complaints = 0;
		become(uid, caps);
		check();
		_exit(complaints < 100 ? complaints : 100);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

/* In every tree: the kernel's parameters may have made some. */
static int all_snapshots(const char *text)
{
	int ret = write_file(ETCH, "snapshot", text);
	glob_t found = {};

	glob(ETCH "/instances/*", 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc && !ret; i++)
		ret = write_file(found.gl_pathv[i], "snapshot", text);
	globfree(&found);
	return ret;
}

FIXTURE(access) {
};

FIXTURE_SETUP(access)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	rmdir(INSTANCE);
	etch_as_new();
	ASSERT_EQ(0, mkdir(INSTANCE, 0777));
	/* So that the snapshots can be read. */
	ASSERT_EQ(0, all_snapshots("1"));
	tree_walk_drawn();
	/* Some events are among them. */
	ASSERT_LT(0, tree.hits[row_of(ETCH "/events/sched/sched_switch") - rows]);
}

FIXTURE_TEARDOWN(access)
{
	all_snapshots("0");
	rmdir(INSTANCE);
	etch_as_new();
}

TEST_F(access, modes_are_those_of_the_table)
{
	tree_walk();
	EXPECT_EQ(0, tree.unknown);
	for (size_t i = 0; i < NR_ROWS; i++) {
		if (!is_optional(&rows[i])) {
			EXPECT_LT(0, tree.hits[i]) TH_LOG("there is no %s", rows[i].file);
		}
	}
	for (size_t i = 0; i < tree.nr; i++) {
		const struct entry *e = &tree.entries[i];

		EXPECT_EQ(e->row->mode, e->st.st_mode & 07777) TH_LOG("%s", e->path);
		EXPECT_EQ(e->row->folder, is_folder(e)) TH_LOG("%s", e->path);
		EXPECT_EQ(0, e->st.st_uid) TH_LOG("%s", e->path);
		EXPECT_EQ(0, e->st.st_gid) TH_LOG("%s", e->path);
	}
}

static void must_not(const char *path, const char *what, int err)
{
	if (err != EACCES)
		complain("%s can be %s: errno %d", path, what, err);
}

static void nothing_opens(void)
{
	struct stat st;

	for (size_t i = 0; i < tree.nr; i++) {
		const char *path = tree.entries[i].path;

		must_not(path, "seen", stat(path, &st) ? errno : 0);
		must_not(path, "read", try_open(path, O_RDONLY));
		must_not(path, "written", try_open(path, O_WRONLY));
		must_not(path, "emptied", truncate(path, 0) ? errno : 0);
	}
	must_not(ETCH "/instances", "added to", mkdir(ETCH "/instances/nobody", 0700) ? errno : 0);
	must_not(INSTANCE, "removed", rmdir(INSTANCE) ? errno : 0);
}

TEST_F_TIMEOUT(access, others_get_nothing, 120)
{
	EXPECT_EQ(0, complaints_of(NOBODY, 0, nothing_opens));
}

/* For one file of each row, root opens a path that does not lead through the folders. */
static char past_folders[NR_ROWS][32];

static void find_ways_past_folders(void)
{
	for (size_t i = 0; i < tree.nr; i++) {
		char *way = past_folders[tree.entries[i].row - rows];

		if (!*way)
			sprintf(way, "/proc/self/fd/%d", open(tree.entries[i].path, O_PATH));
	}
}

static void nothing_can_be_opened(void)
{
	for (size_t i = 0; i < NR_ROWS; i++) {
		if (!tree.hits[i])
			continue;
		must_not(rows[i].file, "read", try_open(past_folders[i], O_RDONLY));
		if (!rows[i].folder)
			must_not(rows[i].file, "written", try_open(past_folders[i], O_WRONLY));
	}
}

/* Even if all could enter the folders, they could not open the files. */
TEST_F(access, others_get_nothing_in_open_folders)
{
	find_ways_past_folders();
	/* The paths work for root. */
	for (size_t i = 0; i < NR_ROWS; i++) {
		if (tree.hits[i]) {
			EXPECT_EQ(0, try_open(past_folders[i], O_RDONLY)) TH_LOG("%s", rows[i].file);
		}
	}
	EXPECT_EQ(0, complaints_of(NOBODY, 0, nothing_can_be_opened));
}

/* An expected errno of opening each file. */
static void expect_opens(int (*reading)(const struct row *r), int (*writing)(const struct row *r))
{
	for (size_t i = 0; i < tree.nr; i++) {
		const struct entry *e = &tree.entries[i];
		int err = try_open(e->path, O_RDONLY);

		if (err != reading(e->row))
			complain("%s to read: errno %d", e->path, err);
		if (is_folder(e))
			continue;
		err = try_open(e->path, O_WRONLY);
		if (err != writing(e->row))
			complain("%s to write: errno %d", e->path, err);
	}
}

static int always(const struct row *r)
{
	return 0;
}

static int never(const struct row *r)
{
	return r ? EACCES : 0;
}

static int if_mode_reads(const struct row *r)
{
	return r->mode & 0400 ? 0 : EACCES;
}

static int if_mode_writes(const struct row *r)
{
	return r->mode & 0200 ? 0 : EACCES;
}

static void as_the_modes_say(void)
{
	expect_opens(if_mode_reads, if_mode_writes);
}

static void all_can_be_opened(void)
{
	expect_opens(always, always);
}

static void all_can_be_read(void)
{
	expect_opens(always, never);
}

TEST_F_TIMEOUT(access, root_without_capabilities_goes_by_the_modes, 120)
{
	EXPECT_EQ(0, complaints_of(0, 0, as_the_modes_say));
}

TEST_F_TIMEOUT(access, a_capability_to_override_modes_is_enough, 120)
{
	EXPECT_EQ(0, complaints_of(NOBODY, 1 << CAP_DAC_OVERRIDE, all_can_be_opened));
}

TEST_F_TIMEOUT(access, a_capability_to_search_reads_alone, 120)
{
	EXPECT_EQ(0, complaints_of(NOBODY, 1 << CAP_DAC_READ_SEARCH, all_can_be_read));
}

/* Capabilities that have to do with tracing elsewhere. */
TEST_F_TIMEOUT(access, other_capabilities_are_not, 120)
{
	EXPECT_EQ(0, complaints_of(NOBODY, 1ULL << CAP_SYS_ADMIN | 1ULL << CAP_PERFMON |
				   1ULL << CAP_SYSLOG | 1ULL << CAP_SYS_PTRACE,
				   nothing_opens));
}

/* Root may open a file beyond its mode, but read() or write() then fails with EINVAL. */
TEST_F_TIMEOUT(access, what_a_mode_lacks_cannot_be_done, 120)
{
	for (size_t i = 0; i < tree.nr; i++) {
		const struct entry *e = &tree.entries[i];
		int fd = open(e->path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		char byte;

		if (is_folder(e)) {
			EXPECT_GT(0, fd) TH_LOG("%s", e->path);
			continue;
		}
		if (!(e->row->mode & 0400)) {
			EXPECT_EQ(-1, read(fd, &byte, 1)) TH_LOG("%s", e->path);
			EXPECT_EQ(EINVAL, errno) TH_LOG("%s", e->path);
		}
		if (!(e->row->mode & 0200)) {
			EXPECT_EQ(-1, write(fd, "1", 1)) TH_LOG("%s", e->path);
			EXPECT_EQ(EINVAL, errno) TH_LOG("%s", e->path);
		}
		close(fd);
	}
}

/* The mount options of debugfs are for its own folders. */
TEST_F_TIMEOUT(access, mount_options_open_nothing, 120)
{
	static const char debugfs[] = "/sys/kernel/debug";
	struct stat st;

	ASSERT_EQ(0, mount(NULL, debugfs, NULL, MS_REMOUNT, "uid=65534,gid=65534,mode=777"));
	EXPECT_EQ(0, stat(debugfs, &st));
	EXPECT_EQ(0777, st.st_mode & 07777);
	EXPECT_EQ(NOBODY, st.st_uid);
	tree_walk_drawn();
	for (size_t i = 0; i < tree.nr; i++) {
		EXPECT_EQ(0, tree.entries[i].st.st_uid) TH_LOG("%s", tree.entries[i].path);
	}
	/* Others may now see the folder itself, and nothing in it. */
	for (size_t i = 0; i < tree.nr; i++) {
		if (!strcmp(tree.entries[i].path, ETCH))
			tree.entries[i] = tree.entries[--tree.nr];
	}
	EXPECT_EQ(0, complaints_of(NOBODY, 0, nothing_opens));
	EXPECT_EQ(0, mount(NULL, debugfs, NULL, MS_REMOUNT, "uid=0,gid=0,mode=700"));
}

/* ---- Addresses and texts in the output ---- */

#define POINTER_EVENT	"events/kmem/kfree"
/* How its print format shows the address. */
#define SHOWN_AS	" ptr="
/* Of a packet's header: its bytes, and where it says how many bits the packet has. */
#define HEADER		128
#define CONTENT_SIZE	96

/* A number of the format file: "field:... NAME; offset:N". */
static unsigned int offset_of(const char *name)
{
	char *text = read_file(INSTANCE, POINTER_EVENT "/format"), *at;
	char word[64];
	unsigned int offset = 0;

	snprintf(word, sizeof(word), " %s;\toffset:", name);
	at = text ? strstr(text, word) : NULL;
	if (!at)
		give_up("no offset of %s: %s", name, text);
	offset = strtoul(at + strlen(word), NULL, 10);
	free(text);
	return offset;
}

/* The records' addresses, as they are. Records of one event, all alike, in one packet. */
static size_t raw_pointers(uint64_t *pointers, size_t max)
{
	static char packet[1 << 20];
	unsigned int at = offset_of("ptr"), size = at + 8;
	int id = atoi(read_line(INSTANCE, POINTER_EVENT "/id"));
	size_t nr = 0, len, from;
	uint64_t content;
	int fd = open(INSTANCE "/per_cpu/cpu0/snapshot", O_RDONLY | O_CLOEXEC);

	len = 0;
	for (ssize_t n; (n = read(fd, packet + len, sizeof(packet) - len)) > 0;)
		len += n;
	close(fd);
	memcpy(&content, packet + CONTENT_SIZE, sizeof(content));
	for (from = HEADER; from + size <= content / 8 && nr < max; from += size) {
		uint64_t word;

		memcpy(&word, packet + from, sizeof(word));
		if ((word >> 48 & 0x3fff) != (unsigned int)id)
			break;
		memcpy(&pointers[nr++], packet + from + at, sizeof(uint64_t));
	}
	return nr;
}

/* The value that @line shows for the address @raw, which must not appear in any form. */
static uint64_t shown_for(struct __test_metadata *_metadata, const char *line, uint64_t raw)
{
	uint64_t shown = strtoull(strstr(line, SHOWN_AS) + strlen(SHOWN_AS), NULL, 16);
	char plain[32];

	if (raw > 4096) {
		EXPECT_NE(raw, shown);
		snprintf(plain, sizeof(plain), "%llx", (unsigned long long)raw);
		EXPECT_EQ(NULL, strstr(line, plain)) TH_LOG("%s in %s", plain, line);
	}
	return shown;
}

/* @file shows a line for each of CPU 0's records. */
static void expect_hashed(struct __test_metadata *_metadata, const char *file)
{
	static uint64_t raw[200], text[200];
	size_t nr_raw, nr = 0, kernel = 0;
	char *lines, *line, *rest;

	/* The test looks at the records of CPU 0. */
	run_on(0);
	ASSERT_EQ(0, write_file(INSTANCE, POINTER_EVENT "/enable", "1"));
	for (int i = 0; i < 100; i++)
		try_open("/proc/version", O_RDONLY);
	ASSERT_EQ(0, write_file(INSTANCE, "tracing_on", "0"));
	ASSERT_EQ(0, write_file(INSTANCE, "snapshot", "1"));
	nr_raw = raw_pointers(raw, ARRAY_LEN(raw));
	EXPECT_LT(50, nr_raw);

	lines = read_file(INSTANCE, file);
	rest = lines;
	while ((line = strsep(&rest, "\n")) && nr < nr_raw) {
		if (*line == '#' || !strstr(line, " [000] ") || !strstr(line, SHOWN_AS))
			continue;
		text[nr] = shown_for(_metadata, line, raw[nr]);
		kernel += raw[nr] > 4096;
		/* Equal addresses have equal hashes, so lines and records belong together. */
		for (size_t i = 0; i < nr; i++) {
			EXPECT_EQ(raw[i] == raw[nr], text[i] == text[nr]);
		}
		nr++;
	}
	free(lines);
	EXPECT_EQ(nr_raw, nr) TH_LOG("%s", file);
	EXPECT_LT(50, kernel) TH_LOG("%s", file);
}

TEST_F(access, addresses_in_trace_are_hashed)
{
	expect_hashed(_metadata, "trace");
}

TEST_F(access, addresses_in_trace_of_a_cpu_are_hashed)
{
	expect_hashed(_metadata, "per_cpu/cpu0/trace");
}

TEST_F(access, addresses_in_trace_pipe_are_hashed)
{
	expect_hashed(_metadata, "trace_pipe");
}

TEST_F(access, addresses_in_trace_pipe_of_a_cpu_are_hashed)
{
	expect_hashed(_metadata, "per_cpu/cpu0/trace_pipe");
}

/* Texts of user space are cut at the documented length. */
TEST_F(access, users_texts_are_bounded)
{
	static char text[1 << 16];
	int fd = open(path_of(INSTANCE, "trace_marker"), O_WRONLY | O_CLOEXEC);
	char *trace, *at;

	memset(text, 'm', sizeof(text));
	EXPECT_EQ(4096, write(fd, text, sizeof(text)));
	close(fd);
	EXPECT_EQ(0, prctl(PR_SET_NAME, "a-name-of-more-than-fifteen-bytes"));
	EXPECT_EQ(0, write_file(INSTANCE, "trace_marker", "named"));
	trace = read_file(INSTANCE, "trace");
	at = strstr(trace, "mmm");
	ASSERT_NE(NULL, at);
	EXPECT_EQ(4096, strspn(at, "m"));
	EXPECT_NE(NULL, strstr(trace, "a-name-of-more--"));
	EXPECT_EQ(NULL, strstr(trace, "a-name-of-more-t"));
	free(trace);
}

TEST_HARNESS_MAIN
