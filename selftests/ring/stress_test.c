// SPDX-License-Identifier: GPL-2.0
/*
 * The ring under stress: as many records as a CPU can write, while a thread on
 * another one reads it in every way, and controls it.
 *
 *	stress_test			some seconds for each run
 *	stress_test --long		more of them, and the runs again and again, until a billion
 *					is written; under a sanitizer once will do
 *	stress_test --brief		a second for each
 *	STRESS_SEED=n			the seed that a test printed
 *	STRESS_RECORDS=n		--long: that many records
 *
 * The writers are in stress_writer.c. This side takes, in whole views and in part, and
 * sub-buffers by exchange, looks on without taking, asks for figures; and resizes,
 * empties, changes modes and clocks, and turns the ring off and on. A third thread asks,
 * at any time, the questions that may be asked at any time. All by chance; the seed brings back the
 * same choices, but not the moments at which they are made.
 *
 * The test checks. Each time the ring is quiescent, and at the end:
 *
 *	written = read + overwritten + entries		and it is what was written
 *	missed in views = overwritten			once all is read
 *	numbers that never came = overwritten		by level, once all is read
 *	tried = written + lost, by cause		at the end
 *	lost in the last view = lost, but for off	at the end
 *
 * and of each record: its sum, its number, which grows within its level, and its time,
 * which never goes back. Of sub-buffers taken whole: the end of one is not behind the
 * begin of the next; all times of records lie between; the numbers grow, by one where
 * nobody overwrites or takes views; and nobody writes to memory that is the reader's.
 */

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "stress.h"
#include "ring/ring_internal.h"

#define SECOND	1000000000ULL

#if defined(SHIM_TSAN) || defined(__SANITIZE_ADDRESS__)
#define SLOW	true
#else
#define SLOW	false
#endif

enum {
	RESIZE = 1, RESET = 2, MODE = 4, TOGGLE = 8, LOOK = 16, LAZY = 32, BESIDE = 64,
	FLUSH = 128,		/* interrupts do, now and then */
	WHOLE = 256,		/* sub-buffers are taken whole, too */
	NO_VIEWS = 512,		/* and in no other way, until the end */
};
#define CONTROL	(RESIZE | RESET | MODE | TOGGLE)

struct run {
	const char	*name;
	bool		overwrite;
	unsigned int	nr;
	unsigned int	subbuf;
	unsigned int	header;
	enum etch_clock	clock;
	unsigned int	what;
};

/* The sequence is the fastest clock where reading the counter means a trap. */
#define SEQ	ETCH_CLOCK_SEQ
#define COUNTER	ETCH_CLOCK_COUNTER
static const struct run runs[] = {
	{ "overwrite, 2 sub-buffers of 4 KiB", true, 2, 4096, 8, SEQ, LOOK },
	{ "overwrite, 16 of 64 KiB, lazy reader", true, 16, 65536, 64, SEQ, LOOK | LAZY },
	{ "overwrite, 4 of 4 KiB, counter", true, 4, 4096, 8, COUNTER, LOOK },
	{ "discard, 2 of 4 KiB", false, 2, 4096, 8, SEQ, LOOK },
	{ "discard, 16 of 64 KiB", false, 16, 65536, 64, COUNTER, LOOK },
	{ "overwrite, all control, 4 of 4 KiB", true, 4, 4096, 64, SEQ, LOOK | CONTROL },
	{ "discard, all control, 4 of 16 KiB", false, 4, 16384, 128, COUNTER,
	  LOOK | LAZY | CONTROL },
	{ "emptied beside writers that lose, 4 of 4 KiB", true, 4, 4096, 8, SEQ,
	  LOOK | RESET | TOGGLE | BESIDE },
	{ "overwrite, taken whole, 4 of 4 KiB", true, 4, 4096, 128, SEQ,
	  LOOK | FLUSH | WHOLE | NO_VIEWS },
	{ "discard, taken whole, 4 of 4 KiB", false, 4, 4096, 128, COUNTER,
	  LOOK | LAZY | FLUSH | WHOLE | NO_VIEWS },
	{ "overwrite, all control and whole, 4 of 4 KiB", true, 4, 4096, 64, SEQ,
	  LOOK | CONTROL | FLUSH | WHOLE },
	{ "discard, all control and whole, 2 of 16 KiB", false, 2, 16384, 128, COUNTER,
	  LOOK | LAZY | CONTROL | FLUSH | WHOLE },
};

