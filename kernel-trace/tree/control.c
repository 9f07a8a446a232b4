// SPDX-License-Identifier: GPL-2.0
/*
 * The files that are one setting, or one list, each: what reading and writing does.
 *
 * A file is a line in one of the two tables at the end. The text of a write() arrives as
 * one struct etch_input, whole; a store function checks it before anything changes, and
 * refuses it with etch_bad(), which leaves an entry in error_log.
 */
#include <linux/cpumask.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/etch_clock.h>
#include <linux/etch_ring.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kstrtox.h>
#include <linux/math64.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "tree/fs.h"

/* No setting takes more to say, unless its struct etch_control says so. */
#define ETCH_CONTROL_MAX	256

/* ---- The settings ---- */

static void etch_on_show(struct seq_file *m, const struct etch_view_of *of)
{
	seq_printf(m, "%d\n", READ_ONCE(of->inst->on));
}

static int etch_on_store(const struct etch_input *in)
{
	bool on;
	int ret;

	ret = etch_input_bool(in, &on);
	if (ret || on == READ_ONCE(in->inst->on))
		return ret;
	ret = etch_instance_set_on(in->inst, on);
	if (ret)
		return etch_bad(in, in->text, ret, "Cannot register an enabled event");
	return 0;
}

static bool etch_clock_usable(enum etch_clock clock)
{
	return clock != ETCH_CLOCK_COUNTER || etch_clock_counter_usable();
}

/* All choices on one line, the one that is chosen in brackets. */
static void etch_choice_show(struct seq_file *m, const char *name, bool chosen)
{
	seq_printf(m, chosen ? "%s[%s]" : "%s%s", m->count ? " " : "", name);
}

/* Refuses a setting that needs other memory, or other metadata, than a reserved region has. */
static int etch_not_fixed(const struct etch_input *in)
{
	if (!in->inst->store)
		return 0;
	return etch_bad(in, in->text, -EBUSY, "Fixed, since the buffer is in reserved memory");
}

static void etch_clock_show(struct seq_file *m, const struct etch_view_of *of)
{
	enum etch_clock clock;

	for (clock = 0; clock < ETCH_CLOCK_NR; clock++)
		if (etch_clock_usable(clock))
			etch_choice_show(m, etch_clock_names[clock], clock == of->inst->clock);
	seq_putc(m, '\n');
}

static bool etch_records_programs(const struct etch_instance *inst)
{
	const struct etch_event *event;

	list_for_each_entry(event, &etch_events, node)
		if (event->user && event->mask & BIT_ULL(inst->rec.bit))
			return true;
	return false;
}

static int etch_clock_store(const struct etch_input *in)
{
	const char *at = skip_spaces(in->text);
	int clock = match_string(etch_clock_names, ETCH_CLOCK_NR, at);

	if (clock < 0)
		return etch_bad(in, at, -EINVAL, "No such clock");
	if (!etch_clock_usable(clock))
		return etch_bad(in, at, -EINVAL, "Not the same on all CPUs of this machine");
	if (clock == in->inst->clock)
		return 0;
	if (etch_not_fixed(in))
		return -EBUSY;
	if (etch_records_programs(in->inst))
		return etch_bad(in, at, -EBUSY,
				"A program's event is enabled: it has no other clock than 'counter'");
	etch_instance_set_clock(in->inst, clock);
	return 0;
}

static const char * const etch_mode_names[] = { "discard", "overwrite" };

static void etch_mode_show(struct seq_file *m, const struct etch_view_of *of)
{
	etch_choice_show(m, etch_mode_names[true], of->inst->overwrite);
	etch_choice_show(m, etch_mode_names[false], !of->inst->overwrite);
	seq_putc(m, '\n');
}

