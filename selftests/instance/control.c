// SPDX-License-Identifier: GPL-2.0
/* The files that set which events are recorded and how: each has its effect. */

#include <ftw.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "etch_test.h"
#include "lists.h"
#include "text.h"

static long long now_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

/* The first record of the main tree. */
static struct record first_record(struct __test_metadata *_metadata)
{
	struct trace trace = text_read(ETCH, "trace");
	struct record r = {};

	ASSERT_LT(0, trace.nr);
	/* Its texts stay: a test is a process of its own. */
	r = trace.records[0];
	return r;
}

/* set_event, sorted, as one line. */
static const char *enabled(void)
{
	struct list l = list_of(read_file(ETCH, "set_event"));
	static char line[65536];
	char *at = line;

	list_sort(&l);
	*line = 0;
	for (size_t i = 0; i < l.nr; i++)
		at += snprintf(at, line + sizeof(line) - at, "%s%s", i ? " " : "", l.lines[i]);
	list_free(&l);
	return line;
}

FIXTURE(control) {
};

FIXTURE_SETUP(control)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	etch_as_new();
}

FIXTURE_TEARDOWN(control)
{
	write_file(ETCH, "buffer_subbuf_size_kb", "16");
	write_file(ETCH, "buffer_size_kb", "1024");
	etch_as_new();
}

TEST_F(control, set_event_replaces_and_adds)
{
	EXPECT_STREQ("", enabled());
	EXPECT_EQ(0, overwrite_file(ETCH, "set_event", "sched:sched_switch"));
	EXPECT_STREQ("sched:sched_switch", enabled());
	EXPECT_EQ(0, overwrite_file(ETCH, "set_event", "signal:signal_generate\n"));
	EXPECT_STREQ("signal:signal_generate", enabled());
	EXPECT_EQ(0, write_file(ETCH, "set_event", "signal:signal_deliver"));
	EXPECT_STREQ("signal:signal_deliver signal:signal_generate", enabled());
	EXPECT_EQ(0, write_file(ETCH, "set_event", "!signal:signal_generate"));
	EXPECT_STREQ("signal:signal_deliver", enabled());
	/* As `echo > set_event`. */
	EXPECT_EQ(0, overwrite_file(ETCH, "set_event", "\n"));
	EXPECT_STREQ("", enabled());
}

TEST_F_TIMEOUT(control, set_event_takes_globs, 180)
{
	EXPECT_EQ(0, overwrite_file(ETCH, "set_event", "signal:*"));
	EXPECT_STREQ("signal:signal_deliver signal:signal_generate", enabled());
	EXPECT_EQ(0, overwrite_file(ETCH, "set_event", "signal"));
	EXPECT_STREQ("signal:signal_deliver signal:signal_generate", enabled());
	EXPECT_EQ(0, overwrite_file(ETCH, "set_event", "sig*:*_del*"));
	EXPECT_STREQ("signal:signal_deliver", enabled());
	EXPECT_EQ(0, overwrite_file(ETCH, "set_event", "signal_generate"));
	EXPECT_STREQ("signal:signal_generate", enabled());
	EXPECT_EQ(0, overwrite_file(ETCH, "set_event", "signal:* !*:signal_gen*"));
	EXPECT_STREQ("signal:signal_deliver", enabled());
	EXPECT_EQ(0, overwrite_file(ETCH, "set_event", "*:*"));
	EXPECT_STREQ("1", read_line(ETCH, "events/enable"));
	EXPECT_EQ(0, write_file(ETCH, "set_event", "!*:*"));
	EXPECT_STREQ("0", read_line(ETCH, "events/enable"));
}

