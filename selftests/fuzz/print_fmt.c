// SPDX-License-Identifier: GPL-2.0
/*
 * Any text as an event's print format: its names are replaced (event/enums.c), tables of
 * names found in it (ctf/metadata_labels.c), its expressions evaluated
 * (ctf/metadata_expr.c), and the event described in TSDL (ctf/metadata_types.c).
 *
 * The input's first byte chooses types; the fields are those that the text names.
 * The description must be one block of TSDL, whatever the text has in it.
 */

#include <linux/etch.h>
#include <linux/seq_file.h>

#include "ctf/metadata.h"
#include "event/event.h"
#include "tsdl.h"

#define FIELDS	24

static const struct etch_enum some_enums[] = {
	{ "fuzz", "ENUM_ONE", 1 },
	{ "fuzz", "ENUM_MINUS", -1 },
	{ "fuzz", "ENUM_LARGE", LONG_MIN },
	{ "fuzz", "sizeof(long)", 8 },
	{ "other", "ENUM_OTHER", 7 },
};

/* No sanitizer may put anything between those that the linker puts side by side. */
__section("etch_enums") __used __attribute__((no_sanitize("address")))
static const struct etch_enum * const all_enums[] = {
	&some_enums[0], &some_enums[1], &some_enums[2], &some_enums[3], &some_enums[4],
};

/* Fields of all kinds, in place of the names and offsets that they get. */
static const struct etch_field kinds[] = {
	{ .type = "u8", .size = 1, .elem_size = 1, .align = 1 },
	{ .type = "int", .size = 4, .elem_size = 4, .align = 4, .is_signed = 1 },
	{ .type = "unsigned int", .size = 4, .elem_size = 4, .align = 4 },
	{ .type = "unsigned long", .size = 8, .elem_size = 8, .align = 4 },
	{ .type = "s64", .size = 8, .elem_size = 8, .align = 4, .is_signed = 1 },
	{ .type = "short", .size = 2, .elem_size = 2, .align = 2, .is_signed = 1 },
	{ .type = "const void *", .size = 8, .elem_size = 8, .align = 4, .is_pointer = 1 },
	{ .type = "char[7]", .size = 7, .elem_size = 1, .align = 1, .is_string = 1,
	  .kind = ETCH_FIELD_ARRAY },
	{ .type = "u32[3]", .size = 12, .elem_size = 4, .align = 4, .kind = ETCH_FIELD_ARRAY },
	{ .type = "__data_loc char[]", .size = 4, .elem_size = 1, .align = 1, .is_string = 1,
	  .kind = ETCH_FIELD_DATA_LOC },
	{ .type = "__data_loc u64[]", .size = 4, .elem_size = 8, .align = 4,
	  .kind = ETCH_FIELD_DATA_LOC },
	{ .type = "__rel_loc u8[]", .size = 4, .elem_size = 1, .align = 1,
	  .kind = ETCH_FIELD_REL_LOC },
};

static struct etch_field fields[FIELDS];
static struct etch_labels labels;

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The next name behind one of the ways to say that it is one; @*at moves behind it. */
static char *next_name(const char **at)
{
	static const char * const before[] = {
		"REC->", "__get_str(", "__get_dynamic_array(", "__get_bitmask(",
	};
	const char *from = NULL;
	size_t len = 0;

	for (; **at && !from; ++*at)
		for (size_t i = 0; i < ARRAY_SIZE(before) && !from; i++)
			if (!strncmp(*at, before[i], strlen(before[i])))
				from = *at + strlen(before[i]);
	while (from && is_word(from[len]))
		len++;
	return len ? strndup(from, len) : NULL;
}

/* Fields for the names in the text, in a record that the kernel could have laid out. */
static unsigned int make_fields(const char *text, unsigned int choice, unsigned int *size)
{
	unsigned int nr = 0, offset = sizeof(struct etch_head);
	const char *at = text;

	while (*at && nr < FIELDS) {
		struct etch_field *f = &fields[nr];
		char *name = next_name(&at);

		if (!name)
			continue;
		*f = kinds[(choice + nr * 5) % ARRAY_SIZE(kinds)];
		f->name = name;
		f->offset = ALIGN(offset, f->kind >= ETCH_FIELD_DATA_LOC ? 4 : f->align);
		offset = f->offset + f->size;
		nr++;
	}
	*size = offset;
	return nr;
}

/* The text with its names replaced: as it is where there is room enough at once. */
static void check_dup(const struct etch_event *event)
{
	static char room[1 << 16];
	struct seq_buf s;
	char *text;

	seq_buf_init(&s, room, sizeof(room));
	etch_print_fmt(&s, event);
	text = etch_print_fmt_dup(event);
	if (strlen(text) != seq_buf_used(&s) || memcmp(text, room, seq_buf_used(&s)))
		abort();
	kvfree(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seq_file m = { .buf = NULL };
	struct etch_class class = { .system = "fuzz", .fields = fields };
	struct etch_event event = { .name = "fuzz", .class = &class, .id = 7 };
	char *text, *copy, outline[256];
	unsigned int bytes;

	if (!size)
		return 0;
	/* Exactly as long as it is: a zero inside ends it earlier. */
	text = strndup((const char *)data + 1, size - 1);
	copy = strdup(text);
	free(text);
	class.print_fmt = copy;
	class.nr_fields = make_fields(copy, data[0], &bytes);
	class.size = bytes;

	if (etch_metadata_event(&m, &event, &labels))
		abort();
	tsdl_outline(m.buf, m.count, outline, sizeof(outline));
	if (strcmp(outline, "event "))
		abort();
	check_dup(&event);

	for (unsigned int i = 0; i < class.nr_fields; i++)
		free((char *)fields[i].name);
	free(m.buf);
	free(copy);
	return 0;
}
