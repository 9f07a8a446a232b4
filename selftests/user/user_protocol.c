// SPDX-License-Identifier: GPL-2.0
/*
 * The library's way to write into a ring, without the kernel's half: threads write, handlers of
 * signals in between, and another thread reads. Each record has a number and a pattern.
 *
 * mutants.sh takes one rule after the other out of the library and sees that this fails.
 *
 * etch_test.protocol_ms=N or ETCH_PROTOCOL_MS: how long a mode lasts; 700 milliseconds.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <linux/membarrier.h>
#include <etch/user.h>

#include "etch_test.h"

#define THREADS	4
#define CPUS	64
#define HEAD	sizeof(struct etch_user_block)
#define BLOCK	((uint64_t)ETCH_USER_SUBBUF)

/* A record: the word of the time, the thread's number, these, and bytes that they tell. */
struct payload {
	uint32_t len;
	uint32_t sum;
	uint64_t nr;
	unsigned char pad[192];
} __attribute__((packed, aligned(4)));

/* Of all instances, as the library has them; the first one alone is used. */
static struct etch_user_ring *rows[32 * CPUS + sizeof(struct etch__missed) / sizeof(void *)];
static volatile uint32_t gate = 1;
static uint16_t id = 5;
static struct etch_provider provider = {
	.gates = &gate, .ids = &id, .nr = 1, .fd = -1, .cpus = CPUS, .rings = rows
};
static volatile bool stop;
static unsigned long tried;
static __thread unsigned long my_tried;
static __thread int32_t me;

/* The counter, read before anything that follows. */
static uint64_t ticks(void)
{
	uint64_t now;

#ifdef __x86_64__
	now = __builtin_ia32_rdtsc();
	__builtin_ia32_lfence();
#else
	__asm__ volatile("isb; mrs %0, cntvct_el0; isb" : "=r" (now) : : "memory");
#endif
	return now << 16 >> 16;
}

static void fill(struct payload *p, uint64_t nr)
{
	uint64_t mixed = nr * 0x9e3779b97f4a7c15ULL;

	p->len = 16 + (mixed >> 33) % 45 * 4;
	p->nr = nr;
	p->sum = p->len ^ (uint32_t)mixed;
	memset(p->pad, (unsigned char)(mixed >> 56), p->len - 16);
}

static bool whole(const struct payload *p, uint64_t left)
{
	struct payload want;

	if (left < 16 || p->len > left || p->len < 16 || p->len > sizeof(want) || p->len % 4)
		return false;
	fill(&want, p->nr);
	return !memcmp(&want, p, want.len) && want.len == p->len;
}

/* The thread itself and its handlers count here. */
static void hit(void)
{
	struct payload p;

	fill(&p, (uint64_t)me << 48 | my_tried);
	__atomic_fetch_add(&my_tried, 1, __ATOMIC_RELAXED);
	etch__record(&provider, &me, 0, &p, p.len);
}

static void on_timer(int sig)
{
	if (me)
		hit();
}

static void *run(void *arg)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	/* um has one processor, and its signals cost more. */
	long ns = is_um() ? 5000000 : 50000;
	struct itimerspec often = { { 0, ns }, { 0, ns } };
	timer_t timer;

	me = (intptr_t)arg;
	event._sigev_un._tid = syscall(SYS_gettid);
	if (!timer_create(CLOCK_MONOTONIC, &event, &timer))
		timer_settime(timer, 0, &often, NULL);
	while (!stop)
		hit();
	timer_delete(timer);
	signal(SIGUSR1, SIG_IGN);
	__atomic_fetch_add(&tried, my_tried, __ATOMIC_RELAXED);
	return NULL;
}

/* How far a ring was read. */
struct reader {
	uint64_t next;
	uint64_t read;
	uint64_t gone;
	uint64_t torn;
	uint64_t disorder;
	uint64_t early;
	uint64_t last;
};

static uint64_t pos_of(const struct etch_user_ring *ring)
{
	return __atomic_load_n(&ring->pos, __ATOMIC_ACQUIRE);
}

static uint64_t gen_of(struct etch_user_block *block)
{
	return __atomic_load_n(&block->gen, __ATOMIC_ACQUIRE);
}

/* Looks at each record of a copy, and counts. The last @late bytes were not there at @time. */
static uint64_t look(struct reader *r, const char *at, const char *end, uint64_t late,
		     uint64_t time)
{
	uint64_t nr = 0, word;

	for (; at < end; nr++) {
		const struct payload *p = (const void *)(at + ETCH_HEAD);

		if (end - at < ETCH_HEAD || !whole(p, end - at - ETCH_HEAD)) {
			r->torn++;
			return nr;
		}
		memcpy(&word, at, sizeof(word));
		word = word << 16 >> 16;
		r->disorder += word < r->last;
		r->early += end - at <= late && word < time;
		r->last = word;
		at += ETCH_HEAD + p->len;
	}
	return nr;
}