TEST_F_TIMEOUT(control, enable_has_three_levels, 180)
{
	static const char event[] = "events/signal/signal_generate/enable";

	EXPECT_STREQ("0", read_line(ETCH, "events/enable"));
	EXPECT_EQ(0, write_file(ETCH, event, "1"));
	EXPECT_STREQ("1", read_line(ETCH, event));
	EXPECT_STREQ("X", read_line(ETCH, "events/signal/enable"));
	EXPECT_STREQ("X", read_line(ETCH, "events/enable"));
	EXPECT_EQ(0, write_file(ETCH, "events/signal/enable", "1\n"));
	EXPECT_STREQ("1", read_line(ETCH, "events/signal/enable"));
	EXPECT_STREQ("X", read_line(ETCH, "events/enable"));
	EXPECT_STREQ("0", read_line(ETCH, "events/sched/enable"));
	EXPECT_EQ(0, write_file(ETCH, "events/enable", "1"));
	EXPECT_STREQ("1", read_line(ETCH, "events/sched/enable"));
	EXPECT_STREQ("1", read_line(ETCH, "events/enable"));
	EXPECT_EQ(0, write_file(ETCH, event, "0"));
	EXPECT_STREQ("X", read_line(ETCH, "events/signal/enable"));
	EXPECT_STREQ("X", read_line(ETCH, "events/enable"));
	EXPECT_EQ(0, write_file(ETCH, "events/enable", "0"));
	EXPECT_STREQ("0", read_line(ETCH, "events/signal/enable"));
	EXPECT_STREQ("", enabled());
}

/* Each clock can be chosen, is shown in brackets, and tells its time. */
TEST_F(control, trace_clock_knows_each)
{
	if (!have_text())
		SKIP(return, NO_TEXT);
	static const struct {
		const char *name;
		clockid_t same_as;
		bool drifts;	/* the scheduler's: not corrected as those of user space are */
	} clocks[] = {
		{ "counter", CLOCK_MONOTONIC },
		{ "mono", CLOCK_MONOTONIC },
		{ "mono_raw", CLOCK_MONOTONIC_RAW },
		{ "boot", CLOCK_BOOTTIME },
		{ "tai", CLOCK_TAI },
		{ "local", CLOCK_MONOTONIC, true },
		{ "global", CLOCK_MONOTONIC, true },
	};
	long long before, off, drift;
	char shown[64];

	for (size_t i = 0; i < ARRAY_LEN(clocks); i++) {
		if (!i && !strstr(read_line(ETCH, "trace_clock"), clocks[i].name)) {
			printf("# the counter is not usable on this machine\n");
			EXPECT_EQ(EINVAL, write_file(ETCH, "trace_clock", "counter"));
			continue;
		}
		ASSERT_EQ(0, write_file(ETCH, "trace_clock", clocks[i].name));
		snprintf(shown, sizeof(shown), "[%s]", clocks[i].name);
		EXPECT_NE(NULL, strstr(read_line(ETCH, "trace_clock"), shown));
		before = now_us(clocks[i].same_as);
		EXPECT_EQ(0, write_file(ETCH, "trace_marker", clocks[i].name));
		off = now_us(clocks[i].same_as) - (long long)first_record(_metadata).time;
		printf("# %s: %lld us from the clock of user space\n", clocks[i].name, off);
		/* From the same boot at least, where it may drift: half is a lot. */
		drift = clocks[i].drifts ? now_us(CLOCK_MONOTONIC) / 2 : 1000000;
		EXPECT_LT(-drift, off);
		EXPECT_GT(drift, off - (now_us(clocks[i].same_as) - before));
	}
	ASSERT_EQ(0, write_file(ETCH, "trace_clock", "mono"));
}

TEST_F(control, trace_clock_seq_counts)
{
	struct trace trace;

	if (!have_text())
		SKIP(return, NO_TEXT);
	ASSERT_EQ(0, write_file(ETCH, "trace_clock", "seq"));
	for (int i = 0; i < 5; i++) {
		EXPECT_EQ(0, write_file(ETCH, "trace_marker", "next"));
	}
	trace = text_read(ETCH, "trace");
	ASSERT_EQ(5, trace.nr);
	for (int i = 1; i < 5; i++) {
		/* Others may take a number, too: reserving looks at the clock first. */
		EXPECT_LT(trace.records[i - 1].time, trace.records[i].time);
		EXPECT_GT(trace.records[0].time + 100, trace.records[i].time);
	}
	ASSERT_EQ(0, write_file(ETCH, "trace_clock", "mono"));
}

