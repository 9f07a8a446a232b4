// SPDX-License-Identifier: GPL-2.0
/*
 * Runs each operation with each of its allocations failing once. The operation must fail
 * with ENOMEM and change nothing, or succeed without that memory.
 *
 * The first run counts the operation's allocations. Then the first one fails, the second
 * one, and so on, until a run ends in which none has failed. Of operations with very many
 * allocations, some are left out, different ones in each boot: ETCH_FAULTS=N in the environment,
 * or etch_test.faults=N on the kernel's command line, runs the first N, the last N and about N
 * between them; with "all" for N, every one.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>

#include "etch_test.h"
#include "faults.h"
#include "faults_ops.h"
#include "faults_taken.h"

/*
 * How many faults an operation gets at its beginning, at its end, both without a gap, and between
 * these, if there are more.
 */
#define FEW		25

/* ---- The walk ---- */

FIXTURE(faults) {
	int fd;
	unsigned int few;	/* as FEW, 0 for no limit */
	long long slab, free;
};

/* The results of an operation's steps. */
struct walk {
	unsigned int allocations;	/* of one that succeeds */
	unsigned int steps, refused, survived;
};

static void before(const struct op *op)
{
	if (op->before)
		op->before(op);
}

static void after(const struct op *op)
{
	if (op->after)
		op->after(op);
}

/* Counts the allocations of a run without a failure. */
static unsigned int count(struct __test_metadata *_metadata, int fd, const struct op *op)
{
	unsigned int left;
	int err;

	before(op);
	faults_arm(fd, FAULTS_NEVER);
	err = op->run(op);
	left = faults_disarm(fd);
	EXPECT_EQ(op->err, err) TH_LOG("%s: %s", op->name, strerror(err));
	after(op);
	return FAULTS_NEVER - left;
}

/* Runs @op with its Nth allocation failing. False if it has fewer allocations. */
static bool step(struct __test_metadata *_metadata, int fd, const struct op *op,
		 unsigned int nth, struct walk *walk)
{
	char was[STATE_MAX], is[STATE_MAX];
	bool hit;
	int err;

	/* The failing operation must keep this record in the buffer. */
	if (!op->before)
		write_file(TREE, "trace_marker", "stays");
	before(op);
	state_of(was);
	faults_arm(fd, nth);
	err = op->run(op);
	hit = !faults_disarm(fd);
	walk->steps += hit;
	if (hit && err == ENOMEM) {
		walk->refused++;
		state_of(is);
		EXPECT_TRUE(taken.how || same_state(was, is))
			TH_LOG("%s, fault %u: there was\n%sand there is\n%s", op->name, nth, was, is);
	} else {
		EXPECT_EQ(op->err, err)
			TH_LOG("%s, fault %u: %s", op->name, nth, strerror(err));
		EXPECT_TRUE(err || !op->whole || op->whole(op))
			TH_LOG("%s, fault %u: done in part", op->name, nth);
		walk->survived += hit;
	}
	after(op);
	return hit;
}

/* The next allocation to fail: all of the first and last @few, and as many in between. */
static unsigned int next_step(unsigned int nth, unsigned int allocations, unsigned int few)
{
	unsigned int middle = allocations > 2 * few ? allocations - 2 * few : 0;

	if (middle <= few || !few || nth < few || nth + few >= allocations)
		return nth + 1;
	nth += 1 + rand() % (2 * middle / few);
	return nth + few < allocations ? nth : allocations - few;
}

static void walk(struct __test_metadata *_metadata, struct _test_data_faults *self,
		 const struct op *op)
{
	struct walk walk = {};
	unsigned int nth = 1;

	/* The first time fills caches. */
	count(_metadata, self->fd, op);
	walk.allocations = count(_metadata, self->fd, op);
	while (step(_metadata, self->fd, op, nth, &walk))
		nth = next_step(nth, walk.allocations, self->few);
	printf("# %-36s %5u allocations: %4u faults, %4u refused, %3u done without\n", op->name,
	       walk.allocations, walk.steps, walk.refused, walk.survived);
	EXPECT_LE(op->least, walk.allocations) TH_LOG("%s", op->name);
	EXPECT_LT(0, walk.steps) TH_LOG("%s: no fault", op->name);
	EXPECT_EQ(op->forgoes, !walk.refused) TH_LOG("%s: %u refused", op->name, walk.refused);
	EXPECT_EQ(0, taken.bad) TH_LOG("%s: records are missing", op->name);
	taken.bad = 0;
}

static void walk_all(struct __test_metadata *_metadata, struct _test_data_faults *self,
		     const struct op *list)
{
	for (; list->name; list++)
		walk(_metadata, self, list);
}

FIXTURE_SETUP(faults)
{
	const char *how;

	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (!have_faults())
		SKIP(return, NO_FAULTS);
	/* The test takes packets from CPU 0. */
	run_on(0);
	sample_unload();
	rmdir(OTHER);
	etch_as_new();
	/* The first filter of an event takes memory that stays. */
	ASSERT_EQ(0, write_file(ETCH, "events/filter", "CPU == 0"));
	ASSERT_EQ(0, write_file(ETCH, "events/filter", "0"));
	shrink_caches();
	self->slab = memory_of("Slab");
	self->free = memory_of("MemFree");
	ASSERT_EQ(0, packets_tree(TREE));
	files_of_tree = count_files(TREE, true);
	clock_of(TREE, first_clock);
	how = test_word("ETCH_FAULTS", "faults");
	self->few = how && !strcmp(how, "all") ? 0 : test_number("ETCH_FAULTS", "faults", FEW);
	srand(time(NULL));
	self->fd = faults_open();
}

