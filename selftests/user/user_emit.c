// SPDX-License-Identifier: GPL-2.0
/*
 * libetch, as bindings of other languages call it.
 */
#include <etch/emit.h>

#include "etch_test.h"
#include "events.h"
#include "text.h"

ETCH_PROVIDER_DEFINE(utest, TEST_EVENTS);

/* Called with the events of the library gone: it is linked in, and its end comes first. */
static __attribute__((destructor(200))) void forget_emitted(void)
{
	int fd = open("/dev/etch", O_RDWR);

	forget_provider(fd, "uemit:");
	close(fd);
}

FIXTURE(emit) {
	struct trace trace;
};

FIXTURE_SETUP(emit)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (access("/dev/etch", F_OK))
		SKIP(return, NO_USER);
	etch_as_new();
}

FIXTURE_TEARDOWN(emit)
{
	text_free(&self->trace);
	etch_as_new();
}

TEST_F(emit, records_fields_as_they_are)
{
	struct {
		uint32_t id;
		uint32_t path;
		char text[6];
	} fields = { 7, (12 + 8) | 6 << 16, "hello" };
	int event = etch_event("uemit", "request", "u32 id; string path");

	ASSERT_LE(0, event);
	ASSERT_NE(NULL, etch_event_gate(event));
	EXPECT_FALSE(etch_event_enabled(event));
	EXPECT_EQ(0, *etch_event_gate(event));
	EXPECT_EQ(0, etch_emit(event, &fields, 14));
	ASSERT_EQ(0, write_file(ETCH, "events/uemit/request/enable", "1"));
	EXPECT_TRUE(etch_event_enabled(event));
	EXPECT_NE(0, *etch_event_gate(event));
	EXPECT_EQ(0, etch_emit(event, &fields, 14));
	fields.id = 8;
	EXPECT_EQ(0, etch_emit(event, &fields, sizeof(fields)));
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(2, self->trace.nr);
	EXPECT_STREQ("request", self->trace.records[0].event);
	EXPECT_STREQ("id=7 path=hello", self->trace.records[0].text);
	EXPECT_STREQ("id=8 path=hello", self->trace.records[1].text);
	EXPECT_EQ(getpid(), self->trace.records[0].pid);
}

TEST_F(emit, has_as_many_events_as_there_are_gates)
{
	char name[20];
	int event = 0, nr;

	for (nr = 0; event >= 0 && nr <= ETCH_USER_GATES; nr++) {
		sprintf(name, "e%d", nr % 4);
		event = etch_event("uemit", name, "");
	}
	EXPECT_EQ(-E2BIG, event);
	ASSERT_EQ(0, write_file(ETCH, "events/uemit/e3/enable", "1"));
	for (event = 0; event < 8; event++)
		EXPECT_EQ(0, etch_emit(event, NULL, 0));
	self->trace = text_read(ETCH, "trace");
	EXPECT_EQ(2, self->trace.nr);
	EXPECT_EQ(2, text_count(&self->trace, "e3"));
}

TEST_F(emit, refuses_what_is_no_event)
{
	char big[17000] = {};
	int event = etch_event("uemit", "refusing", "u32 id");

	ASSERT_LE(0, event);
	ASSERT_EQ(0, write_file(ETCH, "events/uemit/refusing/enable", "1"));
	EXPECT_EQ(-EINVAL, etch_event("uemit", "wrong", "u33 id"));
	EXPECT_EQ(-EINVAL, etch_event("uemit", "wrong", "stringy id"));
	EXPECT_EQ(-EINVAL, etch_event("u emit", "wrong", "u32 id"));
	EXPECT_EQ(-EINVAL, etch_event("uemit", NULL, "u32 id"));
	EXPECT_EQ(-EEXIST, etch_event("sched", "wrong", "u32 id"));
	memset(big, 'x', 2000);
	EXPECT_EQ(-EINVAL, etch_event("uemit", "wrong", big));
	EXPECT_EQ(-EINVAL, etch_emit(-1, big, 4));
	EXPECT_EQ(-EINVAL, etch_emit(ETCH_USER_GATES, big, 4));
	EXPECT_EQ(-EINVAL, etch_emit(event, big, sizeof(big)));
	EXPECT_EQ(-EINVAL, etch_emit(event, big, SIZE_MAX));
	EXPECT_EQ(NULL, etch_event_gate(-1));
	EXPECT_FALSE(etch_event_enabled(-1));
	self->trace = text_read(ETCH, "trace");
	EXPECT_EQ(0, self->trace.nr);
}

TEST_HARNESS_MAIN
