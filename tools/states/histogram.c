// SPDX-License-Identifier: GPL-2.0
/*
 * Lengths of time, counted in steps that grow with them: each power of two has
 * HISTOGRAM_STEPS steps of equal width. Those below HISTOGRAM_STEPS are exact.
 */
#include "states/states.h"

static unsigned int step_of(uint64_t ns)
{
	unsigned int shift;

	if (ns < HISTOGRAM_STEPS)
		return ns;
	/* The highest bit and the five below it. */
	shift = 63 - __builtin_clzll(ns) - 5;
	return shift * HISTOGRAM_STEPS + (ns >> shift);
}

/* The middle of a step. */
static uint64_t step_ns(unsigned int step)
{
	unsigned int shift = step / HISTOGRAM_STEPS;

	if (shift < 2)
		return step;
	shift--;
	return ((uint64_t)(step - shift * HISTOGRAM_STEPS) << shift) + (1ULL << shift) / 2;
}

void histogram_add(struct histogram *h, uint64_t ns)
{
	unsigned int *count = &h->counts[step_of(ns)];

	*count += *count != ~0u;
	h->nr++;
	h->sum += ns;
	if (ns > h->worst)
		h->worst = ns;
}

uint64_t histogram_percentile(const struct histogram *h, double percent)
{
	unsigned long long rank = h->nr * percent / 100, seen = 0;
	uint64_t ns;

	for (unsigned int i = 0; i < HISTOGRAM_SIZE; i++) {
		seen += h->counts[i];
		if (seen <= rank)
			continue;
		ns = step_ns(i);
		return ns < h->worst ? ns : h->worst;
	}
	return h->worst;
}

unsigned long long histogram_between(const struct histogram *h, uint64_t from, uint64_t to)
{
	unsigned int end = to ? step_of(to) : HISTOGRAM_SIZE;
	unsigned long long nr = 0;

	for (unsigned int i = step_of(from); i < end; i++)
		nr += h->counts[i];
	return nr;
}
