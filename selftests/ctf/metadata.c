// SPDX-License-Identifier: GPL-2.0
/*
 * metadata describes each event, with its id, and nothing else. It reads the same in pieces
 * of any size, has a new generation when events come and go, and gives the offset from its
 * clock to wall-clock time.
 */

#include <time.h>

#include "etch_test.h"
#include "lists.h"
#include "sample.h"
#include "tsdl.h"

#define OTHER		ETCH "/instances/etch-metadata"
#define MARKER		"etch:marker"

static struct tsdl_event event;

static char *read_metadata(const char *tree)
{
	char *text = read_file(tree, "metadata");

	if (!text)
		give_up("%s/metadata", tree);
	return text;
}

static long long generation(void)
{
	char *text = read_metadata(ETCH);
	long long n = atoll(tsdl_value(text, "metadata_generation"));

	free(text);
	return n;
}

/* The begin of an event's block, which ends where tsdl_event() ends; NULL if there is none. */
static const char *find_event(const char *text, const char *name, const char **end)
{
	const char *at;

	for (at = text; (*end = tsdl_event(text, at, &event)); at = *end)
		if (!strcmp(event.name, name))
			return strstr(at, "\nevent {");
	return NULL;
}

FIXTURE(metadata) {
	char *text;
};

FIXTURE_SETUP(metadata)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	rmdir(OTHER);
	etch_as_new();
	self->text = read_metadata(ETCH);
}

FIXTURE_TEARDOWN(metadata)
{
	rmdir(OTHER);
	free(self->text);
}

TEST_F(metadata, begins_as_a_reader_wants_it)
{
	EXPECT_EQ(0, strncmp(self->text, "/* CTF 1.8 */\n", 14));
	EXPECT_STREQ("1", tsdl_value(self->text, "major"));
	EXPECT_STREQ("8", tsdl_value(self->text, "minor"));
	EXPECT_STREQ("le", tsdl_value(self->text, "byte_order"));
	EXPECT_STREQ("\"etch\"", tsdl_value(self->text, "tracer_name"));
	EXPECT_STREQ("\"kernel\"", tsdl_value(self->text, "domain"));
}

/*
 * Each available event appears once, under its id. The others in metadata are the marker
 * and events whose module was unloaded.
 */
TEST_F_TIMEOUT(metadata, has_every_event, 120)
{
	struct list available = list_of(read_file(ETCH, "available_events"));
	size_t found = 0, others = 0;
	bool marker = false;
	const char *at = self->text;
	unsigned int last = 0;
	char file[300];

	list_sort(&available);
	while ((at = tsdl_event(self->text, at, &event))) {
		EXPECT_LT(last, event.id)
			TH_LOG("%s: id %u is there twice, or out of order", event.name, event.id);
		last = event.id;
		if (!list_has(&available, event.name)) {
			marker |= !strcmp(event.name, MARKER);
			others++;
			continue;
		}
		snprintf(file, sizeof(file), "events/%s/id", event.name);
		*strchr(file, ':') = '/';
		EXPECT_EQ(atoi(read_line(ETCH, file)), event.id)
			TH_LOG("%s", event.name);
		found++;
	}
	EXPECT_EQ(available.nr, found);
	EXPECT_TRUE(marker);
	printf("# %zu bytes of metadata, %zu events, %zu beside those available\n",
	       strlen(self->text), found, others);
	list_free(&available);
}

static char *read_in_pieces(size_t piece, size_t *len)
{
	int fd = open(ETCH "/metadata", O_RDONLY | O_CLOEXEC);
	char *text = must_alloc(NULL, 16 << 20);
	ssize_t n;

	*len = 0;
	while ((n = read(fd, text + *len, piece)) > 0)
		*len += n;
	if (n < 0)
		give_up("metadata");
	close(fd);
	text[*len] = 0;
	return text;
}

TEST_F_TIMEOUT(metadata, reads_the_same_in_pieces, 120)
{
	static const size_t pieces[] = { 3, 97, 4096, 65537, 8 << 20 };
	size_t len;
	char *text;

	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		text = read_in_pieces(pieces[i], &len);
		EXPECT_EQ(strlen(self->text), len);
		EXPECT_EQ(0, strcmp(self->text, text))
			TH_LOG("other text in pieces of %zu bytes", pieces[i]);
		free(text);
	}
}

TEST_F(metadata, reads_the_same_from_anywhere)
{
	int fd = open(ETCH "/metadata", O_RDONLY | O_CLOEXEC);
	size_t len = strlen(self->text), at;
	char buf[1000];

	ASSERT_LE(0, fd);
	for (int i = 10; i >= 0; i--) {
		at = (len - sizeof(buf)) / 10 * i;
		ASSERT_EQ(at, lseek(fd, at, SEEK_SET));
		ASSERT_LT(0, read(fd, buf, 100));
		EXPECT_EQ(0, memcmp(self->text + at, buf, 100))
			TH_LOG("other text at %zu", at);
	}
	close(fd);
}

