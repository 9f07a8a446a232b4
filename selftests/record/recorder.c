// SPDX-License-Identifier: GPL-2.0
/*
 * The recorder of tools/tracing/etch/record: it writes whole packets, with as many records as it
 * prints and as the kernel counts, and it leaves no instance behind.
 */

#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>

#include "load.h"
#include "recorder.h"
#include "sample.h"

/* ---- A command ---- */

TEST_F(recorder, a_command)
{
	struct found found;
	int status;

	status = RUN(&self->run, "-e", "sched", "-o", self->run.trace, "--", "/bin/sh", "-c",
		     "for i in 1 2 3 4 5 6 7 8; do /bin/true; done");
	EXPECT_EQ(0, status);
	EXPECT_TRACE(&self->run, found);
	/* Each of eight processes has at least a fork and an exit. */
	EXPECT_LE(16, found.records);
	EXPECT_EQ(0, found.gaps);
	SHOW_IF(&self->run, status);
}

TEST_F(recorder, a_commands_status)
{
	EXPECT_EQ(3, RUN(&self->run, "-e", "sched", "-o", self->run.trace, "--", "/bin/sh", "-c",
			 "exit 3"));
	remove_trace(self->run.trace);
	EXPECT_EQ(127, RUN(&self->run, "-e", "sched", "-o", self->run.trace, "--", "/no/such/program"));
	EXPECT_NE(NULL, strstr(self->run.said, "/no/such/program cannot be run: No such file"));
}

/* Tracing begins before the command, and the trace has all that the command does. */
TEST_F(recorder, all_of_a_command)
{
	struct found found;
	int status;

	ASSERT_EQ(0, mkdir(TREE, 0700));
	status = RUN(&self->run, "-i", INSTANCE, "-b", "4M", "-o", self->run.trace, "--", "/bin/sh", "-c",
		     "i=0; while [ $i -lt 1000 ]; do echo mark $i; i=$((i + 1)); done > "
		     TREE "/trace_marker");
	EXPECT_EQ(0, status);
	EXPECT_TRACE(&self->run, found);
	EXPECT_EQ(1000, found.records);
	EXPECT_EQ(1000, stat_sum(TREE, "read"));
	EXPECT_EQ(0, stat_sum(TREE, "entries"));
	SHOW_IF(&self->run, status);
}

/* No events are on, so all records are the dump's. */
TEST_F(recorder, begins_with_the_state)
{
	struct found found;
	char *text;
	int status;

	if (access(ETCH "/statedump", F_OK))
		SKIP(return, "no " ETCH "/statedump: CONFIG_ETCH_STATEDUMP");
	ASSERT_EQ(0, mkdir(TREE, 0700));
	status = RUN(&self->run, "-i", INSTANCE, "-S", "-o", self->run.trace, "--", "/bin/true");
	EXPECT_EQ(0, status);
	EXPECT_TRACE(&self->run, found);
	text = read_file(TREE, "statedump");
	ASSERT_NE(NULL, text);
	EXPECT_EQ(1, number_in(text, "complete"));
	EXPECT_LT(0, number_in(text, "tasks"));
	EXPECT_EQ(found.records, 2 + number_in(text, "tasks") + number_in(text, "exes") +
		  number_in(text, "files") + number_in(text, "mounts") + number_in(text, "irqs") +
		  number_in(text, "blocks") + number_in(text, "netifs") +
		  number_in(text, "modules"));
	free(text);
	SHOW_IF(&self->run, status);
	EXPECT_EQ(2, RUN(&self->run, "-i", INSTANCE, "-S", "-d", "0", "-o", self->run.trace));
}

/* ---- A signal ---- */

static void record_until(struct __test_metadata *_metadata, struct run *run, int sig)
{
	struct found found;
	int status;

	START(run, "-v", "-e", "sched", "-o", run->trace);
	EXPECT_TRUE(wait_until_said(run, " s  "));
	usleep(200000);
	kill(run->pid, sig);
	status = finish(run);
	EXPECT_EQ(0, status);
	EXPECT_TRACE(run, found);
	EXPECT_LT(0, found.records);
	SHOW_IF(run, status);
}