/* What a run has found out. The figures of the ring start at zero with each reset. */
static struct etch_ring *ring;
static const struct run *now;
static struct tally tally;
static struct etch_ring_stats before;	/* sums up to the last reset */
static u32 stored[LEVELS];		/* how many there were at the last reset */
static u64 discarded;			/* entries that resets dropped */
static u64 controls, looks, looked, wholes, empties;
static u64 chance;

/* For the next exchange: nobody writes to it but us. */
static void *memory;
#define MINE	0xa5

/* Of all runs. */
static u64 all_records, all_tries, all_interrupts, all_ns;

static u64 sum(const u64 *n)
{
	return n[0] + n[1] + n[2];
}

static u64 lost_on(const struct etch_ring_stats *s)
{
	return s->lost_full + s->lost_nested + s->lost_too_big;
}

static u64 written_since_reset(void)
{
	u64 n = 0;
	int i;

	for (i = 0; i < LEVELS; i++)
		n += writers.stored[i] - stored[i];
	return n;
}

/* The laws. The ring is off, and quiescent. */
static void check_laws(struct etch_ring_stats *s)
{
	CHECK(!etch_ring_busy(ring));
	CHECK(stats_balance(ring, s));
	CHECK_EQ(s->written, written_since_reset());
	CHECK_EQ(s->read, tally.records);
	CHECK_EQ(tally.bad, 0);
	CHECK(tally.last_lost <= lost_on(s));
	CHECK(tally.missed <= s->overwritten);
}

/* The same once all is read. */
static void check_drained(void)
{
	struct etch_ring_stats s;
	u64 gaps = tally.gaps;
	int i;

	tally_drain(&tally, ring);
	check_laws(&s);
	CHECK(etch_ring_empty(ring));
	CHECK_EQ(s.entries, 0);
	CHECK_EQ(tally.missed, s.overwritten);
	for (i = 0, gaps = tally.gaps; i < LEVELS; i++)
		gaps += writers.stored[i] - tally.next[i];
	CHECK_EQ(gaps, s.overwritten);
}

/* What the next reset, or the end, would let us forget. */
static void remember(const struct etch_ring_stats *s)
{
	before.written += s->written;
	before.read += s->read;
	before.overwritten += s->overwritten;
	before.lost_full += s->lost_full;
	before.lost_nested += s->lost_nested;
	before.lost_too_big += s->lost_too_big;
	before.lost_off += s->lost_off;
	discarded += s->entries;
}

/* Peek, a step at a time: other readers come in between. */
static struct {
	struct etch_cursor cur;
	struct tally tally;
	u64 want, got;
	bool open;
	void *buf;
} look;

static void look_step(void)
{
	struct etch_view view;
	unsigned int records;

	if (!look.open) {
		look.tally = (struct tally){};
		look.got = 0;
		look.open = true;
		looks++;
		etch_ring_peek_begin(ring, &look.cur);
		look.want = look.cur.left;
		return;
	}
	if (etch_ring_peek_next(ring, &look.cur, look.buf, &view) > 0) {
		tally_view(&look.tally, &view, NOBODY, &records);
		look.got += records;
		looked += records;
		return;
	}
	look.open = false;
	CHECK_EQ(look.tally.bad, 0);
	CHECK_EQ(look.got + look.tally.missed + view.missed, look.want);
}

/* Beside writers the figures are of slightly different moments, but for the reader's. */
static void ask_figures(void)
{
	struct etch_ring_stats s;

	etch_ring_stats(ring, &s);
	CHECK_EQ(s.read, tally.records);
}

