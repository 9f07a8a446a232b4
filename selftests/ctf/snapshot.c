// SPDX-License-Identifier: GPL-2.0
/*
 * A snapshot is the content of the buffers of all CPUs at one moment. Later records do not
 * change it.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "etch_test.h"
#include "packets.h"

#define TREE	ETCH "/instances/etch-snapshot"

FIXTURE(snapshot) {
	struct packets seen, again;
	int next;		/* mark */
	char buf[BUFFER_PAGES * LARGEST_PAGE];
};

FIXTURE_SETUP(snapshot)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	memset(self, 0, sizeof(*self));
	ASSERT_EQ(0, packets_tree(TREE));
}

FIXTURE_TEARDOWN(snapshot)
{
	EXPECT_EQ(0, self->seen.wrong);
	EXPECT_EQ(0, self->again.wrong);
	EXPECT_EQ(0, rmdir(TREE));
}

static void marks(int *next, int nr)
{
	packets_mark(TREE, next, nr);
}

static int shot_open(int cpu)
{
	char file[64];

	snprintf(file, sizeof(file), "per_cpu/cpu%d/snapshot", cpu);
	return open(path_of(TREE, file), O_RDONLY | O_CLOEXEC);
}

/* 0, or the errno of opening or reading it. */
static int shot_read(struct packets *p, int cpu)
{
	int fd = shot_open(cpu), err = 0;

	if (fd < 0)
		return errno;
	if (!packets_drain(p, fd))
		err = errno ?: EIO;
	close(fd);
	return err;
}

TEST_F(snapshot, is_there_when_it_was_taken)
{
	EXPECT_STREQ("0", read_line(TREE, "snapshot"));
	EXPECT_EQ(ENODATA, shot_read(&self->seen, 0));
	EXPECT_EQ(EINVAL, write_file(TREE, "snapshot", "now"));
	EXPECT_EQ(0, write_file(TREE, "snapshot", "1"));
	EXPECT_STREQ("1", read_line(TREE, "snapshot"));
	EXPECT_EQ(0, shot_read(&self->seen, 0));
	EXPECT_EQ(0, self->seen.packets);
	EXPECT_EQ(0, write_file(TREE, "snapshot", "0"));
	EXPECT_EQ(ENODATA, shot_read(&self->seen, 0));
}

TEST_F(snapshot, is_of_that_moment)
{
	marks(&self->next, 300);
	EXPECT_EQ(0, write_file(TREE, "snapshot", "1"));
	marks(&self->next, 100);
	EXPECT_EQ(0, shot_read(&self->seen, 0));
	EXPECT_EQ(300, self->seen.marks);
	EXPECT_EQ(300, self->seen.records);
	EXPECT_EQ(299, self->seen.last);
	EXPECT_EQ(0, self->seen.order);
	EXPECT_EQ(0, self->seen.skipped);
	EXPECT_EQ(0, self->seen.discarded);

	/* Nothing was consumed: as often as you like. */
	EXPECT_EQ(0, shot_read(&self->again, 0));
	EXPECT_EQ(300, self->again.marks);
	EXPECT_EQ(400, stat_of(TREE, 0, "entries"));
	EXPECT_EQ(0, stat_of(TREE, 0, "read"));
}

TEST_F(snapshot, goes_on_after_a_short_read)
{
	size_t have = 0, step = 1;
	ssize_t n;
	int fd;

	marks(&self->next, 300);
	EXPECT_EQ(0, write_file(TREE, "snapshot", "1"));
	fd = shot_open(0);
	EXPECT_EQ(-1, read(fd, (void *)16, PAGE));
	EXPECT_EQ(EFAULT, errno);
	while ((n = read(fd, self->buf + have, step)) > 0) {
		have += n;
		step = step * 7 % 1000;
		ASSERT_GT(sizeof(self->buf), have + 1000);
	}
	EXPECT_EQ(have, packets_add(&self->seen, self->buf, have));
	EXPECT_EQ(300, self->seen.marks);
	EXPECT_EQ(0, self->seen.order);
	close(fd);
}

/* Records that are overwritten before they are read are missing: the oldest ones. */
TEST_F(snapshot, loses_what_is_overwritten)
{
	marks(&self->next, 1000);
	EXPECT_EQ(0, write_file(TREE, "snapshot", "1"));
	marks(&self->next, 900);
	EXPECT_EQ(0, shot_read(&self->seen, 0));
	EXPECT_LT(100, self->seen.marks);
	EXPECT_GT(1000, self->seen.marks);
	EXPECT_EQ(999, self->seen.last);
	EXPECT_EQ(0, self->seen.order);
	marks(&self->next, 3000);
	/* An empty file would look like an idle CPU. */
	EXPECT_EQ(ESTALE, shot_read(&self->again, 0));
	EXPECT_EQ(0, self->again.marks);
}

