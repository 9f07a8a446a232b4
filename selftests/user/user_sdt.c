// SPDX-License-Identifier: GPL-2.0
/*
 * A program with the probes of <sys/sdt.h>, which is Etch's here: they are events.
 */
#include <sys/sdt.h>

#include "etch_test.h"
#include "events.h"
#include "text.h"

ETCH_PROVIDER_DEFINE(utest, TEST_EVENTS);

static __attribute__((destructor)) void forget_probes(void)
{
	int fd;

	if (etch__marks.fd < 0)
		return;
	mmap((void *)etch__mark_gates, ETCH_PAGE, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	close(etch__marks.fd);
	fd = open("/dev/etch", O_RDWR);
	forget_provider(fd, "usdt:");
	close(fd);
}

FIXTURE(sdt) {
	struct trace trace;
};

FIXTURE_SETUP(sdt)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (access("/dev/etch", F_OK))
		SKIP(return, NO_USER);
	ASSERT_EQ(0, etch_mark_error());
	etch_as_new();
	ASSERT_EQ(0, write_file(ETCH, "events/usdt/enable", "1"));
}

FIXTURE_TEARDOWN(sdt)
{
	text_free(&self->trace);
	etch_as_new();
}

TEST_F(sdt, has_up_to_twelve_arguments)
{
	DTRACE_PROBE(usdt, none);
	DTRACE_PROBE1(usdt, p1, 1);
	DTRACE_PROBE2(usdt, p2, 1, 2);
	DTRACE_PROBE3(usdt, p3, 1, 2, 3);
	DTRACE_PROBE4(usdt, p4, 1, 2, 3, 4);
	DTRACE_PROBE5(usdt, p5, 1, 2, 3, 4, 5);
	DTRACE_PROBE6(usdt, p6, 1, 2, 3, 4, 5, 6);
	DTRACE_PROBE7(usdt, p7, 1, 2, 3, 4, 5, 6, 7);
	DTRACE_PROBE8(usdt, p8, 1, 2, 3, 4, 5, 6, 7, 8);
	DTRACE_PROBE9(usdt, p9, 1, 2, 3, 4, 5, 6, 7, 8, 9);
	DTRACE_PROBE10(usdt, p10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
	DTRACE_PROBE11(usdt, p11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
	DTRACE_PROBE12(usdt, p12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(13, self->trace.nr);
	EXPECT_STREQ("none", self->trace.records[0].event);
	for (size_t i = 1; i < self->trace.nr; i++) {
		char wanted[400] = "", name[24];

		for (size_t arg = 1; arg <= i; arg++)
			sprintf(wanted + strlen(wanted), "%sarg%zu=%zu", arg > 1 ? " " : "", arg,
				arg);
		sprintf(name, "p%zu", i);
		EXPECT_STREQ(name, self->trace.records[i].event);
		EXPECT_STREQ(wanted, self->trace.records[i].text);
	}
}

TEST_F(sdt, has_types)
{
	const char *text = "text", *none = NULL;
	unsigned char small = 200;
	long big = -1L << 40;
	char *format;

	STAP_PROBE4(usdt, typed, text, small, big, none);
	STAP_PROBEV(usdt, listed, big, "a, b");
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(2, self->trace.nr);
	EXPECT_STREQ("arg1=text arg2=200 arg3=-1099511627776 arg4=(null)",
		     self->trace.records[0].text);
	EXPECT_STREQ("arg1=-1099511627776 arg2=a, b", self->trace.records[1].text);
	format = read_file(ETCH, "events/usdt/typed/format");
	EXPECT_NE(NULL, strstr(format, "field:__data_loc char[] arg1;"));
	EXPECT_NE(NULL, strstr(format, "field:u8 arg2;"));
	EXPECT_NE(NULL, strstr(format, "field:s64 arg3;"));
	free(format);
}

TEST_F(sdt, evaluates_nothing_while_it_is_off)
{
	int evaluated = 0;

	for (int i = 0; i < 4; i++) {
		DTRACE_PROBE1(usdt, evaluating, ++evaluated);
		ASSERT_EQ(0, write_file(ETCH, "events/usdt/evaluating/enable", i ? "0" : "1"));
	}
	EXPECT_EQ(2, evaluated);
}

TEST_HARNESS_MAIN