/* Take a view and read its first @max records. False: there is none. */
static bool take(unsigned int max)
{
	struct etch_view view;
	unsigned int bytes, records;

	if (etch_ring_take(ring, &view) <= 0)
		return false;
	bytes = tally_view(&tally, &view, max, &records);
	/* In between, those that do no harm to a view. */
	if (now->what & LOOK && any(&chance) % 64 == 0)
		look_step();
	etch_ring_advance_to(ring, bytes, records, tally.last_time);
	if (any(&chance) % 8 == 0)
		ask_figures();
	return true;
}

static bool untouched(void)
{
	const u64 *word = memory;
	unsigned int i;

	for (i = 0; i < now->subbuf / sizeof(*word); i++)
		if (word[i] != 0x0101010101010101ULL * MINE)
			return false;
	return true;
}

/* Take a sub-buffer whole. False: none is full. */
static bool take_whole(void)
{
	struct etch_view view;

	CHECK(untouched());
	if (!etch_ring_take_subbuf(ring, &memory, &view))
		return false;
	tally_subbuf(&tally, ring, &view);
	memset(memory, MINE, now->subbuf);
	wholes++;
	empties += !view.records;
	return true;
}

static void resize(void)
{
	struct etch_resize *ctx;

	/* Failing, and thinking better of it, must change nothing. */
	if (any(&chance) % 8 == 0) {
		shim_allocs = any(&chance) % 5;
		CHECK_EQ(etch_ring_resize(ring, etch_ring_nr_subbufs(ring) * 2), -ENOMEM);
		shim_allocs = -1;
	}
	ctx = etch_ring_resize_prepare(ring, 2U << any(&chance) % 5);
	CHECK(!IS_ERR(ctx));
	if (any(&chance) % 8 == 0) {
		etch_ring_resize_abort(ctx);
		return;
	}
	etch_ring_resize_commit(ctx);
	look.open = false;
}

static void reset(const struct etch_ring_stats *s)
{
	static const enum etch_clock clocks[] = {
		ETCH_CLOCK_COUNTER, ETCH_CLOCK_MONO, ETCH_CLOCK_SEQ,
	};
	int i;

	remember(s);
	etch_ring_reset(ring);
	if (now->what & CONTROL && any(&chance) % 4 == 0)
		etch_ring_set_clock(ring, clocks[any(&chance) % ARRAY_SIZE(clocks)]);
	tally = (struct tally){};
	for (i = 0; i < LEVELS; i++)
		tally.next[i] = stored[i] = writers.stored[i];
	look.open = false;
}

/*
 * Control, as the kernel's users of the ring do it: off, wait, act, on. What writers lose
 * between our asking for the figures and a reset is in nobody's, unless they are parked.
 */
static void control(void)
{
	unsigned int what = now->what & (1U << any(&chance) % 4);
	bool parked = what & RESET && !(now->what & BESIDE);
	struct etch_ring_stats s;

	controls++;
	if (what & TOGGLE) {
		etch_ring_off(ring);
		if (any(&chance) % 2)
			usleep(0);
		etch_ring_on(ring);
		return;
	}
	etch_ring_off(ring);
	writers_let_flush(false);
	if (parked)
		writers_park();
	writers_wait();
	check_laws(&s);
	/* The rest of a view that came in part may be what was left of an open block. */
	if (any(&chance) % 2)
		check_drained();
	etch_ring_stats(ring, &s);
	if (what & RESIZE)
		resize();
	if (what & RESET)
		reset(&s);
	if (what & MODE)
		etch_ring_set_mode(ring, any(&chance) % 2);
	check_laws(&s);
	etch_ring_on(ring);
	writers_let_flush(now->what & FLUSH);
	if (parked)
		writers_go();
}

/* All there is, or one: in views or in whole, as the run has it. */
static void take_some(u32 x)
{
	bool whole = now->what & NO_VIEWS || (now->what & WHOLE && x & 1);

	if (whole)
		while (take_whole() && x & 6)
			;
	else
		while (take(NOBODY))
			;
}

