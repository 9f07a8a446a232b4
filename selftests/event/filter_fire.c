// SPDX-License-Identifier: GPL-2.0
/*
 * Filters of an event that is hit all the time are exchanged, in um thousands of times. Tasks hit
 * the event, and so do interrupts: it is signal_generate, and the tasks have timers, too.
 *
 * When the write of a filter has returned, no hit that another one lets through is recorded. A hit
 * that no filter lets through never is. And each hit is written, filtered or lost: the tasks count
 * them, and so does a second instance, which has no filter. It does not take part in one of the
 * two runs, because records for one instance go another way. A signal of another task, the end of
 * a child of its say, is a hit, too: ftrace counts those.
 */
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "etch_test.h"
#include "text.h"

#define EXCHANGES	10000
/* On two emulated CPUs each exchange waits for a grace period of theirs. */
#define FEWER		500
#define ONE		ETCH "/instances/fire_one"
#define ALL		ETCH "/instances/fire_all"
#define OTHERS		FTRACE "/instances/fire_others"
#define EVENT		"events/signal/signal_generate"
#define TASKS		2

/* Hits have these as their code, in turn; those of timers have FROM_TIMER. */
#define FIRST_CODE	1001
#define CODES		6
#define FROM_TIMER	128

/* Each lets other hits through. None lets through the last two codes. */
static const struct {
	const char *filter;
	int code, other;
} filters[] = {
	{ "code == 1001 || code == 128", 1001, FROM_TIMER },
	{ "code == 1002 && CPU >= 0", 1002, 1002 },
	{ "comm ~ 'hit*' && code & 1024 || code == 1003", 1003, 1003 },
	{ "!(code != 1004)", 1004, 1004 },
};

/* What the tasks share with the test. */
static struct shared {
	bool over;
	unsigned int ready, done;
	unsigned long long hits[TASKS];
	unsigned long long timers[TASKS];
} *shared;

static unsigned long long *timers;

/* The timer begins anew when its signal is handled: each signal is one hit. */
static void on_timer(int sig)
{
	++*timers;
}

/* ---- The tasks ---- */

static void set_timer(unsigned int us)
{
	struct itimerval timer = { .it_interval.tv_usec = us, .it_value.tv_usec = us };

	setitimer(ITIMER_REAL, &timer, NULL);
}

static void hit(int code)
{
	siginfo_t info = { .si_code = code };

	syscall(SYS_rt_sigqueueinfo, getpid(), SIGURG, &info);
}

/* Until the test is over; then it waits to be killed, so that its end is no hit. */
static void __noreturn keep_hitting(int task)
{
	timers = &shared->timers[task];
	signal(SIGALRM, on_timer);
	signal(SIGURG, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "hitting");
	run_on(task % nr_cpus());
	set_timer(500);
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&shared->over, __ATOMIC_SEQ_CST)) {
		for (int i = 0; i < 2 * CODES; i++)
			hit(FIRST_CODE + i % CODES);
		shared->hits[task] += 2 * CODES;
		sched_yield();
	}
	set_timer(0);
	__atomic_add_fetch(&shared->done, 1, __ATOMIC_SEQ_CST);
	for (;;)
		pause();
}

static void wait_until(const unsigned int *nr)
{
	while (__atomic_load_n(nr, __ATOMIC_SEQ_CST) < TASKS)
		usleep(1000);
}

/* ---- The records ---- */

struct seen {
	unsigned long records, of_timers, wrong;
	char why[200];
};

static void look(struct seen *seen, const struct record *r, int filter)
{
	const char *at = strstr(r->text, "code=");
	int code = at ? atoi(at + 5) : 0;
	bool good = false;

	for (int i = 0; i < (int)ARRAY_LEN(filters); i++)
		if (filter < 0 || filter == i)
			good |= code == filters[i].code || code == filters[i].other;
	seen->records++;
	seen->of_timers += r->context == 'h' || r->context == 's';
	if (good)
		return;
	if (!seen->wrong++)
		snprintf(seen->why, sizeof(seen->why), "%s", r->text);
}

