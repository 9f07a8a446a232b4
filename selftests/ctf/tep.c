// SPDX-License-Identifier: GPL-2.0
/*
 * libtraceevent parses every format file, and metadata describes the same fields as the
 * library: in the same order, in the same places, of the same sizes and signs.
 */

#include <traceevent/event-parse.h>

#include "etch_test.h"
#include "lists.h"
#include "sample.h"
#include "tsdl.h"

static struct tsdl_event tsdl;

/* A part of a dynamic field's word. */
static bool has_part(const struct tep_format_field *f, const char *part, unsigned int at,
		     unsigned int bits)
{
	const struct tsdl_field *t;
	char name[200];

	snprintf(name, sizeof(name), "_%s_%s", f->name, part);
	t = tsdl_find(&tsdl, name);
	return t && t->at == at && t->bits == bits && !t->type.is_signed;
}

/* A dynamic field has a word of 32 bits in its place, and its content behind all fields. */
static bool same_dynamic(const struct tep_format_field *f)
{
	const struct tsdl_field *t = tsdl_find(&tsdl, f->name);
	unsigned int at = f->offset * 8 + 16, rest;
	char length[200];

	if (!t || f->size != 4)
		return false;
	rest = __builtin_ctz(t->type.size / 8);
	snprintf(length, sizeof(length), "_%s_length", f->name);
	return has_part(f, "offset", f->offset * 8, 16) &&
	       (!rest || has_part(f, "rest", at, rest)) &&
	       has_part(f, "length", at + rest, 16 - rest) &&
	       t->at >= at && !strcmp(t->length, length);
}

static bool same_static(const struct tep_format_field *f)
{
	const struct tsdl_field *t = tsdl_find(&tsdl, f->name);

	return t && t->at == f->offset * 8 && t->bits == f->size * 8 && !*t->length;
}

static bool same_field(const struct tep_format_field *f)
{
	const struct tsdl_field *t = tsdl_find(&tsdl, f->name);
	bool dynamic = f->flags & TEP_FIELD_IS_DYNAMIC;

	if (!t || t->type.is_signed != !!(f->flags & TEP_FIELD_IS_SIGNED))
		return false;
	/* The library takes bytes for text, too. */
	if (f->flags & TEP_FIELD_IS_STRING && strstr(f->type, "char") &&
	    !strstr(f->type, "unsigned char") && !t->type.is_text &&
	    f->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC))
		return false;
	return dynamic ? same_dynamic(f) : same_static(f);
}

/* All fields in metadata are the event's, or parts of them, in the event's order. */
static bool no_others(const struct tep_event *event)
{
	const struct tep_format_field *f = event->format.fields;
	unsigned int content = 0;

	for (unsigned int i = 0; i < tsdl.nr; i++) {
		const char *name = tsdl.fields[i].name;

		if (*tsdl.fields[i].length) {
			content++;
			continue;
		}
		if (tsdl.fields[i].values == 0 && !strncmp(name, "_pad_", 5))
			continue;
		if (f && !strcmp(name, f->name)) {
			f = f->next;
			continue;
		}
		/* Of a word, the length is the last part. */
		if (!f || strncmp(name, "_", 1) || strncmp(name + 1, f->name, strlen(f->name)))
			return false;
		if (!strcmp(name + 1 + strlen(f->name), "_length"))
			f = f->next;
	}
	for (const struct tep_format_field *d = event->format.fields; d; d = d->next)
		content -= !!(d->flags & TEP_FIELD_IS_DYNAMIC);
	return !f && !content;
}

static int parse(struct tep_handle *tep, const char *tree, const char *name)
{
	char file[300], *text;
	int err;

	snprintf(file, sizeof(file), "events/%s/format", name);
	*strchr(file, ':') = '/';
	text = read_file(tree, file);
	if (!text)
		return -1;
	snprintf(file, sizeof(file), "%.*s", (int)strcspn(name, ":"), name);
	err = tep_parse_event(tep, text, strlen(text), file);
	free(text);
	return err;
}

