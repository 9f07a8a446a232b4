// SPDX-License-Identifier: GPL-2.0
/*
 * Both tracers at once: the records of ftrace and Etch of the same events pair
 * off, in order, and have the same text behind the colon.
 *
 * All events are enabled in both while both are stopped. Etch starts first and
 * stops last, so ftrace's records of an event on a CPU must be a run, without a
 * gap, of Etch's; in between, the test waits for hits that are under way. If
 * either tracer loses a record, the test fails, for it can compare nothing.
 *
 * Two tracers record a hit one after the other, and an interrupt may come in
 * between: it is then recorded behind the first tracer's record and before
 * the second's. So the order that is compared is that of each event, CPU, task
 * and context (task, softirq, hard interrupt, NMI), in which hits do not nest.
 */

#include <ctype.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>

#include "etch_test.h"
#include "lists.h"
#include "load.h"
#include "text.h"

#define MIN_EVENTS	60
#define MIN_SYSTEMS	10
#define ROUNDS		12

/* Buffers that hold all records: KiB per CPU. */
#define BUFFER_KB	"16384"

/* The test has this long, and so has the time between its readings of the two traces. */
#define READ_SECONDS	600

/* Any two values will do. */
#define ANY	(-1)

/*
 * Ticks that may come at once between the two tracers: where an emulated CPU stood still, the
 * first tick after that makes up for those that are missing. TICK_MS: the longest tick.
 */
#define TICKS		50
#define TICK_MS		10

/*
 * Permitted differences, with reasons. Such records still pair off, and must be equal
 * in everything else. Numbers in @field may differ by up to @apart; if @field is empty,
 * all numbers may.
 */
static const struct {
	const char *event, *field;
	long apart;		/* and as many more as milliseconds lay between the two */
	int later;		/* ftrace comes later: 1: its number is not less; -1: not more */
	const char *why;
} differ[] = {
	{ "sk_data_ready", "func=", ANY, 0,
	  "the event records its return address: in ftrace that is the function that calls the tracers, in Etch the one that hit the event" },
	{ "fib_table_lookup", "gw ", ANY, 0,
	  "the event leaves it unset if the route has no gateway: the buffer's former content shows" },
	{ "timer_start", "timeout=", TICKS, -1,
	  "recorded from jiffies: ticks may come between the tracers" },
	{ "timer_expire_entry", "now=", TICKS, 1,
	  "recorded from jiffies: ticks may come between the tracers" },
	{ "global_dirty_state", "", ANY, 0,
	  "counts of the whole machine: another CPU may come between the tracers" },
	{ "writeback_queue_io", "age=", TICKS * TICK_MS, 1,
	  "recorded from jiffies, in ms: ticks may come between the tracers" },
	{ "balance_dirty_pages", "think=", TICKS * TICK_MS, 1,
	  "recorded from jiffies, in ms: ticks may come between the tracers" },
	{ "writeback_single_inode", "age=", READ_SECONDS, 0,
	  "printed from jiffies: the seconds until the trace is read" },
	{ "writeback_single_inode_start", "age=", READ_SECONDS, 0,
	  "printed from jiffies: the seconds until the trace is read" },
	{ "writeback_sb_inodes_requeue", "age=", READ_SECONDS, 0,
	  "printed from jiffies: the seconds until the trace is read" },
};

/* Written while both tracers are on, before the load and after it. */
#define FENCE		"fence"

struct key {
	const struct record *r;
	char tracer;		/* 'e' or 'f' */
	size_t at;
};

struct pairing {
	size_t pairs;
	size_t broken;
	size_t events;
	size_t systems;
};

static int compare_stream(const struct record *a, const struct record *b)
{
	int d = strcmp(a->event, b->event);

	if (!d)
		d = a->cpu - b->cpu;
	if (!d)
		d = a->pid - b->pid;
	return d ? d : a->context - b->context;
}

static int compare_keys(const void *va, const void *vb)
{
	const struct key *a = va, *b = vb;
	int d = compare_stream(a->r, b->r);

	if (!d)
		d = a->tracer - b->tracer;
	return d ? d : (a->at > b->at) - (a->at < b->at);
}

/*
 * The same but for the value of @field, a number unless any will do. @a is Etch's, @later as in
 * the list of differences.
 */