TEST_F(control, a_new_clock_empties_the_buffer)
{
	ASSERT_EQ(0, write_file(ETCH, "trace_clock", "mono"));
	EXPECT_EQ(0, write_file(ETCH, "trace_marker", "old"));
	EXPECT_EQ(0, write_file(ETCH, "trace_clock", "mono"));
	EXPECT_EQ(1, stat_sum(ETCH, "entries"));
	EXPECT_EQ(0, write_file(ETCH, "trace_clock", "boot"));
	EXPECT_EQ(0, stat_sum(ETCH, "entries"));
	EXPECT_EQ(0, write_file(ETCH, "trace_clock", "mono"));
}

TEST_F(control, tracing_on_stops_and_goes_on)
{
	EXPECT_STREQ("1", read_line(ETCH, "tracing_on"));
	EXPECT_EQ(0, write_file(ETCH, "trace_marker", "one"));
	EXPECT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	EXPECT_STREQ("0", read_line(ETCH, "tracing_on"));
	EXPECT_EQ(EBADF, write_file(ETCH, "trace_marker", "not heard"));
	EXPECT_EQ(1, stat_sum(ETCH, "entries"));
	EXPECT_EQ(0, write_file(ETCH, "tracing_on", "1"));
	EXPECT_EQ(0, write_file(ETCH, "trace_marker", "two"));
	EXPECT_EQ(2, stat_sum(ETCH, "entries"));
}

/* The file shows the real size: the size that was written, or a little more. */
TEST_F(control, buffer_size_kb_sets_all_cpus)
{
	static const int sizes[] = { 128, 300, 4096, 1024 };
	int kb;

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		ASSERT_EQ(0, write_fmt(ETCH, "buffer_size_kb", "%d", sizes[i]));
		kb = atoi(read_line(ETCH, "buffer_size_kb"));
		EXPECT_LE(sizes[i], kb);
		EXPECT_GT(2 * sizes[i], kb);
		EXPECT_EQ(kb, atoi(read_line(ETCH, "per_cpu/cpu0/buffer_size_kb")));
	}
}

TEST_F(control, buffer_size_kb_of_one_cpu)
{
	ASSERT_EQ(0, write_file(ETCH, "buffer_size_kb", "512"));
	ASSERT_EQ(0, write_file(ETCH, "per_cpu/cpu0/buffer_size_kb", "2048"));
	EXPECT_STREQ("2048", read_line(ETCH, "per_cpu/cpu0/buffer_size_kb"));
	EXPECT_STREQ(nr_cpus() > 1 ? "X" : "2048", read_line(ETCH, "buffer_size_kb"));
	if (nr_cpus() > 1) {
		EXPECT_STREQ("512", read_line(ETCH, "per_cpu/cpu1/buffer_size_kb"));
	}
	ASSERT_EQ(0, write_file(ETCH, "buffer_size_kb", "512"));
	EXPECT_STREQ("512", read_line(ETCH, "buffer_size_kb"));
}

/* The newest records outlive a change of size. */
TEST_F(control, records_outlive_a_change_of_size)
{
	struct trace trace;

	if (!have_text())
		SKIP(return, NO_TEXT);
	ASSERT_EQ(0, write_file(ETCH, "buffer_size_kb", "1024"));
	for (int i = 0; i < 1000; i++) {
		EXPECT_EQ(0, write_fmt(ETCH, "trace_marker", "%d", i));
	}
	ASSERT_EQ(0, write_file(ETCH, "buffer_size_kb", "2048"));
	EXPECT_EQ(1000, stat_sum(ETCH, "entries"));
	ASSERT_EQ(0, write_file(ETCH, "buffer_size_kb", "64"));
	trace = text_read(ETCH, "trace");
	EXPECT_LT(100, trace.nr);
	EXPECT_STREQ("999", trace.records[trace.nr - 1].text);
	EXPECT_EQ(1000, trace.nr + stat_sum(ETCH, "overwritten"));
	text_free(&trace);
}

/* A size above the machine's memory is refused and changes nothing. */
TEST_F_TIMEOUT(control, a_size_that_cannot_be_had, 120)
{
	char *log;
	int err;

	if (!have_text())
		SKIP(return, NO_TEXT);
	EXPECT_EQ(0, write_file(ETCH, "buffer_size_kb", "512"));
	EXPECT_EQ(0, write_file(ETCH, "trace_marker", "stays"));
	err = write_file(ETCH, "buffer_size_kb", "1073741824");
	EXPECT_TRUE(err == ENOMEM || err == EINVAL)
		TH_LOG("errno %d", err);
	log = read_file(ETCH, "error_log");
	EXPECT_NE(NULL, strstr(log, "buffer_size_kb: error: "));
	EXPECT_NE(NULL, strstr(log, "\n  Command: 1073741824\n           ^\n"));
	EXPECT_STREQ("512", read_line(ETCH, "buffer_size_kb"));
	EXPECT_EQ(1, stat_sum(ETCH, "entries"));
	free(log);
}

