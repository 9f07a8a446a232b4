// SPDX-License-Identifier: GPL-2.0
/*
 * statedump: the state of the machine as records, for a reader without the machine.
 *
 * A trace begins in the middle: its records name tasks, files and devices that were there
 * before. A write of 1 has a record written for each of them, into this instance, between
 * statedump_begin and statedump_end.
 *
 * A dump may take long, and it takes locks of the VFS and of other parts of the kernel,
 * which may in turn lead into the file system of the tree. So it does not hold etch_mutex:
 * etch_dump_mutex makes one dump wait for the other, and the open file keeps the instance.
 * Users may turn tracing off meanwhile, or empty the buffer; then records are missing, and
 * statedump_end is, or it says how many.
 *
 * LOCKS: etch_dump_mutex is outside of etch_mutex, and is held by writers of these files only.
 */
#include <linux/cleanup.h>
#include <linux/etch.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "source/statedump.h"
#include "tree/tree.h"

static DEFINE_MUTEX(etch_dump_mutex);

/**
 * struct etch_dumped - what the last dump into an instance wrote
 * @number: of the dump; 0: there was none
 * @stored: how many records it stored, by kind
 * @lost: how many records it lost
 * @complete: its first and its last record were stored, and all between them
 */
struct etch_dumped {
	unsigned int number;
	unsigned int stored[ETCH_STATE_KINDS];
	unsigned int lost;
	bool complete;
};

/* By the instance's bit. Under etch_mutex. */
static struct etch_dumped etch_dumped[ETCH_BITS];

static const char * const etch_state_names[] = {
	[ETCH_STATE_TASK] = "tasks",
	[ETCH_STATE_EXE] = "exes",
	[ETCH_STATE_FILE] = "files",
	[ETCH_STATE_MOUNT] = "mounts",
	[ETCH_STATE_IRQ] = "irqs",
	[ETCH_STATE_BLOCK] = "blocks",
	[ETCH_STATE_NETIF] = "netifs",
	[ETCH_STATE_MODULE] = "modules",
};

static_assert(ARRAY_SIZE(etch_state_names) == ETCH_STATE_KINDS);

static void etch_statedump_show(struct seq_file *m, const struct etch_view_of *of)
{
	const struct etch_dumped *last = &etch_dumped[of->inst->rec.bit];
	unsigned int kind;

	if (!last->number) {
		seq_puts(m, "none\n");
		return;
	}
	seq_printf(m, "number: %u\n", last->number);
	seq_printf(m, "complete: %d\n", last->complete);
	for (kind = 0; kind < ETCH_STATE_KINDS; kind++)
		seq_printf(m, "%s: %u\n", etch_state_names[kind], last->stored[kind]);
	seq_printf(m, "lost: %u\n", last->lost);
}

/* An instance in reserved memory has to have events described before it gets records. */
static int etch_state_admit(struct etch_recorder *rec)
{
	struct etch_event *event;
	unsigned int nr;
	int ret = 0;

	if (!rec->admit)
		return 0;
	for (nr = 0; !ret; nr++) {
		event = etch_state_event(nr);
		if (!event)
			break;
		ret = rec->admit(rec, event);
	}
	return ret;
}

/* All that may fail, before the first record. */
static int etch_state_prepare(const struct etch_input *in, struct etch_state *state)
{
	const char *at = skip_spaces(in->text);
	struct etch_instance *inst = in->inst;
	int ret;

	scoped_guard(mutex, &etch_mutex) {
		if (!READ_ONCE(inst->on))
			return etch_bad(in, at, -EBADF, "Tracing is off");
		ret = etch_state_admit(&inst->rec);
		if (ret)
			return etch_bad(in, at, ret, "Its events cannot be described");
		ret = etch_instance_grow(inst);
		/* The records are the writer's, whose name readers want to know. */
		etch_comm_make();
		state->inst = inst;
		state->number = etch_dumped[inst->rec.bit].number + 1;
	}
	ret = ret ?: etch_state_take_mounts(state);
	if (ret)
		return etch_bad(in, at, ret, "Not enough memory");
	return 0;
}

/* Reading the file shows it from now on. */
static void etch_state_keep(const struct etch_state *state, bool ended)
{
	struct etch_dumped *last = &etch_dumped[state->inst->rec.bit];

	guard(mutex)(&etch_mutex);
	last->number = state->number;
	memcpy(last->stored, state->stored, sizeof(last->stored));
	last->lost = state->lost;
	last->complete = ended && !state->lost;
}

/* After the first record. A writer that is killed leaves a dump without an end. */
static int etch_state_walk(const struct etch_input *in, struct etch_state *state)
{
	bool ended = false;

	etch_state_walk_machine(state);
	etch_state_walk_tasks(state);
	if (etch_state_go_on())
		ended = etch_state_write_end(state);
	etch_state_keep(state, ended);
	etch_comm_note();
	if (ended)
		return 0;
	if (fatal_signal_pending(current))
		return -EINTR;
	return etch_bad(in, skip_spaces(in->text), -ENOSPC, "The last record is lost");
}

static int etch_state_dump(const struct etch_input *in, struct etch_state *state)
{
	int ret = etch_state_prepare(in, state);

	if (ret)
		return ret;
	if (etch_state_write_begin(state))
		ret = etch_state_walk(in, state);
	else
		ret = etch_bad(in, skip_spaces(in->text), -ENOSPC, "The buffer is full");
	etch_state_drop_mounts(state);
	return ret;
}

/*
 * -EBADF: tracing is off. -ENOSPC: the first or the last record was lost, the buffer being
 * full and in discard mode. Without etch_mutex.
 */
static int etch_statedump_store(const struct etch_input *in)
{
	const char *at = skip_spaces(in->text);
	struct etch_state *state;
	int ret;

	if (strcmp(at, "1"))
		return etch_bad(in, at, -EINVAL, "Not 1");
	state = kvzalloc(sizeof(*state), GFP_KERNEL);
	if (!state)
		return etch_bad(in, at, -ENOMEM, "Not enough memory");
	ret = mutex_lock_killable(&etch_dump_mutex);
	if (!ret) {
		ret = etch_state_dump(in, state);
		mutex_unlock(&etch_dump_mutex);
	}
	kvfree(state);
	return ret;
}

/* Another instance may get its bit. */
static void etch_statedump_forget(struct etch_instance *inst)
{
	memset(&etch_dumped[inst->rec.bit], 0, sizeof(etch_dumped[0]));
}

static const struct etch_control etch_statedump_controls[] = {
	{ "statedump", 0600, .show = etch_statedump_show, .store = etch_statedump_store,
	  .unlocked = true },
	{}
};

static struct etch_files etch_statedump_files = {
	.of_tree = etch_statedump_controls,
	.remove = etch_statedump_forget,
};

static int __init etch_statedump_offer(void)
{
	etch_tree_offer(&etch_statedump_files);
	return 0;
}
core_initcall(etch_statedump_offer);
