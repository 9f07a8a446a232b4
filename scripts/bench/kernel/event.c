// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a record, in Etch and in ftrace. Each write to the file bench/run in
 * debugfs runs one measurement before it returns:
 *
 *	HOW ROUNDS ITERATIONS NAME...
 *
 * NAME is one of bench_cases[]. HOW begins with "cold" for single hits (ITERATIONS is 1),
 * each after the caches were emptied, "storm" for many with a timer that hits the
 * same thing in its interrupts, "waited" or "quiet" for many with time before each round for
 * readers to wait again, else any word for many with interrupts off. The
 * writer decides which events are on and how the buffers are set. The module prints
 * the lines that measure.h describes, and
 *
 *	bench: hits NAME HOW NUMBER
 *
 * with the hits of that measurement, warm-up hits and those of interrupts included.
 *
 * The file bench/pace belongs to pace.c.
 */

#define pr_fmt(fmt) "bench: " fmt

#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>

/* As the scheduler's event makes it of a task's state. */
static inline long bench_switch_state(bool preempt, unsigned int state,
				      struct task_struct *task)
{
	unsigned int index;

	if (preempt)
		return TASK_REPORT_MAX;
	index = __task_state_index(state, task->exit_state);
	return index ? 1 << (index - 1) : 0;
}

#define CREATE_TRACE_POINTS
#include "bench-hits.h"
#include "event.h"
#include "measure.h"
#include "timer.h"

/* Of one line. */
#define BENCH_ROWS	8
#define BENCH_ROUNDS	16

/* Milliseconds in which readers come to rest. */
#define BENCH_REST	50

static unsigned int storm_ns = 250000;
module_param(storm_ns, uint, 0);
MODULE_PARM_DESC(storm_ns, "nanoseconds between two interrupts of a storm");

static bool trust_counter;
module_param(trust_counter, bool, 0);
MODULE_PARM_DESC(trust_counter, "the counter is fit for time stamps");

static struct bench_words words = { { 1, 2, 3, 4, 5, 6, 7, 8 } };
static char text[] = "sixteen letters.";
static struct task_struct *bench_task;	/* the writer of the file */