/* Rounded up to a power of two of pages; the size of the buffer stays what it was. */
TEST_F(control, buffer_subbuf_size_kb_is_what_was_asked_for)
{
	int page = sysconf(_SC_PAGESIZE) >> 10, kb;

	ASSERT_EQ(0, write_file(ETCH, "buffer_size_kb", "2048"));
	for (int asked = 1; asked <= 512; asked = asked < 8 ? asked + 1 : asked * 5 / 4) {
		ASSERT_EQ(0, write_fmt(ETCH, "buffer_subbuf_size_kb", "%d", asked));
		for (kb = page; kb < asked; kb *= 2)
			;
		EXPECT_EQ(kb, atoi(read_line(ETCH, "buffer_subbuf_size_kb")));
		EXPECT_STREQ("2048", read_line(ETCH, "buffer_size_kb"));
	}
	ASSERT_EQ(0, write_file(ETCH, "buffer_subbuf_size_kb", "512"));
	EXPECT_STREQ("512", read_line(ETCH, "buffer_subbuf_size_kb"));
}

/* A buffer has two sub-buffers at least; smaller ones give it its former size back. */
TEST_F(control, large_subbufs_make_a_small_buffer_larger)
{
	int page = sysconf(_SC_PAGESIZE) >> 10, small = 16 * page;

	if (small > 512)
		small = 2 * page;
	ASSERT_EQ(0, write_fmt(ETCH, "buffer_size_kb", "%d", small));
	ASSERT_EQ(0, write_fmt(ETCH, "per_cpu/cpu0/buffer_size_kb", "%d", 2 * small));
	ASSERT_EQ(0, write_file(ETCH, "buffer_subbuf_size_kb", "512"));
	EXPECT_STREQ("1024", read_line(ETCH, "buffer_size_kb"));
	ASSERT_EQ(0, write_fmt(ETCH, "buffer_size_kb", "%d", small));
	EXPECT_STREQ("1024", read_line(ETCH, "buffer_size_kb"));
	ASSERT_EQ(0, write_fmt(ETCH, "buffer_subbuf_size_kb", "%d", small / 4));
	EXPECT_EQ(small, atoi(read_line(ETCH, "buffer_size_kb")));
	ASSERT_EQ(0, write_fmt(ETCH, "per_cpu/cpu0/buffer_size_kb", "%d", 2 * small));
	ASSERT_EQ(0, write_fmt(ETCH, "buffer_subbuf_size_kb", "%d", small / 2));
	EXPECT_EQ(2 * small, atoi(read_line(ETCH, "per_cpu/cpu0/buffer_size_kb")));
	if (nr_cpus() > 1) {
		EXPECT_EQ(small, atoi(read_line(ETCH, "per_cpu/cpu1/buffer_size_kb")));
	}
}

/* How many bytes of a mark of 4096 bytes are stored. */
static ssize_t mark(void)
{
	char text[4096];
	ssize_t taken;
	int fd;

	memset(text, 'm', sizeof(text));
	fd = open(ETCH "/trace_marker", O_WRONLY | O_CLOEXEC);
	taken = write(fd, text, sizeof(text));
	close(fd);
	return taken;
}

/* Sub-buffers have the size that they show: it limits a mark, which is stored up to there. */
TEST_F(control, a_mark_is_cut_to_fit_in_a_subbuf)
{
	struct trace trace;
	ssize_t taken;

	if (!have_text())
		SKIP(return, NO_TEXT);
	if (sysconf(_SC_PAGESIZE) != 4096)
		SKIP(return, "a mark is shorter than this machine's smallest sub-buffer");
	ASSERT_EQ(0, write_file(ETCH, "buffer_subbuf_size_kb", "4"));
	taken = mark();
	EXPECT_LT(3900, taken);
	EXPECT_GT(4000, taken);
	trace = text_read(ETCH, "trace");
	ASSERT_EQ(1, trace.nr);
	EXPECT_EQ(taken, (ssize_t)strlen(trace.records[0].text));
	text_free(&trace);
	ASSERT_EQ(0, write_file(ETCH, "buffer_subbuf_size_kb", "8"));
	EXPECT_EQ(4096, mark());
	EXPECT_EQ(0, stat_sum(ETCH, "lost too big"));
}

