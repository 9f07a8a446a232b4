// SPDX-License-Identifier: GPL-2.0
/*
 * Writers that really interrupt each other, and a reader on another CPU.
 *
 * One thread writes. Two timers interrupt it by signals: SIGALRM as a device
 * would, and SIGUSR1 as an NMI, which interrupts SIGALRM's handler too. Each of the
 * three numbers its records. The reader checks each record, and in the end the
 * account must be right to the last one: the numbers that never came must be
 * those that the ring counted as overwritten.
 */

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "ring_test.h"
#include "ring/ring_internal.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

struct run {
	const char	*name;
	bool		overwrite;
	unsigned int	nr;
	unsigned int	subbuf;
	unsigned int	header;
	bool		lazy;		/* the reader sleeps now and then */
	bool		resize;
	bool		peek;
	enum etch_clock	clock;		/* by default the counter */
	u64		rate;		/* of the budget, in bytes a second; 0: no budget */
};

static const struct run runs[] = {
	{ "overwrite, 2 small sub-buffers", true, 2, 4096, 8 },
	{ "overwrite, lazy reader", true, 4, 4096, 64, .lazy = true },
	{ "overwrite, peeking", true, 4, 4096, 64, .peek = true },
	{ "overwrite, resized under load", true, 4, 4096, 64, .lazy = true, .resize = true },
	{ "discard, 2 small sub-buffers", false, 2, 4096, 8 },
	{ "discard, lazy reader", false, 4, 4096, 64, .lazy = true },
	{ "discard, large sub-buffers, peeking", false, 8, 65536, 128, .peek = true },
	{ "discard, resized under load", false, 4, 4096, 64, .lazy = true, .resize = true },
	{ "overwrite, a clock that is set back", true, 4, 4096, 64, .clock = ETCH_CLOCK_TAI },
	{ "overwrite, a clock that leaps", true, 4, 4096, 64, .clock = ETCH_CLOCK_BOOT },
	{ "discard, a clock that leaps", false, 4, 4096, 64, .lazy = true,
	  .clock = ETCH_CLOCK_BOOT },
	{ "overwrite, a budget", true, 4, 4096, 64, .rate = 2 << 20 },
	/* More fits in than the budget gives for a period: a slow reader does not hide it. */
	{ "discard, a budget", false, 16, 4096, 64, .lazy = true, .rate = 256 << 10 },
};

#define SECOND	1000000000ULL

static struct etch_ring *ring;
static struct etch_ring_budget budget;
static unsigned int max_len;

/* One of each for the three writers, by level; only that writer changes it. */
static u32 stored[LEVELS];
static u64 bytes[LEVELS];
static u64 failed[LEVELS];
static u64 interrupts[LEVELS];	/* of another writer, between reserve and commit */
static u64 seed[LEVELS];

static bool stop;
static u64 rounds;		/* of the outermost writer: its quiescent states */

static u32 any(int level)
{
	u64 *x = &seed[level];

	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x >> 16;
}

/* Mostly small ones, some to fill up a block, some too big. */
static unsigned int any_len(int level)
{
	u32 x = any(level);

	switch (x % 64) {
	case 0:
		return max_len - (x >> 8) % 64;
	case 1:
		return max_len + 1 + (x >> 8) % 64;
	default:
		return REC_MIN + (x >> 8) % (x % 5 ? 40 : 300);
	}
}

static void write_some(int level)
{
	int n = 1 + (any(level) % 16 == 0) * (any(level) % 100);

	if (level && ring->nest)
		interrupts[level]++;
	while (n--) {
		unsigned int len = any_len(level);

		if (rec_write(ring, level, stored[level], len)) {
			stored[level]++;
			bytes[level] += len;
		} else {
			failed[level]++;
		}
	}
}

static void on_signal(int sig)
{
	write_some(sig == SIGALRM ? 1 : 2);
}

static cpu_set_t cpus;

/* Stay on the CPU that is the @want-th of those we may use. */
static void pin_to(int want)
{
	int cpu, n = 0;
	cpu_set_t one;

	want %= CPU_COUNT(&cpus);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &cpus) || n++ != want)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

