// SPDX-License-Identifier: GPL-2.0
/*
 * The running kernel as a source: see live.h.
 *
 * A round's records are those up to the time at which it began: later the kernel is asked for
 * all that it has, so a CPU that has nothing left has nothing from before that time. A writer
 * that was interrupted just then may be late by as much as the interrupt takes; so the time
 * is a little before.
 */
#include "live/live.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "record/record.h"

#define LIVE_ROUND	100		/* ms from one round to the next, if buffers do not fill */
#define LIVE_PAUSE	10		/* ms at least */
#define LIVE_LATE	1000		/* a second's part that a writer may need */
#define LIVE_PERCENT	"25"		/* of a buffer: then a round begins */

/* Events that tell of new threads and of new names. They are rare, and so cost little. */
static const char * const live_naming[] = { "task:task_newtask", "task:task_rename" };

#define LIVE_NAMING	(sizeof(live_naming) / sizeof(*live_naming))

/* What others know of it; etch_close() frees it. */
struct live_source {
	struct etch_source source;
	struct live *live;
};

/**
 * struct live - a source, and the instance that it comes from
 * @source: a struct live_source
 * @merge: the CPUs
 * @fds: the files to poll, the signals first, then by CPU; they are the streams'
 * @wish: what the user wants
 * @tree: the instance
 * @command: the command that runs meanwhile
 * @folder: with what readers need beside packets; "": none any more
 * @kept: what it has; events that come later are added
 * @until: of this round: records up to this time, by the instance's clock
 * @begun: when it began, by that clock
 * @events: those that the user chose, a line each
 * @unchosen: by place in live_naming[]: it is on for the names alone
 * @programs: the kernel has records of programs, too: the clock is the counter
 * @open: the instance is there
 * @failed: something went wrong, which was said
 * @ending: this is the last round
 */
struct live {
	struct etch_source *source;
	struct etch_merge merge;
	struct pollfd *fds;
	const struct live_wish *wish;
	struct tree tree;
	struct command command;
	char folder[PATH_MAX];
	struct kept kept;
	uint64_t until, begun;
	char *events;
	bool unchosen[LIVE_NAMING];
	bool programs, open, failed, ending;
};

struct etch_source *live_source(struct live *live)
{
	return live->source;
}

/* The counter of the machines on which programs record, as they and the kernel read it. */
#if defined(__x86_64__)
#define LIVE_COUNTER	true