/* As a new clock: the records and the counts go. The same size once more is no change. */
TEST_F(control, new_subbufs_empty_the_buffer)
{
	if (!have_text())
		SKIP(return, NO_TEXT);
	EXPECT_EQ(0, write_file(ETCH, "trace_marker", "old"));
	ASSERT_EQ(0, write_file(ETCH, "buffer_subbuf_size_kb", "13"));
	EXPECT_EQ(1, stat_sum(ETCH, "entries"));
	ASSERT_EQ(0, write_file(ETCH, "buffer_subbuf_size_kb", "128"));
	EXPECT_EQ(0, stat_sum(ETCH, "entries"));
	EXPECT_EQ(0, stat_sum(ETCH, "written"));
	EXPECT_EQ(0, write_file(ETCH, "trace_marker", "new"));
	EXPECT_STREQ("new", first_record(_metadata).text);

	/* And so while tracing is off; it stays off. */
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	ASSERT_EQ(0, write_file(ETCH, "buffer_subbuf_size_kb", "16"));
	EXPECT_EQ(EBADF, write_file(ETCH, "trace_marker", "not heard"));
	EXPECT_STREQ("0", read_line(ETCH, "tracing_on"));
	EXPECT_EQ(0, stat_sum(ETCH, "entries"));
}

/* Instances keep their own sub-buffer size, also before their first record. */
TEST_F(control, subbufs_are_an_instances_own)
{
	if (!have_text())
		SKIP(return, NO_TEXT);
	static const char tree[] = ETCH "/instances/etch-control";

	rmdir(tree);
	ASSERT_EQ(0, mkdir(tree, 0700));
	EXPECT_EQ(0, write_file(tree, "buffer_subbuf_size_kb", "128"));
	EXPECT_STREQ("128", read_line(tree, "buffer_subbuf_size_kb"));
	EXPECT_GT(128, atoi(read_line(ETCH, "buffer_subbuf_size_kb")));
	EXPECT_EQ(0, rmdir(tree));
}

/* A file of trace that was opened before ends; read from its start, it has the new records. */
TEST_F(control, subbufs_grow_under_a_reader)
{
	int nr = sysconf(_SC_PAGESIZE) / 4, fd, n, marks = 0;
	char text[4096];

	if (!have_text())
		SKIP(return, NO_TEXT);
	ASSERT_EQ(0, write_file(ETCH, "buffer_subbuf_size_kb", "4"));
	for (int i = 0; i < nr; i++)
		write_fmt(ETCH, "trace_marker", "old %d", i);
	fd = open(ETCH "/trace", O_RDONLY | O_CLOEXEC);
	ASSERT_LT(0, read(fd, text, 1000));

	ASSERT_EQ(0, write_file(ETCH, "buffer_subbuf_size_kb", "512"));
	/* One sub-buffer now has more records than an old one had room for. */
	for (int i = 0; i < nr; i++)
		write_fmt(ETCH, "trace_marker", "new %d", i);
	while ((n = read(fd, text, sizeof(text) - 1)) > 0) {
		text[n] = 0;
		EXPECT_EQ(NULL, strstr(text, "new"));
	}
	EXPECT_EQ(0, n);

	ASSERT_EQ(0, lseek(fd, 0, SEEK_SET));
	while ((n = read(fd, text, sizeof(text) - 1)) > 0) {
		text[n] = 0;
		EXPECT_EQ(NULL, strstr(text, "old"));
		marks += count_records(text);
	}
	/* Lines that two reads share count twice. */
	EXPECT_LE(nr, marks);
	close(fd);
}