TEST_F(recorder, sigint)
{
	record_until(_metadata, &self->run, SIGINT);
}

TEST_F(recorder, sigterm)
{
	record_until(_metadata, &self->run, SIGTERM);
}

TEST_F(recorder, sighup)
{
	record_until(_metadata, &self->run, SIGHUP);
}

/* The signal ends the command, too: the recorder does not wait for it any longer. */
TEST_F(recorder, a_signal_and_a_command)
{
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	START(&self->run, "-v", "-e", "sched", "-o", self->run.trace, "--", "/bin/sleep", "60");
	EXPECT_TRUE(wait_until_said(&self->run, " s  "));
	kill(self->run.pid, SIGTERM);
	EXPECT_EQ(128 + SIGTERM, finish(&self->run));
	clock_gettime(CLOCK_MONOTONIC, &end);
	EXPECT_GT(30, end.tv_sec - begin.tv_sec);
}

TEST_F(recorder, seconds)
{
	struct found found;
	int status = RUN(&self->run, "-e", "sched", "-d", "1", "-o", self->run.trace);

	EXPECT_EQ(0, status);
	EXPECT_TRACE(&self->run, found);
	EXPECT_LT(0, found.records);
	SHOW_IF(&self->run, status);
}

/* ---- An existing instance ---- */

/* The recorder restores each setting that it changed. */
TEST_F(recorder, puts_settings_back)
{
	static const char * const files[] = {
		"set_event", "tracing_on", "trace_clock", "buffer_mode", "buffer_size_kb",
		"buffer_percent",
	};
	char *before[ARRAY_LEN(files)], *after;
	struct found found;
	int status;

	ASSERT_EQ(0, mkdir(TREE, 0700));
	EXPECT_EQ(0, write_file(TREE, "set_event", "irq:irq_handler_entry timer:timer_start"));
	EXPECT_EQ(0, write_file(TREE, "buffer_percent", "7"));
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		before[i] = read_file(TREE, files[i]);
	status = RUN(&self->run, "-i", INSTANCE, "-e", "sched", "-e", "timer,irq", "-c", "mono", "-m",
		     "discard", "-b", "256", "-w", "50", "-d", "1", "-o", self->run.trace);
	EXPECT_EQ(0, status);
	EXPECT_TRACE(&self->run, found);
	EXPECT_LT(0, found.records);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		after = read_file(TREE, files[i]);
		EXPECT_STREQ(before[i], after)
			TH_LOG("%s", files[i]);
		free(before[i]);
		free(after);
	}
	SHOW_IF(&self->run, status);
}

/* Each CPU has its own size again. */
TEST_F(recorder, puts_sizes_back)
{
	int nr = nr_cpus();
	const char *other;

	ASSERT_EQ(0, mkdir(TREE, 0700));
	other = read_line(TREE, "per_cpu/cpu1/buffer_size_kb");
	EXPECT_EQ(0, write_file(TREE, "per_cpu/cpu0/buffer_size_kb", "256"));
	EXPECT_EQ(0, RUN(&self->run, "-i", INSTANCE, "-b", "4M", "-d", "1", "-o", self->run.trace));
	EXPECT_STREQ("256", read_line(TREE, "per_cpu/cpu0/buffer_size_kb"));
	if (nr > 1) {
		EXPECT_STREQ("X", read_line(TREE, "buffer_size_kb"));
		EXPECT_STREQ(other, read_line(TREE, "per_cpu/cpu1/buffer_size_kb"));
	}
}

/* Recording from an instance that is off empties it, and leaves it off. */
TEST_F(recorder, only_what_is_there)
{
	struct found found;
	int status;

	ASSERT_EQ(0, mkdir(TREE, 0700));
	for (int i = 0; i < 10; i++)
		EXPECT_EQ(0, write_file(TREE, "trace_marker", "before"));
	EXPECT_EQ(0, write_file(TREE, "tracing_on", "0"));
	status = RUN(&self->run, "-i", INSTANCE, "-d", "0", "-o", self->run.trace);
	EXPECT_EQ(0, status);
	EXPECT_TRACE(&self->run, found);
	EXPECT_EQ(10, found.records);
	EXPECT_STREQ("0", read_line(TREE, "tracing_on"));
	SHOW_IF(&self->run, status);
}

