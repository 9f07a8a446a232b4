// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of a module that comes and goes; probes that three tracers want at once; and many
 * definitions, some of which there is no memory for.
 */
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "etch_test.h"
#include "faults.h"
#include "probing.h"
#include "sample.h"
#include "text.h"

#define EVENT		"events/kprobes/etch_open"
#define OPEN		"p:etch_open do_sys_openat2 dfd=$arg1:s32 name=+0($arg2):ustring"
#define HITS		20
#define TIMES		4
#define DEFINITIONS	60	/* the long lanes ask for 1,000 */

FIXTURE(probe_life) {
	struct trace trace;
};

FIXTURE_SETUP(probe_life)
{
	const char *why = probing_begins("kprobe_events", NULL);

	if (why)
		SKIP(return, "%s", why);
}

FIXTURE_TEARDOWN(probe_life)
{
	probing_ends(NULL, &self->trace);
}

/* The definition is there first, and stays on. $arg1 of a function that is not there is 0. */
TEST_F(probe_life, a_module_comes_and_goes)
{
	if (!sample_path())
		SKIP(return, "%s", no_sample());
	sample_unload();
	ASSERT_EQ(0, define_probe("p:etch_open " SAMPLE ":fire_set"));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "1"));
	for (int i = 0; i < TIMES; i++) {
		ASSERT_EQ(0, sample_load());
		ASSERT_EQ(0, write_fmt(SAMPLE_PARAMETERS, "fire", "%d", 1 + i));
		ASSERT_EQ(0, sample_unload());
		EXPECT_EQ(EBUSY, define_probe("-:etch_open"));
	}
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "0"));
	self->trace = text_read(ETCH, "trace");
	EXPECT_EQ(TIMES, self->trace.nr);
	EXPECT_EQ(TIMES, text_count(&self->trace, "etch_open"));
	EXPECT_EQ(0, define_probe("-:etch_open"));
}

/* ---- perf ---- */

#define PERF_PAGES	16

struct perf {
	int fd;
	struct perf_event_mmap_page *head;
	unsigned long long at;
};

/* All hits of this task, each with its record. */
static int perf_begin(struct perf *perf)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = atoi(read_line(FTRACE, EVENT "/id") ?: "0"),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_RAW,
		.disabled = 1,
	};

	perf->at = 0;
	perf->fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (perf->fd < 0)
		return errno;
	perf->head = mmap(NULL, (1 + PERF_PAGES) * getpagesize(), PROT_READ | PROT_WRITE,
			  MAP_SHARED, perf->fd, 0);
	return perf->head == MAP_FAILED ? errno : 0;
}

/*
 * The next one: what perf has copied of the event's record behind its length, in @record.
 * Records do not go past the end of the memory here: there are few. NULL: there is none.
 */
static const unsigned char *perf_next(struct perf *perf)
{
	unsigned char *data = (unsigned char *)perf->head + getpagesize();
	struct perf_event_header *header;

	while (perf->at < perf->head->data_head) {
		header = (void *)(data + perf->at);
		perf->at += header->size;
		if (header->type == PERF_RECORD_SAMPLE)
			return (unsigned char *)(header + 1) + sizeof(__u32);
	}
	return NULL;
}

static void perf_end(struct perf *perf)
{
	munmap(perf->head, (1 + PERF_PAGES) * getpagesize());
	close(perf->fd);
}

/* ftrace's record: 8 bytes that all have, the address, dfd, and where the name is. */
static void perf_text(char *text, size_t room, const unsigned char *record)
{
	unsigned int where;
	int dfd;

	memcpy(&dfd, record + 16, sizeof(dfd));
	memcpy(&where, record + 20, sizeof(where));
	snprintf(text, room, ") dfd=%d name=\"%s\"", dfd, record + (where & 0xffff));
}