static void read_round(void)
{
	u32 x = any(&chance);

	switch (x % 16) {
	case 0:
		if (!(now->what & NO_VIEWS))
			take(1 + (x >> 8) % 9);
		break;
	case 1:
		if (now->what & LOOK)
			look_step();
		break;
	default:
		take_some(x >> 8);
	}
	x = any(&chance);
	if (x % 64 == 0)
		writers_kick(1 + (x >> 8) % 2);
	if (now->what & LAZY && x % 64 == 1)
		usleep((x >> 8) % 300);
	if (now->what & CONTROL && (x >> 8) % 256 == 0)
		control();
}

/* The thread that asks without the mutex that readers and control share. */
static int asking;
static u64 answers;

static void *ask(void *unused)
{
	u64 n = 0;

	pin_to(1);
	while (__atomic_load_n(&asking, __ATOMIC_ACQUIRE)) {
		n += etch_ring_empty(ring) + 2 * etch_ring_busy(ring);
		usleep(20);
	}
	answers += n;
	return NULL;
}

static void show_progress(u64 since, u64 *last)
{
	u64 t = ktime_get_mono_fast_ns();
	struct etch_ring_stats s;
	u64 written;

	if (t - *last < 5 * SECOND)
		return;
	*last = t;
	etch_ring_stats(ring, &s);
	written = before.written + s.written;
	tap_note("%s: %.0f s, %.1f million written, %.1f million a second; %.0f million in all",
		 now->name, (t - since) / 1e9, written / 1e6,
		 written * 1e3 / (t - since), (all_records + written) / 1e6);
}

static bool enough(const u64 counts[LEVELS])
{
	return __atomic_load_n(&counts[1], __ATOMIC_RELAXED) > 10 &&
	       __atomic_load_n(&counts[2], __ATOMIC_RELAXED) > 10;
}

/* Has the run met what it is for? A busy machine may need longer to come to it. */
static bool met(void)
{
	struct etch_ring_stats s;

	etch_ring_stats(ring, &s);
	return before.read + s.read > 1000 && before.lost_nested + s.lost_nested &&
	       before.lost_too_big + s.lost_too_big && looks > 10 &&
	       enough(writers.interrupts) &&
	       (!now->overwrite || before.overwritten + s.overwritten) &&
	       (!(now->what & WHOLE) ||
		(wholes > 100 && empties && enough(writers.flushes))) &&
	       (!(now->what & CONTROL) || controls > 10);
}

static void read_for(u64 ns)
{
	u64 start = ktime_get_mono_fast_ns();
	u64 last = start;
	unsigned int i;
	u64 spent;

	do {
		for (i = 0; i < 64 && check_failures < 100; i++)
			read_round();
		show_progress(start, &last);
		spent = ktime_get_mono_fast_ns() - start;
	} while (check_failures < 100 && (spent < ns || (spent < 60 * SECOND && !met())));
	all_ns += ktime_get_mono_fast_ns() - start;
}

/* Two more blocks from here: the last one knows all that was lost. */
static void check_lost(void)
{
	unsigned int room = etch_ring_subbuf_size(ring) - ring->header;
	struct etch_ring_stats s;
	int i;

	for (i = 0; i < 2; i++) {
		CHECK(rec_write(ring, 0, writers.stored[0]++, room));
		tally_drain(&tally, ring);
	}
	check_drained();
	etch_ring_stats(ring, &s);
	CHECK_EQ(tally.last_lost, lost_on(&s));
	remember(&s);
	CHECK_EQ(before.written,
		 (u64)writers.stored[0] + writers.stored[1] + writers.stored[2]);
	CHECK_EQ(before.written, before.read + before.overwritten + discarded);
	if (!(now->what & BESIDE))
		CHECK_EQ(lost_on(&before) + before.lost_off, sum(writers.lost));
	if (!now->overwrite && !(now->what & CONTROL))
		CHECK_EQ(before.overwritten, 0);
}