/* All instances can be removed, and memory is free again except for what caches keep. */
FIXTURE_TEARDOWN(faults)
{
	long long slab, used;

	faults_close(self->fd);
	taken_reset();
	EXPECT_EQ(0, rmdir(TREE)) TH_LOG("%s: %s", TREE, strerror(errno));
	EXPECT_EQ(-1, access(OTHER, F_OK));
	shrink_caches();
	slab = memory_of("Slab") - self->slab;
	used = self->free - memory_of("MemFree");
	printf("# %lld KiB more are in use, %lld of them the kernel's objects\n", used, slab);
	EXPECT_GT(20 * 1024, used);
	EXPECT_GT(512, slab);
}

TEST_F_TIMEOUT(faults, of_each_file_and_instance, 3600)
{
	walk_all(_metadata, self, file_ops);
	if (!access(TREE "/set_event_cgroup", F_OK))
		walk_all(_metadata, self, group_ops);
	else
		printf("# NOT done: set_event_cgroup: CONFIG_CGROUPS\n");
}

TEST_F_TIMEOUT(faults, of_triggers, 3600)
{
	char *actions = read_file(TREE, "events/sched/sched_process_exit/trigger");

	walk_all(_metadata, self, trigger_ops);
	if (strstr(actions, "hist"))
		walk_all(_metadata, self, hist_ops);
	else
		printf("# NOT done: histograms: CONFIG_ETCH_HIST\n");
	free(actions);
}

TEST_F_TIMEOUT(faults, of_contexts, 3600)
{
	walk_all(_metadata, self, context_ops);
	if (times_in(TREE, "contexts", " perf:"))
		walk_all(_metadata, self, counter_ops);
	else
		printf("# NOT done: counters: CONFIG_PERF_EVENTS\n");
}

TEST_F_TIMEOUT(faults, of_a_cpu, 3600)
{
	if (access(CPUS "/cpu1/online", W_OK))
		SKIP(return, "no second CPU that can go off line");
	walk_all(_metadata, self, cpu_ops);
}

TEST_F_TIMEOUT(faults, of_a_module_with_events, 3600)
{
	if (!sample_path())
		SKIP(return, "%s", no_sample());
	sample_fd = open(sample_path(), O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, sample_fd);
	/* With ftrace in the kernel, its event_define_fields() warns of a lack of memory. */
	if (have_ftrace())
		printf("# NOT done: %s: this kernel has ftrace, too\n", module_ops[0].name);
	else
		walk(_metadata, self, &module_ops[0]);
	walk_all(_metadata, self, module_ops + 1);
	/* The next load works as usual. */
	ASSERT_EQ(0, sample_load());
	EXPECT_EQ(0, write_file(TREE, "events/" SAMPLE "/enable", "1"));
	EXPECT_STREQ("1", read_line(TREE, "events/" SAMPLE "/enable"));
	EXPECT_EQ(0, sample_unload());
}

static int sample_id(void)
{
	return atoi(read_line(TREE, "events/" SAMPLE "/" SAMPLE "_greet/id"));
}

static bool metadata_has(int id)
{
	char *text = read_file(TREE, "metadata"), line[32];
	bool has;

	snprintf(line, sizeof(line), "\tid = %d;\n", id);
	has = strstr(text, line);
	free(text);
	return has;
}

/*
 * When there is no memory to remember an event that goes, its records may still be there:
 * the next event to come has another id.
 */
TEST_F_TIMEOUT(faults, never_an_id_twice, 600)
{
	unsigned int nth = 0, forgotten = 0;
	int id, next;
	bool hit;

	if (!sample_path())
		SKIP(return, "%s", no_sample());
	ASSERT_EQ(0, sample_load());
	next = sample_id();
	do {
		id = next;
		faults_arm(self->fd, ++nth);
		EXPECT_EQ(0, sample_unload());
		hit = !faults_disarm(self->fd);
		if (!metadata_has(id)) {
			forgotten++;
			id = -id;
		}
		ASSERT_EQ(0, sample_load());
		next = sample_id();
		EXPECT_LT(0, next);
		if (id < 0) {
			EXPECT_NE(-id, next) TH_LOG("fault %u: %d had another event", nth, next);
		} else {
			EXPECT_EQ(id, next) TH_LOG("fault %u", nth);
		}
	} while (hit);
	EXPECT_LT(0, forgotten);
	EXPECT_EQ(0, sample_unload());
}

TEST_F_TIMEOUT(faults, of_a_module_with_rings, 3600)
{
	const char *path = ring_sample_path();

	if (!path)
		SKIP(return, "no etch-ring-sample.ko: CONFIG_SAMPLE_ETCH_RING=m");
	ring_fd = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, ring_fd);
	unload_ring(NULL);
	walk_all(_metadata, self, ring_ops);
}

TEST_HARNESS_MAIN
