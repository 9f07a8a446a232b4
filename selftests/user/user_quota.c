// SPDX-License-Identifier: GPL-2.0
/*
 * A user's quota of events, a process's limits of memory, and allocations that fail: a call says
 * which errno it is, nothing that is there gets lost, and the program goes on.
 */
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "etch_test.h"
#include "events.h"
#include "faults.h"
#include "text.h"

ETCH_PROVIDER_DEFINE(utest, TEST_EVENTS);

#define NOBODY		65534
#define QUOTA		1024	/* events of a user's */
#define TREES		8
#define GROUPS		"/tmp/etch-quota"
#define GROUP		GROUPS "/small"

/* In a child: its exit says whether all was as it should be. */
#define CHECK(is) do {						\
	if (!(is)) {						\
		printf("# line %d: %s\n", __LINE__, strerror(errno));	\
		_exit(1);					\
	}							\
} while (0)

#define PASSES(child) ({					\
	int status_;						\
	fflush(stdout);						\
	pid_t pid_ = fork();					\
	if (!pid_) {						\
		child;						\
		fflush(stdout);					\
		_exit(0);					\
	}							\
	waitpid(pid_, &status_, 0);				\
	status_;						\
})

static int reg(int fd, unsigned int gate, const char *name, const char *fields)
{
	struct etch_user_register reg = {
		.size = sizeof(reg), .gate = gate, .name = (uintptr_t)name,
		.fields = (uintptr_t)fields,
	};

	return ioctl(fd, ETCH_USER_IOC_REGISTER, &reg) ? errno : 0;
}

static int reg_number(int fd, unsigned int gate, unsigned int number)
{
	char name[32];

	snprintf(name, sizeof(name), "quota:e%u", number);
	return reg(fd, gate, name, "u32 a");
}

static int attach(int fd, unsigned int instance)
{
	struct etch_user_attach attach = { .instance = instance };

	return ioctl(fd, ETCH_USER_IOC_ATTACH, &attach) ? errno : 0;
}

static const char *tree(unsigned int nr)
{
	static char path[64];

	snprintf(path, sizeof(path), ETCH "/instances/etch-quota-%u", nr);
	return path;
}

static void limit_memory(rlim_t bytes)
{
	struct rlimit limit = { bytes, 64 << 20 };

	CHECK(!setrlimit(RLIMIT_MEMLOCK, &limit));
}

FIXTURE(quota) {
	struct trace trace;
	int fd, other;
};

FIXTURE_SETUP(quota)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (access("/dev/etch", F_OK) || etch_provider_error(utest) == ENOSYS)
		SKIP(return, NO_USER);
	ASSERT_EQ(0, etch_provider_error(utest));
	etch_as_new();
	run_on(0);
	for (unsigned int i = 0; i < TREES; i++) {
		rmdir(tree(i));
		ASSERT_EQ(0, mkdir(tree(i), 0700));
		ASSERT_EQ(0, use_counter(tree(i)));
	}
	ASSERT_EQ(0, write_file(ETCH, NUMBER "/enable", "1"));
	self->fd = open("/dev/etch", O_RDWR);
	self->other = open("/dev/etch", O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_LE(0, self->other);
}

FIXTURE_TEARDOWN(quota)
{
	text_free(&self->trace);
	close(self->fd);
	close(self->other);
	for (unsigned int i = 0; i < TREES; i++)
		rmdir(tree(i));
	etch_as_new();
}

/* ---- Events ---- */

static void register_all(int fd, int other)
{
	CHECK(!setgid(NOBODY) && !setuid(NOBODY));
	for (unsigned int i = 0; i < QUOTA; i++)
		CHECK(!reg_number(fd, i, i));
	/* One more, and again one that is there. */
	CHECK(reg_number(other, 0, QUOTA) == EDQUOT);
	CHECK(!reg_number(other, 0, 7));
	CHECK(reg_number(other, 0, 8) == EEXIST);
}

/* They are the user's, and no other user is held up by them. */
TEST_F_TIMEOUT(quota, of_events_is_a_users_own, 300)
{
	int fd = open("/dev/etch", O_RDWR);

	EXPECT_EQ(0, PASSES(register_all(self->fd, self->other)));
	EXPECT_EQ(QUOTA, times_in(ETCH, "available_events", "quota:e"));
	EXPECT_EQ(0, reg(fd, 0, "quota:of_root", "u32 a"));
	/* No program has them any more, but this one is enabled: it does not give way. */
	ASSERT_EQ(0, write_file(ETCH, "events/quota/e0/enable", "1"));
	close(self->fd);
	close(self->other);
	self->fd = -1;
	self->other = open("/dev/etch", O_RDWR);
	EXPECT_EQ(0, PASSES({
		CHECK(!setgid(NOBODY) && !setuid(NOBODY));
		CHECK(!reg_number(self->other, 0, QUOTA));
	}));
	EXPECT_EQ(1, times_in(ETCH, "available_events", "quota:e0\n"));
	EXPECT_EQ(0, times_in(ETCH, "available_events", "quota:e1\n"));
	EXPECT_EQ(1, times_in(ETCH, "available_events", "quota:e1024\n"));
	EXPECT_EQ(QUOTA, times_in(ETCH, "available_events", "quota:e"));
	ASSERT_EQ(0, write_file(ETCH, "events/quota/e0/enable", "0"));
	close(self->other);
	close(fd);
	self->other = open("/dev/etch", O_RDWR);
	forget_provider(self->other, "quota:");
	EXPECT_EQ(0, times_in(ETCH, "available_events", "quota:"));
}