static void prepare(const struct run *run)
{
	now = run;
	ring = ring_make(run->nr * run->subbuf, run->subbuf, run->header, run->overwrite);
	etch_ring_set_clock(ring, run->clock);
	tally = (struct tally){};
	before = (struct etch_ring_stats){};
	memset(stored, 0, sizeof(stored));
	discarded = controls = looks = looked = wholes = empties = 0;
	memory = etch_ring_alloc_subbuf(ring);
	memset(memory, MINE, run->subbuf);
	look.buf = malloc(run->subbuf);
	look.open = false;
}

static void test_run(const struct run *run, u64 ns)
{
	pthread_t asker;

	prepare(run);
	asking = 1;
	pthread_create(&asker, NULL, ask, NULL);
	writers_start(ring, any(&chance), run->what & FLUSH);
	read_for(ns);
	writers_stop();
	__atomic_store_n(&asking, 0, __ATOMIC_RELEASE);
	pthread_join(asker, NULL);

	etch_ring_on(ring);
	if (run->what & NO_VIEWS && !run->overwrite)
		CHECK_EQ(tally.blocks_gone, 0);
	check_drained();
	check_lost();
	CHECK(untouched());

	/* Else this run has shown nothing. */
	CHECK(before.read > 1000 && before.lost_nested && before.lost_too_big && looks > 10);
	CHECK(enough(writers.interrupts));
	CHECK(!run->overwrite || before.overwritten);
	if (run->what & WHOLE) {
		CHECK(wholes > 100 && empties);
		CHECK(enough(writers.flushes));
		tap_note("%llu sub-buffers taken whole, %llu empty; %llu flushes",
			 (unsigned long long)wholes, (unsigned long long)empties,
			 (unsigned long long)sum(writers.flushes));
	}
	CHECK(!(run->what & CONTROL) || controls > 10);
	tap_note("%llu written, %llu read, %llu overwritten, %llu dropped by reset, %llu looked at",
		 (unsigned long long)before.written, (unsigned long long)before.read,
		 (unsigned long long)before.overwritten, (unsigned long long)discarded,
		 (unsigned long long)looked);
	tap_note("lost: %llu full, %llu nested, %llu too big, %llu off; half-way: %llu "
		 "interrupts, %llu NMIs; %llu times control",
		 (unsigned long long)before.lost_full, (unsigned long long)before.lost_nested,
		 (unsigned long long)before.lost_too_big, (unsigned long long)before.lost_off,
		 (unsigned long long)writers.interrupts[1],
		 (unsigned long long)writers.interrupts[2], (unsigned long long)controls);
	all_records += before.written;
	all_tries += before.written + sum(writers.lost);
	all_interrupts += writers.interrupts[1] + writers.interrupts[2];
	free(look.buf);
	free_pages((unsigned long)memory, 0);
	etch_ring_free(ring);
	tap(true, "%s", run->name);
}

static u64 setting(const char *name, u64 otherwise)
{
	const char *value = getenv(name);

	return value && *value ? strtoull(value, NULL, 0) : otherwise;
}

int main(int argc, char **argv)
{
	bool longer = argc > 1 && !strcmp(argv[1], "--long");
	bool brief = argc > 1 && !strcmp(argv[1], "--brief");
	u64 want = longer && !SLOW ? setting("STRESS_RECORDS", 1000000000) : 0;
	u64 ns = (longer ? 10 : brief || SLOW ? 1 : 2) * SECOND;
	unsigned int i;

	chance = setting("STRESS_SEED", ktime_get_mono_fast_ns() % 1000000000) | 1;
	tap_note("STRESS_SEED=%llu", (unsigned long long)chance);
	if (cpus_usable() < 2)
		tap_note("### NOT on two CPUs: the reader only comes when the writer is stopped");
	pin_to(1);

	do {
		for (i = 0; i < ARRAY_SIZE(runs); i++)
			test_run(&runs[i], ns);
	} while (all_records < want && !tap_failed);

	tap_note("%llu records written, %llu tried, %.1f million written a second; %llu "
		 "interrupts half-way",
		 (unsigned long long)all_records, (unsigned long long)all_tries,
		 all_records * 1e3 / all_ns, (unsigned long long)all_interrupts);
	tap(!shim_live, "all memory is given back");
	return tap_end();
}