/* Loading a module adds its events, and unloading it leaves their text as it was. */
TEST_F(metadata, follows_modules)
{
	const char *before, *after, *end;
	long long n = generation(), loaded;
	char *there, *gone;
	size_t len;

	if (!sample_path())
		SKIP(return, "%s", no_sample());
	sample_unload();
	n = generation();
	EXPECT_EQ(n, generation());
	ASSERT_EQ(0, sample_load());
	loaded = generation();
	EXPECT_LT(n, loaded);
	there = read_metadata(ETCH);
	ASSERT_EQ(0, sample_unload());
	EXPECT_LT(loaded, generation());
	gone = read_metadata(ETCH);

	before = find_event(there, SAMPLE ":etch_sample_state", &end);
	ASSERT_NE(NULL, before);
	len = end - before;
	EXPECT_EQ(3, tsdl_find(&event, "state")->values);
	/* Flags are combined, and no enumeration names that. */
	EXPECT_EQ(0, tsdl_find(&event, "flags")->values);
	EXPECT_EQ(16, tsdl_find(&event, "flags")->type.base);
	EXPECT_LT(0, tsdl_find(&event, "flags")->remark);
	after = find_event(gone, SAMPLE ":etch_sample_state", &end);
	ASSERT_NE(NULL, after);
	ASSERT_EQ(len, end - after);
	EXPECT_EQ(0, memcmp(before, after, len));
	free(there);
	free(gone);
}

/* A trace keeps its uuid while it is recorded; a new clock gives it a new one. */
TEST_F(metadata, tells_traces_apart)
{
	char *again, *other, *mono, clock[32];

	usleep(50000);
	again = read_metadata(ETCH);
	EXPECT_STREQ(self->text, again);
	ASSERT_EQ(0, mkdir(OTHER, 0700));
	ASSERT_EQ(0, write_file(OTHER, "trace_clock", clock_of(ETCH, clock)));
	other = read_metadata(OTHER);
	ASSERT_EQ(0, write_file(OTHER, "trace_clock",
				strcmp(clock, "mono_raw") ? "mono_raw" : "tai"));
	mono = read_metadata(OTHER);

	/* The first of each text is the trace's. */
	EXPECT_STRNE(tsdl_value(self->text, "uuid"), tsdl_value(other, "uuid"));
	EXPECT_STRNE(tsdl_value(other, "uuid"), tsdl_value(mono, "uuid"));
	EXPECT_STREQ("\"\"", tsdl_value(self->text, "instance"));
	EXPECT_STREQ("\"etch-metadata\"", tsdl_value(other, "instance"));

	/* Two instances with the same clock describe it in the same words. */
	EXPECT_STREQ(strstr(self->text, "\nclock {"), strstr(other, "\nclock {"));
	EXPECT_STRNE(tsdl_value(strstr(other, "\nclock {"), "uuid"),
		     tsdl_value(strstr(mono, "\nclock {"), "uuid"));
	free(again);
	free(other);
	free(mono);
}

/* A clock that user space can read, plus the offset, is the wall clock. */
TEST_F(metadata, knows_the_wall_clock)
{
	static const struct {
		const char *name;
		clockid_t id;
	} clocks[] = {
		{ "mono", CLOCK_MONOTONIC },
		{ "mono_raw", CLOCK_MONOTONIC_RAW },
		{ "boot", CLOCK_BOOTTIME },
		{ "tai", CLOCK_TAI },
	};
	struct timespec t, wall, later;
	double offset, is, slack;
	char *text;

	ASSERT_EQ(0, mkdir(OTHER, 0700));
	for (size_t i = 0; i < ARRAY_LEN(clocks); i++) {
		ASSERT_EQ(0, write_file(OTHER, "trace_clock", clocks[i].name));
		text = read_metadata(OTHER);
		EXPECT_STREQ(clocks[i].name, tsdl_value(strstr(text, "\nclock {"), "name"));
		EXPECT_STREQ("1000000000", tsdl_value(text, "freq"));
		EXPECT_STREQ("true", tsdl_value(text, "absolute"));
		clock_gettime(clocks[i].id, &t);
		clock_gettime(CLOCK_REALTIME, &wall);
		clock_gettime(clocks[i].id, &later);
		offset = atof(tsdl_value(text, "offset_s")) +
			 atof(tsdl_value(text, "offset")) / 1e9;
		is = wall.tv_sec - t.tv_sec + (wall.tv_nsec - t.tv_nsec) / 1e9;
		slack = 0.01 + later.tv_sec - t.tv_sec + (later.tv_nsec - t.tv_nsec) / 1e9;
		EXPECT_GT(0.01, offset - is)
			TH_LOG("%s: %f, but it is %f", clocks[i].name, offset, is);
		EXPECT_GT(slack, is - offset);
		free(text);
	}
	ASSERT_EQ(0, write_file(OTHER, "trace_clock", "seq"));
	text = read_metadata(OTHER);
	EXPECT_STREQ("false", tsdl_value(text, "absolute"));
	EXPECT_STREQ("0", tsdl_value(text, "offset_s"));
	free(text);
}

TEST_HARNESS_MAIN
