// SPDX-License-Identifier: GPL-2.0
/*
 * Every format file reads as ftrace's does: the same fields behind the common
 * ones, of the same type, name, size and sign, the same print format. Only the
 * places differ, and those must make sense: in order, without overlap, on
 * their alignment, behind the head of a record.
 */

#include "etch_test.h"
#include "lists.h"

/* Time, id, context and pid. */
#define HEAD_SIZE	12

struct field {
	char declaration[512];
	unsigned int offset, size, is_signed;
};

struct format {
	char name[128];
	unsigned int id;
	struct field fields[128];
	unsigned int nr, nr_common;
	const char *print;	/* in the text */
	const char *wrong;	/* what could not be parsed, or NULL */
};

/* "\tfield:TYPE NAME;\toffset:N;\tsize:N;\tsigned:N;" */
static bool parse_field(const char *line, struct field *f)
{
	int end = 0;

	return sscanf(line, "\tfield:%511[^;];\toffset:%u;\tsize:%u;\tsigned:%u;%n",
		      f->declaration, &f->offset, &f->size, &f->is_signed, &end) == 4 &&
	       end && (line[end] == '\n' || !line[end]);
}

static const char *next_line(const char *at)
{
	at = strchr(at, '\n');
	return at ? at + 1 : "";
}

/* Common fields, an empty line, the event's own, an empty line. */
static const char *parse_fields(const char *at, struct format *f)
{
	bool common = true;

	for (; *at == '\t' || *at == '\n'; at = next_line(at)) {
		if (*at == '\n') {
			if (!common)
				return at + 1;
			f->nr_common = f->nr;
			common = false;
			continue;
		}
		if (f->nr == ARRAY_LEN(f->fields) || !parse_field(at, &f->fields[f->nr])) {
			f->wrong = at;
			return at;
		}
		f->nr++;
	}
	if (common)
		f->wrong = at;
	return at;
}

static void parse(const char *text, struct format *f)
{
	int end = 0;

	memset(f, 0, sizeof(*f));
	f->print = "";
	if (sscanf(text, "name: %127s\nID: %u\nformat:%n", f->name, &f->id, &end) != 2 ||
	    !end || text[end] != '\n') {
		f->wrong = text;
		return;
	}
	text = parse_fields(text + end + 1, f);
	if (f->wrong)
		return;
	/* To the end of the file: some events print several lines. */
	if (strncmp(text, "print fmt: ", 11) || text[strlen(text) - 1] != '\n') {
		f->wrong = text;
		return;
	}
	f->print = text;
}

static bool same_fields(const struct format *e, const struct format *f)
{
	const struct field *a = e->fields + e->nr_common, *b = f->fields + f->nr_common;
	unsigned int nr = e->nr - e->nr_common, i;

	if (nr != f->nr - f->nr_common) {
		printf("# %s: %u fields, in ftrace %u\n", e->name, nr, f->nr - f->nr_common);
		return false;
	}
	for (i = 0; i < nr; i++) {
		if (!strcmp(a[i].declaration, b[i].declaration) &&
		    a[i].size == b[i].size && a[i].is_signed == b[i].is_signed)
			continue;
		printf("# %s: '%s' size %u signed %u, in ftrace '%s' size %u signed %u\n",
		       e->name, a[i].declaration, a[i].size, a[i].is_signed,
		       b[i].declaration, b[i].size, b[i].is_signed);
		return false;
	}
	return true;
}

/* The event's own fields follow the head, one behind the other. */
static bool places_make_sense(const struct format *e)
{
	unsigned int end = HEAD_SIZE, i;

	for (i = e->nr_common; i < e->nr; i++) {
		const struct field *f = &e->fields[i];

		/* No hole is larger than the greatest alignment asks for. */
		if (f->offset < end || f->offset >= end + 4) {
			printf("# %s: '%s' stands at %u, the one before ends at %u\n",
			       e->name, f->declaration, f->offset, end);
			return false;
		}
		end = f->offset + f->size;
	}
	return true;
}

static bool common_make_sense(const struct format *e)
{
	unsigned int i;

	for (i = 0; i < e->nr_common; i++) {
		if (e->fields[i].offset + e->fields[i].size > HEAD_SIZE)
			return false;
	}
	return e->nr_common > 0;
}

/*
 * A copy without the numbers that min() and max() have in a print format: they count
 * how often the header was read, so they may differ.
 */
static char *without_counters(const char *print)
{
	char *copy = strdup(print), *at = copy, *end;

	while ((at = strstr(at, "__UNIQUE_ID_"))) {
		at += strlen("__UNIQUE_ID_");
		at += strcspn(at, "0123456789 ");
		end = at + strspn(at, "0123456789");
		memmove(at, end, strlen(end) + 1);
	}
	return copy;
}

static bool same_print(const struct format *e, const struct format *f)
{
	char *ours = without_counters(e->print), *theirs = without_counters(f->print);
	bool same = !strcmp(ours, theirs);

	if (!same)
		printf("# %s: %s# in ftrace: %s", e->name, ours, theirs);
	free(ours);
	free(theirs);
	return same;
}

FIXTURE(format) {
	struct list events;
};

FIXTURE_SETUP(format)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	self->events = list_of(read_file(ETCH, "available_events"));
	for (size_t i = 0; i < self->events.nr; i++)
		*strchr(self->events.lines[i], ':') = '/';
}

FIXTURE_TEARDOWN(format)
{
	list_free(&self->events);
}

TEST_F_TIMEOUT(format, parses_and_makes_sense, 120)
{
	static struct format f;
	char file[300], *text;

	for (size_t i = 0; i < self->events.nr; i++) {
		snprintf(file, sizeof(file), "events/%s/format", self->events.lines[i]);
		text = read_file(ETCH, file);
		ASSERT_NE(NULL, text)
			TH_LOG("%s: %s", file, strerror(errno));
		parse(text, &f);
		EXPECT_EQ(NULL, f.wrong)
			TH_LOG("%s: does not parse at '%.60s'", file, f.wrong);
		EXPECT_STREQ(strchr(self->events.lines[i], '/') + 1, f.name);
		snprintf(file, sizeof(file), "events/%s/id", self->events.lines[i]);
		EXPECT_EQ(atoi(read_line(ETCH, file)), f.id);
		EXPECT_TRUE(common_make_sense(&f))
			TH_LOG("%s: common fields outside of the head", f.name);
		EXPECT_TRUE(places_make_sense(&f));
		free(text);
	}
}

TEST_F_TIMEOUT(format, has_the_fields_and_print_format_of_ftrace, 120)
{
	static struct format e, f;
	size_t compared = 0, differ = 0;
	char file[300], *ours, *theirs;

	if (!have_ftrace())
		SKIP(return, NO_FTRACE);
	for (size_t i = 0; i < self->events.nr; i++) {
		snprintf(file, sizeof(file), "events/%s/format", self->events.lines[i]);
		theirs = read_file(FTRACE, file);
		if (!theirs)
			continue;	/* available.c tells of it */
		ours = read_file(ETCH, file);
		ASSERT_NE(NULL, ours);
		parse(ours, &e);
		parse(theirs, &f);
		ASSERT_EQ(NULL, f.wrong)
			TH_LOG("ftrace's %s does not parse at '%.60s'", file, f.wrong);
		differ += !same_fields(&e, &f);
		differ += !same_print(&e, &f);
		compared++;
		free(ours);
		free(theirs);
	}
	printf("# %zu formats compared\n", compared);
	EXPECT_EQ(0, differ);
	EXPECT_LT(100, compared);
}

TEST_HARNESS_MAIN