TEST_F(recorder, ends_when_tracing_is_turned_off)
{
	struct found found;

	ASSERT_EQ(0, mkdir(TREE, 0700));
	START(&self->run, "-v", "-i", INSTANCE, "-o", self->run.trace);
	EXPECT_TRUE(wait_until_said(&self->run, " s  "));
	EXPECT_EQ(0, write_file(TREE, "trace_marker", "the last"));
	EXPECT_EQ(0, write_file(TREE, "tracing_on", "0"));
	EXPECT_EQ(0, finish(&self->run));
	EXPECT_NE(NULL, strstr(self->run.said, "somebody has turned tracing off"));
	EXPECT_TRACE(&self->run, found);
	EXPECT_EQ(1, found.records);
}

/* A new clock begins a new trace: the recorder ends, and its own trace is whole. */
TEST_F(recorder, ends_before_another_clock)
{
	struct found found;

	ASSERT_EQ(0, mkdir(TREE, 0700));
	EXPECT_EQ(0, write_file(TREE, "trace_clock", "mono"));
	START(&self->run, "-v", "-i", INSTANCE, "-e", "sched", "-w", "0", "-o", self->run.trace);
	EXPECT_TRUE(wait_until_said(&self->run, " s  "));
	EXPECT_EQ(0, write_file(TREE, "trace_clock", "boot"));
	usleep(100000);
	kill(self->run.pid, SIGINT);
	EXPECT_EQ(1, finish(&self->run));
	EXPECT_NE(NULL, strstr(self->run.said, "changed the instance's clock"));
	found = look_at_trace(self->run.trace);
	EXPECT_FALSE(found.broken);
}

/* ---- The account ---- */

static unsigned long long write_marks(unsigned int nr)
{
	int fd = open(TREE "/trace_marker", O_WRONLY | O_CLOEXEC);
	unsigned long long done = 0;
	char mark[1000];

	memset(mark, 'm', sizeof(mark));
	for (unsigned int i = 0; i < nr; i++)
		done += write(fd, mark, sizeof(mark)) == sizeof(mark);
	close(fd);
	return done;
}

/* Each mark is in the trace, or is counted as lost, and the recorder prints the losses. */
static void lose_some(struct __test_metadata *_metadata, struct run *run,
		      const char *mode, const char *which)
{
	unsigned long long written, lost;
	struct found found;

	ASSERT_EQ(0, mkdir(TREE, 0700));
	ASSERT_EQ(0, write_file(TREE, "buffer_size_kb", "32"));
	START(run, "-v", "-i", INSTANCE, "-m", mode, "-o", run->trace);
	EXPECT_TRUE(wait_until_said(run, " s  "));
	/* The recorder is stopped while many marks are written. */
	kill(run->pid, SIGSTOP);
	written = write_marks(500);
	kill(run->pid, SIGCONT);
	written += write_marks(10);
	kill(run->pid, SIGINT);
	EXPECT_EQ(0, finish(run));
	EXPECT_TRACE(run, found);
	lost = stat_sum(TREE, which);
	EXPECT_LT(0, lost);
	EXPECT_NE(NULL, strstr(run->said, "ATTENTION: "));
	EXPECT_EQ(found.records, stat_sum(TREE, "read"));
	EXPECT_EQ(0, stat_sum(TREE, "entries"));
	if (!strcmp(mode, "overwrite")) {
		EXPECT_EQ(written, found.records + lost);
		EXPECT_EQ(lost, found.overwritten);
		EXPECT_LT(0, found.gaps);
	} else {
		EXPECT_EQ(written, found.records);
		EXPECT_EQ(510, found.records + lost);
		EXPECT_EQ(lost, found.lost_full);
		EXPECT_EQ(0, found.gaps);
	}
	printf("# %llu records in %llu packets, %llu lost\n", found.records, found.packets, lost);
}

