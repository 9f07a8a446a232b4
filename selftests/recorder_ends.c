// SPDX-License-Identifier: GPL-2.0
/*
 * The recorder of samples/etch/record where it was started in another way than from a
 * shell that has no wishes, and where its end is not the usual one.
 */

#include <sys/resource.h>
#include <sys/stat.h>

#include "recorder.h"

/* ---- Signals that whoever started it has chosen ---- */

static void ignore_children(void)
{
	signal(SIGCHLD, SIG_IGN);
}

static void ignore_hangup(void)
{
	signal(SIGHUP, SIG_IGN);
}

/* Who does not want to hear of his own children has that inherited. */
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

/* A terminal that is closed says so twice: the shell does, and the kernel. */
TEST_F(recorder, ends_as_usual_after_two_hangups)
{
	struct run receiver = {};
	struct found found;

	if (!loopback_up())
		SKIP(return, "no network");
	START_BOTH(&receiver, &self->run);
	/* It cannot end before it has heard both. */
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

/* ---- Files ---- */

/* The metadata is larger. */
static void keep_files_small(void)
{
	struct rlimit limit = { 4096, 4096 };

	setrlimit(RLIMIT_FSIZE, &limit);
}

TEST_F(recorder, receives_more_than_a_file_may_have)
{
	struct run receiver = { .before = keep_files_small };

	if (!loopback_up())
		SKIP(return, "no network");
	START(&receiver, "-l", "127.0.0.1:" PORT, "-o", self->run.trace);
	ASSERT_TRUE(wait_until_said(&receiver, "listening"));
	EXPECT_EQ(1, RUN(&self->run, "-e", "sched", "-d", "1", "-s", "127.0.0.1:" PORT));
	EXPECT_EQ(1, finish(&receiver))
		TH_LOG("the receiver said:\n%s", receiver.said);
	EXPECT_NE(NULL, strstr(receiver.said, strerror(EFBIG)));
}

/* Repairing cuts what is no packet. What is no stream of a trace stays as it is. */
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
