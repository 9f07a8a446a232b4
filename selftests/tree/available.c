// SPDX-License-Identifier: GPL-2.0
/*
 * available_events lists what ftrace's file of that name lists, and markers, each event
 * once, and for each there is a folder with the same files.
 */

#include "etch_test.h"
#include "lists.h"

/* Events that only ftrace lists, with reasons. */
static const struct {
	const char *prefix, *why;
} only_ftrace[] = {
	{ "ftrace:", "the records of ftrace's own tracers; no tracepoint hits them" },
	{ "kprobes:", "made at run time through ftrace's kprobe_events" },
	{ "uprobes:", "made at run time through ftrace's uprobe_events" },
	{ "eprobes:", "made at run time through ftrace's dynamic_events" },
	{ "synthetic:", "made at run time through ftrace's synthetic_events" },
	{ "user_events:", "made at run time through ftrace's user_events_data" },
};

static bool is_named(const char *event)
{
	for (size_t i = 0; i < ARRAY_LEN(only_ftrace); i++) {
		if (!strncmp(event, only_ftrace[i].prefix, strlen(only_ftrace[i].prefix))) {
			printf("# only ftrace has %s: %s\n", event, only_ftrace[i].why);
			return true;
		}
	}
	return false;
}

/* Events that only Etch lists: those that are not described in a header. */
static bool is_marker(const char *event)
{
	return !strncmp(event, "markers:", strlen("markers:"));
}

/* System calls by their names, where the kernel lacks CONFIG_FTRACE_SYSCALLS: Etch alone. */
static bool is_call(const char *event)
{
	return access(FTRACE "/events/syscalls", F_OK) &&
	       !strncmp(event, "syscalls:", strlen("syscalls:"));
}

/* Lines of @a that are not in @b and have no reason for it. */
static size_t missing(const struct list *a, const struct list *b, const char *whose, bool reasons)
{
	size_t n = 0;

	for (size_t i = 0; i < a->nr; i++) {
		if (list_has(b, a->lines[i]) || is_marker(a->lines[i]) ||
		    is_call(a->lines[i]) || (reasons && is_named(a->lines[i])))
			continue;
		printf("# %s lacks %s\n", whose, a->lines[i]);
		n++;
	}
	return n;
}

FIXTURE(available) {
	struct list etch;
};

FIXTURE_SETUP(available)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	self->etch = list_of(read_file(ETCH, "available_events"));
	list_sort(&self->etch);
}

FIXTURE_TEARDOWN(available)
{
	list_free(&self->etch);
}

TEST_F(available, lists_what_ftrace_lists)
{
	struct list ftrace;

	if (!have_ftrace())
		SKIP(return, NO_FTRACE);
	ftrace = list_of(read_file(FTRACE, "available_events"));
	list_sort(&ftrace);
	printf("# Etch lists %zu events, ftrace %zu\n", self->etch.nr, ftrace.nr);
	EXPECT_LT(100, self->etch.nr);
	EXPECT_EQ(0, missing(&ftrace, &self->etch, "Etch", true));
	EXPECT_EQ(0, missing(&self->etch, &ftrace, "ftrace", false));
	list_free(&ftrace);
}

TEST_F(available, lists_each_once)
{
	for (size_t i = 1; i < self->etch.nr; i++) {
		EXPECT_STRNE(self->etch.lines[i - 1], self->etch.lines[i]);
	}
}

TEST_F(available, each_has_its_files)
{
	static const char * const files[] = { "enable", "format", "id" };
	char path[300];

	for (size_t i = 0; i < self->etch.nr; i++) {
		const char *event = strchr(self->etch.lines[i], ':');

		ASSERT_NE(NULL, event);
		for (size_t f = 0; f < ARRAY_LEN(files); f++) {
			snprintf(path, sizeof(path), ETCH "/events/%.*s/%s/%s",
				 (int)(event - self->etch.lines[i]), self->etch.lines[i],
				 event + 1, files[f]);
			EXPECT_EQ(0, access(path, F_OK))
				TH_LOG("%s: %s", path, strerror(errno));
		}
	}
}

/* Takes the format of one event out of @rest, if it begins with that. */
static bool takes_format(char **rest, const char *event)
{
	char file[300], *format;
	bool same;
	size_t len;

	snprintf(file, sizeof(file), "events/%s/format", event);
	*strchr(file, ':') = '/';
	format = read_file(ETCH, file);
	len = format ? strlen(format) : 0;
	same = len && !strncmp(*rest, format, len) && (*rest)[len] == '\n';
	if (same)
		*rest += len + 1;
	free(format);
	return same;
}

/* All formats stand in the order of the list; a system's are those of its events. */
TEST_F(available, folders_have_the_formats_of_their_events)
{
	struct list events = list_of(read_file(ETCH, "available_events"));
	char *all = read_file(ETCH, "events/format"), *rest = all, *begin = all, *own, file[300];

	ASSERT_NE(NULL, all);
	for (size_t i = 0; i < events.nr; i++) {
		const char *event = events.lines[i];
		size_t system = strcspn(event, ":") + 1;

		ASSERT_TRUE(takes_format(&rest, event)) TH_LOG("%s", event);
		if (i + 1 < events.nr && !strncmp(event, events.lines[i + 1], system))
			continue;
		snprintf(file, sizeof(file), "events/%.*s/format", (int)system - 1, event);
		own = read_file(ETCH, file);
		ASSERT_NE(NULL, own);
		EXPECT_EQ(rest - begin, (long)strlen(own));
		EXPECT_EQ(0, strncmp(begin, own, rest - begin)) TH_LOG("%s", file);
		free(own);
		begin = rest;
	}
	EXPECT_EQ(0, *rest);
	free(all);
	list_free(&events);
}

TEST_F(available, ids_are_small_and_unique)
{
	static unsigned char seen[1 << 14];
	char file[300];

	for (size_t i = 0; i < self->etch.nr; i++) {
		int id;

		snprintf(file, sizeof(file), "events/%s/id", self->etch.lines[i]);
		*strchr(file, ':') = '/';
		id = atoi(read_line(ETCH, file));
		ASSERT_LT(0, id);
		ASSERT_GT(1 << 14, id);
		EXPECT_EQ(0, seen[id]++)
			TH_LOG("%s has the id %d of another", self->etch.lines[i], id);
	}
}

TEST_HARNESS_MAIN
