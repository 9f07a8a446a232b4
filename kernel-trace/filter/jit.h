/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_JIT_H
#define _KERNEL_ETCH_JIT_H

/*
 * Programs as machine code, where BPF has a JIT: the same tests in the same order, with the same
 * results. The tests stay beside the code: writers make the first of them before there is a
 * record.
 */

struct etch_program;

#ifdef CONFIG_BPF_JIT
void etch_jit_make(struct etch_program *program);
#else
static inline void etch_jit_make(struct etch_program *program)
{
}
#endif

#endif /* _KERNEL_ETCH_JIT_H */
