// SPDX-License-Identifier: GPL-2.0
/*
 * Processes and threads come and go: each record has the right number, and stays when its
 * writer has gone.
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "etch_test.h"
#include "events.h"
#include "text.h"

ETCH_PROVIDER_DEFINE(utest, TEST_EVENTS);

extern char **environ;

static int tid(void)
{
	return syscall(SYS_gettid);
}

/* The number says who writes it. */
static void hit(unsigned int who)
{
	utest_number(who, tid(), 0);
}

FIXTURE(life) {
	struct trace trace;
};

FIXTURE_SETUP(life)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (access("/dev/etch", F_OK) || etch_provider_error(utest) == ENOSYS)
		SKIP(return, NO_USER);
	ASSERT_EQ(0, etch_provider_error(utest));
	etch_as_new();
	ASSERT_EQ(0, write_file(ETCH, NUMBER "/enable", "1"));
}

FIXTURE_TEARDOWN(life)
{
	text_free(&self->trace);
	etch_as_new();
}

/* Reads all, and checks that field b is the pid of each line. */
static size_t check(struct __test_metadata *_metadata, struct trace *trace)
{
	*trace = text_read(ETCH, "trace");
	for (size_t i = 0; i < trace->nr; i++) {
		EXPECT_EQ(trace->records[i].pid, number_after(trace->records[i].text, "b="))
			TH_LOG("%s", trace->records[i].text);
	}
	return trace->nr;
}

TEST_F(life, children_have_rings_of_their_own)
{
	pid_t child;

	hit(1);
	child = fork();
	if (!child) {
		hit(2);
		if (!fork()) {
			hit(3);
			hit(3);
			_exit(0);
		}
		wait(NULL);
		hit(2);
		_exit(0);
	}
	hit(1);
	waitpid(child, NULL, 0);
	EXPECT_EQ(6, check(_metadata, &self->trace));
}

static void *run(void *who)
{
	for (int i = 0; i < 10; i++)
		hit((uintptr_t)who);
	return NULL;
}

TEST_F(life, threads_have_their_numbers)
{
	pthread_t threads[8];

	for (size_t round = 0; round < 4; round++) {
		for (size_t i = 0; i < ARRAY_LEN(threads); i++)
			ASSERT_EQ(0, pthread_create(&threads[i], NULL, run, (void *)i));
		for (size_t i = 0; i < ARRAY_LEN(threads); i++)
			pthread_join(threads[i], NULL);
	}
	EXPECT_EQ(320, check(_metadata, &self->trace));
}

TEST_F(life, what_a_killed_process_wrote_is_read)
{
	long long last = -1;
	pid_t child = fork();

	if (!child) {
		/* No system call for each, as hit() makes one. */
		int me = tid();

		for (unsigned int i = 0; ; i++)
			utest_number(i, me, 0);
	}
	usleep(50000);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	EXPECT_LT(1000, check(_metadata, &self->trace));
	for (size_t i = 0; i < self->trace.nr; i++) {
		long long who = number_after(self->trace.records[i].text, "a=");

		ASSERT_TRUE(last == -1 || who == last + 1);
		last = who;
	}
	text_free(&self->trace);
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	self->trace = text_read(ETCH, "trace_pipe");
	EXPECT_LT(1000, self->trace.nr);
	free(read_file(ETCH, "user/stats"));
	/* Its ring has gone with its last record. */
	EXPECT_EQ(0, times_in(ETCH, "user/stats", "gone"));
}

TEST_F(life, programs_find_their_events_enabled)
{
	char *argv[] = { "/proc/self/exe", "hit", NULL };
	pid_t pid;
	int status;

	hit(1);
	ASSERT_EQ(0, posix_spawn(&pid, argv[0], NULL, NULL, argv, environ));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	pid = fork();
	if (!pid) {
		hit(2);
		execv(argv[0], argv);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
	EXPECT_EQ(4, check(_metadata, &self->trace));
}

TEST_F(life, a_program_may_close_what_it_did_not_open)
{
	int status, child = fork();

	if (!child) {
		for (int i = 3; i < 1000; i++)
			close(i);
		hit(1);
		run((void *)2);
		_exit(0);
	}
	waitpid(child, &status, 0);
	EXPECT_EQ(0, status);
	EXPECT_EQ(11, check(_metadata, &self->trace));
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "hit")) {
		hit(9);
		return 0;
	}
	return test_harness_run(argc, argv);
}
