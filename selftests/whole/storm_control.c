// SPDX-License-Identifier: GPL-2.0

#include "storm_control.h"

static void write_any(struct worker *w, const char *tree, const char *file, const char *text,
		      const int *may)
{
	char what[160];

	snprintf(what, sizeof(what), "'%s' to %s", text, path_of(tree, file));
	worker_did(w, write_file(tree, file, text), may, what);
}

/* ---- Events ---- */

void op_all_events(struct worker *w)
{
	/* The events of a module go, but not these files. */
	write_any(w, any_tree(), "events/enable", dice(3) ? "1" : "0", MAY(0));
}

void op_systems(struct worker *w)
{
	static const char * const systems[] = { "sched", "irq", "timer", "kmem", "task", "signal",
						SAMPLE };
	char file[64];

	snprintf(file, sizeof(file), "events/%s/enable", systems[dice(ARRAY_LEN(systems))]);
	write_any(w, any_tree(), file, dice(2) ? "1" : "0",
		  strstr(file, SAMPLE) ? MAY(ENOENT, ENODEV) : MAY(0));
}

void op_set_event(struct worker *w)
{
	static const char * const texts[] = {
		"sched:*", "irq: timer:", "!sched:sched_switch", "*:*", "!kmem:*", "task* signal",
	};
	const char *text = texts[dice(ARRAY_LEN(texts))];
	int err = dice(2) ? write_file(any_tree(), "set_event", text) :
			    overwrite_file(any_tree(), "set_event", text);

	worker_did(w, err, MAY(0), "set_event");
}

/* ---- Settings ---- */

void op_size(struct worker *w)
{
	static const char * const sizes[] = { "64", "100", "256", "512", "1000", "1024" };

	write_any(w, any_tree(), file_or_cpus("buffer_size_kb"), sizes[dice(ARRAY_LEN(sizes))],
		  MAY(ENOMEM, ENODEV));
}

void op_subbuf(struct worker *w)
{
	static const char * const sizes[] = { "4", "8", "16", "32", "64" };

	write_any(w, loose_tree(), "buffer_subbuf_size_kb", sizes[dice(ARRAY_LEN(sizes))],
		  MAY(ENOMEM));
}

void op_clock(struct worker *w)
{
	/* A counter may turn out not to be the same on all CPUs. */
	write_any(w, loose_tree(), "trace_clock", storm->clocks[dice(storm->nr_clocks)],
		  MAY(EINVAL));
}

void op_mode(struct worker *w)
{
	write_any(w, any_tree(), "buffer_mode", dice(2) ? "discard" : "overwrite", MAY(0));
}

void op_on(struct worker *w)
{
	const char *tree = any_tree();

	write_any(w, tree, "tracing_on", "0", MAY(0));
	usleep(dice(2000));
	write_any(w, tree, "tracing_on", "1", MAY(0));
}

void op_percent(struct worker *w)
{
	static const char * const percents[] = { "0", "1", "50", "100" };

	write_any(w, any_tree(), "buffer_percent", percents[dice(ARRAY_LEN(percents))], MAY(0));
}

void op_flush(struct worker *w)
{
	write_any(w, any_tree(), file_or_cpus("flush"), "1", MAY(0));
}

void op_snapshot(struct worker *w)
{
	write_any(w, any_tree(), "snapshot", dice(4) ? "1" : "0", MAY(ENOMEM));
}

void op_empty(struct worker *w)
{
	worker_did(w, overwrite_file(loose_tree(), file_or_cpus("trace"), ""), MAY(0), "> trace");
}

void op_mark(struct worker *w)
{
	write_any(w, any_tree(), "trace_marker", "a mark in the storm", MAY(EBADF, ENOSPC));
}

void op_statedump(struct worker *w)
{
	write_any(w, any_tree(), "statedump", "1", MAY(EBADF, ENOSPC, ENOMEM));
}

/* Bad input is refused at any time. */
void op_nonsense(struct worker *w)
{
	static const char * const files[] = {
		"trace_clock", "buffer_mode", "tracing_on", "buffer_size_kb", "set_event",
		"events/enable", "events/sched/enable", "buffer_percent", "snapshot",
		"statedump",
	};
	const char *file = files[dice(ARRAY_LEN(files))];
	int err = write_file(any_tree(), file, "no:nonsense");

	if (err != EINVAL)
		worker_fail(w, "nonsense to %s: %s", file, strerror(err));
	w->done++;
}

/* ---- Instances, a module, CPUs, the machine ---- */

void op_instance(struct worker *w)
{
	char what[] = "mkdir";
	int err;

	worker_did(w, mkdir(FLEETING, 0700) ? errno : 0, MAY(0), what);
	write_file(FLEETING, "buffer_size_kb", "64");
	write_any(w, FLEETING, "events/enable", "1", MAY(0));
	usleep(dice(3000));
	/* Somebody may have a file of it open. */
	while ((err = rmdir(FLEETING) ? errno : 0) == EBUSY)
		usleep(100);
	worker_did(w, err, MAY(0), "rmdir");
}

void op_module(struct worker *w)
{
	worker_did(w, sample_load(), MAY(0), "finit_module");
	write_any(w, any_tree(), "events/" SAMPLE "/enable", "1", MAY(0));
	write_file(any_tree(), "set_event", SAMPLE ":*");
	write_fmt(SAMPLE_PARAMETERS, "fire", "%u", dice(20));
	worker_did(w, sample_unload(), MAY(0), "delete_module");
}

/* CPU @arg goes off line and comes back; a suspending machine refuses that. */
void op_hotplug(struct worker *w)
{
	char file[32];

	snprintf(file, sizeof(file), "cpu%d/online", w->arg);
	if (worker_did(w, write_file("/sys/devices/system/cpu", file, "0"), MAY(EBUSY),
		       "off line"))
		usleep(dice(20000));
	write_file("/sys/devices/system/cpu", file, "1");
}

/* Suspends up to the last step, and resumes. */
void op_suspend(struct worker *w)
{
	worker_did(w, write_file("/sys/power", "state", "mem"), MAY(EBUSY), "suspend");
}

/* Sets up a suspend that wakes by itself. Returns why this kernel cannot, or NULL. */
const char *suspend_prepare(void)
{
	if (access("/sys/power/state", W_OK))
		return "no /sys/power/state: CONFIG_SUSPEND";
	if (!strstr(read_line("/sys/power", "state"), "mem"))
		return "/sys/power/state has no mem";
	if (write_file("/sys/power", "pm_test", "core"))
		return "no /sys/power/pm_test: CONFIG_PM_DEBUG";
	/* Seconds until it resumes. */
	if (write_file("/sys/module/suspend/parameters", "pm_test_delay", "0"))
		return "no pm_test_delay";
	return NULL;
}
