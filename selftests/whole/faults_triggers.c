// SPDX-License-Identifier: GPL-2.0

#include "faults_ops.h"

/*
 * Triggers of the end of a task: each is written and taken away. Hits would change the state, so
 * those that do much have a filter that no task passes.
 */
#define EXIT	"events/sched/sched_process_exit"
#define FORK	"sched:sched_process_fork"
#define NONE	" if comm == \"nobody\""

/* The trigger that an operation writes, or takes away. */
static const char *trigger_of(const struct op *op)
{
	return op->text + (*op->text == '!');
}

static bool trigger_is_there(const struct op *op)
{
	const char *action = trigger_of(op), *line = read_line(TREE, op->file);

	/* A histogram's line has more, such as its size. The word tells: there is one alone. */
	return !strncmp(line, action, strcspn(action, ": "));
}

static bool trigger_is_gone(const struct op *op)
{
	return *read_line(TREE, op->file) == '#';
}

static void set_trigger(const struct op *op)
{
	write_it(op, trigger_of(op));
}

static void set_hist(const struct op *op)
{
	if (write_file(TREE, EXIT "/trigger", "hist:keys=pid,comm:vals=prio"))
		give_up("hist");
}

/* Any. What the file shows can be written behind the mark, but for a histogram's state. */
static void no_trigger(const struct op *op)
{
	char away[512];

	while (*read_line(TREE, EXIT "/trigger") != '#') {
		snprintf(away, sizeof(away), "!%s", read_line(TREE, EXIT "/trigger"));
		away[strcspn(away, "[")] = 0;
		if (write_file(TREE, EXIT "/trigger", away))
			give_up("%s", away);
	}
}

static void no_trigger_no_snapshot(const struct op *op)
{
	no_trigger(op);
	write_file(TREE, "snapshot", "0");
}

#define TRIGGER_THEN(action, undo, min)						\
	{ .name = "write trigger " action, .file = EXIT "/trigger", .text = action,	\
	  .run = do_write, .after = undo, .whole = trigger_is_there, .least = min },	\
	{ .name = "write trigger !" action, .file = EXIT "/trigger", .text = "!" action,\
	  .before = set_trigger, .run = do_write, .after = undo,			\
	  .whole = trigger_is_gone, .least = 3 }
#define TRIGGER(action)		TRIGGER_THEN(action, no_trigger, 5)
#define HIST(text)		TRIGGER_THEN("hist:" text, no_trigger, 8)
#define REFUSED(action, error)							\
	{ .name = "write trigger " action, .file = EXIT "/trigger", .text = action,	\
	  .run = do_write, .after = no_trigger, .err = error, .least = 3 }

const struct op trigger_ops[] = {
	TRIGGER("traceon:3"), TRIGGER("traceon" NONE),
	TRIGGER("traceoff:3" NONE), TRIGGER("traceoff" NONE),
	TRIGGER_THEN("snapshot:1" NONE, no_trigger_no_snapshot, 5),
	TRIGGER("stacktrace:2"), TRIGGER("stacktrace" NONE),
	TRIGGER("signal:CONT" NONE), TRIGGER("signal:SIGUSR1:5" NONE),
	TRIGGER("enable_event:" FORK), TRIGGER("enable_event:" FORK ":2" NONE),
	TRIGGER("disable_event:" FORK), TRIGGER("disable_event:" FORK ":2" NONE),
	REFUSED("stacktrace if nothing == 1", EINVAL),
	REFUSED("enable_event:no:such", EINVAL),
	REFUSED("!stacktrace", ENOENT),
	REFUSED("sundial", EINVAL),
	{ .name = "read trigger", .file = EXIT "/trigger", .run = do_read, .least = 3 },
	{}
};

const struct op hist_ops[] = {
	HIST("keys=pid"), HIST("keys=prio.log2" NONE), HIST("keys=comm,pid:vals=prio:size=128"),
	HIST("keys=comm,pid,prio:sort=prio.descending" NONE), HIST("keys=common_stacktrace,comm"),
	HIST("name=faults:keys=pid"),
	REFUSED("hist:keys=pid,nothing", EINVAL),
	REFUSED("hist:keys=pid:vals=comm", EINVAL),
	{ .name = "read hist", .file = EXIT "/hist", .before = set_hist, .run = do_read,
	  .after = no_trigger, .least = 3 },
	{}
};

/* ---- Contexts: beside triggers, because they are what hits may have in common ---- */

static bool contexts_are(const struct op *op)
{
	return !strcmp(read_line(TREE, "contexts"), op->text);
}

static bool no_contexts_are(const struct op *op)
{
	return *read_line(TREE, "contexts") == '#';
}

static void some_contexts(const struct op *op)
{
	write_it(op, "prio");
}

static void no_contexts(const struct op *op)
{
	write_it(op, "none");
}

const struct op context_ops[] = {
	{ .name = "write contexts", .file = "contexts", .text = "prio kstack:8 flags",
	  .run = do_write, .after = no_contexts, .whole = contexts_are, .least = 4 },
	{ .name = "take contexts away", .file = "contexts", .text = "none",
	  .before = some_contexts, .run = do_write, .after = no_contexts,
	  .whole = no_contexts_are, .least = 3 },
	{ .name = "write nonsense to contexts", .file = "contexts", .text = "flags sundial",
	  .before = some_contexts, .run = do_write, .after = no_contexts, .err = EINVAL,
	  .least = 3 },
	{ .name = "read contexts", .file = "contexts", .before = some_contexts, .run = do_read,
	  .after = no_contexts, .least = 3 },
	{}
};

const struct op counter_ops[] = {
	{ .name = "write contexts that count", .file = "contexts",
	  .text = "perf:cpu-clock perf:page-faults", .run = do_write, .after = no_contexts,
	  .whole = contexts_are, .least = 8 },
	{}
};
