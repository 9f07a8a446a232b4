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

#if defined(__x86_64__) || defined(__aarch64__)
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
#ifdef __x86_64__
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
#else
	__asm__ volatile(
		".pushsection __rseq_cs, \"aw\"\n\t"
		".balign 32\n"
		"10:\t.long 0, 0\n\t"
		".quad 1f, 2f - 1f, 4f\n\t"
		".popsection\n"
		"3:\tadrp x9, 10b\n\t"
		"add x9, x9, :lo12:10b\n\t"
		"mrs x10, tpidr_el0\n\t"
		"add x10, x10, %[area]\n\t"
		"str x9, [x10, 8]\n"
		"1:\tldr w11, [x10, 4]\n\t"
		"add x11, %[counts], x11, lsl 6\n\t"
		"ldr x12, [x11]\n\t"
		"mov x13, 40\n"
		"5:\tsubs x13, x13, 1\n\t"
		"b.ne 5b\n\t"
		"add x12, x12, 1\n\t"
		"str x12, [x11]\n"
		"2:\n\t"
		".pushsection __rseq_failure, \"ax\"\n\t"
		".inst 0xd428bc00\n"
		"4:\tb 3b\n\t"
		".popsection\n\t"
		:
		: [area] "r" (__rseq_offset), [counts] "r" (counts)
		: "x9", "x10", "x11", "x12", "x13", "memory", "cc");
#endif
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
	SKIP(return, "knows x86-64 and arm64");
}
#endif

TEST_HARNESS_MAIN