/* What a recorder with buffers of @size chose for its own instance. */
static const char *subbuf_of(struct __test_metadata *_metadata, struct run *run, const char *size)
{
	static char kb[32];
	char tree[80];

	START(run, "-v", "-e", "sched", "-b", size, "-o", run->trace);
	EXPECT_TRUE(wait_until_said(run, " s  "));
	snprintf(tree, sizeof(tree), ETCH "/instances/record-%d", run->pid);
	snprintf(kb, sizeof(kb), "%s", read_line(tree, "buffer_subbuf_size_kb"));
	kill(run->pid, SIGINT);
	EXPECT_EQ(0, finish(run));
	remove_trace(run->trace);
	return kb;
}

/* Each packet takes system calls. In an instance of the user's, packets are as they were. */
TEST_F(recorder, its_own_packets_are_an_eighth_of_a_buffer)
{
	EXPECT_STREQ("256", subbuf_of(_metadata, &self->run, "8M"));
	EXPECT_STREQ("128", subbuf_of(_metadata, &self->run, "1024"));
	EXPECT_STREQ("16", subbuf_of(_metadata, &self->run, "64"));
	ASSERT_EQ(0, mkdir(TREE, 0700));
	EXPECT_EQ(0, RUN(&self->run, "-i", INSTANCE, "-e", "sched", "-o", self->run.trace, "--",
			 "true"));
	EXPECT_STREQ("16", read_line(TREE, "buffer_subbuf_size_kb"));
}

TEST_F(recorder, tells_what_was_overwritten)
{
	lose_some(_metadata, &self->run, "overwrite", "overwritten");
}

TEST_F(recorder, tells_what_was_discarded)
{
	lose_some(_metadata, &self->run, "discard", "lost full");
}

