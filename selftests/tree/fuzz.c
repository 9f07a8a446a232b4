// SPDX-License-Identifier: GPL-2.0

#include <time.h>

#include "fuzz.h"

static uint64_t fuzz_state;

/* Any number; xorshift64*. */
uint64_t fuzz_any(void)
{
	fuzz_state ^= fuzz_state >> 12;
	fuzz_state ^= fuzz_state << 25;
	fuzz_state ^= fuzz_state >> 27;
	return fuzz_state * 0x2545f4914f6cdd1dULL;
}

/* Less than @n. */
unsigned int fuzz_below(unsigned int n)
{
	return (fuzz_any() >> 32) % n;
}

/* Once in @n times. */
bool fuzz_once_in(unsigned int n)
{
	return !fuzz_below(n);
}

/* Each test begins with this. The printed seed repeats the test. */
void fuzz_begin(void)
{
	unsigned long seed = test_number("ETCH_FUZZ_SEED", "fuzz_seed",
					 time(NULL) ^ (unsigned long)getpid() << 32);

	printf("# seed %lu (ETCH_FUZZ_SEED, etch_test.fuzz_seed=)\n", seed);
	fuzz_state = seed * 0x9e3779b97f4a7c15ULL | 1;
	for (int i = 0; i < 8; i++)
		fuzz_any();
}
