/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_USER_EVENTS_H
#define _ETCH_USER_EVENTS_H

/* The events that the tests of this folder record, and what they share. */

#include <etch/user.h>

#include "etch.h"

#define TEST_EVENTS(event)							\
	event(utest, number, (u32, a), (u64, b), (s16, c))			\
	event(utest, text, (string, first), (u8, n), (string, second))		\
	event(utest, step, (u64, nr), (u32, thread), (string, pad))

ETCH_PROVIDER(utest, TEST_EVENTS);

#define NUMBER	"events/utest/number"
#define TEXT	"events/utest/text"
#define STEP	"events/utest/step"

#define NO_USER	"no events of programs: CONFIG_ETCH_USER, or no restartable sequences"

/* The number behind a name with what separates them; -1: there is none. */
static inline long long number_after(const char *text, const char *name)
{
	const char *at = text ? strstr(text, name) : NULL;

	return at ? strtoll(at + strlen(name), NULL, 10) : -1;
}

/* The events that a test has registered would be in the way of others that list all events. */
static inline void forget_provider(int fd, const char *provider)
{
	char *text = read_file(ETCH, "available_events"), *at = text, *line;

	while (at && (line = strsep(&at, "\n")))
		if (!strncmp(line, provider, strlen(provider)))
			ioctl(fd, ETCH_USER_IOC_UNREGISTER, line);
	free(text);
}

/* Programs can read the counter alone. It is not the clock of a new instance on every machine. */
static inline int use_counter(const char *tree)
{
	return write_file(tree, "trace_clock", "counter");
}

static char clock_before[32];

/* Before the first test. Where the counter cannot be chosen, programs have no events to test. */
static __attribute__((constructor)) void begin_with_counter(void)
{
	if (access("/dev/etch", F_OK))
		return;
	clock_of(ETCH, clock_before);
	if (!use_counter(ETCH))
		return;
	ksft_print_header();
	ksft_exit_skip("the counter does not tell the time here: tsc=reliable says that it does\n");
}

/* Called at the end of the test program, and not in the children of the harness. */
static __attribute__((destructor)) void forget_events(void)
{
	struct etch_provider *p = &utest__provider;
	int fd;

	if (*clock_before)
		write_file(ETCH, "trace_clock", clock_before);
	if (p->fd < 0)
		return;
	mmap((void *)p->gates, ETCH_PAGE, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	close(p->fd);
	p->fd = -1;
	fd = open("/dev/etch", O_RDWR);
	forget_provider(fd, "utest:");
	forget_provider(fd, "right:");
	forget_provider(fd, "same:");
	forget_provider(fd, "going:");
	close(fd);
}

#endif /* _ETCH_USER_EVENTS_H */