static int etch_mode_store(const struct etch_input *in)
{
	const char *at = skip_spaces(in->text);
	int overwrite = match_string(etch_mode_names, ARRAY_SIZE(etch_mode_names), at);

	if (overwrite < 0)
		return etch_bad(in, at, -EINVAL, "Neither overwrite nor discard");
	etch_instance_set_mode(in->inst, overwrite);
	return 0;
}

static void etch_size_show(struct seq_file *m, const struct etch_view_of *of)
{
	unsigned long bytes = etch_instance_bytes(of->inst, of->cpu);

	if (of->inst->full_bytes)
		seq_printf(m, "0 (expanded: %lu)\n", of->inst->full_bytes >> 10);
	else if (!bytes)
		seq_puts(m, of->cpu == ETCH_ALL_CPUS ? "X\n" : "0\n");
	else
		seq_printf(m, "%lu\n", bytes >> 10);
}

static int etch_size_store(const struct etch_input *in)
{
	const char *at = skip_spaces(in->text);
	unsigned long kb;
	int ret;

	ret = etch_input_number(in, &kb);
	if (ret)
		return ret;
	if (!kb)
		return etch_bad(in, at, -EINVAL, "A buffer has at least 1 KiB");
	if (kb > ULONG_MAX >> 10)
		return etch_bad(in, at, -EINVAL, "Too large");
	if (etch_not_fixed(in))
		return -EBUSY;

	ret = etch_instance_resize(in->inst, in->cpu, kb << 10);
	if (ret == -ENODEV)
		return etch_bad(in, at, ret, "CPU %d is not there", in->cpu);
	if (ret == -EINVAL)
		return etch_bad(in, at, ret, "Too large");
	if (ret)
		return etch_bad(in, at, ret, "Not enough memory");
	return 0;
}

static void etch_subbuf_show(struct seq_file *m, const struct etch_view_of *of)
{
	seq_printf(m, "%u\n", of->inst->subbuf_bytes >> 10);
}

static int etch_subbuf_store(const struct etch_input *in)
{
	const char *at = skip_spaces(in->text);
	unsigned int subbuf;
	unsigned long kb;
	int ret;

	ret = etch_input_number(in, &kb);
	if (ret)
		return ret;
	subbuf = etch_subbuf_bytes(min(kb, ULONG_MAX >> 10) << 10);
	if (!subbuf)
		return etch_bad(in, at, -EINVAL, "A sub-buffer has 1 to %u KiB",
				ETCH_RING_MAX_SUBBUF >> 10);
	if (etch_not_fixed(in))
		return -EBUSY;

	ret = etch_instance_set_subbuf(in->inst, subbuf);
	if (ret == -EINVAL)
		return etch_bad(in, at, ret, "Too small for buffers of this size");
	if (ret)
		return etch_bad(in, at, ret, "Not enough memory");
	return 0;
}

static void etch_percent_show(struct seq_file *m, const struct etch_view_of *of)
{
	seq_printf(m, "%u\n", of->inst->percent);
}

static int etch_percent_store(const struct etch_input *in)
{
	unsigned long percent;
	int ret;

	ret = etch_input_number(in, &percent);
	if (ret)
		return ret;
	if (percent > 100)
		return etch_bad(in, skip_spaces(in->text), -EINVAL, "More than 100 percent");
	etch_instance_set_percent(in->inst, percent);
	return 0;
}

static void etch_error_log_show(struct seq_file *m, const struct etch_view_of *of)
{
	etch_errors_show(m, of->inst);
}

/* A write empties it, with any text. */
static int etch_error_log_store(const struct etch_input *in)
{
	etch_errors_clear(in->inst);
	return 0;
}

/* ---- The figures of a CPU's ring ---- */

static void etch_stats_time(struct seq_file *m, const char *name, enum etch_clock clock,
			    u64 time)
{
	u64 ns = etch_clock_to_ns(clock, time);
	u32 rem;

	if (!etch_clock_in_ns(clock)) {
		seq_printf(m, "%s: %llu\n", name, time);
		return;
	}
	ns = div_u64_rem(time ? ns : 0, NSEC_PER_SEC, &rem);
	seq_printf(m, "%s: %5llu.%06u\n", name, ns, rem / (u32)NSEC_PER_USEC);
}