#define BENCH_HITS(tracer)						\
	BENCH_LOOP(tracer##_small, trace_##tracer##_small(1, 2, 3))	\
	BENCH_LOOP(tracer##_pair, trace_##tracer##_small(1, 2, 3);	\
				  trace_##tracer##_done(1, 2, 3))	\
	BENCH_LOOP(tracer##_large, trace_##tracer##_large(&words))	\
	BENCH_LOOP(tracer##_string, trace_##tracer##_string(text))	\
	BENCH_LOOP(tracer##_switch,					\
		   trace_##tracer##_switch(false, bench_task, bench_task, 0))

BENCH_HITS(etch)
BENCH_HITS(ftrace)
BENCH_LOOP(nobody, trace_bench_nobody(1, 2, 3))

/* Functions to put probes on. The first instruction takes five bytes: a jump has room. */
#define BENCH_PROBED(tracer)						\
noinline unsigned long bench_probed_##tracer(u64 count, u32 first, u32 second);\
									\
noinline unsigned long bench_probed_##tracer(u64 count, u32 first, u32 second)\
{									\
	asm volatile(".byte 0x0f, 0x1f, 0x44, 0x00, 0x00");		\
	return count + first + second;					\
}									\
BENCH_LOOP(tracer##_probed, bench_probed_##tracer(1, 2, 3))

#ifdef CONFIG_X86
BENCH_PROBED(etch)
BENCH_PROBED(ftrace)
BENCH_PROBED(nobody)
#endif

#define BENCH_CASE(name)	{ #name, bench_loop_##name }

/* The empty one is the first. */
static const struct bench_case bench_cases[] = {
	BENCH_CASE(empty),
	BENCH_CASE(counter),
	BENCH_CASE(mono),
	BENCH_CASE(local),
	BENCH_CASE(floor),
	BENCH_CASE(nobody),
	BENCH_CASE(etch_small),
	BENCH_CASE(etch_pair),
	BENCH_CASE(etch_large),
	BENCH_CASE(etch_string),
	BENCH_CASE(etch_switch),
	BENCH_CASE(ftrace_small),
	BENCH_CASE(ftrace_pair),
	BENCH_CASE(ftrace_large),
	BENCH_CASE(ftrace_string),
	BENCH_CASE(ftrace_switch),
#ifdef CONFIG_X86
	BENCH_CASE(etch_probed),
	BENCH_CASE(ftrace_probed),
	BENCH_CASE(nobody_probed),
#endif
};

static u8 *bench_memory;		/* to empty the caches with */

/* The timer of a storm: it hits what the loop hits. */
struct bench_storm {
	struct hrtimer		timer;
	const struct bench_case	*c;
	unsigned long		hits;
};

static enum hrtimer_restart bench_storm_hit(struct hrtimer *timer)
{
	struct bench_storm *storm = container_of(timer, struct bench_storm,
						 timer);

	storm->c->loop(1);
	storm->hits++;
	hrtimer_forward_now(timer, ns_to_ktime(storm_ns));
	return HRTIMER_RESTART;
}

static unsigned long bench_run_storm(const struct bench_case *c,
				     unsigned long iterations, u64 *ticks)
{
	struct bench_storm storm = { .c = c };
	u64 begin;

	hrtimer_setup_on_stack(&storm.timer, bench_storm_hit, CLOCK_MONOTONIC,
			       HRTIMER_MODE_REL_PINNED_HARD);
	preempt_disable();
	hrtimer_start(&storm.timer, ns_to_ktime(storm_ns),
		      HRTIMER_MODE_REL_PINNED_HARD);
	begin = bench_ticks();
	c->loop(iterations);
	*ticks = bench_ticks() - begin;
	preempt_enable();
	hrtimer_cancel(&storm.timer);
	destroy_hrtimer_on_stack(&storm.timer);
	return storm.hits;
}

/* The rows of a line, and what each gave. */
struct bench_rows {
	const struct bench_case	*c[BENCH_ROWS];
	u64			ticks[BENCH_ROWS][BENCH_ROUNDS];
	unsigned long		hits[BENCH_ROWS];
	int			nr;
};

/*
 * Single hits, @rounds times, after one round that is not counted. The empty loop
 * runs before each hit, since the row before leaves the measuring code itself more
 * or less warm, and a row must not depend on its place.
 */
static void bench_rows_cold(struct bench_rows *rows, int rounds)
{
	int i, round;
	u64 ticks;

	for (round = -1; round < rounds; round++) {
		for (i = 0; i < rows->nr; i++) {
			bench_run(&bench_cases[0], 1);
			bench_empty_caches(bench_memory);
			ticks = bench_run(rows->c[i], 1);
			rows->hits[i]++;
			if (round >= 0)
				rows->ticks[i][round] = ticks;
		}
	}
}

/* Many hits at a time, @rounds times; the first time it is only made warm. */
static void bench_rows_warm(struct bench_rows *rows, int rounds,
			    unsigned long iterations)
{
	int i, round;

	for (i = 0; i < rows->nr; i++)
		bench_run(rows->c[i], iterations);
	for (round = 0; round < rounds; round++) {
		for (i = 0; i < rows->nr; i++)
			rows->ticks[i][round] = bench_run(rows->c[i], iterations);
	}
	for (i = 0; i < rows->nr; i++)
		rows->hits[i] = (rounds + 1) * iterations;
}

/* As many hits, with interrupts. */
static void bench_rows_storm(struct bench_rows *rows, int rounds,
			     unsigned long iterations)
{
	int i, round;

	for (round = 0; round < rounds; round++) {
		for (i = 0; i < rows->nr; i++)
			rows->hits[i] += iterations +
				bench_run_storm(rows->c[i], iterations,
						&rows->ticks[i][round]);
	}
}

/* As many hits, and no round that is not counted: readers come to rest before each. */
static void bench_rows_apart(struct bench_rows *rows, int rounds, unsigned long iterations)
{
	int i, round;

	for (round = 0; round < rounds; round++) {
		for (i = 0; i < rows->nr; i++) {
			msleep(BENCH_REST);
			rows->ticks[i][round] = bench_run(rows->c[i], iterations);
			rows->hits[i] += iterations;
		}
	}
	msleep(BENCH_REST);
}

static void bench_rows_print(const struct bench_rows *rows, const char *how,
			     unsigned long iterations, int rounds)
{
	int i;

	for (i = 0; i < rows->nr; i++) {
		bench_print(rows->c[i]->name, how, iterations, rows->ticks[i],
			    rounds);
		pr_info("hits %s %s %lu\n", rows->c[i]->name, how,
			rows->hits[i]);
	}
}

static const struct bench_case *bench_find(const char *name)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(bench_cases); i++) {
		if (!strcmp(bench_cases[i].name, name))
			return &bench_cases[i];
	}
	return NULL;
}

/* The rows that a line names. */
static int bench_rows_parse(struct bench_rows *rows, char *line)
{
	char *name;

	while ((name = strsep(&line, " "))) {
		if (rows->nr == BENCH_ROWS)
			return -E2BIG;
		rows->c[rows->nr] = bench_find(name);
		if (!rows->c[rows->nr++]) {
			pr_err("there is no %s\n", name);
			return -EINVAL;
		}
	}
	return 0;
}

/* Measure the rows. @how begins with "cold", is "storm", or any other word for warm loops. */
static void bench_rows_run(struct bench_rows *rows, const char *how, int rounds,
			   unsigned long iterations)
{
	bench_task = current;
	if (strstarts(how, "cold"))
		bench_rows_cold(rows, rounds);
	else if (!strcmp(how, "storm"))
		bench_rows_storm(rows, rounds, iterations);
	else if (!strcmp(how, "waited") || !strcmp(how, "quiet"))
		bench_rows_apart(rows, rounds, iterations);
	else
		bench_rows_warm(rows, rounds, iterations);
	bench_rows_print(rows, how, iterations, rounds);
}

/* Do what a line says. */
static int bench_line(char *line)
{
	struct bench_rows *rows;
	unsigned long iterations;
	int rounds, at, ret;
	char how[16];

	if (sscanf(line, "%15s %d %lu %n", how, &rounds, &iterations, &at) != 3 ||
	    rounds < 1 || rounds > BENCH_ROUNDS || !iterations ||
	    (strstarts(how, "cold") && iterations != 1))
		return -EINVAL;
	rows = kzalloc(sizeof(*rows), GFP_KERNEL);
	if (!rows)
		return -ENOMEM;
	ret = bench_rows_parse(rows, line + at);
	if (!ret)
		bench_rows_run(rows, how, rounds, iterations);
	kfree(rows);
	return ret;
}

static ssize_t bench_write(struct file *file, const char __user *from,
			   size_t count, loff_t *pos)
{
	char line[256];
	int ret;

	if (count >= sizeof(line))
		return -E2BIG;
	if (copy_from_user(line, from, count))
		return -EFAULT;
	line[count] = '\0';
	ret = bench_line(strim(line));
	return ret ?: count;
}

static const struct file_operations bench_fops = {
	.owner = THIS_MODULE,
	.write = bench_write,
};

static struct dentry *bench_dir;

static int __init bench_init(void)
{
	int ret;

	ret = bench_floor_create();
	if (ret)
		return ret;
	bench_memory = vzalloc(BENCH_CACHES);
	if (!bench_memory) {
		bench_floor_free();
		return -ENOMEM;
	}
	if (trust_counter)
		bench_trust_counter();
	bench_print_hz();
	bench_dir = debugfs_create_dir("bench", NULL);
	debugfs_create_file("run", 0200, bench_dir, NULL, &bench_fops);
	bench_pace_create(bench_dir);
	return 0;
}

static void __exit bench_exit(void)
{
	debugfs_remove(bench_dir);
	vfree(bench_memory);
	bench_floor_free();
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("What a record costs");
MODULE_LICENSE("GPL");
