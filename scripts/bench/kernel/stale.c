// SPDX-License-Identifier: GPL-2.0
/*
 * Does a CPU execute an instruction that memory has no more?
 *
 * The writer changes code over and over by the kernel's own means: the sites of a static
 * key or, in a kernel with immediate values, the operands of moves. A task on each CPU, and
 * interrupts, execute these sites. After each change the writer interrupts all CPUs, besides
 * what text_poke_sync() does, and each executes a serialising instruction. From then on,
 * until the next change, the code is quiet.
 *
 * The notifier here sees the breakpoints that the kernel does not know. It looks whether
 * memory has a breakpoint there, and whether the code was quiet already when the reader
 * began: then the CPU executed a serialising instruction after the last store to the code,
 * and fetched the breakpoint after that. No x86 processor may do so. The notifier has the
 * CPU try again, behind an IRET each time, and emulates the instruction after TRIES times,
 * so that the storm goes on.
 *
 *	insmod bench-stale.ko what=jump|operand times=CHANGES quiet=LOOPS
 *
 * prints one line; scripts/proof/stale.py loads it and shows what the line says.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/jump_label.h>
#include <linux/kdebug.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include <asm/sync_core.h>
#include <asm/text-patching.h>

#include "timer.h"

#define SITES	16
#define TRIES	10

/* What the writer changes, how often, and how long it waits after each change. */
static char *what = "jump";
module_param(what, charp, 0);
static unsigned int times = 1000;
module_param(times, uint, 0);
static unsigned int quiet = 50;
module_param(quiet, uint, 0);

/* Twice the changes so far; odd from the begin of a change until the code is quiet. */
static unsigned long changes;

/* Executes the sites; and what that gives while @changes has a value. */
static u32 (*sites)(void);
static u32 (*expected)(unsigned long seq);

/* What @changes was when the reader of this CPU began: in a task, in an interrupt. */
static DEFINE_PER_CPU(unsigned long [2], began);

/* The last breakpoint of a CPU that the kernel did not know. */
struct stale_last {
	unsigned long ip, seq;
	unsigned int tries;
};

static DEFINE_PER_CPU(struct stale_last, last);

static struct {
	atomic_long_t passes;		/* of readers through all sites */
	atomic_long_t present;		/* unknown breakpoints that are in memory */
	atomic_long_t absent;		/* unknown breakpoints that are not */
	atomic_long_t after;		/* changes with some of @absent */
	atomic_long_t quiet;		/* those of @absent that no processor may execute */
	atomic_long_t stuck;		/* ... and still did, tried TRIES times */
	atomic_long_t wrong;		/* passes through quiet code that saw an old state */
	atomic_long_t unknown;		/* instructions that the notifier cannot emulate */
} counts;

/* The last change that is in @after. */
static atomic_long_t counted;

/* ---- Sites ---- */

static DEFINE_STATIC_KEY_FALSE(stale_key);

/* Sixteen sites are four times four of one expression. */
#define FOUR(site)	((site) + (site) + (site) + (site))

static noinline u32 stale_jumps(void)
{
	return FOUR(FOUR(static_branch_unlikely(&stale_key) ? 1 : 0));
}

static void stale_jump_change(unsigned long seq)
{
	if (seq / 2 % 2)
		static_branch_enable(&stale_key);
	else
		static_branch_disable(&stale_key);
}

static u32 stale_jump_expected(unsigned long seq)
{
	return seq / 2 % 2 ? SITES : 0;
}

#ifdef CONFIG_IMV_PATCHED
#include <linux/immediate.h>

DEFINE_STATIC_IMV(u32, stale_value);

static noinline u32 stale_operands(void)
{
	return FOUR(FOUR(imv_read(stale_value)));
}

static u32 stale_operand(unsigned long seq)
{
	return 0x01010101 * (1 + seq / 2 % 15);
}

static void stale_operand_change(unsigned long seq)
{
	WARN_ON(imv_set(stale_value, stale_operand(seq)));
}

static u32 stale_operand_expected(unsigned long seq)
{
	return SITES * stale_operand(seq);
}
#endif

/* ---- The notifier ---- */

/* Do what the instruction at @ip would. */
static bool stale_emulate(struct pt_regs *regs, const u8 *ip)
{
	unsigned long *mov[] = { &regs->ax, &regs->cx, &regs->dx, &regs->bx,
				 NULL, &regs->bp, &regs->si, &regs->di };

	if (ip[0] == JMP8_INSN_OPCODE) {
		regs->ip = (unsigned long)ip + JMP8_INSN_SIZE + (s8)ip[1];
	} else if (ip[0] == JMP32_INSN_OPCODE) {
		regs->ip = (unsigned long)ip + JMP32_INSN_SIZE +
			   (s32)get_unaligned((u32 *)(ip + 1));
	} else if (!memcmp(ip, "\x66\x90", 2)) {
		regs->ip = (unsigned long)ip + 2;
	} else if (!memcmp(ip, "\x0f\x1f\x44\x00\x00", 5)) {
		regs->ip = (unsigned long)ip + 5;
	} else if ((ip[0] & ~7) == 0xb8 && mov[ip[0] & 7]) {
		*mov[ip[0] & 7] = get_unaligned((u32 *)(ip + 1));
		regs->ip = (unsigned long)ip + 5;
	} else {
		return false;
	}
	return true;
}