static timer_t interrupt_me(int sig, long ns)
{
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = sig };
	struct itimerspec every = { { 0, ns }, { 0, ns } };
	timer_t timer;

	ev.sigev_notify_thread_id = gettid();
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer) || timer_settime(timer, 0, &every, NULL)) {
		perror("timer");
		exit(1);
	}
	return timer;
}

static void *writer(void *unused)
{
	timer_t alarm, nmi;
	int i;

	pin_to(0);
	alarm = interrupt_me(SIGALRM, 41000);
	nmi = interrupt_me(SIGUSR1, 29000);
	while (!READ_ONCE(stop)) {
		for (i = 0; i < 16; i++)
			write_some(0);
		__atomic_add_fetch(&rounds, 1, __ATOMIC_SEQ_CST);
	}
	timer_delete(alarm);
	timer_delete(nmi);
	return NULL;
}

/* What synchronize_rcu() is to the kernel: every writer of now is gone. */
static void wait_for_writers(void)
{
	u64 then = __atomic_load_n(&rounds, __ATOMIC_SEQ_CST);

	while (__atomic_load_n(&rounds, __ATOMIC_SEQ_CST) < then + 2)
		sched_yield();
}

static void resize_ring(unsigned int nr)
{
	struct etch_resize *ctx = etch_ring_resize_prepare(ring, nr);
	struct etch_ring_stats s;

	CHECK(!IS_ERR(ctx));
	etch_ring_off(ring);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	wait_for_writers();
	CHECK(!etch_ring_busy(ring));
	CHECK(stats_balance(ring, &s));
	etch_ring_resize_commit(ctx);
	CHECK(stats_balance(ring, &s));
	etch_ring_on(ring);
}

static void peek_round(void *buf)
{
	struct tally t = {};
	struct etch_cursor cur;
	struct etch_view view;
	unsigned int records;
	u64 want, sum = 0;

	etch_ring_peek_begin(ring, &cur);
	want = cur.left;
	while (etch_ring_peek_next(ring, &cur, buf, &view) > 0) {
		tally_view(&t, &view, NOBODY, &records);
		sum += records;
	}
	t.missed += view.missed;
	CHECK_EQ(t.bad, 0);
	CHECK_EQ(sum + t.missed, want);
}

static void read_round(struct tally *t, unsigned int how)
{
	struct etch_view view;
	unsigned int bytes, records;

	while (etch_ring_take(ring, &view) > 0) {
		bytes = tally_view(t, &view, how % 4 ? NOBODY : 1 + how % 9, &records);
		etch_ring_advance_to(ring, bytes, records, t->last_time);
		if (how % 4 == 0)
			break;
	}
}

/* Has the run met what it is for? Each of these only grows. */
static bool met(const struct run *run)
{
	struct etch_ring_stats s;

	etch_ring_stats(ring, &s);
	return s.read > 1000 && s.lost_too_big && (!run->rate || s.lost_throttled > 1000) &&
	       READ_ONCE(interrupts[1]) + READ_ONCE(interrupts[2]) > 100;
}

/* Read for @ns; for longer, but not for ever, if a busy machine has not let us meet it all. */
static void reader(const struct run *run, struct tally *t, u64 ns)
{
	u64 start = ktime_get_mono_fast_ns();
	void *buf = malloc(run->subbuf);
	unsigned int i;
	u64 spent = 0;

	for (i = 0; spent < ns || (spent < 60 * SECOND && !met(run)); i++) {
		struct etch_ring_stats s;

		read_round(t, i);
		if (run->peek && i % 8 == 0)
			peek_round(buf);
		if (run->lazy && i % 8 == 0)
			usleep(300);
		if (run->resize && i % 64 == 0)
			resize_ring(2U << (i / 64 % 4));
		if (i % 32 == 0)
			etch_ring_stats(ring, &s);
		spent = ktime_get_mono_fast_ns() - start;
	}
	free(buf);
}

static u64 sum64(const u64 *n)
{
	return n[0] + n[1] + n[2];
}