/* There is no memory for a second set of buffers: nothing changes, no record is lost. */
TEST_F_TIMEOUT(control, subbufs_that_cannot_be_had, 120)
{
	int subbuf = atoi(read_line(ETCH, "buffer_subbuf_size_kb")), err;
	unsigned long kb = 1024;
	char *log;

	/* As large as the machine can have them, then twice that. */
	while (!write_fmt(ETCH, "buffer_size_kb", "%lu", 2 * kb))
		kb *= 2;
	EXPECT_EQ(0, write_file(ETCH, "trace_marker", "stays"));
	err = write_file(ETCH, "buffer_subbuf_size_kb", "512");
	EXPECT_EQ(ENOMEM, err)
		TH_LOG("errno %d, with %lu KiB for each CPU", err, kb);
	log = read_file(ETCH, "error_log");
	EXPECT_NE(NULL, strstr(log, "buffer_subbuf_size_kb: error: Not enough memory\n  Command: 512\n           ^\n"));
	EXPECT_EQ(kb, atol(read_line(ETCH, "buffer_size_kb")));
	EXPECT_EQ(subbuf, atoi(read_line(ETCH, "buffer_subbuf_size_kb")));
	EXPECT_EQ(1, stat_sum(ETCH, "entries"));
	free(log);
	EXPECT_EQ(0, write_file(ETCH, "buffer_size_kb", "1024"));
	EXPECT_EQ(1, stat_sum(ETCH, "entries"));
}

/*
 * Under load: sub-buffers change again and again while events come, a reader takes
 * them, and another looks. Since the last change every hit is accounted for.
 */
TEST_F_TIMEOUT(control, subbufs_change_under_load, 300)
{
	if (!have_text())
		SKIP(return, NO_TEXT);
	static const int sizes[] = { 4, 512, 16, 128, 8, 64, 256, 32 };
	long long marks = 0;
	pid_t busy, reader;
	char *text;
	int fd;

	ASSERT_EQ(0, write_file(ETCH, "buffer_size_kb", "256"));
	ASSERT_EQ(0, overwrite_file(ETCH, "set_event", "sched:* timer:* irq:*"));
	busy = fork();
	if (!busy) {
		for (;;) {
			read_line(ETCH, "buffer_size_kb");
			usleep(100);
		}
	}
	reader = fork();
	if (!reader) {
		fd = open(ETCH "/trace_pipe", O_RDONLY | O_CLOEXEC);
		_exit(!read_all(fd, NULL));
	}

	for (int i = 0; i < 100; i++) {
		ASSERT_EQ(0, write_fmt(ETCH, "buffer_subbuf_size_kb", "%d",
				       sizes[i % ARRAY_LEN(sizes)]));
		if (i % 10 == 3) {
			text = read_file(ETCH, "trace");
			EXPECT_NE(NULL, text);
			free(text);
		}
		usleep(5000);
	}
	/* Only marks now: how many come after the last change is known. */
	ASSERT_EQ(0, overwrite_file(ETCH, "set_event", "\n"));
	ASSERT_EQ(0, write_file(ETCH, "buffer_subbuf_size_kb", "16"));
	for (; marks < 3000; marks++)
		write_fmt(ETCH, "trace_marker", "%lld", marks);
	kill(busy, SIGKILL);
	waitpid(busy, NULL, 0);
	EXPECT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	EXPECT_EQ(reader, waitpid(reader, &fd, 0));
	EXPECT_EQ(0, fd);
	/* A hit that was under way on another CPU may have been stored late. */
	EXPECT_LE(marks, stat_sum(ETCH, "written") + lost_sum(ETCH));
	EXPECT_GE(marks + nr_cpus(), stat_sum(ETCH, "written") + lost_sum(ETCH));
	for (int cpu = 0; cpu < nr_cpus(); cpu++) {
		EXPECT_EQ(stat_of(ETCH, cpu, "written"), stat_of(ETCH, cpu, "read") +
			  stat_of(ETCH, cpu, "overwritten") + stat_of(ETCH, cpu, "entries"));
	}
	EXPECT_EQ(0, stat_sum(ETCH, "entries"));
}

