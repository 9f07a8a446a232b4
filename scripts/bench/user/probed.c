// SPDX-License-Identifier: GPL-2.0
/*
 * probed place TRACER: say where the function for a tracer is, as uprobe_events take it
 * probed HOW SAMPLES ITERATIONS: call each function so often, and print
 *
 *	bench: sample TRACER_probed HOW ITERATIONS TICKS...
 *	bench: hits TRACER_probed HOW HITS
 *
 * The functions take turns. Each begins with a NOP of one byte, as a place of USDT is: the
 * kernel does not need to execute it out of line.
 */

#include <stdlib.h>

#include "bench.h"

#define MOST	64		/* samples */

typedef unsigned long probed_fn(unsigned long count, unsigned int first, unsigned int second);

/* No prologue in front of the NOP. */
#define PROBED(tracer)								\
__attribute__((noipa, naked)) unsigned long					\
tracer##_probed(unsigned long count, unsigned int first, unsigned int second)	\
{										\
	asm("nop; lea (%rdi, %rsi), %rax; add %rdx, %rax; ret");		\
}

PROBED(nobody)
PROBED(etch)
PROBED(ftrace)

static const struct {
	const char *name;
	probed_fn *fn;
} functions[] = {
	{ "nobody", nobody_probed }, { "etch", etch_probed }, { "ftrace", ftrace_probed },
};

/* In the file, of an address in memory. */
static unsigned long offset_of(unsigned long address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long begin, end, offset;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &begin, &end, &offset) == 3 &&
		    address >= begin && address < end)
			return address - begin + offset;
	errx(1, "no mapping has %#lx", address);
}

static void place(const char *tracer)
{
	char path[512];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path));

	for (size_t i = 0; i < ARRAY_SIZE(functions) && len > 0; i++)
		if (!strcmp(functions[i].name, tracer))
			printf("%.*s:%#lx\n", (int)len, path,
			       offset_of((unsigned long)functions[i].fn));
}

static unsigned long long sample(probed_fn *fn, unsigned long iterations)
{
	unsigned long long begin = ticks();

	for (unsigned long i = 0; i < iterations; i++)
		fn(1, 2, 3);
	return ticks() - begin;
}

int main(int argc, char **argv)
{
	static unsigned long long found[ARRAY_SIZE(functions)][MOST];
	unsigned long samples, iterations;

	if (argc == 3 && !strcmp(argv[1], "place")) {
		place(argv[2]);
		return 0;
	}
	samples = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
	iterations = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
	if (!samples || samples > MOST || !iterations)
		errx(1, "usage: probed place TRACER, or probed HOW SAMPLES ITERATIONS");
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		sample(functions[i].fn, iterations);
	for (unsigned long n = 0; n < samples; n++)
		for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
			found[i][n] = sample(functions[i].fn, iterations);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		printf("bench: sample %s_probed %s %lu", functions[i].name, argv[1], iterations);
		for (unsigned long n = 0; n < samples; n++)
			printf(" %llu", found[i][n]);
		printf("\nbench: hits %s_probed %s %lu\n", functions[i].name, argv[1],
		       (samples + 1) * iterations);
	}
	return 0;
}
