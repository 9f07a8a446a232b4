// SPDX-License-Identifier: GPL-2.0
/*
 * Restartable sequences, as the kernel gives them: counters that only a sequence's last
 * instruction changes are right, whichever threads and handlers of signals count.
 */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <sys/time.h>

#include "etch_test.h"

#define THREADS	4
#define ROUNDS	300000L

#if defined(__x86_64__)
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

/* By CPU. */
static unsigned long counts[64][8];
static unsigned long handled;

static bool have_rseq(void)
{
	return &__rseq_size && __rseq_size;
}

/* Loads and stores, with some way to go between: no instruction alone counts. */
static void count(void)
{
	__asm__ volatile(
		".pushsection __rseq_cs, \"aw\"\n\t"
		".balign 32\n"
		"10:\t.long 0, 0\n\t"
		".quad 1f, 2f - 1f, 4f\n\t"
		".popsection\n"
		"3:\tleaq 10b(%%rip), %%rax\n\t"
		"movq %%rax, %%fs:8(%[area])\n"
		"1:\tmovl %%fs:4(%[area]), %%ecx\n\t"
		"shlq $6, %%rcx\n\t"
		"movq (%[counts], %%rcx), %%rax\n\t"
		"movl $40, %%edx\n"
		"5:\tdecl %%edx\n\t"
		"jnz 5b\n\t"
		"incq %%rax\n\t"
		"movq %%rax, (%[counts], %%rcx)\n"
		"2:\n\t"
		".pushsection __rseq_failure, \"ax\"\n\t"
		".byte 0x0f, 0xb9, 0x3d\n\t"
		".long 0x53053053\n"
		"4:\tjmp 3b\n\t"
		".popsection\n\t"
		:
		: [area] "r" (__rseq_offset), [counts] "r" (counts)
		: "rax", "rcx", "rdx", "memory", "cc");
}

static void on_timer(int sig)
{
	count();
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

static void *run(void *unused)
{
	for (long i = 0; i < ROUNDS; i++)
		count();
	return NULL;
}

TEST(counts_are_right_in_threads_and_handlers)
{
	struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = {};
	struct sigaction act = { .sa_handler = on_timer, .sa_flags = SA_RESTART };
	pthread_t threads[THREADS];
	unsigned long sum = 0;

	if (!have_rseq())
		SKIP(return, "no restartable sequences: CONFIG_RSEQ, or the C library");
	ASSERT_EQ(0, sigaction(SIGALRM, &act, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	for (int i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, run, NULL));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		sum += counts[i][0];
	EXPECT_EQ(THREADS * ROUNDS + handled, sum);
	printf("# %lu in handlers\n", handled);
	EXPECT_LT(0, handled);
}

/* um and x86-64 know where each thread is. */
TEST(a_thread_knows_its_cpu)
{
	unsigned int cpu;

	if (!have_rseq())
		SKIP(return, "no restartable sequences: CONFIG_RSEQ, or the C library");
	for (int i = 0; i < nr_cpus(); i++) {
		run_on(i);
		cpu = *(volatile unsigned int *)((char *)__builtin_thread_pointer() +
						 __rseq_offset + 4);
		EXPECT_EQ(i, cpu);
	}
}
#else
TEST(counts_are_right_in_threads_and_handlers)
{
	SKIP(return, "knows x86-64");
}
#endif

TEST_HARNESS_MAIN
