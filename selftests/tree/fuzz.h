/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_FUZZ_H
#define _ETCH_FUZZ_H

/*
 * Random numbers. ETCH_FUZZ_SEED in the environment, or etch_test.fuzz_seed=N on the kernel's
 * command line, sets the seed; ETCH_FUZZ_WRITES or etch_test.fuzz_writes=N sets how many
 * writes are made. The same seed gives the same inputs in the same order to the same files.
 */

#include "etch.h"

#define fuzz_of(array)	((array)[fuzz_below(ARRAY_LEN(array))])

uint64_t fuzz_any(void);
unsigned int fuzz_below(unsigned int n);
bool fuzz_once_in(unsigned int n);
void fuzz_begin(void);

#endif /* _ETCH_FUZZ_H */
