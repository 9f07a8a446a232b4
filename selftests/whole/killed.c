// SPDX-License-Identifier: GPL-2.0
/*
 * A reader is killed at any point. The records that it took are counted as read, the next
 * reader gets all others, each once, and the dead reader holds nothing.
 *
 * First the test kills readers at the entry and at the exit of each of their system calls, by
 * ptrace, and while they wait for more. Then it kills them at random moments, many times,
 * while records come. ETCH_KILLED_SEED in the environment, or etch_test.killed_seed=N on the
 * kernel's command line, repeats these moments; ETCH_KILLS or etch_test.kills=N says how many
 * there are.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "etch_test.h"
#include "packets.h"

#define TREE		ETCH "/instances/etch-killed"
#define MARKS		200
#define SLOTS		4
/* Kills at any moment, for each way. */
#define ANYWHERE	40
/* A reader that makes no system call for so many milliseconds waits. */
#define WAITS		150

/* ---- Ways to read, each in a child until it is killed ---- */

static char buf[1 << 16];

static int must_open(const char *file)
{
	int fd = open(path_of(TREE, file), O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		_exit(2);
	return fd;
}

static void by_read(const char *file)
{
	int fd = must_open(file);

	while (read(fd, buf, 3000) > 0)
		;
	_exit(1);
}

/* A file that ends is read over and over. */
static void by_reopening(const char *file)
{
	for (;;) {
		int fd = must_open(file);

		while (read(fd, buf, 3000) > 0)
			;
		close(fd);
	}
}

static void by_poll(const char *file)
{
	struct pollfd p = { .fd = must_open(file), .events = POLLIN };

	while (poll(&p, 1, -1) == 1 && read(p.fd, buf, 3000) > 0)
		;
	_exit(1);
}

static void by_splice(const char *file)
{
	struct pollfd p = { .fd = must_open(file), .events = POLLIN };
	int pipes[2];

	if (pipe(pipes))
		_exit(2);
	/* splice() does not wait. */
	while (poll(&p, 1, -1) == 1 && splice(p.fd, NULL, pipes[1], NULL, 3000, 0) > 0) {
		if (read(pipes[0], buf, 3000) <= 0)
			_exit(2);
	}
	_exit(1);
}

static void by_window(const char *file)
{
	int fd = must_open(file);
	struct etch_window w;
	void *map;

	map = mmap(NULL, SLOTS * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	do {
		w = (struct etch_window) {
			.address = (unsigned long)map, .packets = SLOTS, .stride = PAGE,
		};
		if (ioctl(fd, ETCH_IOC_WINDOW, &w))
			_exit(2);
		for (unsigned int i = 0; i < w.packets; i++)
			memcpy(buf, map + i * PAGE, PAGE);
	} while (w.packets);
	_exit(1);
}

FIXTURE(killed) {
	int next;		/* mark */
};

FIXTURE_VARIANT(killed) {
	void (*read)(const char *file);
	const char *file;
	bool takes;		/* reading removes the records */
	bool waits;		/* for more */
	int least;		/* the number of steps is at least this */
};

#define WAY(name, how, path, does_take, does_wait, steps)		\
FIXTURE_VARIANT_ADD(killed, name)					\
{									\
	.read = how, .file = path, .takes = does_take, .waits = does_wait, .least = steps, \
}

WAY(trace, by_reopening, "trace", false, false, 10);
WAY(trace_of_a_cpu, by_reopening, "per_cpu/cpu0/trace", false, false, 10);
WAY(snapshot, by_reopening, "per_cpu/cpu0/snapshot", false, false, 8);
WAY(trace_pipe, by_read, "trace_pipe", true, true, 8);
WAY(trace_pipe_of_a_cpu, by_read, "per_cpu/cpu0/trace_pipe", true, true, 8);
WAY(trace_pipe_polled, by_poll, "trace_pipe", true, true, 12);
WAY(raw_read, by_read, "per_cpu/cpu0/trace_pipe_raw", true, true, 8);
WAY(raw_polled, by_poll, "per_cpu/cpu0/trace_pipe_raw", true, true, 12);
WAY(raw_spliced, by_splice, "per_cpu/cpu0/trace_pipe_raw", true, true, 12);
WAY(raw_mapped, by_window, "per_cpu/cpu0/trace_pipe_raw", true, true, 6);

FIXTURE_SETUP(killed)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (!have_text())
		SKIP(return, NO_TEXT);
	memset(self, 0, sizeof(*self));
	ASSERT_EQ(0, packets_tree(TREE));
	/* The buffer is large enough that no mark is overwritten. */
	ASSERT_EQ(0, write_file(TREE, "buffer_size_kb", "1024"));
}

/* The dead readers' files are closed, so the instance can be removed at once. */
FIXTURE_TEARDOWN(killed)
{
	EXPECT_EQ(0, rmdir(TREE)) TH_LOG("%s: %s", TREE, strerror(errno));
}

/* ---- The next reader ---- */

/*
 * Another reader gets all marks but the first ones, which are counted as read, and none is
 * missing in between.
 */
static void expect_rest(struct __test_metadata *_metadata, struct _test_data_killed *self,
			int first, int step)
{
	long long gone = stat_of(TREE, 0, "read"), overwritten = stat_of(TREE, 0, "overwritten");
	int fd = packets_open(TREE, 0, O_NONBLOCK), marks = self->next - first;
	struct packets seen = {};

	ASSERT_LE(0, fd) TH_LOG("step %d: %s", step, strerror(errno));
	ASSERT_EQ(0, write_file(TREE, "flush", "1"));
	EXPECT_TRUE(packets_drain(&seen, fd)) TH_LOG("step %d", step);
	close(fd);
	EXPECT_EQ(0, seen.wrong) TH_LOG("step %d", step);
	EXPECT_EQ(0, seen.order) TH_LOG("step %d", step);
	EXPECT_EQ(0, overwritten) TH_LOG("step %d", step);
	EXPECT_EQ(marks, stat_of(TREE, 0, "written")) TH_LOG("step %d", step);
	EXPECT_EQ(marks, gone + seen.marks)
		TH_LOG("step %d: of %d marks the killed reader took %lld, and %u are left", step,
		       marks, gone, seen.marks);
	EXPECT_TRUE(!seen.marks || (seen.first == first + gone && seen.last == self->next - 1))
		TH_LOG("step %d: marks %d to %d of %d to %d", step, seen.first, seen.last,
		       first, self->next - 1);
	EXPECT_EQ(marks, stat_of(TREE, 0, "read")) TH_LOG("step %d", step);
}

/* Writes MARKS marks, some of them in full packets, and nothing else. Returns the first. */
static int begin(struct _test_data_killed *self)
{
	int first = self->next;

	overwrite_file(TREE, "trace", "");
	packets_mark(TREE, &self->next, MARKS);
	write_file(TREE, "flush", "1");
	packets_mark(TREE, &self->next, 10);
	write_file(TREE, "snapshot", "1");
	return first;
}

/* ---- At each system call ---- */

static pid_t start(void (*how)(const char *file), const char *file, bool traced)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* On another CPU than the writer, if there is one. */
	run_on(nr_cpus() - 1);
	if (traced) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
	}
	how(file);
	_exit(3);
}