TEST_F(recorder, tells_that_another_has_read)
{
	char buf[8192];
	int fd;

	if (!have_text())
		SKIP(return, NO_TEXT);
	ASSERT_EQ(0, mkdir(TREE, 0700));
	START(&self->run, "-v", "-i", INSTANCE, "-w", "100", "-o", self->run.trace);
	EXPECT_TRUE(wait_until_said(&self->run, " s  "));
	EXPECT_EQ(0, write_file(TREE, "trace_marker", "for another"));
	fd = open(TREE "/trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	EXPECT_LT(0, read(fd, buf, sizeof(buf)));
	close(fd);
	kill(self->run.pid, SIGINT);
	EXPECT_EQ(1, finish(&self->run));
	EXPECT_NE(NULL, strstr(self->run.said, "ATTENTION: 1 records are missing: somebody else"));
}

/* ---- Errors ---- */

/* KiB of all format files, which the recorder keeps beside the packets. */
static unsigned int formats_kb(void)
{
	FILE *all = popen("cat " ETCH "/events/*/*/format | wc -c", "r");
	unsigned int bytes = 0;

	if (!all || fscanf(all, "%u", &bytes) != 1)
		bytes = 0;
	if (all)
		pclose(all);
	return bytes / 1024;
}

/* The trace has whole packets up to the full disk, and each missing record is counted. */
TEST_F(recorder, a_full_disk)
{
	char options[32], *metadata = read_file(ETCH, "metadata");
	struct found found;
	unsigned long long dropped = 0, left = 0;
	unsigned int marks, description;
	const char *at;
	int status;

	/*
	 * The disk has room for the metadata and formats, twice: a newer version replaces the
	 * older one.
	 */
	ASSERT_NE(NULL, metadata);
	description = strlen(metadata) / 1024 + formats_kb() + 8;
	marks = 4 * DISK_KB + 2 * description;
	snprintf(options, sizeof(options), "size=%uk", DISK_KB + 2 * description);
	free(metadata);
	ASSERT_EQ(0, mount("none", self->run.dir, "tmpfs", 0, options));
	ASSERT_EQ(0, mkdir(TREE, 0700));
	/* The buffers have room for more than the disk: no record is overwritten before. */
	ASSERT_EQ(0, write_file(TREE, "buffer_size_kb", "8192"));
	EXPECT_EQ(marks, write_marks(marks));
	status = RUN(&self->run, "-i", INSTANCE, "-d", "60", "-o", self->run.trace);
	EXPECT_EQ(1, status);
	EXPECT_NE(NULL, strstr(self->run.said, "No space left on device"));
	EXPECT_NE(NULL, strstr(self->run.said, "make room there"));
	EXPECT_TRACE(&self->run, found);
	at = strstr(self->run.said, "ATTENTION: ");
	if (at)
		sscanf(at, "ATTENTION: %llu records were taken", &dropped);
	left = stat_sum(TREE, "entries");
	EXPECT_LT(0, dropped);
	EXPECT_EQ(marks, found.records + dropped + left);
	printf("# %llu records on the disk, %llu dropped, %llu left\n", found.records, dropped, left);
	SHOW_IF(&self->run, found.records + dropped + left != marks);
	remove_trace(self->run.trace);
	EXPECT_EQ(0, umount(self->run.dir));
}

TEST_F(recorder, no_such_event)
{
	EXPECT_EQ(1, RUN(&self->run, "-e", "sched", "-e", "sched:no_such", "-o", self->run.trace));
	EXPECT_NE(NULL, strstr(self->run.said, "set_event: error: No such event\n"
			       "  Command: sched:no_such\n"));
	EXPECT_NE(0, access(self->run.trace, F_OK));
}

TEST_F(recorder, a_folder_in_use)
{
	ASSERT_EQ(0, mkdir(self->run.trace, 0700));
	ASSERT_EQ(0, write_bytes(self->run.trace, "metadata", O_CREAT, "precious", 8));
	EXPECT_EQ(1, RUN(&self->run, "-e", "sched", "-o", self->run.trace));
	EXPECT_NE(NULL, strstr(self->run.said, "is there and not empty"));
	EXPECT_STREQ("precious", read_line(self->run.trace, "metadata"));
}

TEST_F(recorder, wrong_options)
{
	EXPECT_EQ(2, RUN(&self->run, "-o", self->run.trace));
	EXPECT_NE(NULL, strstr(self->run.said, "nothing to record"));
	EXPECT_EQ(2, RUN(&self->run, "-Z"));
	EXPECT_EQ(1, RUN(&self->run, "-i", "no-such-instance", "-o", self->run.trace));
	EXPECT_NE(NULL, strstr(self->run.said, "there is no instance 'no-such-instance'"));
	EXPECT_EQ(1, RUN(&self->run, "-e", "sched", "-b", "much", "-o", self->run.trace));
	EXPECT_NE(NULL, strstr(self->run.said, "-b much: a size"));
	EXPECT_EQ(1, RUN(&self->run, "-e", "sched", "-c", "sundial", "-o", self->run.trace));
	EXPECT_NE(NULL, strstr(self->run.said, "trace_clock: error: No such clock"));
}

/* A killed recorder can leave a cut packet, and an instance. -r repairs the packet. */
TEST_F(recorder, repairs)
{
	struct found before, after;
	char instance[80], file[100];
	struct stat st;

	/* Timers go off on an idle machine, too, so there is a packet soon. */
	START(&self->run, "-e", "timer", "-w", "0", "-o", self->run.trace);
	EXPECT_TRUE(wait_until_written(&self->run));
	kill(self->run.pid, SIGKILL);
	EXPECT_EQ(256 + SIGKILL, finish(&self->run))
		TH_LOG("it said:\n%s", self->run.said);
	snprintf(instance, sizeof(instance), ETCH "/instances/record-%d", self->run.pid);
	EXPECT_EQ(0, rmdir(instance));

	/* path_of() does not keep it for as long. */
	snprintf(file, sizeof(file), "%s/cpu0", self->run.trace);
	ASSERT_EQ(0, stat(file, &st));
	before = look_at_trace(self->run.trace);
	ASSERT_EQ(0, write_bytes(self->run.trace, "cpu0", O_APPEND, "\xc1\x1f\xfc\xc1 no packet", 14));
	after = look_at_trace(self->run.trace);
	EXPECT_TRUE(after.broken);
	EXPECT_EQ(0, RUN(&self->run, "-r", self->run.trace));
	after = look_at_trace(self->run.trace);
	EXPECT_FALSE(after.broken);
	EXPECT_LE(before.records, after.records);

	/* A byte of the last packet is missing. It is padding, or the packet goes. */
	ASSERT_EQ(0, stat(file, &st));
	EXPECT_EQ(0, truncate(file, st.st_size - 1));
	EXPECT_TRUE(look_at_trace(self->run.trace).broken);
	EXPECT_EQ(0, RUN(&self->run, "-r", self->run.trace));
	after = look_at_trace(self->run.trace);
	EXPECT_FALSE(after.broken);
}

/* ---- Metadata ---- */

static int generation_of(const char *metadata)
{
	const char *at = strstr(metadata, "metadata_generation = ");
	int generation = -1;

	if (at)
		sscanf(at, "metadata_generation = %d", &generation);
	return generation;
}

/* metadata describes a module's events before their packets come: a kill loses nothing. */
TEST_F(recorder, metadata_is_fresh)
{
	char *before, *after;
	struct found found;
	int tries = 100;

	ASSERT_EQ(0, mkdir(TREE, 0700));
	START(&self->run, "-v", "-i", INSTANCE, "-w", "0", "-o", self->run.trace);
	EXPECT_TRUE(wait_until_said(&self->run, " s  "));
	before = read_file(self->run.trace, "metadata");
	if (!sample_path()) {
		kill(self->run.pid, SIGINT);
		finish(&self->run);
		SKIP(return, "%s", no_sample());
	}
	ASSERT_EQ(0, sample_load());
	EXPECT_EQ(0, write_file(TREE, "events/" SAMPLE "/enable", "1"));
	EXPECT_EQ(0, write_file("/sys/module/" SAMPLE "/parameters", "fire", "3"));
	EXPECT_EQ(0, write_file(TREE, "flush", "1"));
	/* Wait until the file has them: emulated machines need a while. */
	for (bool has = false; !has && tries; tries--) {
		usleep(200000);
		after = read_file(self->run.trace, "metadata");
		has = generation_of(after) > generation_of(before);
		free(after);
	}
	for (; tries && !look_at_trace(self->run.trace).records; tries--)
		usleep(200000);
	kill(self->run.pid, SIGKILL);
	EXPECT_EQ(256 + SIGKILL, finish(&self->run));
	EXPECT_EQ(0, write_file(TREE, "events/enable", "0"));
	EXPECT_EQ(0, syscall(SYS_delete_module, SAMPLE, O_NONBLOCK));
	EXPECT_EQ(0, RUN(&self->run, "-r", self->run.trace));

	after = read_file(self->run.trace, "metadata");
	found = look_at_trace(self->run.trace);
	EXPECT_FALSE(found.broken);
	EXPECT_LT(0, found.records);
	ASSERT_NE(NULL, before);
	ASSERT_NE(NULL, after);
	/* They may be in there from an earlier time, so not: they were not there before. */
	EXPECT_LT(generation_of(before), generation_of(after));
	EXPECT_NE(NULL, strstr(after, SAMPLE "_list"));
	free(before);
	free(after);
}

/* ---- To another machine ---- */

TEST_F(recorder, sends)
{
	struct run receiver = {};
	struct found found;
	int status;

	if (!loopback(true))
		SKIP(return, "no network");
	START(&receiver, "-l", "127.0.0.1:" PORT, "-o", self->run.trace);
	ASSERT_TRUE(wait_until_said(&receiver, "listening"));
	status = RUN(&self->run, "-e", "sched", "-d", "1", "-s", "127.0.0.1:" PORT);
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, finish(&receiver))
		TH_LOG("the receiver said:\n%s", receiver.said);
	EXPECT_TRACE(&self->run, found);
	EXPECT_LT(0, found.records);
	SHOW_IF(&self->run, status);
}

