/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_FUZZ_H
#define _ETCH_FUZZ_H

/*
 * Chance, and what it is told: ETCH_FUZZ_SEED and ETCH_FUZZ_WRITES in the environment, or
 * etch_test.fuzz_seed=N and etch_test.fuzz_writes=N on the kernel's command line. The same
 * seed gives the same inputs in the same order to the same files.
 */

#include <time.h>

#include "etch_test.h"

static uint64_t fuzz_state;

/* Any number; xorshift64*. */
static inline uint64_t fuzz_any(void)
{
	fuzz_state ^= fuzz_state >> 12;
	fuzz_state ^= fuzz_state << 25;
	fuzz_state ^= fuzz_state >> 27;
	return fuzz_state * 0x2545f4914f6cdd1dULL;
}

/* Less than @n. */
static inline unsigned int fuzz_below(unsigned int n)
{
	return (fuzz_any() >> 32) % n;
}

/* Once in @n times. */
static inline bool fuzz_once_in(unsigned int n)
{
	return !fuzz_below(n);
}

#define fuzz_of(array)	((array)[fuzz_below(ARRAY_LEN(array))])

/* What is asked for in the environment or by a word of the kernel, or @otherwise. */
static inline unsigned long fuzz_asked(const char *env, const char *word,
				       unsigned long otherwise)
{
	char *value = getenv(env), *text = NULL;
	unsigned long number = 0;

	if (!value) {
		text = read_path("/proc/cmdline", NULL);
		value = text ? strstr(text, word) : NULL;
		value = value ? value + strlen(word) : NULL;
	}
	if (value)
		number = strtoul(value, NULL, 10);
	free(text);
	return number ? number : otherwise;
}

/* Of each test anew. The seed is printed: with it the test can be had once more. */
static inline void fuzz_begin(void)
{
	unsigned long seed = fuzz_asked("ETCH_FUZZ_SEED", "etch_test.fuzz_seed=",
					time(NULL) ^ (unsigned long)getpid() << 32);

	printf("# seed %lu (ETCH_FUZZ_SEED, etch_test.fuzz_seed=)\n", seed);
	fuzz_state = seed * 0x9e3779b97f4a7c15ULL | 1;
	for (int i = 0; i < 8; i++)
		fuzz_any();
}

#endif /* _ETCH_FUZZ_H */