static bool same_but(const char *a, const char *b, const char *field, long apart, int later)
{
	const char *at_a = strstr(a, field), *at_b = strstr(b, field);
	size_t len = strlen(field);
	long more;

	if (!at_a || !at_b || at_a - a != at_b - b || strncmp(a, b, at_a - a))
		return false;
	at_a += len;
	at_b += len;
	more = strtol(at_b, NULL, 10) - strtol(at_a, NULL, 10);
	if (apart != ANY && (labs(more) > apart || more * later < 0))
		return false;
	return !strcmp(at_a + strcspn(at_a, " ]"), at_b + strcspn(at_b, " ]"));
}

/* The same but for all numbers. */
static bool same_but_numbers(const char *a, const char *b)
{
	static const char digits[] = "0123456789";

	for (; *a || *b; a++, b++) {
		if (isdigit(*a) && isdigit(*b)) {
			a += strspn(a, digits);
			b += strspn(b, digits);
		}
		if (*a != *b)
			return false;
		if (!*a)
			break;
	}
	return true;
}

static bool same_text(const struct record *a, const struct record *b)
{
	long between = labs((long)(a->time - b->time)) / 1000;

	if (!strcmp(a->text, b->text))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(differ); i++) {
		if (strcmp(differ[i].event, a->event))
			continue;
		if (!*differ[i].field)
			return same_but_numbers(a->text, b->text);
		return same_but(a->text, b->text, differ[i].field, differ[i].apart == ANY ?
				ANY : differ[i].apart + between, differ[i].later);
	}
	return false;
}

/* Prints how many paired records differ, and the reason why they may. */
static void name_differences(const struct key *e, const struct key *f, size_t nr)
{
	static size_t named[ARRAY_LEN(differ)];

	for (size_t n = 0; n < nr; n++) {
		if (!strcmp(e[n].r->text, f[n].r->text))
			continue;
		for (size_t i = 0; i < ARRAY_LEN(differ); i++) {
			if (strcmp(differ[i].event, e[n].r->event) || named[i]++)
				continue;
			printf("# %s differs in %s %s\n", differ[i].event, differ[i].field,
			       differ[i].why);
		}
	}
}

/* How many of ftrace's records equal Etch's from @e on; the first that does not. */
static size_t count_same(const struct key *e, size_t nr_e, const struct key *f, size_t nr_f,
			 size_t *first)
{
	size_t same = 0, i;

	*first = nr_f;
	for (i = 0; i < nr_f; i++) {
		if (i < nr_e && same_text(e[i].r, f[i].r))
			same++;
		else if (*first == nr_f)
			*first = i;
	}
	return same;
}

/* The place among Etch's records where ftrace's run begins, or where most of it would fit. */
static size_t find_run(const struct key *e, size_t nr_e, const struct key *f, size_t nr_f)
{
	size_t best = 0, best_at = 0, at, same, first;

	for (at = 0; at < nr_e && best < nr_f; at++) {
		same = count_same(e + at, nr_e - at, f, nr_f, &first);
		if (same > best) {
			best = same;
			best_at = at;
		}
	}
	return best_at;
}

/* One event on one CPU in one task and context. True: ftrace's is a run of Etch's. */
static bool pair_stream(const struct key *e, size_t nr_e, const struct key *f, size_t nr_f)
{
	size_t at = find_run(e, nr_e, f, nr_f), same, first;

	same = count_same(e + at, nr_e - at, f, nr_f, &first);
	if (same == nr_f) {
		name_differences(e + at, f, nr_f);
		return true;
	}
	printf("# %s on CPU %d, pid %d, context %c: ftrace has %zu, Etch %zu, %zu of them the same\n",
	       f->r->event, f->r->cpu, f->r->pid, f->r->context, nr_f, nr_e, same);
	printf("#   ftrace: %s\n", f[first].r->text);
	printf("#   Etch:   %s\n", at + first < nr_e ? e[at + first].r->text : "(no more)");
	return false;
}

static size_t collect(struct key *keys, size_t n, const struct trace *trace, char tracer)
{
	for (size_t i = 0; i < trace->nr; i++)
		keys[n++] = (struct key){ &trace->records[i], tracer, i };
	return n;
}

/* The line "system:event" of an event. */
static const char *system_of(const struct list *available, const char *event)
{
	for (size_t i = 0; i < available->nr; i++) {
		const char *colon = strchr(available->lines[i], ':');

		if (colon && !strcmp(colon + 1, event))
			return available->lines[i];
	}
	return NULL;
}

struct systems {
	struct list available;
	size_t nr;
	char names[256][64];
};

