// SPDX-License-Identifier: GPL-2.0
/*
 * The recorder of tools/tracing/etch/record when its parent changed signals or limits, and when
 * it does not end in the usual way.
 */

#include <dirent.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "faults.h"
#include "load.h"
#include "recorder.h"
#include "sample.h"

/* ---- Signals that the parent ignores ---- */

static void ignore_children(void)
{
	signal(SIGCHLD, SIG_IGN);
}

static void ignore_hangup(void)
{
	signal(SIGHUP, SIG_IGN);
}

/* A parent that ignores SIGCHLD passes that on. The recorder still waits for its command. */
TEST_F(recorder, hears_of_its_command)
{
	self->run.before = ignore_children;
	EXPECT_EQ(3, RUN(&self->run, "-e", "sched", "-o", self->run.trace, "--",
			 "/bin/sh", "-c", "exit 3"));
	EXPECT_FALSE(look_at_trace(self->run.trace).broken);
}

/* As with nohup. */
TEST_F(recorder, outlives_a_hangup_that_is_ignored)
{
	struct found found;

	self->run.before = ignore_hangup;
	START(&self->run, "-v", "-e", "sched", "-o", self->run.trace);
	EXPECT_TRUE(wait_until_said(&self->run, " s  "));
	kill(self->run.pid, SIGHUP);
	sleep(1);
	EXPECT_EQ(0, waitpid(self->run.pid, NULL, WNOHANG));
	kill(self->run.pid, SIGINT);
	EXPECT_EQ(0, finish(&self->run));
	EXPECT_TRACE(&self->run, found);
}

/* Closing a terminal sends SIGHUP twice: by the shell and by the kernel. */
TEST_F(recorder, ends_as_usual_after_two_hangups)
{
	struct run receiver = {};
	struct found found;

	if (!loopback(true))
		SKIP(return, "no network");
	START_BOTH(&receiver, &self->run);
	/* The stopped receiver keeps the recorder from ending before the second signal. */
	kill(receiver.pid, SIGSTOP);
	kill(self->run.pid, SIGHUP);
	EXPECT_TRUE(wait_until_heard(&self->run));
	kill(self->run.pid, SIGHUP);
	kill(receiver.pid, SIGCONT);
	EXPECT_EQ(0, finish(&self->run))
		TH_LOG("it said:\n%s", self->run.said);
	EXPECT_EQ(0, finish(&receiver));
	EXPECT_TRACE(&self->run, found);
	EXPECT_LT(0, found.records);
}

/* ---- Few resources ---- */

#define FEW_FILES	12