/* The receiver is killed while a CPU's file is on its way. */
TEST_F(recorder, notices_that_the_receiver_has_gone)
{
	struct run receiver = {};

	if (!loopback(true))
		SKIP(return, "no network");
	START(&receiver, "-l", "127.0.0.1:" PORT, "-o", self->run.trace);
	ASSERT_TRUE(wait_until_said(&receiver, "listening"));
	START(&self->run, "-v", "-e", "timer", "-w", "0", "-s", "127.0.0.1:" PORT);
	EXPECT_TRUE(wait_until_said(&self->run, " s  "));
	EXPECT_TRUE(wait_until_written(&self->run));
	kill(receiver.pid, SIGKILL);
	EXPECT_EQ(256 + SIGKILL, finish(&receiver));
	if (!wait_until_said(&self->run, "the receiver has gone"))
		kill(self->run.pid, SIGKILL);
	EXPECT_EQ(1, finish(&self->run));
	EXPECT_NE(NULL, strstr(self->run.said, "the receiver has gone"))
		TH_LOG("it said:\n%s", self->run.said);
}

/* The recorder has nothing to send, and still notices the end of the receiver. */
TEST_F(recorder, notices_a_receiver_that_goes_in_silence)
{
	struct run receiver = {};
	const char *said;

	if (!loopback(true))
		SKIP(return, "no network");
	ASSERT_EQ(0, mkdir(TREE, 0700));
	START(&receiver, "-l", "127.0.0.1:" PORT, "-o", self->run.trace);
	ASSERT_TRUE(wait_until_said(&receiver, "listening"));
	START(&self->run, "-v", "-i", INSTANCE, "-s", "127.0.0.1:" PORT);
	EXPECT_TRUE(wait_until_said(&self->run, " s  "));
	kill(receiver.pid, SIGKILL);
	EXPECT_EQ(256 + SIGKILL, finish(&receiver));
	if (!wait_until_said(&self->run, "the receiver has gone"))
		kill(self->run.pid, SIGKILL);
	EXPECT_EQ(1, finish(&self->run));
	/* It prints this, and no further error about the connection. */
	said = strstr(self->run.said, "the receiver has gone");
	EXPECT_TRUE(said && !strstr(said + 1, "127.0.0.1:" PORT " does not"))
		TH_LOG("it said:\n%s", self->run.said);
}

