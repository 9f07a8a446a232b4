// SPDX-License-Identifier: GPL-2.0
/*
 * The last records, to the console, when the kernel oopses or panics.
 *
 *	etch_dump_on_oops		the main tree, all CPUs; so does =1
 *	etch_dump_on_oops=2		the CPU that oopsed alone; so does =orig_cpu
 *	etch_dump_on_oops=NAME		an instance; NAME=2 or NAME=orig_cpu as above
 *	etch_dump_on_oops,NAME		the main tree and an instance
 *	etch_dump_lines=1000		how many lines for each of them, at most
 *
 * as ftrace_dump_on_oops does. The file dump_on_oops has the setting later on. The dump
 * turns tracing off in the instances that it prints, and if the kernel goes on, tracing
 * stays off: tracing_on is 0.
 *
 * The dump waits for no lock, because the lock's holder may have been stopped for good, or
 * have oopsed itself. Its memory is allocated when dumping is turned on. RCU keeps objects
 * alive: code that frees rings, their memory, instances or events, or changes rings, waits
 * for RCU readers first, and a dump is an RCU reader from its beginning to its end. The dump
 * skips rings that are being changed (etch_rings_stop()). It shows all committed records,
 * but not a record that a writer was about to commit when it was stopped.
 *
 * A task that oopses in the middle of a record, by a fault in what it stores, would be in
 * flight for ever. If the kernel goes on, its record is handed in as it is, fields that had
 * not been filled in having whatever was there before, and the log says so.
 */
#define pr_fmt(fmt) "etch: " fmt

#include <linux/atomic.h>
#include <linux/etch.h>
#include <linux/etch_clock.h>
#include <linux/etch_ring.h>
#include <linux/init.h>
#include <linux/kdebug.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/nmi.h>
#include <linux/notifier.h>
#include <linux/panic.h>
#include <linux/panic_notifier.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/trace_seq.h>

#include "text/merge.h"

/* The setting has no more characters, the zero at its end included. */
#define ETCH_DUMP_MAX		256

/* Lines of an instance, if nothing is said. */
#define ETCH_DUMP_LINES		1000

/* Bytes of the largest record that is shown, and of a line of printk's. */
#define ETCH_DUMP_RECORD	4096
#define ETCH_DUMP_WIDTH		800

/* Which CPUs of an instance to dump. */
enum etch_dump_wish {
	ETCH_DUMP_NOT,
	ETCH_DUMP_ALL,
	ETCH_DUMP_ORIG,
	ETCH_DUMP_SILENT,	/* a word says nothing of it */
	ETCH_DUMP_BAD,		/* not to be understood */
};

/* The setting. Its last character is always zero, even while the setting is being written. */
static char etch_dump_text[ETCH_DUMP_MAX] = "0";
static unsigned int etch_dump_lines = ETCH_DUMP_LINES;

/* The memory of a dump, allocated when dumping is first turned on; and whether it is in use. */
static struct etch_dump {
	struct etch_merge *merge;
	struct etch_line line;
} *etch_dump_room;
static atomic_t etch_dump_busy;

/* ---- The setting ---- */

static enum etch_dump_wish etch_dump_how(const char *word, size_t len)
{
	if (len == 1 && *word == '0')
		return ETCH_DUMP_NOT;
	if (len == 1 && *word == '1')
		return ETCH_DUMP_ALL;
	if ((len == 1 && *word == '2') || (len == 8 && !memcmp(word, "orig_cpu", 8)))
		return ETCH_DUMP_ORIG;
	return ETCH_DUMP_BAD;
}

/* What the word of @len bytes wishes of the instance @name, NULL for the main tree. */
static enum etch_dump_wish etch_dump_word(const char *word, size_t len, const char *name)
{
	const char *equal = memchr(word, '=', len);
	size_t own = equal ? equal - word : len;

	if (!equal && etch_dump_how(word, len) != ETCH_DUMP_BAD)
		return name ? ETCH_DUMP_SILENT : etch_dump_how(word, len);
	if (!own || (equal && etch_dump_how(equal + 1, len - own - 1) == ETCH_DUMP_BAD))
		return ETCH_DUMP_BAD;
	if (!name || strlen(name) != own || memcmp(name, word, own))
		return ETCH_DUMP_SILENT;
	return equal ? etch_dump_how(equal + 1, len - own - 1) : ETCH_DUMP_ALL;
}

/* The last word that speaks of an instance counts. @bad: gets the first that is wrong. */
static enum etch_dump_wish etch_dump_wish(const char *text, const char *name, const char **bad)
{
	enum etch_dump_wish wish = ETCH_DUMP_NOT, word;
	size_t len;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		word = etch_dump_word(text, len, name);
		if (word == ETCH_DUMP_BAD) {
			*bad = text;
			return ETCH_DUMP_BAD;
		}
		if (word != ETCH_DUMP_SILENT)
			wish = word;
		if (!text[len])
			return wish;
	}
}

