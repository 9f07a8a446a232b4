// SPDX-License-Identifier: GPL-2.0
/*
 * Immediate values, while all CPUs run through the code that is patched.
 *
 * Needs CONFIG_IMV_TEST, for values that the test may set, and CONFIG_KUNIT, for the
 * tests of every width: these ran at boot, and run again here, after init code was
 * freed. ETCH_CYCLES and etch_test.cycles=N work as in gates.
 */
#include <signal.h>
#include <sys/wait.h>

#include "etch_test.h"
#include "module.h"

#define DEBUGFS		"/sys/kernel/debug"
#define IMV_TEST	DEBUGFS "/imv_test"
#define KUNIT		DEBUGFS "/kunit/imv"
#define MODULE		"immediate_test_mod"

#define CYCLES		10000
#define LOADS		30
#define PROBES		24

static bool have(const char *path)
{
	return !access(path, F_OK);
}

/* Its exit status is 0 when the run went through. */
static pid_t start_run(unsigned int cycles)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	_exit(write_fmt(IMV_TEST, "run", "%u", cycles) ? 1 : 0);
}

static int end_of(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

FIXTURE(immediate)
{
	char *text;
};

FIXTURE_SETUP(immediate)
{
	if (!have_debugfs())
		SKIP(return, NO_DEBUGFS);
	if (!have(IMV_TEST "/run"))
		SKIP(return, "no " IMV_TEST ": CONFIG_IMV_TEST");
}

FIXTURE_TEARDOWN(immediate)
{
	free(self->text);
}

TEST_F(immediate, kunit_passes_after_boot)
{
	if (!have(KUNIT "/run"))
		SKIP(return, "no " KUNIT ": CONFIG_KUNIT_DEBUGFS");

	ASSERT_EQ(0, write_file(KUNIT, "run", "1"));
	self->text = read_file(KUNIT, "results");
	ASSERT_NE(NULL, self->text);
	EXPECT_NE(NULL, strstr(self->text, "\nok 1 imv")) TH_LOG("%s", self->text);
	EXPECT_EQ(NULL, strstr(self->text, "not ok")) TH_LOG("%s", self->text);
}

static void expect_good(struct __test_metadata *_metadata, const char *text,
			const char *who)
{
	EXPECT_LT(0, count_of(text, who, "reads")) TH_LOG("%s never read: %s", who, text);
	EXPECT_EQ(0, count_of(text, who, "bad")) TH_LOG("%s", text);
}

TEST_F_TIMEOUT(immediate, only_values_that_were_set, 600)
{
	unsigned int cycles = test_cycles(CYCLES);

	ASSERT_EQ(0, end_of(start_run(cycles)));
	self->text = read_file(IMV_TEST, "run");
	TH_LOG("%s", self->text);
	expect_good(_metadata, self->text, "task:");
	expect_good(_metadata, self->text, "timer:");
	EXPECT_LE(cycles, count_of(self->text, "writer:", "sets"));
	EXPECT_EQ(0, count_of(self->text, "writer:", "failed"));
	if (have_nmis())
		expect_good(_metadata, self->text, "nmi:");
}

TEST_F_TIMEOUT(immediate, only_values_that_were_set_in_nmis, 600)
{
	if (!have_nmis())
		SKIP(return, NO_NMIS);
	ASSERT_EQ(0, end_of(start_run(test_cycles(CYCLES) / 10)));
	self->text = read_file(IMV_TEST, "run");
	expect_good(_metadata, self->text, "nmi:");
}

TEST_F_TIMEOUT(immediate, modules_come_and_go, 600)
{
	const char *path;
	pid_t run;
	int i;

	if (!have_modules())
		SKIP(return, NO_MODULES);
	path = module_path(NULL, "kernel/etch/hook", MODULE);
	if (!path)
		SKIP(return, "no module " MODULE);

	run = start_run(1000 * CYCLES);
	ASSERT_LT(0, run);
	for (i = 0; i < LOADS; i++) {
		ASSERT_EQ(0, module_load(path, "")) TH_LOG("load %d", i);
		/* The module's init code is freed: nothing may be patched there any more. */
		EXPECT_EQ(0, write_file("/sys/module/" MODULE "/parameters", "own", "0x55667788"));
		EXPECT_STREQ("0x55667788",
			     read_line("/sys/module/" MODULE "/parameters", "own"));
		ASSERT_EQ(0, module_unload(MODULE)) TH_LOG("unload %d", i);
	}
	/* The readers ran all the time; now they end. */
	EXPECT_EQ(0, waitpid(run, NULL, WNOHANG));
	kill(run, SIGTERM);
	EXPECT_EQ(SIGTERM, end_of(run));
	self->text = read_file(IMV_TEST, "run");
	TH_LOG("%s", self->text);
	expect_good(_metadata, self->text, "task:");
	EXPECT_EQ(0, count_of(self->text, "writer:", "failed"));
}

/* "SYMBOL+0xN/0xM" as a place for a probe, without the length. */
static int probe_at(const char *site)
{
	char place[256];

	snprintf(place, sizeof(place), "%.*s", (int)strcspn(site, "/"), site);
	return write_fmt(FTRACE, "kprobe_events", "p:etch_test/probe %s", place);
}

static void remove_probes(void)
{
	write_file(FTRACE, "kprobe_events", "-:etch_test/probe");
}

/* Stubs may have no site; the test's readers always have. Init code was freed. */
static bool may_be_probed(const char *site)
{
	return !strncmp(site, "__tracestub_", 12) ||
	       !strncmp(site, "imv_test_reader", 15) || !strncmp(site, "imv_test_count", 14) ||
	       !strncmp(site, "imv_test_tick", 13);
}

/*
 * A place that may be probed: in a stub the instruction behind the read, which is one of five
 * bytes; or the first one of a reader, which calls what has sites or sets up its frame.
 */
static const char *not_patched(const char *site)
{
	static char place[256];
	unsigned int offset;

	if (strncmp(site, "__tracestub_", 12) ||
	    sscanf(site, "%*[^+]+0x%x", &offset) != 1)
		return "imv_test_reader+0x0";
	snprintf(place, sizeof(place), "%.*s+0x%x", (int)strcspn(site, "+"), site, offset + 5);
	return place;
}

TEST_F(immediate, no_probe_on_a_site)
{
	char *line, *rest;
	unsigned int probed = 0;

	if (!have(FTRACE "/kprobe_events"))
		SKIP(return, "no " FTRACE "/kprobe_events: CONFIG_KPROBE_EVENTS");
	self->text = read_file(IMV_TEST, "sites");
	if (!*self->text)
		SKIP(return, "reads of immediate values are not patched here");

	rest = self->text;
	while (probed < PROBES && (line = strsep(&rest, "\n")) && *line) {
		if (!may_be_probed(line))
			continue;
		probed++;
		EXPECT_NE(0, probe_at(line)) {
			TH_LOG("a probe on %s", line);
			remove_probes();
		}
		EXPECT_EQ(0, probe_at(not_patched(line)))
			TH_LOG("no probe on %s", not_patched(line));
		remove_probes();
	}
	EXPECT_LT(0, probed);
}

TEST_HARNESS_MAIN
