// SPDX-License-Identifier: GPL-2.0
/* A program that does nothing, with events (-DEVENTS) and without. */
#ifdef EVENTS
#include "programs.h"
ETCH_PROVIDER_DEFINE(ubench, BENCH_EVENTS);
#endif

int main(void)
{
#ifdef EVENTS
	ubench_step(1, 2);
#endif
	return 0;
}
