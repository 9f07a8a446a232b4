/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _BENCH_EVENT_H
#define _BENCH_EVENT_H

#include "loop.h"

struct dentry;

int bench_floor_create(void);
void bench_floor_free(void);

void bench_loop_empty(unsigned long left);
void bench_loop_counter(unsigned long left);
void bench_loop_mono(unsigned long left);
void bench_loop_local(unsigned long left);
void bench_loop_floor(unsigned long left);
void bench_loop_etch_small(unsigned long left);
void bench_loop_ftrace_small(unsigned long left);

void bench_pace_create(struct dentry *dir);

#endif /* _BENCH_EVENT_H */
