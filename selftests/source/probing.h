/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_SELFTESTS_SOURCE_PROBING_H
#define _ETCH_SELFTESTS_SOURCE_PROBING_H

/*
 * What the tests of kernel probes share. The probed function is do_sys_openat2(dfd, name, how):
 * each hit() calls it once, with a number and a name that nobody else has, so that
 * filters find the test's own calls.
 */

#include <stdbool.h>

#define DFD	7000
#define MINE	"dfd >= 7000 && dfd < 8000"

/* What the kernel calls the function of a system call begins so. */
#ifdef __aarch64__
#define ENTRY	"__arm64_"
#else
#define ENTRY	"__x64_"
#endif

int define_probe(const char *text);
void forget_all(void);
void hit(int i);
void hits(int nr);
bool says(const char *tree, const char *file, const char *what);

#endif /* _ETCH_SELFTESTS_SOURCE_PROBING_H */