/*
 * Takes the records. They must have passed @filter, or any filter if that is negative. Tasks that
 * hit faster than this one reads do not keep it for ever: it takes what the buffer can hold, and
 * more, and ends with a whole line.
 */
static void take(struct seen *seen, int fd, int filter)
{
	static char text[(1 << 20) + LINE_MAX];
	struct trace trace;
	size_t len = 0;
	ssize_t n;

	while (len < 1 << 20 && (n = read(fd, text + len, (1 << 20) - len)) > 0)
		len += n;
	while (len && text[len - 1] != '\n' && len < sizeof(text) - 1 &&
	       read(fd, text + len, 1) == 1)
		len++;
	text[len] = 0;
	trace = text_parse(text);
	for (size_t i = 0; i < trace.nr; i++)
		look(seen, &trace.records[i], filter);
	free(trace.records);
}

/* ---- Hits of others: all signals but those that the tasks send, and their timers ---- */

static void count_others(void)
{
	rmdir(OTHERS);
	if (mkdir(OTHERS, 0700))
		return;
	write_file(OTHERS, EVENT "/filter", "sig != 23 && sig != 14");
	write_file(OTHERS, EVENT "/enable", "1");
}

/* From before the first hit until now; -1: there is no ftrace to count them. */
static long long hits_of_others(void)
{
	struct trace trace;
	long long nr;

	if (access(OTHERS, F_OK))
		return -1;
	trace = text_read(OTHERS, "trace");
	nr = trace.nr;
	text_free(&trace);
	return nr;
}

/* ---- The test ---- */

FIXTURE(fire) {
	int pipe;
	pid_t tasks[TASKS];
};

FIXTURE_VARIANT(fire) {
	bool two;
};

FIXTURE_VARIANT_ADD(fire, one_instance) { .two = false };
FIXTURE_VARIANT_ADD(fire, two_instances) { .two = true };

FIXTURE_SETUP(fire)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (!have_text())
		SKIP(return, NO_TEXT);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	ASSERT_NE(MAP_FAILED, shared);
	rmdir(ONE);
	rmdir(ALL);
	ASSERT_EQ(0, mkdir(ONE, 0700));
	ASSERT_EQ(0, mkdir(ALL, 0700));
	count_others();
	/* The text of all of it fits in take()'s buffer. */
	ASSERT_EQ(0, write_file(ONE, "buffer_size_kb", "64"));
	ASSERT_EQ(0, write_file(ALL, "buffer_size_kb", "64"));
	self->pipe = open(ONE "/trace_pipe", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ASSERT_LE(0, self->pipe);
	ASSERT_EQ(0, write_file(ONE, EVENT "/filter", filters[0].filter));
	ASSERT_EQ(0, write_file(ONE, EVENT "/enable", "1"));
	if (variant->two) {
		ASSERT_EQ(0, write_file(ALL, EVENT "/enable", "1"));
	}
	for (int i = 0; i < TASKS; i++) {
		self->tasks[i] = fork();
		if (!self->tasks[i])
			keep_hitting(i);
		ASSERT_LT(0, self->tasks[i]);
	}
	wait_until(&shared->ready);
}

FIXTURE_TEARDOWN(fire)
{
	for (int i = 0; i < TASKS; i++) {
		if (self->tasks[i] <= 0)
			continue;
		kill(self->tasks[i], SIGKILL);
		waitpid(self->tasks[i], NULL, 0);
	}
	close(self->pipe);
	rmdir(ONE);
	rmdir(ALL);
	rmdir(OTHERS);
	munmap(shared, sizeof(*shared));
}

/* The hits that the tasks know of. */
static long long hits_of_tasks(void)
{
	long long hits = 0;

	for (int i = 0; i < TASKS; i++)
		hits += shared->hits[i] + shared->timers[i];
	return hits;
}