/* Context: process, may sleep. */
static int etch_dump_get_room(void)
{
	struct etch_dump *room;

	if (etch_dump_room)
		return 0;
	room = kvzalloc(sizeof(*room), GFP_KERNEL);
	if (!room)
		return -ENOMEM;
	room->merge = etch_merge_create(NULL, ETCH_ALL_CPUS, ETCH_MERGE_LOOK);
	if (!room->merge || etch_line_init(&room->line) ||
	    !etch_line_fit(&room->line, ETCH_DUMP_RECORD)) {
		etch_line_free(&room->line);
		etch_merge_free(room->merge);
		kvfree(room);
		return -ENOMEM;
	}
	room->line.nowait = true;
	/* Complete before a dump finds it. */
	smp_store_release(&etch_dump_room, room);
	return 0;
}

/**
 * etch_dump_show() - the file dump_on_oops
 * @m: where to
 * @of: whose
 *
 * Context: process; holds etch_mutex.
 */
void etch_dump_show(struct seq_file *m, const struct etch_view_of *of)
{
	seq_printf(m, "%s\n", etch_dump_text);
}

/**
 * etch_dump_store() - the file dump_on_oops is written
 * @in: the text written to it
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0, or -EINVAL or -ENOMEM, reported, and nothing changed.
 */
int etch_dump_store(const struct etch_input *in)
{
	const char *text = skip_spaces(in->text), *bad = text;
	int ret;

	if (strlen(text) >= ETCH_DUMP_MAX)
		return etch_bad(in, text + ETCH_DUMP_MAX - 1, -EINVAL, "Too long");
	if (etch_dump_wish(text, NULL, &bad) == ETCH_DUMP_BAD)
		return etch_bad(in, bad, -EINVAL,
				"Neither 0, 1, 2, orig_cpu nor INSTANCE or INSTANCE=2");
	ret = etch_dump_get_room();
	if (ret)
		return etch_bad(in, text, ret, "No memory to dump with");
	strscpy_pad(etch_dump_text, text);
	return 0;
}

static int __init etch_dump_setup(char *text)
{
	const char *bad;

	if (*text == ',')
		snprintf(etch_dump_text, sizeof(etch_dump_text), "1%s", text);
	else
		strscpy(etch_dump_text, *text == '=' ? text + 1 : "1");
	if (etch_dump_wish(etch_dump_text, NULL, &bad) == ETCH_DUMP_BAD) {
		pr_warn("etch_dump_on_oops: not understood: %s\n", bad);
		strscpy(etch_dump_text, "0");
	}
	return 1;
}
__setup("etch_dump_on_oops", etch_dump_setup);

static int __init etch_dump_lines_setup(char *text)
{
	unsigned int lines;

	if (kstrtouint(text, 10, &lines) || !lines)
		pr_warn("etch_dump_lines: not a number from 1 on\n");
	else
		etch_dump_lines = lines;
	return 1;
}
__setup("etch_dump_lines=", etch_dump_lines_setup);

/* ---- The dump ---- */

/* Prints a line that printk would cut as several lines. */
static void etch_dump_print(const char *text, size_t len)
{
	while (len) {
		const char *end = memchr(text, '\n', len);
		size_t line = end ? end - text : len;
		size_t part = min_t(size_t, line, ETCH_DUMP_WIDTH);

		printk(KERN_EMERG "%.*s\n", (int)part, text);
		part += part == line && end;
		text += part;
		len -= part;
	}
}

static void etch_dump_item(struct etch_line *line, const struct etch_item *item)
{
	trace_seq_init(&line->text.seq);
	etch_item_print(line, item);
	etch_dump_print(line->text.seq.buffer, trace_seq_used(&line->text.seq));
	/* A serial line is slow. */
	touch_nmi_watchdog();
	rcu_cpu_stall_reset();
}

/* Go through the records of @cpu or of all CPUs, and show those behind the first @skip. */
static u64 etch_dump_walk(struct etch_dump *d, struct etch_instance *inst, int cpu, u64 skip)
{
	const struct etch_item *item;
	u64 nr = 0;

	etch_merge_look(d->merge, inst, cpu, etch_dump_lines);
	while ((item = etch_merge_item(d->merge))) {
		if (nr++ >= skip)
			etch_dump_item(&d->line, item);
		etch_merge_next(d->merge);
	}
	return nr;
}

static void etch_dump_instance(struct etch_dump *d, struct etch_instance *inst, int cpu)
{
	const char *name = inst->name ?: "the main tree";
	u64 nr, skip;

	/* Pairs with that in etch_rings_go(). */
	if (smp_load_acquire(&inst->changing)) {
		pr_emerg("no dump of %s: its buffers were being changed\n", name);
		return;
	}
	nr = etch_dump_walk(d, inst, cpu, U64_MAX);
	skip = nr > etch_dump_lines ? nr - etch_dump_lines : 0;
	if (cpu == ETCH_ALL_CPUS)
		pr_emerg("dump of %s, all CPUs: %s%llu records\n", name,
			 skip ? "the last " : "", nr - skip);
	else
		pr_emerg("dump of %s, CPU %d: %s%llu records\n", name, cpu,
			 skip ? "the last " : "", nr - skip);
	etch_dump_walk(d, inst, cpu, skip);
	pr_emerg("dump of %s ends\n", name);
}

