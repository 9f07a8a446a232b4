// SPDX-License-Identifier: GPL-2.0
/*
 * etch_event= and etch_buf_size= start tracing before init. To be run first in a
 * kernel that was booted with both, before anything empties the buffer.
 */

#include "etch_test.h"
#include "text.h"

/*
 * At least this many records are older than init. These kernels are booted with events of
 * initcalls: dozens of these run after Etch's own on any machine, while the number of
 * kernel threads at that time varies.
 */
#define MIN_EARLY	16

/* The value of a parameter of the kernel's command line, or NULL. */
static const char *boot_parameter(const char *name)
{
	static char line[8192];
	char *text = read_path("/proc/cmdline", NULL), *at, *rest = line;
	size_t len = strlen(name);

	snprintf(line, sizeof(line), "%s", text ? text : "");
	free(text);
	while ((at = strsep(&rest, "\n "))) {
		if (!strncmp(at, name, len) && at[len] == '=')
			return at + len + 1;
	}
	return NULL;
}

/* When the kernel log says that init is run, in microseconds; 0 if it does not. */
static unsigned long long init_time(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	unsigned long long us, found = 0;
	char line[8192];
	ssize_t n;

	while ((n = read(fd, line, sizeof(line) - 1)) > 0 || (n < 0 && errno == EPIPE)) {
		if (n < 0)
			continue;
		line[n] = 0;
		if (!strstr(line, ";Run ") || !strstr(line, " as init process"))
			continue;
		if (sscanf(line, "%*u,%*u,%llu,", &us) == 1)
			found = us;
	}
	close(fd);
	return found;
}

FIXTURE(boot) {
	const char *events;
};

FIXTURE_SETUP(boot)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (!have_text())
		SKIP(return, NO_TEXT);
	self->events = boot_parameter("etch_event");
	if (!self->events)
		SKIP(return, "not booted with etch_event=");
}

FIXTURE_TEARDOWN(boot)
{
}

TEST_F(boot, events_are_enabled)
{
	char *enabled = read_file(ETCH, "set_event");

	printf("# booted with etch_event=%s\n", self->events);
	EXPECT_NE(0, *enabled);
	/* One that is named in full is enabled. */
	if (!strpbrk(self->events, "*?[,")) {
		EXPECT_NE(NULL, strstr(enabled, self->events));
	}
	free(enabled);
}

TEST_F(boot, records_are_from_before_init)
{
	unsigned long long init = init_time();
	struct trace trace = text_read(ETCH, "trace");
	size_t early = 0;

	ASSERT_LT(0, init)
		TH_LOG("the kernel log does not say when init was run");
	ASSERT_LT(0, trace.nr);
	for (size_t i = 0; i < trace.nr; i++)
		early += trace.records[i].time < init;
	printf("# %zu of %zu records are from before init, which was run at %llu us, the first at %llu us\n",
	       early, trace.nr, init, trace.records[0].time);
	EXPECT_LE(MIN_EARLY, early);
	text_free(&trace);
}

TEST_F(boot, the_buffer_has_its_size)
{
	const char *size = boot_parameter("etch_buf_size");
	unsigned long kb;
	char *end;

	if (!size)
		SKIP(return, "not booted with etch_buf_size=");
	kb = strtoul(size, &end, 0);
	kb = *end == 'M' || *end == 'm' ? kb << 10 : *end == 'K' || *end == 'k' ? kb : kb >> 10;
	EXPECT_LE(kb, atol(read_line(ETCH, "buffer_size_kb")));
	EXPECT_GT(2 * kb, atol(read_line(ETCH, "buffer_size_kb")));
}

TEST_HARNESS_MAIN
