// SPDX-License-Identifier: GPL-2.0
/*
 * Processes with several threads write records, handlers of signals write some in between,
 * processes are killed, and a reader takes what there is. Then each record is accounted for:
 * a hit was read, overwritten or lost; each record is whole; the numbers that a thread gives
 * rise, and so do those that its handlers give.
 *
 * etch_test.user_ms=N or ETCH_USER_MS: how long a round lasts; 1000 milliseconds.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "etch_test.h"
#include "events.h"
#include "text.h"

ETCH_PROVIDER_DEFINE(utest, TEST_EVENTS);

#define PROCESSES	4
#define THREADS		3
#define PAD		64

/* A thread's own code, and its handler, which is not interrupted by another one. */
#define LEVELS		2

/* What a thread has tried, in memory that outlives it. */
struct tried {
	uint64_t nr[LEVELS];
	uint64_t jumps;
};

static struct tried (*tried)[THREADS];
static __thread struct tried *mine;
static __thread unsigned int me;
static __thread sigjmp_buf back;
static __thread bool may_jump;

static void hit(int level)
{
	uint64_t nr = mine->nr[level]++;
	unsigned int len = nr * 7 % PAD;
	char pad[PAD];

	memset(pad, 'a' + nr % 26, len);
	pad[len] = '\0';
	utest_step(nr, me * LEVELS + level, pad);
}

static void on_timer(int sig)
{
	if (!mine)
		return;
	hit(1);
	if (may_jump && mine->nr[1] % 5 == 0) {
		mine->jumps++;
		siglongjmp(back, 1);
	}
}

static void *run(void *arg)
{
	unsigned long which = (unsigned long)arg;

	me = which;
	mine = &tried[which / THREADS][which % THREADS];
	sigsetjmp(back, 1);
	may_jump = true;
	for (;;)
		hit(0);
	return NULL;
}

static void process(unsigned long which)
{
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction act = { .sa_handler = on_timer, .sa_flags = SA_RESTART };
	pthread_t thread;

	sigaction(SIGALRM, &act, NULL);
	for (unsigned long i = 1; i < THREADS; i++)
		pthread_create(&thread, NULL, run, (void *)(which * THREADS + i));
	setitimer(ITIMER_REAL, &often, NULL);
	run((void *)(which * THREADS));
}

/* The records that were read: is each one whole, and behind the one before it? */
struct seen {
	unsigned long nr;
	unsigned long torn;
	unsigned long disorder;
	long long next[PROCESSES * THREADS * LEVELS];
};

static void see(struct seen *seen, const struct record *r)
{
	long long nr = number_after(r->text, "nr="), thread = number_after(r->text, "thread=");
	const char *pad = strstr(r->text, "pad=");
	size_t len = pad ? strlen(pad + 4) : 99;

	seen->nr++;
	if (nr < 0 || thread < 0 || thread >= PROCESSES * THREADS * LEVELS ||
	    len != (size_t)(nr * 7 % PAD) ||
	    strspn(pad + 4, (char[]){ 'a' + nr % 26, '\0' }) != len) {
		if (!seen->torn++)
			printf("# torn: %s\n", r->text);
		return;
	}
	if (nr < seen->next[thread] && !seen->disorder++)
		printf("# not above %lld: %s\n", seen->next[thread] - 1, r->text);
	seen->next[thread] = nr + 1;
}

static void see_text(struct seen *seen, char *text)
{
	struct trace trace = text_parse(text);

	for (size_t i = 0; i < trace.nr; i++)
		if (!strcmp(trace.records[i].event, "step"))
			see(seen, &trace.records[i]);
	text_free(&trace);
}

FIXTURE(stress) {
	pid_t pids[PROCESSES];
};

FIXTURE_VARIANT(stress) {
	const char *mode;
};

FIXTURE_VARIANT_ADD(stress, discard) { .mode = "discard" };
FIXTURE_VARIANT_ADD(stress, overwrite) { .mode = "overwrite" };

FIXTURE_SETUP(stress)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (access("/dev/etch", F_OK) || etch_provider_error(utest) == ENOSYS)
		SKIP(return, NO_USER);
	ASSERT_EQ(0, etch_provider_error(utest));
	etch_as_new();
	ASSERT_EQ(0, write_file(ETCH, "buffer_mode", variant->mode));
	ASSERT_EQ(0, write_file(ETCH, STEP "/enable", "1"));
	tried = mmap(NULL, sizeof(*tried) * PROCESSES, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, tried);
}

FIXTURE_TEARDOWN(stress)
{
	etch_as_new();
}

TEST_F(stress, accounts_are_right)
{
	long long end = now_ms() + test_number("ETCH_USER_MS", "user_ms", 1000);
	unsigned long sum = 0, jumps = 0, kept, taken;
	struct seen seen = {};
	char *text, *others;

	for (unsigned long i = 0; i < PROCESSES; i++) {
		self->pids[i] = fork();
		if (!self->pids[i])
			process(i);
	}
	/* Read some on the way, so that blocks come to be free or overwritten meanwhile. */
	while (now_ms() < end) {
		int fd = open(ETCH "/trace_pipe", O_RDONLY | O_NONBLOCK);
		char *buf = must_alloc(NULL, 1 << 16);
		ssize_t len = read(fd, buf, (1 << 16) - 1);

		close(fd);
		buf[len > 0 ? len : 0] = '\0';
		see_text(&seen, buf);
		usleep(2000);
	}
	for (int i = 0; i < PROCESSES; i++)
		kill(self->pids[i], SIGKILL);
	for (int i = 0; i < PROCESSES; i++)
		waitpid(self->pids[i], NULL, 0);
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	text = read_file(ETCH, "trace_pipe");
	ASSERT_NE(NULL, text);
	see_text(&seen, text);
	for (int i = 0; i < PROCESSES; i++)
		for (int j = 0; j < THREADS; j++) {
			sum += tried[i][j].nr[0] + tried[i][j].nr[1];
			jumps += tried[i][j].jumps;
		}
	text = read_file(ETCH, "user/stats");
	ASSERT_NE(NULL, text);
	others = strstr(text, "others: ");
	taken = number_after(others, "read ");
	kept = taken + number_after(others, "overwritten ") + number_after(others, "lost ");
	printf("# tried %lu, jumps %lu, seen %lu\n# %s", sum, jumps, seen.nr, others);
	EXPECT_EQ(0, seen.torn);
	EXPECT_EQ(0, seen.disorder);
	EXPECT_EQ(0, number_after(others, "malformed "));
	EXPECT_EQ(seen.nr, taken);
	/* What a killed thread, or a handler that jumped, has begun is perhaps not stored. */
	EXPECT_LE(kept, sum);
	EXPECT_LE(sum, kept + jumps + PROCESSES * THREADS * LEVELS);
	free(text);
}

TEST_HARNESS_MAIN