/* What the rate gives for the time and a period, and a block. */
static void check_budget(const struct run *run, const struct etch_ring_stats *s, u64 ns)
{
	CHECK(s->lost_throttled > 1000);
	CHECK(sum64(bytes) <= run->rate * (ns + ETCH_BUDGET_PERIOD) / SECOND + run->subbuf);
}

static void test_run(const struct run *run, u64 ns)
{
	struct etch_ring_stats s;
	struct tally t = {};
	pthread_t thread;
	u64 written, begin;
	int i;

	ring = ring_make(run->nr * run->subbuf, run->subbuf, run->header, run->overwrite);
	ring->budget = &budget;
	etch_ring_rate_off(&budget.bytes);
	if (run->rate)
		etch_ring_rate_set(&budget.bytes, SECOND, run->rate);
	etch_ring_set_clock(ring, run->clock);
	max_len = run->subbuf - run->header;
	memset(stored, 0, sizeof(stored));
	memset(bytes, 0, sizeof(bytes));
	memset(failed, 0, sizeof(failed));
	memset(interrupts, 0, sizeof(interrupts));
	for (i = 0; i < LEVELS; i++)
		seed[i] = 0x9e3779b97f4a7c15ULL * (i + 1) + ktime_get_mono_fast_ns();
	stop = false;

	begin = ktime_get_mono_fast_ns();
	pthread_create(&thread, NULL, writer, NULL);
	reader(run, &t, ns);
	WRITE_ONCE(stop, true);
	pthread_join(thread, NULL);
	ns = ktime_get_mono_fast_ns() - begin;

	CHECK(!etch_ring_busy(ring));
	CHECK(stats_balance(ring, &s));
	tally_drain(&t, ring);
	CHECK(stats_balance(ring, &s));
	written = (u64)stored[0] + stored[1] + stored[2];
	CHECK_EQ(s.entries, 0);
	CHECK_EQ(s.written, written);
	CHECK_EQ(s.lost_full + s.lost_nested + s.lost_too_big + s.lost_throttled + s.lost_off,
		 sum64(failed));
	if (run->rate)
		check_budget(run, &s, ns);
	else
		CHECK_EQ(s.lost_throttled, 0);
	CHECK_EQ(t.bad, 0);
	CHECK_EQ(t.records, s.read);
	/* Numbers that never came, at the end of each writer's numbers too. */
	for (i = 0; i < LEVELS; i++)
		t.gaps += stored[i] - t.next[i];
	CHECK_EQ(t.gaps, s.overwritten);
	CHECK_EQ(t.missed, s.overwritten);
	if (!run->overwrite && !run->resize)
		CHECK_EQ(s.overwritten, 0);
	/* Else this run has shown nothing. */
	CHECK(s.read > 1000 && s.lost_too_big);
	CHECK(interrupts[1] + interrupts[2] > 100);
	tap_note("%llu written, %llu read, %llu overwritten; lost: %llu full, %llu nested, "
		 "%llu too big, %llu throttled, %llu off; %llu interrupts half-way",
		 (unsigned long long)s.written, (unsigned long long)s.read,
		 (unsigned long long)s.overwritten, (unsigned long long)s.lost_full,
		 (unsigned long long)s.lost_nested, (unsigned long long)s.lost_too_big,
		 (unsigned long long)s.lost_throttled, (unsigned long long)s.lost_off,
		 (unsigned long long)(interrupts[1] + interrupts[2]));
	etch_ring_free(ring);
	tap(true, "%s", run->name);
}

int main(int argc, char **argv)
{
	bool longer = argc > 1 && !strcmp(argv[1], "--long");
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	unsigned int i;

	sigemptyset(&act.sa_mask);
	sigaction(SIGALRM, &act, NULL);
	sigaddset(&act.sa_mask, SIGALRM);
	sigaction(SIGUSR1, &act, NULL);

	sched_getaffinity(0, sizeof(cpus), &cpus);
	pin_to(1);
	for (i = 0; i < ARRAY_SIZE(runs); i++)
		test_run(&runs[i], (longer ? 40 : 2) * SECOND);
	tap(!shim_live, "all memory is given back");
	return tap_end();
}