/* A CPU without a ring has zeros, but for what it loses for that. */
static void etch_stats_show(struct seq_file *m, const struct etch_view_of *of)
{
	struct etch_instance *inst = of->inst;
	struct etch_ring_stats stats = {};
	u64 absent, filtered;

	mutex_lock(&inst->read_mutex);
	if (inst->rings[of->cpu])
		etch_ring_stats(inst->rings[of->cpu], &stats);
	absent = etch_instance_absent(inst, of->cpu);
	filtered = etch_instance_filtered(inst, of->cpu);
	mutex_unlock(&inst->read_mutex);

	seq_printf(m, "entries: %llu\n", stats.entries);
	seq_printf(m, "written: %llu\n", stats.written);
	seq_printf(m, "read: %llu\n", stats.read);
	seq_printf(m, "overwritten: %llu\n", stats.overwritten);
	seq_printf(m, "lost full: %llu\n", stats.lost_full);
	seq_printf(m, "lost too big: %llu\n", stats.lost_too_big);
	seq_printf(m, "lost nested: %llu\n", stats.lost_nested);
	seq_printf(m, "lost throttled: %llu\n", stats.lost_throttled);
	seq_printf(m, "lost off: %llu\n", stats.lost_off);
	seq_printf(m, "lost no buffer: %llu\n", absent);
	seq_printf(m, "filtered: %llu\n", filtered);
	seq_printf(m, "bytes: %llu\n", stats.bytes);
	etch_stats_time(m, "oldest event ts", inst->clock, stats.oldest);
	etch_stats_time(m, "now ts", inst->clock, etch_clock_read(inst->clock));
}

/* ---- README ---- */