TEST_F(control, buffer_mode_says_what_is_lost)
{
	int nr;

	if (!have_text())
		SKIP(return, NO_TEXT);
	run_on(0);
	/* It may have become larger: see above. So many are more than it holds. */
	ASSERT_EQ(0, write_file(ETCH, "buffer_size_kb", "64"));
	nr = 80 * atoi(read_line(ETCH, "buffer_size_kb"));
	EXPECT_EQ(0, write_file(ETCH, "buffer_mode", "discard"));
	EXPECT_STREQ("overwrite [discard]", read_line(ETCH, "buffer_mode"));
	for (int i = 0; i < nr; i++)
		write_fmt(ETCH, "trace_marker", "%d", i);
	EXPECT_STREQ("0", first_record(_metadata).text);
	EXPECT_EQ(0, overwrite_file(ETCH, "trace", "\n"));
	EXPECT_EQ(0, write_file(ETCH, "buffer_mode", "overwrite"));
	EXPECT_STREQ("[overwrite] discard", read_line(ETCH, "buffer_mode"));
	for (int i = 0; i < nr; i++)
		write_fmt(ETCH, "trace_marker", "%d", i);
	EXPECT_LT(0, atoi(first_record(_metadata).text));
}

TEST_F(control, trace_marker_keeps_what_was_written)
{
	if (!have_text())
		SKIP(return, NO_TEXT);
	static const char * const texts[] = {
		"plain", "with a newline\n", "%s %d %%", "caf\303\251", " spaces ",
	};
	char big[5000];
	struct trace trace;
	int fd;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		EXPECT_EQ(0, write_file(ETCH, "trace_marker", texts[i]));
	}
	trace = text_read(ETCH, "trace");
	ASSERT_EQ(ARRAY_LEN(texts), trace.nr);
	for (size_t i = 0; i < trace.nr; i++) {
		EXPECT_STREQ("tracing_mark_write", trace.records[i].event);
		EXPECT_EQ(0, strncmp(texts[i], trace.records[i].text, strcspn(texts[i], "\n")));
		EXPECT_EQ(strcspn(texts[i], "\n"), strlen(trace.records[i].text));
		EXPECT_EQ(getpid(), trace.records[i].pid);
	}
	text_free(&trace);

	/* A mark that is too long is stored in part, and write() returns how much of it. */
	memset(big, 'b', sizeof(big));
	fd = open(ETCH "/trace_marker", O_WRONLY | O_CLOEXEC);
	EXPECT_EQ(4096, write(fd, big, sizeof(big)));
	close(fd);
}

/* Comments in front say how much there is. */
TEST_F(control, trace_says_how_much_there_is)
{
	char *text;

	if (!have_text())
		SKIP(return, NO_TEXT);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(0, write_file(ETCH, "trace_marker", "x"));
	}
	text = read_file(ETCH, "trace");
	EXPECT_EQ('#', text[0]);
	EXPECT_NE(NULL, strstr(text, "entries-in-buffer/entries-written: 3/3 "));
	EXPECT_EQ(3, count_records(text));
	free(text);
}

static unsigned int open_to_others;

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	if (st->st_mode & 077 || st->st_uid) {
		printf("# %s: mode %o, of user %u\n", path, st->st_mode & 07777, st->st_uid);
		open_to_others++;
	}
	return 0;
}

TEST_F(control, files_are_roots_alone)
{
	ASSERT_EQ(0, nftw(ETCH, visit, 16, FTW_PHYS));
	EXPECT_EQ(0, open_to_others);
}

TEST_F(control, nobody_else_gets_in)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (setgid(65534) || setuid(65534))
			_exit(2);
		_exit(open(ETCH "/trace", O_RDONLY) >= 0 || errno != EACCES);
	}
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
}

TEST_F(control, readme_names_every_file)
{
	static const char * const files[] = {
		"available_events", "set_event", "enable", "format", "id", "trace", "trace_pipe",
		"tracing_on", "trace_clock", "trace_marker", "statedump", "buffer_size_kb",
		"buffer_mode", "buffer_subbuf_size_kb", "buffer_percent", "per_cpu", "stats", "error_log",
		"instances", "etch_event=", "etch_buf_size=", "etch_subbuf_size=",
	};
	char *text = read_file(ETCH, "README");

	ASSERT_NE(NULL, text);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		EXPECT_NE(NULL, strstr(text, files[i]))
			TH_LOG("%s", files[i]);
	}
	free(text);
}

TEST_HARNESS_MAIN