/*
 * Starts a recorder that has sent its metadata to this test, and has a packet, but no
 * connection for it. Returns the connection of the metadata, or -1.
 */
static int have_packet_for_us(struct run *run)
{
	int listening = listen_as_receiver(), control;

	START(run, "-v", "-i", INSTANCE, "-w", "0", "-s", "127.0.0.1:" PORT);
	control = accept(listening, NULL, NULL);
	close(listening);
	if (control < 0 || !take_metadata(control, NULL) ||
	    !wait_until_said(run, " s  ") || write_file(TREE, "trace_marker", "here") ||
	    write_file(TREE, "flush", "1"))
		return -1;
	return control;
}

/* The receiver has just answered: the recorder must not advise to start it. */
TEST_F(recorder, a_receiver_that_takes_no_files)
{
	int control;

	if (!loopback(true))
		SKIP(return, "no network");
	ASSERT_EQ(0, mkdir(TREE, 0700));
	control = have_packet_for_us(&self->run);
	ASSERT_LE(0, control);
	/* Before the first packet. */
	EXPECT_TRUE(take_metadata(control, NULL));
	EXPECT_TRUE(wait_until_said(&self->run,
				    "does not answer: Connection refused: the receiver has gone"));
	close(control);
	EXPECT_EQ(1, finish(&self->run));
	EXPECT_EQ(NULL, strstr(self->run.said, "-l PORT"))
		TH_LOG("it said:\n%s", self->run.said);
}

/* The receiver sends the reason before it closes the connection: the recorder prints it, */
TEST_F(recorder, a_receiver_that_has_no_room)
{
	int control;

	if (!loopback(true))
		SKIP(return, "no network");
	ASSERT_EQ(0, mkdir(TREE, 0700));
	control = have_packet_for_us(&self->run);
	ASSERT_LE(0, control);
	EXPECT_TRUE(take_metadata(control, "no room"));
	close(control);
	EXPECT_EQ(1, finish(&self->run));
	EXPECT_NE(NULL, strstr(self->run.said, "of metadata: no room"))
		TH_LOG("it said:\n%s", self->run.said);
	/* and nothing about the connection. */
	EXPECT_EQ(NULL, strstr(self->run.said, "has closed the connection"));
	EXPECT_EQ(NULL, strstr(self->run.said, "the receiver has gone"))
		TH_LOG("it said:\n%s", self->run.said);
}