static uint64_t live_counter(void)
{
	return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
#define LIVE_COUNTER	true

static uint64_t live_counter(void)
{
	uint64_t counter;

	/* The processor would read it before earlier instructions are done. */
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r" (counter) : : "memory");
	return counter;
}
#else
#define LIVE_COUNTER	false

static uint64_t live_counter(void)
{
	return 0;
}
#endif

static uint64_t live_now(const struct live *live)
{
	struct timespec now;

	if (live->programs)
		return live_counter();
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* The CPUs, and each once more where programs record, too. */
static unsigned int live_nr_lanes(const struct live *live)
{
	return live->source->nr_cpus + live->source->nr_programs;
}

/* ---- The source ---- */

static int live_next(struct etch_source *source, struct etch_record *rec)
{
	struct live *live = ((struct live_source *)source)->live;

	if (!etch_merge_next(&live->merge, live->until, rec))
		return 0;
	rec->ns = etch_clock_ns(&source->clock, rec->time);
	return 1;
}

static void live_source_close(struct etch_source *source)
{
	struct live *live = ((struct live_source *)source)->live;

	etch_merge_close(&live->merge);
	free(live->fds);
	keep_drop(&live->kept);
}

/* The formats behind the first @before bytes. Events refer to the text. */
static void live_formats(struct live *live, size_t before)
{
	size_t len = live->kept.formats.len - before;
	char *text;

	if (!len)
		return;
	text = etch_source_text(live->source, live->kept.formats.bytes + before, len);
	if (text)
		etch_formats_read(live->source, text, len);
}

/* A module with events has come, or a probe or a program has been given some. */
static void live_describe_more(struct etch_source *source, uint32_t generation)
{
	struct live *live = ((struct live_source *)source)->live;
	size_t before = live->kept.formats.len;
	char *metadata = tree_read(&live->tree, "metadata", NULL);

	source->generation = generation;
	if (!metadata) {
		fail("%s/metadata: %m", live->tree.path);
		return;
	}
	etch_tsdl_more(source, metadata);
	keep_look(&live->kept, metadata);
	live_formats(live, before);
	free(metadata);
}

static int live_add_cpu(void *arg, int cpu)
{
	struct live *live = arg;
	struct etch_source *source = live->source;
	unsigned int at = source->nr_cpus;
	struct etch_cpu *more = realloc(source->cpus, (at + 1) * sizeof(*more));

	if (!more)
		return fail("no memory for one more CPU");
	source->cpus = more;
	for (; at && more[at - 1].cpu > cpu; at--)
		more[at] = more[at - 1];
	more[at] = (struct etch_cpu){ .cpu = cpu };
	source->nr_cpus++;
	return 0;
}

/* Behind all CPUs, each once more, for what programs record there. */
static int live_add_programs(struct etch_source *source)
{
	unsigned int nr = source->nr_cpus;
	struct etch_cpu *more = realloc(source->cpus, 2 * nr * sizeof(*more));

	if (!more)
		return -1;
	source->cpus = more;
	for (unsigned int i = 0; i < nr; i++)
		more[nr + i] = (struct etch_cpu){ .cpu = more[i].cpu, .programs = true };
	source->nr_programs = nr;
	return 0;
}

/* CPUs that are not online have a folder, too; their files are opened when they are. */
static int live_find_cpus(struct live *live)
{
	if (tree_each_cpu(&live->tree, live_add_cpu, live))
		return -1;
	if (live->programs && live_add_programs(live->source))
		return fail("no memory for so many CPUs");
	live->fds = calloc(live_nr_lanes(live) + 1, sizeof(*live->fds));
	if (!etch_merge_open(&live->merge, live_nr_lanes(live)) || !live->fds)
		return fail("no memory for so many CPUs");
	for (unsigned int i = 0; i <= live_nr_lanes(live); i++)
		live->fds[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
	live->fds[0].fd = live->command.signals;
	return 0;
}

/* Opens a CPU's file, or that of programs: the CPU has come, or has come again. */
static int live_open_cpu(struct live *live, unsigned int i)
{
	struct etch_cpu *cpu = &live->source->cpus[i];
	struct etch_lane *lane = &live->merge.lanes[i];
	int fd;

	etch_stream_close(lane->stream);
	lane->stream = NULL;
	live->fds[i + 1].fd = -1;
	fd = tree_open_packets(&live->tree, cpu->cpu, cpu->programs);
	if (fd < 0 && (errno == ENODEV || errno == ENXIO))
		return 0;
	if (fd < 0)
		return fail("%s/per_cpu/cpu%d/%s_pipe_raw: %m", live->tree.path, cpu->cpu,
			    cpu->programs ? "user" : "trace");
	lane->stream = etch_stream_open(live->source, cpu, fd);
	live->fds[i + 1].fd = lane->stream ? fd : -1;
	return lane->stream ? 0 : -1;
}

static bool live_cpu_ended(const struct etch_lane *lane)
{
	return !lane->stream || (!lane->waits && etch_stream_ended(lane->stream));
}

/* ---- Setting up ---- */

/*
 * A packet tells one thread's name, as it was when the packet was read. But a thread may begin and
 * end between two packets, or be renamed after the last one. In a kernel without these events,
 * packets alone tell names.
 */
static int live_choose_naming(struct live *live)
{
	char *there = tree_events(&live->tree);
	int ret = there ? 0 : -1;

	live->events = tree_read(&live->tree, "set_event", NULL);
	if (!live->events)
		ret = fail("%s/set_event: %m", live->tree.path);
	for (size_t i = 0; !ret && i < LIVE_NAMING; i++) {
		if (!tree_lists(there, live_naming[i]) ||
		    tree_lists(live->events, live_naming[i]))
			continue;
		live->unchosen[i] = true;
		ret = tree_choose_events(&live->tree, live_naming[i]);
	}
	free(there);
	return ret;
}

static int live_settings(struct live *live)
{
	const struct live_wish *wish = live->wish;
	struct tree *tree = &live->tree;

	/*
	 * Programs cannot read another clock than the counter. Where it does not tell the time, the
	 * kernel refuses it, and programs have no records.
	 */
	live->programs = LIVE_COUNTER && tree_has_programs(tree) &&
			 !tree_try(tree, "trace_clock", "counter");
	if (tree_write(tree, "tracing_on", "0") ||
	    (!live->programs && tree_change(tree, "trace_clock", "mono")) ||
	    tree_change(tree, "buffer_percent", LIVE_PERCENT) ||
	    (wish->size && tree_choose_size(tree, wish->size)))
		return -1;
	for (unsigned int i = 0; i < wish->nr_events; i++)
		if (tree_choose_events(tree, wish->events[i]))
			return -1;
	for (unsigned int i = 0; i < wish->nr_presets; i++)
		if (preset_choose(tree, wish->presets[i]))
			return -1;
	return live_choose_naming(live);
}

/* The same notes as those of a trace's folder: formats, tasks, symbols. */
static int live_notes(struct live *live, const char *metadata)
{
	char *words[] = { (char *)live->wish->name, NULL };
	struct place place = {};

	if (scratch_make(live->folder, sizeof(live->folder))) {
		*live->folder = 0;
		return fail("there is no place for notes, see $TMPDIR: %m");
	}
	if (place_folder(&place, live->folder))
		return -1;
	keep_begin(&live->kept, &live->tree, &place, words);
	keep_formats(&live->kept, metadata);
	keep_start(&live->kept);
	keep_symbols(&live->kept);
	live->kept.place = NULL;
	return place_end(&place);
}

static int live_describe(struct live *live)
{
	struct etch_source *source = live->source;

	source->metadata = tree_read(&live->tree, "metadata", NULL);
	if (!source->metadata)
		return fail("%s/metadata: %m. This kernel's Etch gives no packets",
			    live->tree.path);
	if (live_notes(live, source->metadata))
		return -1;
	source->path = strdup(live->folder);
	if (!source->path || etch_tsdl_read(source))
		return -1;
	live_formats(live, 0);
	return live_find_cpus(live);
}

static struct live *live_alloc(void)
{
	struct live *live = calloc(1, sizeof(*live));
	struct live_source *source = calloc(1, sizeof(*source));

	if (!live || !source) {
		fail("no memory");
		free(live);
		free(source);
		return NULL;
	}
	live->source = &source->source;
	source->live = live;
	source->source.next = live_next;
	source->source.close = live_source_close;
	source->source.describe = live_describe_more;
	return live;
}

struct live *live_open(const struct live_wish *wish)
{
	struct live *live;

	say_as(wish->name);
	live = live_alloc();
	if (!live)
		return NULL;
	live->wish = wish;
	live->failed = true;
	if (!command_open(&live->command, wish->command) &&
	    !tree_open(&live->tree, wish->root, NULL)) {
		live->open = true;
		live->failed = live_settings(live) || command_prepare(&live->command) ||
			       live_describe(live);
	}
	if (!live->failed)
		return live;
	live_close(live);
	return NULL;
}

const char *live_events(const struct live *live)
{
	return live->events;
}

bool live_is_chosen(const struct live *live, const struct etch_record *rec)
{
	if (rec->loss)
		return true;
	for (size_t i = 0; i < LIVE_NAMING; i++)
		if (live->unchosen[i] && etch_is(rec->event, live_naming[i]))
			return false;
	return true;
}

/* ---- Rounds ---- */

static void live_forget_notes(struct live *live)
{
	if (*live->folder)
		scratch_remove(live->folder);
	*live->folder = 0;
}

int live_start(struct live *live)
{
	live_forget_notes(live);
	if (tree_change(&live->tree, "tracing_on", "1") || command_start(&live->command)) {
		live->failed = true;
		live_end(live);
		return -1;
	}
	return 0;
}

/* Waits until the next round is due. Says why it is the last one, unless that is plain. */
static void live_sleep(struct live *live)
{
	poll(live->fds, 1, LIVE_PAUSE);
	if (!live->fds[0].revents)
		poll(live->fds, live_nr_lanes(live) + 1, LIVE_ROUND - LIVE_PAUSE);
	if (live->fds[0].revents && command_is_over(&live->command)) {
		live_end(live);
	} else if (tree_is_off(&live->tree)) {
		say("somebody has turned tracing off: that is the end");
		live_end(live);
	}
}

static void live_round(struct live *live)
{
	live->begun = live_now(live);
	live->until = live->ending ? UINT64_MAX :
				     live->begun - live->source->clock.freq / LIVE_LATE;
	if (live->ending)
		live->failed |= tree_change(&live->tree, "tracing_on", "0") < 0;
	else
		tree_try(&live->tree, "flush", "1");
	for (unsigned int i = 0; i < live_nr_lanes(live); i++)
		if (live_cpu_ended(&live->merge.lanes[i]) && live_open_cpu(live, i)) {
			live->failed = true;
			live_end(live);
		}
	etch_merge_fill(&live->merge);
}

bool live_is_last(const struct live *live)
{
	return live->until == UINT64_MAX;
}

bool live_wait(struct live *live)
{
	if (live_is_last(live))
		return false;
	if (!live->ending)
		live_sleep(live);
	live_round(live);
	return true;
}

void live_end(struct live *live)
{
	if (!live->ending)
		command_signals_abort("\netch: aborted. The instance is left: rmdir it\n");
	live->ending = true;
}

uint64_t live_until(const struct live *live)
{
	return etch_clock_ns(&live->source->clock, live_is_last(live) ? live->begun : live->until);
}

uint64_t live_behind(const struct live *live)
{
	return live->begun ? etch_clock_ns(&live->source->clock, live_now(live) - live->begun) : 0;
}

/* ---- The end ---- */

/* Nothing of the kernel's may be missing that was not reported. */
static void live_check(struct live *live)
{
	unsigned long long ours = 0, theirs = 0;
	struct account account;

	for (unsigned int i = 0; i < live->source->nr_cpus; i++) {
		const struct etch_cpu *cpu = &live->source->cpus[i];

		ours += cpu->records + cpu->unreadable + cpu->lost.total;
		if (tree_stats(&live->tree, cpu->cpu, &account))
			theirs += account.of[WRITTEN] + account.of[LOST_FULL] +
				  account.of[LOST_TOO_BIG] + account.of[LOST_NESTED] +
				  account.of[LOST_THROTTLED];
	}
	if (ours != theirs)
		live->failed |= fail("ATTENTION: the kernel counts %llu records, and %llu were shown or reported as lost",
				     theirs, ours) < 0;
}

int live_close(struct live *live)
{
	int ret;

	if (!live)
		return EXIT_FAILED;
	live_forget_notes(live);
	if (live_is_last(live) && !live->failed)
		live_check(live);
	etch_close(live->source);
	if (live->open)
		live->failed |= tree_close(&live->tree) < 0;
	command_leave(&live->command);
	free(live->events);
	ret = live->command.status ?: live->failed;
	free(live);
	return ret;
}