TEST_F(probe_life, three_tracers_have_the_same)
{
	struct trace theirs;
	struct perf perf;

	if (!have_ftrace())
		SKIP(return, NO_FTRACE);
	ASSERT_EQ(0, define_probe(OPEN));
	if (perf_begin(&perf))
		SKIP(return, "no perf: CONFIG_PERF_EVENTS");
	ASSERT_EQ(0, write_file(ETCH, EVENT "/filter", MINE));
	ASSERT_EQ(0, write_file(FTRACE, EVENT "/filter", MINE));
	ASSERT_EQ(0, write_file(FTRACE, "trace", ""));
	ASSERT_EQ(0, write_file(FTRACE, EVENT "/enable", "1"));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "1"));
	ASSERT_EQ(0, ioctl(perf.fd, PERF_EVENT_IOC_ENABLE, 0));
	hits(HITS);
	ASSERT_EQ(0, ioctl(perf.fd, PERF_EVENT_IOC_DISABLE, 0));
	ASSERT_EQ(0, write_file(FTRACE, EVENT "/enable", "0"));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "0"));
	/* perf has it still. */
	EXPECT_EQ(EBUSY, define_probe("-:etch_open"));
	self->trace = text_read(ETCH, "trace");
	theirs = text_read(FTRACE, "trace");
	ASSERT_EQ(HITS, self->trace.nr);
	ASSERT_EQ(HITS, theirs.nr);
	for (int i = 0; i < HITS; i++) {
		const unsigned char *record = perf_next(&perf);
		char text[128];

		EXPECT_STREQ(theirs.records[i].text, self->trace.records[i].text);
		ASSERT_NE(NULL, record);
		perf_text(text, sizeof(text), record);
		EXPECT_STREQ(text, strchr(self->trace.records[i].text, ')') ?: "");
	}
	text_free(&theirs);
	perf_end(&perf);
	EXPECT_EQ(0, define_probe("-:etch_open"));
}

/* ---- Many ---- */

/* A definition while the @nth allocation fails, if the kernel can do that. */
static int define_with_fault(int faults, unsigned int nth, const char *text)
{
	int err;

	if (faults < 0)
		return define_probe(text);
	faults_arm(faults, nth);
	err = define_probe(text);
	faults_disarm(faults);
	return err;
}

/* A child hits the probe. Each definition is made and removed, or refused and leaves nothing. */
TEST_F_TIMEOUT(probe_life, many_definitions_under_fire, 1800)
{
	int definitions = test_number("ETCH_DEFINITIONS", "definitions", DEFINITIONS);
	int faults = have_faults() ? faults_open() : -1, made = 0, refused = 0;
	pid_t child = fork();

	ASSERT_LE(0, child);
	if (!child)
		for (;;)
			hits(HITS);
	for (int i = 0; i < definitions; i++) {
		int err = define_with_fault(faults, 1 + i % 150,
					    i % 2 ? OPEN : "r:etch_open do_sys_openat2 "
							   "dfd=$retval:s32 comm=$comm");

		if (err) {
			ASSERT_EQ(ENOMEM, err);
			ASSERT_EQ(-1, access(ETCH "/" EVENT, F_OK));
			ASSERT_NE(0, define_probe("-:etch_open"));
			refused++;
			continue;
		}
		made++;
		/* If there was no memory for Etch's event alone, the log says so. */
		if (!access(ETCH "/" EVENT, F_OK)) {
			ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "1"));
			ASSERT_EQ(EBUSY, define_probe("-:etch_open"));
			ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "0"));
		} else {
			ASSERT_LE(0, faults);
		}
		ASSERT_EQ(0, define_probe("-:etch_open"));
		ASSERT_EQ(-1, access(ETCH "/" EVENT, F_OK));
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	printf("# %d definitions made, %d refused\n", made, refused);
	EXPECT_LT(0, made);
	if (faults >= 0) {
		EXPECT_LT(0, refused);
		faults_close(faults);
	} else {
		EXPECT_EQ(0, refused);
	}
}

TEST_HARNESS_MAIN