TEST_F(quota, of_fields_and_gates)
{
	char fields[1024] = "";

	for (int i = 0; i < 33; i++)
		sprintf(fields + strlen(fields), "u8 f%d; ", i);
	EXPECT_EQ(E2BIG, reg(self->fd, 0, "quota:many", fields));
	EXPECT_EQ(E2BIG, reg(self->fd, 0, "quota:big",
			     "u64 a[1024]; u64 b[1024]; u64 c[1024]; u64 d[1024]; u64 e[1024]"));
	EXPECT_EQ(EINVAL, reg(self->fd, QUOTA, "quota:gate", "u32 a"));
	EXPECT_EQ(0, times_in(ETCH, "available_events", "quota:"));
}

/* ---- Memory ---- */

/* What a ring is charged with: whole pages. */
static rlim_t ring_bytes(void)
{
	rlim_t page = getpagesize();

	return (ETCH_USER_RING + page - 1) / page * page;
}

/* With room for two rings, and not for a third; of the user, whichever process asks. */
static void attach_some(int fd)
{
	utest_number(1, 0, 0);
	limit_memory(2 * ring_bytes());
	CHECK(!setgid(NOBODY) && !setuid(NOBODY));
	CHECK(!attach(fd, 1));
	CHECK(!attach(fd, 2));
	CHECK(attach(fd, 3) == ENOMEM);
	CHECK(attach(fd, 3) == ENOMEM);
	/* A ring that is there costs no more. */
	CHECK(!attach(fd, 2));
	CHECK(!PASSES({
		CHECK(attach(fd, 1) == ENOMEM);
		utest_number(666, 0, 0);
	}));
	utest_number(2, 0, 0);
	limit_memory(3 * ring_bytes());
	CHECK(!attach(fd, 3));
	utest_number(3, 0, 0);
}

TEST_F(quota, of_locked_memory)
{
	EXPECT_EQ(0, PASSES(attach_some(self->fd)));
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(3, self->trace.nr);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(i + 1, number_after(self->trace.records[i].text, "a="));
	/* Rings that nobody has are not the user's any more when they go. */
	for (unsigned int i = 0; i < TREES; i++)
		EXPECT_EQ(0, rmdir(tree(i)));
	ASSERT_EQ(0, mkdir(tree(0), 0700));
	ASSERT_EQ(0, mkdir(tree(1), 0700));
	EXPECT_EQ(0, PASSES({
		limit_memory(2 * ring_bytes());
		CHECK(!setgid(NOBODY) && !setuid(NOBODY));
		CHECK(!attach(self->fd, 1) && !attach(self->fd, 2));
	}));
}

static long long used(void)
{
	return atoll(read_line(GROUP, "memory.current"));
}

static void attach_in_a_group(int fd)
{
	unsigned int failed = 0, nr = 0;
	long long before;

	utest_number(1, 0, 0);
	CHECK(!write_fmt(GROUP, "cgroup.procs", "%d", getpid()));
	before = used();
	CHECK(!attach(fd, 1));
	CHECK(!write_fmt(GROUP, "memory.max", "%lld", used() + 3 * ETCH_USER_RING));
	for (nr = 2; nr <= TREES; nr++) {
		int err = attach(fd, nr);

		CHECK(!err || err == ENOMEM);
		failed += err == ENOMEM;
		utest_number(nr, 0, 0);
	}
	CHECK(failed >= 3 && failed <= 6);
	CHECK(!write_file(GROUP, "memory.max", "max"));
	for (nr = 2; nr <= TREES; nr++)
		CHECK(!attach(fd, nr));
	utest_number(nr, 0, 0);
	/* The kernel charges some memory before it needs it. */
	CHECK(used() >= before + (TREES - 2) * ETCH_USER_RING);
	CHECK(times_in(GROUP, "memory.events", "oom_kill 0"));
}

/* A group without memory for a ring: the call says so, and nobody kills the program. */
TEST_F(quota, of_a_groups_memory)
{
	int status;

	/* Then that is more than all rings of this test. */
	if (getpagesize() > 4096)
		SKIP(return, "the kernel charges a group with 64 pages in advance, and they are large");
	mkdir(GROUPS, 0700);
	if (mount("none", GROUPS, "cgroup2", 0, NULL) ||
	    write_file(GROUPS, "cgroup.subtree_control", "+memory")) {
		umount(GROUPS);
		SKIP(return, "no control groups of memory: CONFIG_MEMCG");
	}
	mkdir(GROUP, 0700);
	status = PASSES(attach_in_a_group(self->fd));
	EXPECT_EQ(0, status);
	self->trace = text_read(ETCH, "trace");
	EXPECT_EQ(TREES + 1, self->trace.nr);
	for (unsigned int i = 0; i < TREES; i++)
		EXPECT_EQ(0, rmdir(tree(i)));
	EXPECT_EQ(0, rmdir(GROUP));
	EXPECT_EQ(0, umount(GROUPS));
}