/* Takes one block, or what there is of it. @after: positions that were there at @time. */
static bool take(struct reader *r, struct etch_user_ring *ring, uint64_t after, uint64_t time)
{
	static char copy[ETCH_USER_SUBBUF];
	uint64_t pos = pos_of(ring), end = pos >> ETCH_USER_COUNT_BITS;
	uint64_t open = (end - 1) / BLOCK, nr = r->next / BLOCK, from, to, total;
	struct etch_user_block *block;

	if (r->next >= end)
		return false;
	if (open - nr >= ETCH_USER_SUBBUFS)
		nr = open - ETCH_USER_SUBBUFS + 1;
	block = (void *)((char *)ring + ETCH_USER_DATA + nr % ETCH_USER_SUBBUFS * BLOCK);
	if (gen_of(block) != nr + 1)
		return true;
	from = r->next > nr * BLOCK + HEAD ? r->next : nr * BLOCK + HEAD;
	to = nr == open ? end : block->left >> ETCH_USER_COUNT_BITS;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (to > (nr + 1) * BLOCK || to < from) {
		r->torn += gen_of(block) == nr + 1;
		r->next = end;
		return true;
	}
	total = block->total;
	memcpy(copy, (char *)block + (from - nr * BLOCK), to - from);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (gen_of(block) != nr + 1)
		return true;
	if (r->next <= nr * BLOCK)
		r->disorder += total - r->read < r->gone;
	if (r->next <= nr * BLOCK)
		r->gone = total - r->read;
	r->read += look(r, copy, copy + (to - from), to > after ? to - after : 0, time);
	r->next = nr == open ? to : (nr + 1) * BLOCK;
	/* A block of which some was read is not free yet. */
	__atomic_store_n(&ring->consumed, r->next / BLOCK * BLOCK, __ATOMIC_RELEASE);
	return true;
}

/* A record that is not there after a settling is not older than its beginning. */
static void settle(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 0, 0);
}

FIXTURE(protocol) {
	struct reader readers[CPUS];
};

FIXTURE_VARIANT(protocol) {
	bool overwrite;
};

FIXTURE_VARIANT_ADD(protocol, discard) { .overwrite = false };
FIXTURE_VARIANT_ADD(protocol, overwrite) { .overwrite = true };

FIXTURE_SETUP(protocol)
{
	if (!&__rseq_size || !__rseq_size)
		SKIP(return, "no restartable sequences: CONFIG_RSEQ, or the C library");
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0))
		SKIP(return, "no membarrier() for restartable sequences");
	/* It needs no kernel of ours, but nobody needs the protocol there. */
	if (access("/dev/etch", F_OK) && !getenv("ETCH_PROTOCOL_MS"))
		SKIP(return, "no events of programs: CONFIG_ETCH_USER, or set ETCH_PROTOCOL_MS");
	for (int i = 0; i < nr_cpus(); i++) {
		rows[i] = aligned_alloc(4096, ETCH_USER_RING);
		ASSERT_NE(NULL, rows[i]);
		memset(rows[i], 0, ETCH_USER_RING);
		rows[i]->overwrite = variant->overwrite;
	}
}

FIXTURE_TEARDOWN(protocol)
{
}

TEST_F(protocol, each_record_is_whole_and_accounted_for)
{
	long long end = now_ms() + test_number("ETCH_PROTOCOL_MS", "protocol_ms", 700);
	struct sigaction act = { .sa_handler = on_timer, .sa_flags = SA_RESTART };
	uint64_t sum = 0, lost = 0, torn = 0, disorder = 0, early = 0, gone = 0;
	pthread_t threads[THREADS];
	unsigned int round = 0;

	ASSERT_EQ(0, sigaction(SIGUSR1, &act, NULL));
	for (intptr_t i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, run, (void *)(i + 1)));
	while (now_ms() < end) {
		uint64_t after[CPUS], time = ticks();

		settle();
		for (int i = 0; i < nr_cpus(); i++)
			after[i] = pos_of(rows[i]) >> ETCH_USER_COUNT_BITS;
		/* Let them write; sometimes more than there is room for. */
		if (round++ % 1000 == 0)
			usleep(20000);
		while (ticks() - time < 10000)
			;
		for (int i = 0; i < nr_cpus(); i++)
			for (int n = 0; n < 20; n++)
				if (!take(&self->readers[i], rows[i], after[i], time))
					break;
	}
	stop = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < nr_cpus(); i++) {
		struct reader *r = &self->readers[i];

		while (take(r, rows[i], -1, 0))
			;
		sum += r->read + r->gone;
		gone += r->gone;
		torn += r->torn;
		disorder += r->disorder;
		early += r->early;
		lost += rows[i]->lost;
	}
	printf("# tried %lu, read %lu, overwritten %lu, lost %lu\n", tried,
	       (unsigned long)(sum - gone), (unsigned long)gone, (unsigned long)lost);
	EXPECT_EQ(tried, sum + lost);
	EXPECT_EQ(0, torn);
	EXPECT_EQ(0, disorder);
	EXPECT_EQ(0, early);
	EXPECT_TRUE(variant->overwrite ? !lost && gone : lost && !gone);
}

TEST_HARNESS_MAIN
