/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_SELFTESTS_SOURCE_PROBING_H
#define _ETCH_SELFTESTS_SOURCE_PROBING_H

/*
 * What the tests of probes share. In the kernel, the probed function is do_sys_openat2(dfd, name,
 * how): each hit() calls it once, with a number and a name that nobody else has, so that
 * filters find the test's own calls.
 */

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

#define DFD	7000
#define MINE	"dfd >= 7000 && dfd < 8000"

/* What the kernel calls the function of a system call begins so. */
#ifdef __aarch64__
#define ENTRY	"__arm64_"
#else
#define ENTRY	"__x64_"
#endif

/* The C library has 0 for O_LARGEFILE, where it is always meant. */
#ifdef __aarch64__
#define KERNEL_O_LARGEFILE	0400000
#else
#define KERNEL_O_LARGEFILE	0100000
#endif

#define NO_FPROBES	"no fprobes: CONFIG_FPROBE_EVENTS"

/*
 * A test begins: without definitions, in Etch as new, with room for many records, and, unless
 * that is NULL, with @instance. NULL; or the reason to skip it: the kernel has no file @file. If
 * something else goes wrong, the test's own asserts will say so.
 */
const char *probing_begins(const char *file, const char *instance);
/* It ends: all is as it was. */
void probing_ends(const char *instance, struct trace *trace);
/* This program's file, which tests probe. NULL: it has no name. */
const char *this_program(void);

int define_probe(const char *text);
void forget_all(void);
void hit(int i);
void hits(int nr);
/* The same while tracing is on, which is off before and after: none of the test's own files. */
void hits_alone(int nr);
bool says(const char *tree, const char *file, const char *what);

#endif /* _ETCH_SELFTESTS_SOURCE_PROBING_H */