static void note_system(struct systems *s, const char *event)
{
	const char *line = system_of(&s->available, event);
	char name[64];

	if (!line || s->nr == ARRAY_LEN(s->names))
		return;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(line, ":"), line);
	for (size_t i = 0; i < s->nr; i++) {
		if (!strcmp(s->names[i], name))
			return;
	}
	memcpy(s->names[s->nr++], name, sizeof(name));
}

/* Goes through the streams in @keys, sorted. */
static struct pairing pair_all(const struct key *keys, size_t nr, struct systems *systems)
{
	struct pairing p = {};
	const char *last = "";
	size_t i, e, f;

	for (i = 0; i < nr; i = f) {
		for (e = i; e < nr && keys[e].tracer == 'e' &&
		     !compare_stream(keys[e].r, keys[i].r); e++)
			;
		for (f = e; f < nr && keys[f].tracer == 'f' &&
		     !compare_stream(keys[f].r, keys[i].r); f++)
			;
		if (f == e)
			continue;
		if (!pair_stream(keys + i, e - i, keys + e, f - e)) {
			p.broken++;
			continue;
		}
		p.pairs += f - e;
		if (strcmp(last, keys[i].r->event)) {
			last = keys[i].r->event;
			p.events++;
			note_system(systems, last);
		}
	}
	p.systems = systems->nr;
	return p;
}

static struct pairing compare_traces(const struct trace *etch, const struct trace *ftrace)
{
	struct key *keys = must_alloc(NULL, (etch->nr + ftrace->nr + 1) * sizeof(*keys));
	static struct systems systems;
	struct pairing p;
	size_t nr;

	systems.available = list_of(read_file(ETCH, "available_events"));
	nr = collect(keys, 0, etch, 'e');
	nr = collect(keys, nr, ftrace, 'f');
	qsort(keys, nr, sizeof(*keys), compare_keys);
	p = pair_all(keys, nr, &systems);
	free(keys);
	list_free(&systems.available);
	return p;
}

/* How many records lie between the two fences; 0 without them. */
static size_t fenced(const struct trace *etch)
{
	size_t begin = 0, i;

	for (i = 0; i < etch->nr; i++) {
		if (strcmp(etch->records[i].event, "tracing_mark_write") ||
		    strcmp(etch->records[i].text, FENCE))
			continue;
		if (begin)
			return i - begin;
		begin = i + 1;
	}
	return 0;
}

/* Records that ftrace lost, by its own count. */
static long long ftrace_lost(void)
{
	long long lost = 0;
	char file[64], *text;

	for (int cpu = 0; cpu < nr_cpus(); cpu++) {
		snprintf(file, sizeof(file), "per_cpu/cpu%d/stats", cpu);
		text = read_file(FTRACE, file);
		if (!text)
			give_up("%s/%s", FTRACE, file);
		lost += number_in(text, "overrun") + number_in(text, "dropped events") +
			number_in(text, "commit overrun");
		free(text);
	}
	return lost;
}

static void run_load(void)
{
	/* With lockdep each lock is an event, and the buffers are full in no time. */
	unsigned int rounds = access(FTRACE "/events/lock/lock_acquire", F_OK) ? ROUNDS : ROUNDS / 4;
	struct load_disk disk;
	pid_t pid[64];
	int cpus = nr_cpus() < 64 ? nr_cpus() : 64;

	load_disk_open(&disk);
	for (int cpu = 0; cpu < cpus; cpu++)
		pid[cpu] = load_start(cpu, rounds, &disk);
	for (int cpu = 0; cpu < cpus; cpu++)
		load_wait(pid[cpu]);
	load_cgroup();
	load_rare();
	load_disk_close(&disk);
}

/* Waits until all hits under way have ended. Hits do not sleep. */
static int wait_for_hits(void)
{
	return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) ? errno : 0;
}

FIXTURE(pair) {
};

FIXTURE_SETUP(pair)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (!have_text())
		SKIP(return, NO_TEXT);
	if (!have_ftrace())
		SKIP(return, NO_FTRACE);
	etch_as_new();
	write_file(FTRACE, "events/enable", "0");
	write_file(FTRACE, "tracing_on", "0");
	write_file(ETCH, "tracing_on", "0");
	/* With one clock, times show how long one tracer waited for the other. */
	write_file(FTRACE, "trace_clock", "mono");
	write_file(ETCH, "trace_clock", "mono");
	loopback(true);
}