/* A snapshot does not disturb a taking reader, but has none of the records it took before. */
TEST_F(snapshot, is_beside_a_taking_reader)
{
	struct packets taken = {};
	int fd = packets_open(TREE, 0, O_NONBLOCK);

	marks(&self->next, 300);
	EXPECT_EQ(PAGE, read(fd, self->buf, PAGE));
	EXPECT_EQ(PAGE, packets_add(&taken, self->buf, PAGE));
	EXPECT_EQ(0, write_file(TREE, "snapshot", "1"));
	EXPECT_EQ(0, shot_read(&self->seen, 0));
	EXPECT_EQ(taken.marks, self->seen.first);
	EXPECT_EQ(300, taken.marks + self->seen.marks);
	EXPECT_TRUE(packets_drain(&taken, fd));
	EXPECT_EQ(0, shot_read(&self->again, 0));
	EXPECT_EQ(300, taken.marks + self->again.marks);
	close(fd);
}

TEST_F(snapshot, is_void_without_its_buffer)
{
	if (!have_text())
		SKIP(return, NO_TEXT);
	marks(&self->next, 300);
	EXPECT_EQ(0, write_file(TREE, "snapshot", "1"));
	overwrite_file(TREE, "trace", "");
	EXPECT_EQ(ESTALE, shot_read(&self->seen, 0));
	marks(&self->next, 100);
	EXPECT_EQ(0, write_file(TREE, "snapshot", "1"));
	EXPECT_EQ(0, packets_resize(TREE, 2 * BUFFER_PAGES));
	EXPECT_EQ(ESTALE, shot_read(&self->seen, 0));
	EXPECT_EQ(0, write_file(TREE, "snapshot", "1"));
	EXPECT_EQ(0, shot_read(&self->seen, 0));
	EXPECT_EQ(100, self->seen.marks);

	/* An empty snapshot stays valid, for no record of it can be missing. */
	overwrite_file(TREE, "trace", "");
	EXPECT_EQ(0, write_file(TREE, "snapshot", "1"));
	EXPECT_EQ(0, packets_resize(TREE, BUFFER_PAGES));
	EXPECT_EQ(0, shot_read(&self->again, 0));
	EXPECT_EQ(0, self->again.packets);
}

#define CPU1	"/sys/devices/system/cpu/cpu1"

/* A CPU without records goes off line, with its buffer: the snapshots of the others stay. */
TEST_F(snapshot, outlives_a_cpu)
{
	if (access(CPU1 "/online", W_OK))
		SKIP(return, "no second processor that can go off line");
	marks(&self->next, 300);
	EXPECT_EQ(0, write_file(TREE, "snapshot", "1"));
	ASSERT_EQ(0, write_file(CPU1, "online", "0"));
	EXPECT_EQ(0, shot_read(&self->seen, 0));
	EXPECT_EQ(300, self->seen.marks);
	EXPECT_EQ(0, shot_read(&self->again, 1));
	EXPECT_EQ(0, self->again.packets);
	EXPECT_EQ(0, write_file(CPU1, "online", "1"));
}

/* ---- All CPUs end at one moment ---- */

static atomic_int turn;
static atomic_bool done;

/* CPUs write marks in turn: each mark is stored before the next turn begins. */
static void *take_turns(void *arg)
{
	int cpu = (long)arg, nr = nr_cpus(), mine;

	run_on(cpu);
	while (!done) {
		mine = turn;
		if (mine % nr != cpu) {
			sched_yield();
			continue;
		}
		write_fmt(TREE, "trace_marker", "<%d>", mine);
		turn = mine + 1;
	}
	return NULL;
}

TEST_F(snapshot, ends_on_all_cpus_at_once)
{
	int nr = nr_cpus(), cpu, round, last, least;
	pthread_t threads[64];
	struct packets p;

	if (nr < 2)
		SKIP(return, "one CPU");
	nr = nr < 64 ? nr : 64;
	turn = 0;
	done = false;
	for (cpu = 0; cpu < nr; cpu++)
		pthread_create(&threads[cpu], NULL, take_turns, (void *)(long)cpu);
	/* Wait until each CPU has a mark: kernels that check themselves are slow. */
	for (round = 0; turn < nr && round < 10000; round++)
		usleep(1000);
	for (round = 0; round < 50; round++) {
		usleep(2000);
		EXPECT_EQ(0, write_file(TREE, "snapshot", "1"));
		last = -1;
		least = INT_MAX;
		for (cpu = 0; cpu < nr; cpu++) {
			memset(&p, 0, sizeof(p));
			EXPECT_EQ(0, shot_read(&p, cpu));
			EXPECT_EQ(0, p.wrong);
			ASSERT_LT(0, p.marks);
			last = p.last > last ? p.last : last;
			least = p.last < least ? p.last : least;
		}
		/* The last nr turns are there, from all CPUs. */
		EXPECT_EQ(nr - 1, last - least);
	}
	done = true;
	for (cpu = 0; cpu < nr; cpu++)
		pthread_join(threads[cpu], NULL);
}

TEST_HARNESS_MAIN