/* ---- Allocations that fail ---- */

#define RECORDS		40	/* behind the one whose allocation fails */
#define DENSE		40	/* so many faults without a gap */

/* The first record asks for a ring; of its allocations the Nth fails. Exits 2: there are fewer. */
static void record_with_a_fault(unsigned int nth)
{
	int fd = faults_open();
	bool hit;

	faults_arm(fd, nth);
	utest_number(nth, 0, 0);
	hit = !faults_disarm(fd);
	faults_close(fd);
	for (int i = 0; i < RECORDS; i++)
		utest_number(nth, 0, 0);
	if (!hit)
		_exit(2);
}

/* Of all processes, those that have gone included. */
static unsigned long long lost_in_stats(void)
{
	char *stats = read_file(ETCH, "user/stats");
	unsigned long long lost = 0;

	for (const char *at = stats; at && (at = strstr(at, " lost ")); at++)
		lost += number_after(at, " lost ");
	free(stats);
	return lost;
}

/* Each record of each child was read, or is counted as lost. */
TEST_F_TIMEOUT(quota, each_allocation_of_a_ring_may_fail, 300)
{
	unsigned int nth = 1, children = 0, lost_some = 0;
	int status;

	if (!have_faults())
		SKIP(return, NO_FAULTS);
	/* A child has the library's table from its parent, emptied, and no rings. */
	utest_number(0, 0, 0);
	do {
		unsigned long long lost;

		ASSERT_EQ(0, overwrite_file(ETCH, "trace", ""));
		status = PASSES(record_with_a_fault(nth));
		children++;
		ASSERT_TRUE(WIFEXITED(status))
			TH_LOG("fault %u: signal %d", nth, WTERMSIG(status));
		self->trace = text_read(ETCH, "trace");
		lost = lost_in_stats();
		EXPECT_EQ(RECORDS + 1, self->trace.nr + lost)
			TH_LOG("fault %u: %zu records, %llu lost", nth, self->trace.nr, lost);
		lost_some += lost > 0;
		text_free(&self->trace);
		/* Most are pages of the ring, of which one is like another. */
		nth += nth < DENSE ? 1 : 9;
	} while (!WEXITSTATUS(status) && nth < 1000);
	EXPECT_EQ(2, WEXITSTATUS(status));
	printf("# %u allocations failed, one at a time; in %u cases records were lost\n",
	       children - 1, lost_some);
	/* The kernel tries twice for most of it. */
	EXPECT_LT(0, lost_some);
}

/* Registering: the call says ENOMEM and has changed nothing, or it has done it all. */
static bool register_with_a_fault(struct __test_metadata *_metadata, int device, int fault,
				  unsigned int nth)
{
	int fd = -1, err;
	bool hit;
	void *map = MAP_FAILED;

	faults_arm(fault, nth);
	fd = open("/dev/etch", O_RDWR);
	err = fd < 0 ? errno : reg(fd, 5, "quota:fault", "u32 a; char name[16]");
	if (!err) {
		map = mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, fd, 0);
		err = map == MAP_FAILED ? errno : 0;
	}
	hit = !faults_disarm(fault);
	EXPECT_TRUE(!err || (hit && err == ENOMEM))
		TH_LOG("fault %u: %s", nth, strerror(err));
	if (!err) {
		EXPECT_EQ(1, times_in(ETCH, "available_events", "quota:fault\n"));
		EXPECT_EQ(0, write_file(ETCH, "events/quota/fault/enable", "1"));
		EXPECT_NE(0, ((volatile uint32_t *)map)[5]);
		EXPECT_EQ(0, write_file(ETCH, "events/quota/fault/enable", "0"));
		EXPECT_EQ(0, ((volatile uint32_t *)map)[5]);
	} else if (fd >= 0 && map == MAP_FAILED) {
		/* A second attempt succeeds, in the same place. */
		err = reg(fd, 5, "quota:fault", "u32 a; char name[16]");
		EXPECT_TRUE(!err || err == EEXIST)
			TH_LOG("fault %u: %s", nth, strerror(err));
	}
	if (map != MAP_FAILED)
		munmap(map, getpagesize());
	if (fd >= 0)
		close(fd);
	forget_provider(device, "quota:");
	return hit;
}

TEST_F_TIMEOUT(quota, each_allocation_of_an_event_may_fail, 300)
{
	unsigned int nth = 1;
	int fault;

	if (!have_faults())
		SKIP(return, NO_FAULTS);
	fault = faults_open();
	while (register_with_a_fault(_metadata, self->fd, fault, nth) && nth < 1000)
		nth++;
	faults_close(fault);
	EXPECT_LT(8, nth);
	printf("# %u allocations failed, one at a time\n", nth - 1);
}

TEST_HARNESS_MAIN