/* The receiver reports that, and keeps the data that it has. */
TEST_F(recorder, notices_that_the_sender_has_gone)
{
	struct run receiver = {};
	char instance[80];

	if (!loopback(true))
		SKIP(return, "no network");
	START(&receiver, "-l", "127.0.0.1:" PORT, "-o", self->run.trace);
	ASSERT_TRUE(wait_until_said(&receiver, "listening"));
	START(&self->run, "-v", "-e", "timer", "-w", "0", "-s", "127.0.0.1:" PORT);
	EXPECT_TRUE(wait_until_said(&self->run, " s  "));
	EXPECT_TRUE(wait_until_written(&self->run));
	kill(self->run.pid, SIGKILL);
	EXPECT_EQ(256 + SIGKILL, finish(&self->run));
	snprintf(instance, sizeof(instance), ETCH "/instances/record-%d", self->run.pid);
	EXPECT_EQ(0, rmdir(instance));
	EXPECT_EQ(1, finish(&receiver));
	EXPECT_NE(NULL, strstr(receiver.said, "gone without a word"));
	EXPECT_FALSE(look_at_trace(self->run.trace).broken);
}

/* A second Ctrl-C ends the recorder even if the receiver is stuck. */
TEST_F(recorder, a_second_signal_aborts)
{
	struct run receiver = {};
	char instance[80];

	if (!loopback(true))
		SKIP(return, "no network");
	START_BOTH(&receiver, &self->run);
	kill(receiver.pid, SIGSTOP);
	kill(self->run.pid, SIGINT);
	EXPECT_TRUE(wait_until_heard(&self->run));
	EXPECT_EQ(0, waitpid(self->run.pid, NULL, WNOHANG));
	kill(self->run.pid, SIGINT);
	EXPECT_EQ(128 + SIGINT, finish(&self->run));
	EXPECT_NE(NULL, strstr(self->run.said, "aborted"));
	snprintf(instance, sizeof(instance), ETCH "/instances/record-%d", self->run.pid);
	EXPECT_EQ(0, rmdir(instance));
	kill(receiver.pid, SIGKILL);
	kill(receiver.pid, SIGCONT);
	finish(&receiver);
}

TEST_F(recorder, sends_to_nobody)
{
	if (!loopback(true))
		SKIP(return, "no network");
	EXPECT_EQ(1, RUN(&self->run, "-e", "sched", "-s", "127.0.0.1:" PORT));
	EXPECT_NE(NULL, strstr(self->run.said, "does not answer: Connection refused"));
}

/* ---- Processors ---- */

#define CPU1	"/sys/devices/system/cpu/cpu1"

/* A CPU goes off line and comes back: the trace has its records from before and after. */
TEST_F(recorder, a_cpu_that_goes_and_comes)
{
	struct found found;
	int status;

	if (access(CPU1 "/online", W_OK))
		SKIP(return, "no second processor that can go off line");
	START(&self->run, "-v", "-e", "sched", "-o", self->run.trace);
	EXPECT_TRUE(wait_until_said(&self->run, " s  "));
	EXPECT_EQ(0, write_file(CPU1, "online", "0"));
	sleep(2);
	EXPECT_EQ(0, write_file(CPU1, "online", "1"));
	sleep(1);
	kill(self->run.pid, SIGINT);
	status = finish(&self->run);
	EXPECT_EQ(0, status);
	EXPECT_TRACE(&self->run, found);
	EXPECT_EQ(2, found.files);
	SHOW_IF(&self->run, status);
}

/* A CPU that comes on line after the recording began. */
TEST_F(recorder, a_cpu_that_comes)
{
	struct found found;
	int status;

	if (access(CPU1 "/online", W_OK))
		SKIP(return, "no second processor that can go off line");
	EXPECT_EQ(0, write_file(CPU1, "online", "0"));
	START(&self->run, "-v", "-e", "sched", "-o", self->run.trace);
	EXPECT_TRUE(wait_until_said(&self->run, " s  "));
	EXPECT_EQ(0, write_file(CPU1, "online", "1"));
	sleep(1);
	kill(self->run.pid, SIGINT);
	status = finish(&self->run);
	EXPECT_EQ(0, status);
	EXPECT_TRACE(&self->run, found);
	EXPECT_EQ(2, found.files);
	SHOW_IF(&self->run, status);
}

TEST_HARNESS_MAIN