/* Leaves the gates open: closing them takes locks. Turning tracing on again finds them open. */
static void etch_dump_turn_off(struct etch_instance *inst)
{
	unsigned int cpu;

	WRITE_ONCE(inst->on, false);
	WRITE_ONCE(inst->dumped, true);
	for_each_possible_cpu(cpu) {
		struct etch_ring *ring = READ_ONCE(inst->rings[cpu]);

		if (ring)
			etch_ring_off(ring);
	}
	/* If the kernel goes on, its readers come to their end. */
	etch_instance_alarm(inst, false);
}

/*
 * The panic after an oops does not dump an instance again, unless something was recorded there
 * in between.
 */
static enum etch_dump_wish etch_dump_wanted(const struct etch_instance *inst)
{
	enum etch_dump_wish wish;
	const char *bad;

	if (!inst || READ_ONCE(inst->dumped))
		return ETCH_DUMP_NOT;
	/* The setting may just be changing. */
	wish = etch_dump_wish(etch_dump_text, inst->name, &bad);
	return wish == ETCH_DUMP_BAD ? ETCH_DUMP_NOT : wish;
}

/* An RCU reader, and the only one here. */
static void etch_dump_instances(struct etch_dump *d)
{
	static enum etch_dump_wish wishes[ETCH_BITS];
	struct etch_instance *inst;
	int bit;

	/* Off with all of them first. */
	for (bit = ETCH_MAIN; bit < ETCH_BITS; bit++) {
		/* Pairs with the release in etch_instance_create(). */
		inst = smp_load_acquire(&etch_instances[bit]);
		wishes[bit] = etch_dump_wanted(inst);
		if (wishes[bit] != ETCH_DUMP_NOT)
			etch_dump_turn_off(inst);
	}
	for (bit = ETCH_MAIN; bit < ETCH_BITS; bit++) {
		inst = READ_ONCE(etch_instances[bit]);
		if (inst && wishes[bit] != ETCH_DUMP_NOT)
			etch_dump_instance(d, inst, wishes[bit] == ETCH_DUMP_ORIG ?
					   smp_processor_id() : ETCH_ALL_CPUS);
	}
}

static void etch_dump(void)
{
	struct etch_dump *d;

	/* Pairs with the release in etch_dump_get_room(). */
	d = smp_load_acquire(&etch_dump_room);
	/* Readers of the console may not be allowed to read Etch's files. */
	if (!d || security_locked_down(LOCKDOWN_TRACEFS))
		return;
	/* One at a time; and not if dumping is what oopses. */
	if (atomic_xchg(&etch_dump_busy, 1))
		return;
	preempt_disable();
	rcu_read_lock();
	etch_clock_learn_now();
	etch_dump_instances(d);
	rcu_read_unlock();
	preempt_enable_no_resched();
	atomic_set(&etch_dump_busy, 0);
}

/* ---- When ---- */

/*
 * If the kernel goes on, this CPU's rings have to go on as well. A task that dies while it
 * writes a record is the only writer on its CPU. After an oops in an interrupt, or with
 * panic_on_oops, the kernel panics; then the rings stay as they are.
 */
static void etch_oops_abandon(void)
{
	unsigned int nr;

	if (in_interrupt() || panic_on_oops)
		return;
	nr = etch_write_abandon();
	if (nr)
		pr_warn("CPU %d: %u record(s) of pid %d were not finished: they have fields of other records\n",
			smp_processor_id(), nr, current->pid);
}

static int etch_die(struct notifier_block *nb, unsigned long what, void *data)
{
	if (what != DIE_OOPS)
		return NOTIFY_DONE;
	etch_dump();
	etch_oops_abandon();
	return NOTIFY_DONE;
}

static int etch_panic(struct notifier_block *nb, unsigned long what, void *data)
{
	etch_dump();
	return NOTIFY_DONE;
}

/*
 * Early: what others do then is not what one wants to see, and where there is one that ends
 * the machine (um's, at INT_MAX - 1) we want to be before it.
 */
static struct notifier_block etch_die_nb = {
	.notifier_call = etch_die,
	.priority = INT_MAX - 1,
};

static struct notifier_block etch_panic_nb = {
	.notifier_call = etch_panic,
	.priority = INT_MAX,
};

static int __init etch_dump_init(void)
{
	if (strcmp(etch_dump_text, "0") && etch_dump_get_room())
		pr_warn("no memory to dump with\n");
	register_die_notifier(&etch_die_nb);
	atomic_notifier_chain_register(&panic_notifier_list, &etch_panic_nb);
	return 0;
}
fs_initcall(etch_dump_init);