static const char etch_readme[] =
	"Etch records the kernel's events and shows them as text. For a start:\n"
	"\n"
	"  echo 1 > events/sched/sched_switch/enable\n"
	"  cat trace_pipe\n"
	"\n"
	"What to record\n"
	"  available_events    every event there is, one SYSTEM:EVENT to a line\n"
	"  set_event           those that are recorded. Write more, with globs if you\n"
	"                      like (irq:* sched:*wake*), or !SYSTEM:EVENT to stop one;\n"
	"                      > replaces the selection, >> adds to it\n"
	"  events/enable, events/SYSTEM/enable, events/SYSTEM/EVENT/enable\n"
	"                      1 or 0 for all in that folder; X: some are, some are not\n"
	"  events/SYSTEM/EVENT/filter    which of its hits are recorded: prev_prio < 100 &&\n"
	"                      next_comm ~ \"rcu*\"; 0: all. In events/ and events/SYSTEM,\n"
	"                      for each event that has the fields\n"
	"  events/SYSTEM/EVENT/trigger   what its hits do: traceoff, stacktrace:5 if prio < 9,\n"
	"                      enable_event:SYSTEM:EVENT ...; !traceoff takes one away\n"
	"  set_event_pid, set_event_notrace_pid, set_event_cgroup, options/event-fork\n"
	"                      whose events are recorded\n"
	"  events/SYSTEM/EVENT/format    the fields of the event's records. In events/ and\n"
	"                      events/SYSTEM, those of all their events\n"
	"  events/SYSTEM/EVENT/id        the number that its records carry\n"
	"\n"
	"The records\n"
	"  trace               what the buffer holds, which stays there. Write: empty it\n"
	"  trace_pipe          the same, but a read takes them out; waits for more\n"
	"  trace_marker        write: a record of your own\n"
	"  trace_marker_raw    the same: a number of four bytes, and bytes\n"
	"  statedump           write 1: a record of each task, open file, mount, interrupt,\n"
	"                      device and module that is there now\n"
	"  per_cpu/cpuN/trace_pipe_raw  the same as packets of Common Trace Format, to be\n"
	"                      read or spliced into a file of any name; read and poll wait\n"
	"                      until one is full, or flush is written\n"
	"  metadata            what these packets are made of: copied beside them, it makes a\n"
	"                      trace for readers of that format\n"
	"  flush, per_cpu/cpuN/flush    write: the records so far become packets now\n"
	"  snapshot            write 1: per_cpu/cpuN/snapshot have, from now on, packets of\n"
	"                      what the buffers hold at this moment, which stays there\n"
	"  per_cpu/cpuN/       trace and trace_pipe of one CPU; stats says what became\n"
	"                      of its records: written = read + overwritten + entries\n"
	"\n"
	"How to record it\n"
	"  tracing_on          0: nothing is recorded, nor counted as lost\n"
	"  trace_clock         where time stamps come from; a change empties the buffer\n"
	"  buffer_size_kb      KiB for each CPU; X: not all the same (see per_cpu/cpuN/).\n"
	"                      0 (expanded: N): there is no buffer until something is\n"
	"                      recorded, and then there are N KiB\n"
	"  buffer_subbuf_size_kb  KiB of the parts that a buffer is made of, a power of\n"
	"                      two; a record has to fit in one. A change empties the buffer\n"
	"  buffer_percent      how full a CPU's buffer has to be for trace_pipe not to wait;\n"
	"                      0: one record will do\n"
	"  buffer_mode         of a full buffer: overwrite drops what is oldest, discard\n"
	"                      what is new\n"
	"  budget              bytes=10M cpu=1%: how much may be recorded in a second, all\n"
	"                      CPUs together. The rest is lost, as throttled. none: no bound\n"
	"  contexts            what is added to each record: flags prio kstack:8; +NAME -NAME.\n"
	"                      Shows what there is. A change empties the buffer\n"
	"  latency             from hits of triggers start:NAME:key=FIELD to those of\n"
	"                      end:NAME:key=FIELD. Write: forget what was counted\n"
	"\n"
	"More\n"
#ifdef CONFIG_ETCH_USER
	"  user/stats          what became of the records that programs wrote by themselves,\n"
	"                      process by process: see /dev/etch\n"
	"  per_cpu/cpuN/user_pipe_raw, per_cpu/cpuN/user_snapshot   those records, as\n"
	"                      trace_pipe_raw and snapshot have the kernel's\n"
#endif
	"  persist/            what an earlier kernel left in reserved memory, if etch_persist=\n"
	"                      names some: status, and a trace to be copied\n"
	"  instances/          mkdir here: one more tree, which shares nothing with this\n"
	"                      one. rmdir: away with it\n"
	"  dump_on_oops        what goes to the console, as text, if the kernel dies: 1: this\n"
	"                      tree; 2: of the CPU that oopsed; NAME, NAME=2: an instance\n"
	"  error_log           why a write was refused. Write: empty it\n"
	"\n"
	"Kernel parameters: etch_event=SYSTEM:EVENT,... etch_buf_size=SIZE[KMG]\n"
	"                   etch_subbuf_size=SIZE[KMG] etch_dump_on_oops[=...]\n"
	"                   etch_dump_lines=N etch_persist=NAME,SYSTEM:EVENT,...\n";

static void etch_readme_show(struct seq_file *m, const struct etch_view_of *of)
{
	seq_puts(m, etch_readme);
}

/* ---- The files ---- */

static int etch_control_show(struct seq_file *m, void *v)
{
	const struct etch_entry *file = m->private;

	if (!file->control->show)
		return -EINVAL;
	mutex_lock(&etch_mutex);
	file->control->show(m, &file->of);
	mutex_unlock(&etch_mutex);
	return 0;
}