/* Returns 1 when the reader stops, 0 when it waits, -1 when it has ended. */
static int until_stop(pid_t pid)
{
	int status;

	for (int ms = 0; ms < WAITS; ms++) {
		if (waitpid(pid, &status, WNOHANG | __WALL) == pid)
			return WIFSTOPPED(status) ? 1 : -1;
		usleep(1000);
	}
	return 0;
}

/* Goes on by @step entries and exits of system calls. Returns the last result. */
static int run_to(pid_t pid, int step)
{
	int ret = until_stop(pid);

	while (ret == 1 && step--) {
		if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL))
			return -1;
		ret = until_stop(pid);
	}
	return ret;
}

static void finish(struct __test_metadata *_metadata, pid_t pid)
{
	int status;

	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, __WALL));
	EXPECT_TRUE(WIFSIGNALED(status)) TH_LOG("it had ended: %x", status);
}

/* Readers that never wait would go on for ever: they are killed at this many steps. */
#define STEPS		40

TEST_F_TIMEOUT(killed, at_each_system_call, 600)
{
	int step, at = 1, first;
	pid_t pid;

	for (step = 1; at == 1 && (variant->waits || step <= STEPS); step++) {
		first = begin(self);
		pid = start(variant->read, variant->file, true);
		at = run_to(pid, step);
		ASSERT_LE(0, at) TH_LOG("step %d: it has ended", step);
		finish(_metadata, pid);
		if (!variant->takes) {
			EXPECT_EQ(0, stat_of(TREE, 0, "read"));
		}
		expect_rest(_metadata, self, first, step);
	}
	printf("# %s: killed at %d steps%s\n", variant->file, step - 1,
	       at ? "" : ", and while it waits");
	EXPECT_LE(variant->least, step - 1);
	EXPECT_EQ(variant->waits, !at);
}

/* ---- Anywhere ---- */

TEST_F_TIMEOUT(killed, anywhere, 600)
{
	unsigned int s = test_number("ETCH_KILLED_SEED", "killed_seed", time(NULL));
	unsigned int took = 0, longest = 2000;
	int first, more, i, kills = test_number("ETCH_KILLS", "kills", ANYWHERE);
	pid_t pid;

	printf("# seed %u\n", s);
	srand(s);
	for (i = 0; i < kills; i++) {
		first = begin(self);
		pid = start(variant->read, variant->file, false);
		for (more = rand() % 10; more; more--) {
			packets_mark(TREE, &self->next, rand() % 30);
			write_file(TREE, "per_cpu/cpu0/flush", "1");
			usleep(rand() % 500);
		}
		usleep(rand() % longest);
		finish(_metadata, pid);
		took += stat_of(TREE, 0, "read") > 0;
		/* On a slow machine, the reader has hardly begun. */
		if (!took && longest < 200000)
			longest *= 2;
		expect_rest(_metadata, self, first, i);
	}
	if (variant->takes) {
		EXPECT_LT(0, took) TH_LOG("it never took anything");
	} else {
		EXPECT_EQ(0, took);
	}
}

TEST_HARNESS_MAIN