FIXTURE_TEARDOWN(pair)
{
	write_file(FTRACE, "events/enable", "0");
	write_file(ETCH, "events/enable", "0");
	overwrite_file(FTRACE, "trace", "");
	overwrite_file(ETCH, "trace", "");
	write_file(FTRACE, "buffer_size_kb", "1408");
	write_file(ETCH, "buffer_size_kb", "1024");
	write_file(FTRACE, "trace_clock", "local");
	write_file(FTRACE, "tracing_on", "1");
	write_file(ETCH, "tracing_on", "1");
}

/* With lockdep, events of locks would fill the buffers: leave them off. */
static void leave_out_locks(void)
{
	static const char * const events[] = { "lock_acquire", "lock_release" };
	static const char * const trees[] = { ETCH, FTRACE };

	for (size_t i = 0; i < 2 * ARRAY_LEN(events); i++) {
		char file[64];

		snprintf(file, sizeof(file), "events/lock/%s/enable", events[i / 2]);
		if (!write_file(trees[i % 2], file, "0"))
			printf("# NOT compared: lock:%s\n", events[i / 2]);
	}
}

/* A kernel may have system calls by their names in Etch alone: CONFIG_FTRACE_SYSCALLS. */
static void leave_out_calls(void)
{
	if (!access(FTRACE "/events/syscalls", F_OK) || access(ETCH "/events/syscalls", F_OK))
		return;
	if (!write_file(ETCH, "events/syscalls/enable", "0"))
		printf("# NOT compared: system calls by their names, which ftrace lacks here\n");
}

TEST_F_TIMEOUT(pair, every_event_reads_the_same, READ_SECONDS)
{
	struct trace etch, ftrace;
	struct pairing p;

	ASSERT_EQ(0, write_file(FTRACE, "buffer_size_kb", BUFFER_KB));
	ASSERT_EQ(0, write_file(ETCH, "buffer_size_kb", BUFFER_KB));
	ASSERT_EQ(0, overwrite_file(FTRACE, "trace", ""));
	ASSERT_EQ(0, overwrite_file(ETCH, "trace", ""));
	ASSERT_EQ(0, write_file(FTRACE, "events/enable", "1"));
	ASSERT_EQ(0, write_file(ETCH, "events/enable", "1"));
	leave_out_locks();
	leave_out_calls();

	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "1"));
	ASSERT_EQ(0, wait_for_hits());
	ASSERT_EQ(0, write_file(FTRACE, "tracing_on", "1"));
	ASSERT_EQ(0, wait_for_hits());
	ASSERT_EQ(0, write_file(ETCH, "trace_marker", FENCE));
	run_load();
	ASSERT_EQ(0, write_file(ETCH, "trace_marker", FENCE));
	ASSERT_EQ(0, wait_for_hits());
	ASSERT_EQ(0, write_file(FTRACE, "tracing_on", "0"));
	ASSERT_EQ(0, wait_for_hits());
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	ASSERT_EQ(0, write_file(ETCH, "events/enable", "0"));
	ASSERT_EQ(0, write_file(FTRACE, "events/enable", "0"));

	EXPECT_EQ(0, ftrace_lost());
	EXPECT_EQ(0, stat_sum(ETCH, "overwritten"));
	EXPECT_EQ(0, stat_sum(ETCH, "lost full"));
	EXPECT_EQ(0, stat_sum(ETCH, "lost too big"));
	EXPECT_EQ(0, stat_sum(ETCH, "lost nested"));

	etch = text_read(ETCH, "trace");
	ftrace = text_read(FTRACE, "trace");
	EXPECT_EQ(stat_sum(ETCH, "entries"), etch.nr);
	p = compare_traces(&etch, &ftrace);
	printf("# %zu events over %zu systems, %zu records paired of ftrace's %zu\n",
	       p.events, p.systems, p.pairs, ftrace.nr);
	EXPECT_EQ(0, p.broken);
	EXPECT_EQ(ftrace.nr, p.pairs);
	/* Etch was on for longer, but between the fences it has no record that ftrace lacks. */
	EXPECT_LT(0, fenced(&etch));
	EXPECT_LE(fenced(&etch), p.pairs);
	EXPECT_LE(MIN_EVENTS, p.events);
	EXPECT_LE(MIN_SYSTEMS, p.systems);
	text_free(&etch);
	text_free(&ftrace);
}

TEST_HARNESS_MAIN