static void stale_count(unsigned long ip)
{
	/* The breakpoint's own exception counts as one. */
	unsigned int level = (hardirq_count() >> HARDIRQ_SHIFT) > 1;
	unsigned long seq = READ_ONCE(changes);
	struct stale_last *l = this_cpu_ptr(&last);

	if (l->ip != ip || l->seq != seq)
		*l = (struct stale_last){ .ip = ip, .seq = seq };
	l->tries++;
	if (READ_ONCE(*(u8 *)ip) == INT3_INSN_OPCODE) {
		atomic_long_inc(&counts.present);
		return;
	}
	atomic_long_inc(&counts.absent);
	if (atomic_long_xchg(&counted, seq | 1) != (seq | 1))
		atomic_long_inc(&counts.after);
	if (seq % 2 || this_cpu_read(began[level]) != seq)
		return;
	atomic_long_inc(&counts.quiet);
	if (l->tries == TRIES)
		atomic_long_inc(&counts.stuck);
}

static int stale_die(struct notifier_block *nb, unsigned long val, void *data)
{
	struct pt_regs *regs = ((struct die_args *)data)->regs;
	unsigned long ip = regs->ip - INT3_INSN_SIZE;

	if (val != DIE_INT3 || user_mode(regs) || !within_module(ip, THIS_MODULE))
		return NOTIFY_DONE;
	stale_count(ip);
	regs->ip = ip;
	if (this_cpu_read(last.tries) % TRIES == 0 && !stale_emulate(regs, (u8 *)ip))
		atomic_long_inc(&counts.unknown);
	return NOTIFY_STOP;
}

static struct notifier_block stale_nb = { .notifier_call = stale_die, .priority = INT_MAX };

/* ---- Readers ---- */

static void stale_pass(unsigned int level)
{
	/* Pairs with the release in stale_write(): quiet, and so is the code. */
	unsigned long seq = smp_load_acquire(&changes);
	u32 found;

	this_cpu_write(began[level], seq);
	barrier();
	found = sites();
	/* Pairs with the barrier in stale_write(): it is odd before the code changes. */
	smp_rmb();
	if (seq % 2 == 0 && READ_ONCE(changes) == seq && found != expected(seq))
		atomic_long_inc(&counts.wrong);
	atomic_long_inc(&counts.passes);
}

static int stale_reader(void *unused)
{
	set_user_nice(current, MAX_NICE);
	while (!kthread_should_stop()) {
		int i;

		for (i = 0; i < 64; i++) {
			stale_pass(0);
			cpu_relax();
		}
		cond_resched();
	}
	return 0;
}

static DEFINE_PER_CPU(struct hrtimer, stale_timer);

static enum hrtimer_restart stale_tick(struct hrtimer *timer)
{
	stale_pass(1);
	hrtimer_forward_now(timer, ns_to_ktime(200 * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

static void stale_start_timer(void *unused)
{
	struct hrtimer *timer = this_cpu_ptr(&stale_timer);

	hrtimer_setup(timer, stale_tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(timer, ns_to_ktime(NSEC_PER_MSEC), HRTIMER_MODE_REL_PINNED_HARD);
}

/* ---- The writer ---- */

static void stale_serialise(void *unused)
{
	sync_core();
}

static void stale_interrupt(void *unused)
{
	stale_pass(1);
}

static unsigned long stale_write(void (*change)(unsigned long seq))
{
	unsigned long seq = 0;
	unsigned int i;

	while (seq / 2 < times) {
		WRITE_ONCE(changes, ++seq);
		/* Pairs with the barrier in stale_pass(). */
		smp_mb();
		change(seq + 1);
		on_each_cpu(stale_serialise, NULL, 1);
		/* Pairs with the acquire in stale_pass(). */
		smp_store_release(&changes, ++seq);
		on_each_cpu(stale_interrupt, NULL, 0);
		for (i = 0; i < quiet; i++)
			cpu_relax();
		cond_resched();
	}
	WRITE_ONCE(changes, ++seq);
	return seq / 2;
}

static void stale_run(void (*change)(unsigned long seq))
{
	struct task_struct *tasks[8] = { };
	unsigned long made;
	int cpu, i, nr = 0;

	register_die_notifier(&stale_nb);
	WRITE_ONCE(changes, 1);
	for_each_online_cpu(cpu) {
		struct task_struct *task = kthread_create(stale_reader, NULL, "stale/%d", cpu);

		if (IS_ERR(task) || nr == ARRAY_SIZE(tasks))
			break;
		kthread_bind(task, cpu);
		wake_up_process(task);
		tasks[nr++] = task;
	}
	on_each_cpu(stale_start_timer, NULL, 1);
	made = stale_write(change);
	for_each_online_cpu(cpu)
		hrtimer_cancel(per_cpu_ptr(&stale_timer, cpu));
	for (i = 0; i < nr; i++)
		kthread_stop(tasks[i]);
	unregister_die_notifier(&stale_nb);

#define COUNT(name)	atomic_long_read(&counts.name)
	pr_info("bench: stale %s changes %lu passes %ld present %ld absent %ld after %ld quiet %ld stuck %ld wrong %ld unknown %ld\n",
		what, made, COUNT(passes), COUNT(present), COUNT(absent), COUNT(after),
		COUNT(quiet), COUNT(stuck), COUNT(wrong), COUNT(unknown));
}

static int __init stale_init(void)
{
	if (!strcmp(what, "jump")) {
		sites = stale_jumps;
		expected = stale_jump_expected;
		stale_run(stale_jump_change);
		return 0;
	}
#ifdef CONFIG_IMV_PATCHED
	if (!strcmp(what, "operand")) {
		sites = stale_operands;
		expected = stale_operand_expected;
		stale_run(stale_operand_change);
		return 0;
	}
#endif
	return -EINVAL;
}
module_init(stale_init);

static void __exit stale_exit(void)
{
}
module_exit(stale_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Instructions that memory has no more");