static struct tep_event *find(struct tep_handle *tep, const char *name)
{
	char system[200];

	snprintf(system, sizeof(system), "%.*s", (int)strcspn(name, ":"), name);
	return tep_find_event_by_name(tep, system, strchr(name, ':') + 1);
}

FIXTURE(tep) {
	struct tep_handle *tep;
	struct list events;
};

FIXTURE_SETUP(tep)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (sample_path())
		sample_load();
	self->tep = tep_alloc();
	ASSERT_NE(NULL, self->tep);
	tep_set_long_size(self->tep, sizeof(long));
	self->events = list_of(read_file(ETCH, "available_events"));
	ASSERT_LT(100, self->events.nr);
}

FIXTURE_TEARDOWN(tep)
{
	tep_free(self->tep);
	list_free(&self->events);
	sample_unload();
}

TEST_F_TIMEOUT(tep, agrees_with_metadata, 300)
{
	char *text = read_file(ETCH, "metadata");
	const char *at = text;
	size_t events = 0, fields = 0;

	ASSERT_NE(NULL, text);
	for (size_t i = 0; i < self->events.nr; i++) {
		ASSERT_EQ(0, parse(self->tep, ETCH, self->events.lines[i]))
			TH_LOG("%s: libtraceevent does not take its format",
			       self->events.lines[i]);
	}
	list_sort(&self->events);
	while ((at = tsdl_event(text, at, &tsdl))) {
		struct tep_event *event;

		if (!list_has(&self->events, tsdl.name))
			continue;
		event = find(self->tep, tsdl.name);
		ASSERT_NE(NULL, event);
		EXPECT_EQ(event->id, tsdl.id)
			TH_LOG("%s", tsdl.name);
		for (struct tep_format_field *f = event->format.fields; f; f = f->next) {
			EXPECT_TRUE(same_field(f))
				TH_LOG("%s: %s %s: at %d, %d bytes, flags %lx", tsdl.name, f->type,
				       f->name, f->offset, f->size, f->flags);
			fields++;
		}
		EXPECT_TRUE(no_others(event))
			TH_LOG("%s: metadata has other fields", tsdl.name);
		events++;
	}
	EXPECT_EQ(self->events.nr, events);
	EXPECT_LT(events, fields);
	printf("# %zu events with %zu fields agree\n", events, fields);
	free(text);
}

/*
 * libtraceevent accepts files whose print format it cannot use. But it must be able to use
 * each format of Etch whose counterpart in ftrace it can use.
 */
TEST_F_TIMEOUT(tep, prints_as_with_ftrace, 300)
{
	struct tep_handle *other = tep_alloc();
	size_t compared = 0, unusable = 0;

	if (!have_ftrace())
		SKIP(return, NO_FTRACE);
	tep_set_long_size(other, sizeof(long));
	for (size_t i = 0; i < self->events.nr; i++) {
		const char *name = self->events.lines[i];
		struct tep_event *ours, *theirs;

		if (parse(other, FTRACE, name))
			continue;	/* available.c tells of it */
		ASSERT_EQ(0, parse(self->tep, ETCH, name));
		ours = find(self->tep, name);
		theirs = find(other, name);
		ASSERT_NE(NULL, ours);
		ASSERT_NE(NULL, theirs);
		EXPECT_EQ(theirs->flags & TEP_EVENT_FL_FAILED, ours->flags & TEP_EVENT_FL_FAILED)
			TH_LOG("%s: flags %x, in ftrace %x", name, ours->flags, theirs->flags);
		unusable += !!(ours->flags & TEP_EVENT_FL_FAILED);
		compared++;
	}
	EXPECT_LT(100, compared);
	printf("# %zu print formats compared, %zu of them unusable either way\n", compared,
	       unusable);
	tep_free(other);
}

TEST_HARNESS_MAIN
