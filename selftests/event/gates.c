// SPDX-License-Identifier: GPL-2.0
/*
 * Opens and closes a gate ten thousand times, for two instances independently, while
 * all CPUs run through the event's site. ETCH_CYCLES in the environment, or
 * etch_test.cycles=N on the kernel's command line, reduces the number.
 */
#include <signal.h>
#include <sys/wait.h>

#include "etch_test.h"

#define CYCLES		10000
#define HIT_EVERY	50

static int end_of(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static void hit(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
}

/* Runs through the sites of sched and of the tasks' own events, for ever. */
static pid_t start_load(int cpu)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	run_on(cpu);
	nice(19);
	for (;;)
		hit();
}

/* Enables and disables the event in @tree over and over, and hits it now and then. */
static void toggle(const char *tree, const char *event, unsigned int times)
{
	char file[128];
	unsigned int i;

	nice(-20);
	snprintf(file, sizeof(file), "events/sched/%s/enable", event);
	for (i = 0; i < times; i++) {
		if (write_file(tree, file, "1"))
			_exit(1);
		if (!(i % HIT_EVERY))
			hit();
		if (write_file(tree, file, "0"))
			_exit(1);
	}
	_exit(0);
}

static pid_t start_toggling(const char *tree, const char *event, unsigned int times)
{
	pid_t pid = fork();

	if (!pid)
		toggle(tree, event, times);
	return pid;
}

FIXTURE(gates) { };

FIXTURE_SETUP(gates)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
}

FIXTURE_TEARDOWN(gates) { }

/*
 * Two instances want the same event now and then, a third never: whatever becomes
 * of the mask, that one's bit must not be seen in it.
 */
TEST_F_TIMEOUT(gates, two_instances_and_a_third, 1200)
{
	static const char a[] = ETCH "/instances/imv_a", b[] = ETCH "/instances/imv_b",
			  never[] = ETCH "/instances/imv_never";
	int cpus = nr_cpus(), cpu;
	unsigned int times = test_cycles(CYCLES) / 2;
	pid_t load[64], one, two;

	ASSERT_EQ(0, mkdir(a, 0700));
	ASSERT_EQ(0, mkdir(b, 0700));
	ASSERT_EQ(0, mkdir(never, 0700));
	for (cpu = 0; cpu < cpus && cpu < 64; cpu++)
		load[cpu] = start_load(cpu);

	one = start_toggling(a, "sched_process_fork", times);
	two = start_toggling(b, "sched_process_fork", times);
	EXPECT_EQ(0, end_of(one));
	EXPECT_EQ(0, end_of(two));

	while (cpu--) {
		kill(load[cpu], SIGKILL);
		end_of(load[cpu]);
	}
	EXPECT_LE(times / HIT_EVERY, stat_sum(a, "written"));
	EXPECT_LE(times / HIT_EVERY, stat_sum(b, "written"));
	EXPECT_EQ(0, stat_sum(never, "written"));
	EXPECT_EQ(0, rmdir(a));
	EXPECT_EQ(0, rmdir(b));
	EXPECT_EQ(0, rmdir(never));
}

TEST_HARNESS_MAIN