static void keep_few_files(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = FEW_FILES;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* The recorder raises its limit of open files; its command has the limit of the parent. */
TEST_F(recorder, has_files_for_each_cpu)
{
	self->run.before = keep_few_files;
	EXPECT_EQ(FEW_FILES, RUN(&self->run, "-e", "sched", "-o", self->run.trace, "--",
				 "/bin/sh", "-c", "exit $(ulimit -n)"));
	SHOW_IF(&self->run, !strstr(self->run.said, " records of "));
	EXPECT_FALSE(look_at_trace(self->run.trace).broken);
}

/* Arms a failure in each thread but the first; with @ask, counts failures still armed. */
static int threads_fail(pid_t pid, bool ask)
{
	char tasks[64], file[64];
	struct dirent *entry;
	int nr = 0;
	DIR *dir;

	snprintf(tasks, sizeof(tasks), "/proc/%d/task", pid);
	dir = opendir(tasks);
	while (dir && (entry = readdir(dir))) {
		if (*entry->d_name == '.' || atoi(entry->d_name) == pid)
			continue;
		snprintf(file, sizeof(file), "%s/fail-nth", entry->d_name);
		if (ask)
			nr += strcmp(read_line(tasks, file), "0") != 0;
		else
			nr += !write_file(tasks, file, "1");
	}
	if (dir)
		closedir(dir);
	return nr;
}

/* Without memory for a spare sub-buffer, reading fails for now, and no record is lost. */
TEST_F(recorder, waits_for_memory)
{
	struct found found;
	int left;

	if (!have_faults())
		SKIP(return, NO_FAULTS);
	/* Small packets, so that each thread soon takes one. */
	START(&self->run, "-v", "-b", "64", "-e", "sched", "-o", self->run.trace);
	EXPECT_TRUE(wait_until_said(&self->run, " s  "));
	ASSERT_EQ(0, faults_set(true));
	EXPECT_LT(0, threads_fail(self->run.pid, false));
	for (int tries = 0; (left = threads_fail(self->run.pid, true)) && tries < 100; tries++)
		usleep(100000);
	EXPECT_EQ(0, left);
	EXPECT_EQ(0, faults_set(false));
	sleep(1);
	kill(self->run.pid, SIGINT);
	EXPECT_EQ(0, finish(&self->run));
	SHOW_IF(&self->run, !strstr(self->run.said, " records of "));
	EXPECT_TRACE(&self->run, found);
	EXPECT_LT(0, found.records);
}

/* The recorder restores all events except those whose module was unloaded. */
TEST_F(recorder, puts_back_the_events_that_are_left)
{
	if (!sample_path())
		SKIP(return, "%s", no_sample());
	ASSERT_EQ(0, mkdir(TREE, 0700));
	ASSERT_EQ(0, sample_load());
	EXPECT_EQ(0, write_file(TREE, "set_event", SAMPLE ":etch_sample_begin"));
	EXPECT_EQ(0, write_file(TREE, "set_event", "sched:sched_switch"));
	START(&self->run, "-v", "-i", INSTANCE, "-e", "sched:sched_waking", "-o",
	      self->run.trace);
	EXPECT_TRUE(wait_until_said(&self->run, " s  "));
	EXPECT_EQ(0, sample_unload());
	kill(self->run.pid, SIGINT);
	EXPECT_EQ(1, finish(&self->run));
	EXPECT_NE(NULL, strstr(self->run.said, SAMPLE ":etch_sample_begin"));
	EXPECT_STREQ("sched:sched_switch", read_line(TREE, "set_event"));
	EXPECT_STREQ("0", read_line(TREE, "events/sched/sched_waking/enable"));
}

/* ---- A tree that goes away ---- */

/* The recorder cannot read tracing_on any more, and must not wait for ever. */
TEST_F(recorder, ends_without_its_tree)
{
	char mounted[80], tree[100], instance[80];

	snprintf(mounted, sizeof(mounted), "%s/debugfs", self->run.dir);
	snprintf(tree, sizeof(tree), "%s/etch", mounted);
	ASSERT_EQ(0, mkdir(mounted, 0700));
	ASSERT_EQ(0, mount("none", mounted, "debugfs", 0, NULL));
	START(&self->run, "-v", "-e", "sched", "-t", tree, "-o", self->run.trace);
	EXPECT_TRUE(wait_until_said(&self->run, " s  "));
	/* From here on, the recorder needs only files that it has open. */
	EXPECT_TRUE(wait_until_written(&self->run));
	EXPECT_EQ(0, umount2(mounted, MNT_DETACH));
	kill(self->run.pid, SIGINT);
	EXPECT_EQ(1, finish(&self->run));
	EXPECT_FALSE(look_at_trace(self->run.trace).broken);
	EXPECT_EQ(0, rmdir(mounted));
	snprintf(instance, sizeof(instance), ETCH "/instances/record-%d", self->run.pid);
	EXPECT_EQ(0, rmdir(instance));
}

/* ---- A silent sender ---- */

/* A machine that goes down closes no connection. */
TEST_F(recorder, gives_up_a_sender_that_is_silent)
{
	struct run receiver = {};
	char instance[80];

	if (!loopback(true))
		SKIP(return, "no network");
	START_BOTH(&receiver, &self->run);
	EXPECT_TRUE(loopback(false));
	kill(self->run.pid, SIGKILL);
	EXPECT_EQ(256 + SIGKILL, finish(&self->run));
	snprintf(instance, sizeof(instance), ETCH "/instances/record-%d", self->run.pid);
	EXPECT_EQ(0, rmdir(instance));
	/* The receiver probes the connection for half a minute. */
	EXPECT_EQ(1, finish(&receiver));
	EXPECT_NE(NULL, strstr(receiver.said, "is not complete"))
		TH_LOG("the receiver said:\n%s", receiver.said);
	EXPECT_TRUE(loopback(true));
	EXPECT_FALSE(look_at_trace(self->run.trace).broken);
}

/* ---- Files ---- */

/* A limit below the size of the metadata. */
static void keep_files_small(void)
{
	struct rlimit limit = { 4096, 4096 };

	setrlimit(RLIMIT_FSIZE, &limit);
}

TEST_F(recorder, receives_more_than_a_file_may_have)
{
	struct run receiver = { .before = keep_files_small };

	if (!loopback(true))
		SKIP(return, "no network");
	START(&receiver, "-l", "127.0.0.1:" PORT, "-o", self->run.trace);
	ASSERT_TRUE(wait_until_said(&receiver, "listening"));
	EXPECT_EQ(1, RUN(&self->run, "-e", "sched", "-d", "1", "-s", "127.0.0.1:" PORT));
	EXPECT_EQ(1, finish(&receiver))
		TH_LOG("the receiver said:\n%s", receiver.said);
	EXPECT_NE(NULL, strstr(receiver.said, strerror(EFBIG)));
}

/* Repairing cuts bytes that are no packet, in streams. Other files stay as they are. */
TEST_F(recorder, repairs_streams_alone)
{
	static const char text[] = "no packet";
	char other[100], link[100];
	struct stat st;

	EXPECT_EQ(0, RUN(&self->run, "-e", "sched", "-d", "1", "-o", self->run.trace));
	snprintf(other, sizeof(other), "%s/cpu0.gz", self->run.trace);
	snprintf(link, sizeof(link), "%s/cpu77", self->run.trace);
	close(open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	EXPECT_EQ(0, write_bytes(self->run.trace, "cpu0.gz", O_APPEND, text, sizeof(text)));
	EXPECT_EQ(0, RUN(&self->run, "-r", self->run.trace));
	EXPECT_EQ(0, stat(other, &st));
	EXPECT_EQ((off_t)sizeof(text), st.st_size);

	EXPECT_EQ(0, symlink("cpu0.gz", link));
	EXPECT_EQ(1, RUN(&self->run, "-r", self->run.trace));
	EXPECT_EQ(0, stat(other, &st));
	EXPECT_EQ((off_t)sizeof(text), st.st_size);
}

TEST_HARNESS_MAIN
