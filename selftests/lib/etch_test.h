/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_TEST_H
#define _ETCH_TEST_H

/* The test harness, set up for Etch. Only sources with tests include this. */

#include "../../kselftest_harness.h"
#include "etch.h"

/* Seconds. Emulated CPUs, and kernels that check themselves, are slow. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	240

/* Output appears even if the test is killed, and only once if the test forks. */
static __attribute__((constructor(102))) void unbuffer_stdout(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
}

#endif /* _ETCH_TEST_H */
