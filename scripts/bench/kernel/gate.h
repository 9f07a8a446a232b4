/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _BENCH_GATE_H
#define _BENCH_GATE_H

#include <linux/jump_label.h>
#include "loop.h"

DECLARE_STATIC_KEY_FALSE(bench_key);

void bench_loop_empty(unsigned long left);
void bench_loop_flag(unsigned long left);
void bench_loop_jump(unsigned long left);
void bench_loop_off(unsigned long left);
void bench_loop_on(unsigned long left);

#endif /* _BENCH_GATE_H */
