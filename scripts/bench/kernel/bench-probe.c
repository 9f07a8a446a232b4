// SPDX-License-Identifier: GPL-2.0
/*
 * What a kprobe with an empty handler costs: by trap, or by a jump if the
 * kernel has replaced the trap by one. The text tells which of the two it is, so
 * the name of a sample is never wrong. Load it once with the sysctl
 * debug.kprobes-optimization 0, once with 1.
 */

#define pr_fmt(fmt) "bench: " fmt

#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>

#include "measure.h"

static bool optimised;
module_param(optimised, bool, 0);
MODULE_PARM_DESC(optimised, "wait for the jump");

static unsigned long iterations = 10000;
module_param(iterations, ulong, 0);
MODULE_PARM_DESC(iterations, "in each round");

/* Seconds that a kprobe is given to become a jump. */
#define PATIENCE	20

#define OPCODE_INT3	0xcc
#define OPCODE_JMP32	0xe9

extern const u8 bench_probed[];

/* The probed instruction is a NOP of five bytes, as long as the jump. */
BENCH_LOOP(probe,
	   asm volatile(".globl bench_probed\n"
			"bench_probed: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00"))

static int bench_handler(struct kprobe *kp, struct pt_regs *regs)
{
	return 0;
}

static struct kprobe bench_kprobe = {
	.addr = (kprobe_opcode_t *)bench_probed,
	.pre_handler = bench_handler,
};

static int bench_measure(void)
{
	struct bench_case c = { .loop = bench_loop_probe };
	u8 wanted = optimised ? OPCODE_JMP32 : OPCODE_INT3;
	int i;

	for (i = 0; i < PATIENCE * 10; i++) {
		if (READ_ONCE(bench_probed[0]) == wanted)
			break;
		msleep(100);
	}
	if (READ_ONCE(bench_probed[0]) != wanted) {
		pr_err("the kprobe is %#x\n", bench_probed[0]);
		return -ETIME;
	}
	c.name = optimised ? "kprobe-jump" : "kprobe-int3";
	return bench_warm(&c, 1, iterations);
}

static int __init bench_init(void)
{
	int ret;

	ret = register_kprobe(&bench_kprobe);
	if (ret)
		return ret;
	ret = bench_measure();
	unregister_kprobe(&bench_kprobe);
	return ret;
}

static void __exit bench_exit(void)
{
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("What a kprobe costs");
MODULE_LICENSE("GPL");