static int etch_control_open(struct inode *inode, struct file *filp)
{
	struct etch_entry *file = inode->i_private;
	int ret;

	ret = etch_view_open(&file->of);
	if (ret)
		return ret;
	ret = single_open(filp, etch_control_show, file);
	if (ret)
		etch_instance_put(file->of.inst);
	return ret;
}

static int etch_control_release(struct inode *inode, struct file *filp)
{
	struct etch_entry *file = ((struct seq_file *)filp->private_data)->private;

	single_release(inode, filp);
	etch_instance_put(file->of.inst);
	return 0;
}

static struct etch_input *etch_control_input(const struct etch_entry *file,
					     const char __user *buf, size_t count)
{
	const struct etch_view_of *of = &file->of;
	size_t max = file->control->max ?: ETCH_CONTROL_MAX;

	if (file->offer)
		return etch_input_get(of->inst, of->cpu, buf, count, max,
				      "%s/%s", file->offer->folder, file->control->name);
	if (of->cpu == ETCH_ALL_CPUS)
		return etch_input_get(of->inst, of->cpu, buf, count, max,
				      "%s", file->control->name);
	return etch_input_get(of->inst, of->cpu, buf, count, max,
			      "per_cpu/cpu%d/%s", of->cpu, file->control->name);
}

static int etch_control_store(const struct etch_control *control, const struct etch_input *in)
{
	int ret;

	if (control->unlocked)
		return control->store(in);
	mutex_lock(&etch_mutex);
	ret = control->store(in);
	mutex_unlock(&etch_mutex);
	return ret;
}

static ssize_t etch_control_write(struct file *filp, const char __user *buf, size_t count,
				  loff_t *pos)
{
	struct etch_entry *file = ((struct seq_file *)filp->private_data)->private;
	struct etch_input *in;
	int ret;

	if (!file->control->store)
		return -EINVAL;
	in = etch_control_input(file, buf, count);
	if (IS_ERR(in))
		return PTR_ERR(in);
	ret = etch_control_store(file->control, in);
	kvfree(in);
	if (ret)
		return ret;
	*pos += count;
	return count;
}

const struct file_operations etch_control_fops = {
	.open = etch_control_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.write = etch_control_write,
	.release = etch_control_release,
};

static const struct etch_control etch_controls[] = {
	{ "README", 0400, .main_only = true, .show = etch_readme_show },
	{ "available_events", 0400, .main_only = true, .show = etch_available_events_show },
	{ "set_event", 0600, .fops = &etch_set_event_fops },
	{ "tracing_on", 0600, .show = etch_on_show, .store = etch_on_store },
	{ "trace_clock", 0600, .show = etch_clock_show, .store = etch_clock_store },
	{ "buffer_size_kb", 0600, .show = etch_size_show, .store = etch_size_store },
	{ "buffer_subbuf_size_kb", 0600, .show = etch_subbuf_show, .store = etch_subbuf_store },
	{ "buffer_percent", 0600, .show = etch_percent_show, .store = etch_percent_store },
	{ "buffer_mode", 0600, .show = etch_mode_show, .store = etch_mode_store },
	{ "budget", 0600, .show = etch_budget_show, .store = etch_budget_store },
	{ "contexts", 0600, .show = etch_contexts_show, .store = etch_contexts_store },
	{ "error_log", 0600, .show = etch_error_log_show, .store = etch_error_log_store },
	{}
};

static const struct etch_control etch_cpu_controls[] = {
	{ "stats", 0400, .show = etch_stats_show },
	{ "buffer_size_kb", 0600, .show = etch_size_show, .store = etch_size_store },
	{}
};

static struct etch_files etch_control_files = {
	.of_tree = etch_controls,
	.of_cpu = etch_cpu_controls,
	.of_event = etch_event_controls,
};

static int __init etch_control_offer(void)
{
	etch_tree_offer(&etch_control_files);
	return 0;
}
core_initcall(etch_control_offer);
