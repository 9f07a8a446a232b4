// SPDX-License-Identifier: GPL-2.0
/*
 * The ring buffer under torture: on each CPU a task, softirqs, hardirqs and, on
 * x86-64, non-maskable interrupts write into one ring, while it is read, reset and
 * resized. The kernel checks each record and the accounts; this test checks that all of
 * that really happened.
 *
 * Needs CONFIG_ETCH_RING_TEST. ETCH_TORTURE_MS in the environment, or
 * etch_test.torture_ms=N on the kernel's command line, says how long, in each mode.
 */
#include <sys/utsname.h>

#include "etch_test.h"

#define RING_TEST	"/sys/kernel/debug/etch_ring_test"

#define DEFAULT_MS	5000
#define MAX_MS		3600000

/* In milliseconds. */
static unsigned int how_long(void)
{
	unsigned long ms = test_number("ETCH_TORTURE_MS", "torture_ms", DEFAULT_MS);

	return ms <= MAX_MS ? ms : DEFAULT_MS;
}

FIXTURE(torture)
{
	char *text;
};

FIXTURE_VARIANT(torture)
{
	const char *mode;
	bool overwrites;
	bool discards;
};

FIXTURE_VARIANT_ADD(torture, overwrite)
{
	.mode = "overwrite",
	.overwrites = true,
};

FIXTURE_VARIANT_ADD(torture, discard)
{
	.mode = "discard",
	.discards = true,
};

FIXTURE_VARIANT_ADD(torture, both)
{
	.mode = "both",
	.overwrites = true,
	.discards = true,
};

FIXTURE_SETUP(torture)
{
	if (!have_debugfs())
		SKIP(return, NO_DEBUGFS);
	if (access(RING_TEST "/run", F_OK))
		SKIP(return, "no " RING_TEST ": CONFIG_ETCH_RING_TEST");
}

FIXTURE_TEARDOWN(torture)
{
	free(self->text);
}

static bool is_realtime(void)
{
	struct utsname uts;

	uname(&uts);
	return strstr(uts.version, "PREEMPT_RT");
}

static void expect_some(struct __test_metadata *_metadata, const char *text,
			const char *who, const char *what)
{
	EXPECT_LT(0, count_of(text, who, what)) TH_LOG("%s none %s: %s", who, what, text);
}

/* Interrupts came in the middle of records, and in the middle of each other's. */
static void expect_nesting(struct __test_metadata *_metadata, const char *text)
{
	expect_some(_metadata, text, "timer:", "half-way");
	if (is_um())
		return;
	/* With PREEMPT_RT a softirq is a task, and waits for the task that writes. */
	if (!is_realtime())
		expect_some(_metadata, text, "softirq:", "half-way");
	expect_some(_metadata, text, "irq_work:", "half-way");
	if (have_nmis())
		expect_some(_metadata, text, "nmi:", "half-way");
	EXPECT_LE(2, count_of(text, "deepest:", "interrupted"));
}

TEST_F_TIMEOUT(torture, every_record_is_accounted_for, 2 * MAX_MS / 1000)
{
	ASSERT_EQ(0, write_fmt(RING_TEST, "run", "%s %u", variant->mode, how_long()));
	self->text = read_file(RING_TEST, "run");
	ASSERT_NE(NULL, self->text);
	TH_LOG("%s, %u ms:\n%s", variant->mode, how_long(), self->text);
	EXPECT_EQ(0, count_of(self->text, "checks:", "bad"));

	expect_some(_metadata, self->text, "task:", "stored");
	expect_some(_metadata, self->text, "timer:", "stored");
	expect_some(_metadata, self->text, "softirq:", "stored");
	expect_some(_metadata, self->text, "irq_work:", "stored");
	if (have_nmis())
		expect_some(_metadata, self->text, "nmi:", "stored");
	/* A ring that is full most of the time has few writers in flight. */
	if (variant->overwrites)
		expect_nesting(_metadata, self->text);

	expect_some(_metadata, self->text, "readers:", "taken");
	expect_some(_metadata, self->text, "readers:", "peeked");
	expect_some(_metadata, self->text, "control:", "resets");
	expect_some(_metadata, self->text, "control:", "resizes");
	expect_some(_metadata, self->text, "control:", "toggles");
	expect_some(_metadata, self->text, "lost:", "big");
	/* With one CPU, there are no writers in the moment when the ring is off. */
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		expect_some(_metadata, self->text, "lost:", "off");
	if (variant->overwrites)
		expect_some(_metadata, self->text, "readers:", "overwritten");
	if (variant->discards)
		expect_some(_metadata, self->text, "lost:", "full");
	if (variant->overwrites && variant->discards)
		expect_some(_metadata, self->text, "control:", "modes");
}

TEST(nmis_write_too)
{
	char *text;

	if (!have_nmis())
		SKIP(return, NO_NMIS);
	if (access(RING_TEST "/run", F_OK))
		SKIP(return, "no " RING_TEST ": CONFIG_ETCH_RING_TEST");
	ASSERT_EQ(0, write_file(RING_TEST, "run", "both 1000"));
	text = read_file(RING_TEST, "run");
	ASSERT_NE(NULL, text);
	EXPECT_EQ(0, count_of(text, "checks:", "bad")) TH_LOG("%s", text);
	expect_some(_metadata, text, "nmi:", "stored");
	free(text);
}

TEST(bad_requests_are_refused)
{
	if (access(RING_TEST "/run", F_OK))
		SKIP(return, "no " RING_TEST ": CONFIG_ETCH_RING_TEST");
	EXPECT_EQ(EINVAL, write_file(RING_TEST, "run", "overwrite"));
	EXPECT_EQ(EINVAL, write_file(RING_TEST, "run", "sideways 10"));
	EXPECT_EQ(EINVAL, write_file(RING_TEST, "run", ""
				     "overwrite 1000 and far too much of it all"));
}

TEST_HARNESS_MAIN
