// SPDX-License-Identifier: GPL-2.0
/*
 * The writers' side of the stress: see stress.h.
 *
 * One thread is the ring's CPU. SIGUSR1 stands for a device's interrupt and SIGUSR2 for an
 * NMI, each sent by a timer and, at other moments, by the reader: they hit between any
 * two instructions. ThreadSanitizer keeps signals back until the thread calls
 * something, so in its build the two are called from the places where the shim
 * touches memory that is shared, some of them chosen by chance.
 *
 * The code between section_enter() and section_exit() is the code that the kernel runs with
 * preemption disabled. Each level has a count of its own, odd inside: then no level needs to
 * know whom it interrupts.
 */

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "stress.h"
#include "ring/ring_internal.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

struct writers writers;

static struct etch_ring *ring;
static unsigned int max_len;
static pthread_t thread;
static u64 sections[LEVELS];
static int stop, park, parked, flush;

static bool told(const int *flag)
{
	return __atomic_load_n(flag, __ATOMIC_SEQ_CST);
}

static void tell(int *flag, int value)
{
	__atomic_store_n(flag, value, __ATOMIC_SEQ_CST);
}

/*
 * Pairs with writers_wait(): the waiting thread has turned the ring off, or parks us, and then
 * looks at the count. Either we see its change, or it sees us.
 */
static void section_enter(int level)
{
	__atomic_fetch_add(&sections[level], 1, __ATOMIC_SEQ_CST);
}

static void section_exit(int level)
{
	__atomic_fetch_add(&sections[level], 1, __ATOMIC_SEQ_CST);
}

void writers_wait(void)
{
	int level;

	for (level = 0; level < LEVELS; level++) {
		u64 then = __atomic_fetch_add(&sections[level], 0, __ATOMIC_SEQ_CST);

		while (then % 2 && __atomic_load_n(&sections[level], __ATOMIC_SEQ_CST) == then)
			sched_yield();
	}
}

void writers_park(void)
{
	tell(&park, 1);
	while (!told(&parked))
		sched_yield();
	writers_wait();
}

void writers_go(void)
{
	tell(&park, 0);
	while (told(&parked))
		sched_yield();
}

void writers_let_flush(bool may)
{
	tell(&flush, may);
}

/* Mostly small ones, some to fill up a block, some too big. */
static unsigned int any_len(u64 *seed)
{
	u32 x = any(seed);

	if (likely(x % 1024 > 18))
		return REC_MIN + (x >> 10) % 12;
	switch (x % 1024) {
	case 0:
		return max_len - (x >> 10) % 64;
	case 1:
		return max_len + 1 + (x >> 10) % 64;
	default:
		return REC_MIN + (x >> 10) % 300;
	}
}

/* Write a record and, while it is not committed, one after the other, @nested others. */
static void write_record(int level, int nested)
{
	unsigned int len = any_len(&writers.seed[level]);
	struct rec *rec;
	u64 time;

	rec = rec_reserve(ring, len, &time, (writers.seed[level] >> 32) % REC_WAYS);
	if (!rec) {
		writers.lost[level]++;
		return;
	}
	rec_fill(rec, time, level, writers.stored[level]++, len);
	if (nested)
		write_record(level, nested - 1);
	etch_ring_commit(ring);
}

/* Now and then deeper than the ring allows, or more than the ring holds. */
static void write_some(int level, unsigned int usual)
{
	u32 x = any(&writers.seed[level]);
	unsigned int n = x % 256 ? usual : 500;
	int nested = x >> 8 & 63 ? 0 : (x >> 16) % (ETCH_RING_MAX_NEST + 2);

	while (n--)
		write_record(level, nested);
}

static void interrupt(int level)
{
	section_enter(level);
	if (!told(&park)) {
		__atomic_fetch_add(&writers.interrupts[level], READ_ONCE(ring->nest) != 0,
				   __ATOMIC_RELAXED);
		if (told(&flush) && any(&writers.seed[level]) % 8 == 0) {
			__atomic_fetch_add(&writers.flushes[level], 1, __ATOMIC_RELAXED);
			if (any(&writers.seed[level]) % 4)
				etch_ring_flush(ring);
			else
				etch_ring_close(ring);
		} else {
			write_some(level, 2);
		}
	}
	section_exit(level);
}

#ifdef SHIM_TSAN

static long until;
static int level_now;
static u64 point_seed;

/* Places are many: every 50th, or so, is interrupted, and some of the next ones too. */
static void on_point(void)
{
	if (level_now == LEVELS - 1 || --until > 0)
		return;
	until = 1 + any(&point_seed) % (any(&point_seed) % 4 ? 100 : 5);
	level_now++;
	if (any(&point_seed) % 2 && level_now < LEVELS - 1) {
		level_now++;
		interrupt(level_now);
		level_now--;
	} else {
		interrupt(level_now);
	}
	level_now--;
}

static void interrupts_on(void)
{
	until = 1;
	level_now = 0;
	point_seed = writers.seed[0] ^ writers.seed[1];
	shim_point = on_point;
}

static void interrupts_off(void)
{
	shim_point = NULL;
}

static void catch_signals(void)
{
}

void writers_kick(int level)
{
}

#else

static timer_t timers[LEVELS];

static int signal_of(int level)
{
	return level == 1 ? SIGUSR1 : SIGUSR2;
}

static void on_signal(int sig)
{
	interrupt(sig == SIGUSR1 ? 1 : 2);
}

static void catch_signals(void)
{
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	sigemptyset(&act.sa_mask);
	sigaction(SIGUSR1, &act, NULL);
	sigaddset(&act.sa_mask, SIGUSR1);
	sigaction(SIGUSR2, &act, NULL);
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

/* The periods have no common divisor, and none with the writer's loop. */
static void interrupts_on(void)
{
	timers[1] = interrupt_me(SIGUSR1, 97000);
	timers[2] = interrupt_me(SIGUSR2, 143000);
}

static void interrupts_off(void)
{
	timer_delete(timers[1]);
	timer_delete(timers[2]);
}

void writers_kick(int level)
{
	pthread_kill(thread, signal_of(level));
}

#endif

static void *run(void *unused)
{
	pin_to(0);
	interrupts_on();
	while (!told(&stop)) {
		section_enter(0);
		write_some(0, 64);
		section_exit(0);
		if (!told(&park))
			continue;
		tell(&parked, 1);
		while (told(&park))
			sched_yield();
		tell(&parked, 0);
	}
	interrupts_off();
	return NULL;
}

void writers_start(struct etch_ring *r, u64 seed, bool may_flush)
{
	int level;

	ring = r;
	max_len = etch_ring_subbuf_size(r) - r->header;
	writers = (struct writers){};
	for (level = 0; level < LEVELS; level++)
		writers.seed[level] = (seed + level) * 0x9e3779b97f4a7c15ULL | 1;
	tell(&stop, 0);
	writers_let_flush(may_flush);
	catch_signals();
	if (pthread_create(&thread, NULL, run, NULL)) {
		perror("thread");
		exit(1);
	}
}

void writers_stop(void)
{
	tell(&stop, 1);
	pthread_join(thread, NULL);
}

static cpu_set_t cpus;

int cpus_usable(void)
{
	if (!CPU_COUNT(&cpus))
		sched_getaffinity(0, sizeof(cpus), &cpus);
	return CPU_COUNT(&cpus);
}

void pin_to(int want)
{
	int cpu, n = 0;
	cpu_set_t one;

	want %= cpus_usable();
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &cpus) || n++ != want)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}