/* Those of timers are in the instance without a filter, or pass the first one. */
static void expect_timers(struct __test_metadata *_metadata, struct seen *any)
{
	unsigned long long of_timers = 0;
	int all = open(ALL "/trace", O_RDONLY | O_CLOEXEC);

	take(any, all, -1);
	close(all);
	for (int i = 0; i < TASKS; i++)
		of_timers += shared->timers[i];
	printf("# %llu hits of timers; %lu of the records are from interrupts\n", of_timers,
	       any->of_timers);
	EXPECT_LT(0, any->of_timers);
}

/* The filter that was written last is the only one from now on. */
static void expect_exchanged(struct __test_metadata *_metadata, int pipe, int filter,
			     struct seen *any, struct seen *now)
{
	take(any, pipe, -1);
	usleep(2000);
	take(now, pipe, filter);
	ASSERT_EQ(0, now->wrong) TH_LOG("%s: recorded: %s", filters[filter].filter, now->why);
}

static void stop(struct __test_metadata *_metadata)
{
	__atomic_store_n(&shared->over, true, __ATOMIC_SEQ_CST);
	wait_until(&shared->done);
	/* Hits of others, if there are any, come to both or to none. */
	EXPECT_EQ(0, write_file(ONE, EVENT "/enable", "0"));
	EXPECT_EQ(0, write_file(ALL, EVENT "/enable", "0"));
}

TEST_F_TIMEOUT(fire, exchanged_filters_hold_at_once_and_lose_no_hit, 900)
{
	unsigned int usual = is_um() ? EXCHANGES : FEWER, nr = 0;
	unsigned int times = test_number("ETCH_EXCHANGES", "exchanges", usual);
	long long hits, others, written, filtered, lost, all;
	struct seen any = {}, now = {};
	int file = open(ONE "/" EVENT "/filter", O_WRONLY | O_CLOEXEC);

	ASSERT_LE(0, file);
	if (times < EXCHANGES)
		printf("### %u exchanges instead of %u\n", times, EXCHANGES);
	for (unsigned int i = 0; i < times; i++) {
		const char *filter;

		nr = i % ARRAY_LEN(filters);
		filter = filters[nr].filter;
		ASSERT_EQ((ssize_t)strlen(filter), write(file, filter, strlen(filter)));
		sched_yield();
		if (i % 37 == 0)
			expect_exchanged(_metadata, self->pipe, nr, &any, &now);
	}
	close(file);
	stop(_metadata);
	take(&any, self->pipe, -1);
	EXPECT_EQ(0, any.wrong) TH_LOG("recorded: %s", any.why);

	written = stat_sum(ONE, "written");
	filtered = stat_sum(ONE, "filtered");
	lost = lost_sum(ONE);
	hits = hits_of_tasks();
	others = hits_of_others();
	printf("# %u exchanges, %lld hits, %lld of others: %lld written, %lld filtered, %lld lost\n",
	       times, hits, others, written, filtered, lost);
	printf("# %lu records were looked at, and %lu just after an exchange\n", any.records,
	       now.records);
	/* Others may have hit before the filter was there, or when the event was off again. */
	EXPECT_LE(hits, written + filtered + lost);
	all = stat_sum(ALL, "written") + lost_sum(ALL);
	EXPECT_LE(variant->two ? hits : 0, all);
	if (others < 0) {
		printf("### without ftrace, hits of others are NOT told from records too many\n");
	} else {
		EXPECT_GE(hits + others, written + filtered + lost);
		EXPECT_GE(variant->two ? hits + others : 0, all);
	}
	EXPECT_EQ(0, stat_sum(ALL, "filtered"));
	EXPECT_LT(0, written);
	EXPECT_LT(0, filtered);
	EXPECT_LT(0, now.records);
	expect_timers(_metadata, &any);
}

TEST_HARNESS_MAIN
