/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_ETCH_H
#define _ETCH_ETCH_H

/*
 * The paths of both tracers' trees, and functions that read and write their files as a whole.
 *
 * Paths are relative to a tree: ETCH, an instance of it, or FTRACE. A write
 * returns 0 or the errno as a positive number, so that tests can say
 * EXPECT_EQ(EINVAL, write_file(...)) and mean it.
 *
 * These functions do not assert. One that cannot do its part at all, for example without
 * memory, ends the test program with a message.
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "../../kselftest.h"

#define ETCH	"/sys/kernel/debug/etch"
#define DEBUGFS	"/sys/kernel/debug"
#define FTRACE	"/sys/kernel/tracing"

/* Reasons to skip a test. */
#define NO_ETCH	"no " ETCH ": CONFIG_ETCH, or not root"
#define NO_TEXT	"no " ETCH "/trace: CONFIG_ETCH_TEXT"
#define NO_DEBUGFS	"no " DEBUGFS ": CONFIG_DEBUG_FS, or not root"
#define NO_FTRACE	"no " FTRACE ": this kernel has no ftrace to compare with"
#define NO_NMIS		"no non-maskable interrupts that a test can send: x86-64 has them"
#define NO_MODULES	"no modules: CONFIG_MODULES"

#define ARRAY_LEN(a)	(sizeof(a) / sizeof((a)[0]))

/* Prints a message and errno, and ends the test program. */
__noreturn __printf(1, 2) void give_up(const char *fmt, ...);
void *must_alloc(void *old, size_t bytes);

/* This kernel and this machine. */
bool have_debugfs(void);
bool have_etch(void);
bool have_text(void);
bool have_ftrace(void);
bool have_modules(void);
bool have_nmis(void);
bool is_um(void);
int nr_cpus(void);
void run_on(int cpu);
long long now_ms(void);

/* So many tasks of this name come and go, one after the other. */
void run_tasks(const char *name, int times);

/* Reading files. The caller frees texts, but not lines, which are in buffers that take turns. */
char *path_of(const char *tree, const char *file);
char *read_all(int fd, size_t *len);
char *read_path(const char *path, size_t *len);
char *read_file(const char *tree, const char *file);
char *read_line(const char *tree, const char *file);
int times_in(const char *tree, const char *file, const char *word);

/* Writing files: 0 or an errno. */
int write_bytes(const char *tree, const char *file, int flags, const void *bytes, size_t len);
int write_file(const char *tree, const char *file, const char *text);
int overwrite_file(const char *tree, const char *file, const char *text);
__printf(3, 4) int write_fmt(const char *tree, const char *file, const char *fmt, ...);
void etch_as_new(void);

/* Parameters of a test. */
const char *test_word(const char *env, const char *name);
unsigned long test_number(const char *env, const char *name, unsigned long otherwise);
unsigned int test_cycles(unsigned int usual);
bool test_draws(const char *path);

/* Values in texts and in files. */
long long number_in(const char *text, const char *name);
long long count_of(const char *text, const char *who, const char *what);
unsigned int count_lines(const char *text);
unsigned int count_records(const char *text);
const char *clock_of(const char *tree, char name[32]);
long long stat_of(const char *tree, int cpu, const char *name);
long long stat_sum(const char *tree, const char *name);
long long lost_sum(const char *tree);

#endif /* _ETCH_ETCH_H */
