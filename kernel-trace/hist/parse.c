// SPDX-License-Identifier: GPL-2.0
/*
 * Histograms as users write them: see parse.h.
 *
 * The parser first finds the parts, and then looks into them: a part may name what stands behind
 * it. All errors are reported with their place.
 */
#include <linux/bits.h>
#include <linux/ctype.h>
#include <linux/kstrtox.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "event/event.h"
#include "filter/field.h"
#include "hist/parse.h"
#include "instance/instance.h"

#define ETCH_HIST_BITS		11	/* bins for each CPU, if the user does not say */
#define ETCH_HIST_NAME		64	/* bytes of a field as a user writes it */

/* A piece of the text. */
struct etch_span {
	const char *at;
	size_t len;
};

enum etch_hist_part {
	ETCH_PART_KEYS,
	ETCH_PART_VALUES,
	ETCH_PART_SORT,
	ETCH_PART_SIZE,
	ETCH_PART_NAME,
	ETCH_PARTS,
};

/**
 * struct etch_hist_parser - a histogram on its way
 * @in: the input, or NULL: errors are not reported
 * @event: whose records are counted
 * @ends: as etch_field_find() has it
 * @spec: the result
 * @parts: the texts behind "="; not there: NULL
 */
struct etch_hist_parser {
	const struct etch_input *in;
	const struct etch_event *event;
	unsigned int ends;
	struct etch_hist_spec *spec;
	struct etch_span parts[ETCH_PARTS];
};

#define etch_hist_bad(p, where, ...)	etch_bad((p)->in, where, -EINVAL, __VA_ARGS__)

/* ---- Pieces ---- */

static bool etch_span_is(struct etch_span span, const char *word)
{
	return span.len == strlen(word) && !strncmp(span.at, word, span.len);
}

/* Takes what stands before the next @mark, or all; and the mark. False: there is nothing left. */
static bool etch_span_next(struct etch_span *rest, char mark, struct etch_span *piece)
{
	const char *end;

	if (!rest->at)
		return false;
	end = memchr(rest->at, mark, rest->len);
	*piece = (struct etch_span) { rest->at, end ? end - rest->at : rest->len };
	if (end)
		*rest = (struct etch_span) { end + 1, rest->len - piece->len - 1 };
	else
		rest->at = NULL;
	return true;
}

static int etch_span_number(struct etch_span span, unsigned long *number)
{
	char text[24];

	if (!span.len || span.len >= sizeof(text) || !isdigit(*span.at))
		return -EINVAL;
	memcpy(text, span.at, span.len);
	text[span.len] = '\0';
	return kstrtoul(text, 0, number);
}

/* ---- Fields ---- */

struct etch_hist_modifier {
	const char *name;
	enum etch_hist_as as;
};

static const struct etch_hist_modifier etch_hist_modifiers[] = {
	{ "hex", ETCH_AS_HEX }, { "sym", ETCH_AS_SYM }, { "sym-offset", ETCH_AS_SYM_OFFSET },
	{ "execname", ETCH_AS_EXECNAME }, { "syscall", ETCH_AS_SYSCALL },
	{ "log2", ETCH_AS_LOG2 }, { "buckets", ETCH_AS_BUCKETS },
	{ "percent", ETCH_AS_PERCENT }, { "graph", ETCH_AS_GRAPH },
};

/**
 * etch_hist_modifier() - the modifier that a field has
 * @f: the field
 *
 * Context: any.
 * Return: its name, or NULL.
 */
const char *etch_hist_modifier(const struct etch_hist_field *f)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(etch_hist_modifiers); i++)
		if (etch_hist_modifiers[i].as == f->as)
			return etch_hist_modifiers[i].name;
	return NULL;
}

static int etch_hist_buckets(const struct etch_hist_parser *p, struct etch_hist_field *f,
			     struct etch_span number)
{
	if (!number.at || etch_span_number(number, &f->buckets) || !f->buckets ||
	    f->buckets > LONG_MAX)
		return etch_hist_bad(p, number.at ?: p->parts[ETCH_PART_KEYS].at,
				     "Write .buckets=N, where N is how many numbers each range has");
	return 0;
}

/* The text behind the point, with "=NUMBER" or without. */
static int etch_hist_parse_modifier(const struct etch_hist_parser *p, struct etch_hist_field *f,
				    struct etch_span span)
{
	struct etch_span word = {};
	int i;

	etch_span_next(&span, '=', &word);
	for (i = 0; i < ARRAY_SIZE(etch_hist_modifiers); i++)
		if (etch_span_is(word, etch_hist_modifiers[i].name))
			break;
	if (i == ARRAY_SIZE(etch_hist_modifiers))
		return etch_hist_bad(p, word.at, "There is no such modifier");
	f->as = etch_hist_modifiers[i].as;
	if (f->as == ETCH_AS_BUCKETS) {
		if (!span.at)
			span = (struct etch_span) { word.at + word.len, 0 };
		return etch_hist_buckets(p, f, span);
	}
	if (span.at)
		return etch_hist_bad(p, span.at, "Only .buckets has a number");
	return 0;
}

static unsigned int etch_hist_text_words(const struct etch_test_of *test)
{
	unsigned int bytes = ETCH_HIST_TEXT;

	if (test->of == ETCH_OF_COMM)
		bytes = TASK_COMM_LEN;
	else if (test->of == ETCH_OF_STRING)
		bytes = min_t(unsigned int, test->most, ETCH_HIST_TEXT);
	return DIV_ROUND_UP(bytes, sizeof(u64));
}

static void etch_hist_bits(struct etch_hist_field *f, unsigned int bits)
{
	f->mask = GENMASK_ULL(bits - 1, 0);
	f->sign = f->is_signed ? BIT_ULL(bits - 1) : 0;
}

/* The event's field of that name, or one that all events have. */
static int etch_hist_find(const struct etch_hist_parser *p, struct etch_hist_field *f,
			  struct etch_span name)
{
	struct etch_field_of found = {};
	struct etch_test_of test = {};

	if (etch_field_find(p->event, p->ends, f->name, &found, &test))
		return etch_hist_bad(p, name.at + found.wrong, "%s", found.why);
	if (found.len != name.len)
		return etch_hist_bad(p, name.at + found.len, "This belongs to no field's name");
	if (test.of == ETCH_OF_MASK)
		return etch_hist_bad(p, name.at, "A set of CPUs cannot be counted by");
	f->of = test.of;
	f->is_text = found.is_string;
	f->is_signed = test.is_signed;
	f->relative = test.relative;
	f->offset = test.offset;
	f->most = test.most;
	if (!f->is_text)
		etch_hist_bits(f, test.size * BITS_PER_BYTE);
	f->words = f->is_text ? etch_hist_text_words(&test) : 1;
	return 0;
}

static int etch_hist_special(const struct etch_hist_parser *p, struct etch_hist_field *f,
			     struct etch_span name)
{
	f->mask = U64_MAX;
	if (etch_span_is(name, "hitcount")) {
		f->of = ETCH_FROM_HITS;
		f->words = 1;
		return 0;
	}
	if (!IS_ENABLED(CONFIG_STACKTRACE))
		return etch_hist_bad(p, name.at, "This kernel has no stack traces");
	f->of = ETCH_FROM_STACK;
	f->words = ETCH_HIST_STACK;
	return 0;
}

/* latency.max is a name. */
static void etch_hist_join_max(struct etch_span *rest, struct etch_span *name)
{
	struct etch_span max;

	if (!rest->at || !etch_span_is(*name, "latency") || rest->len < 3 ||
	    strncmp(rest->at, "max", 3) || (rest->len > 3 && rest->at[3] != '.'))
		return;
	etch_span_next(rest, '.', &max);
	name->len += 1 + max.len;
}

/* NAME[.MODIFIER[=NUMBER]] */
static int etch_hist_field(const struct etch_hist_parser *p, struct etch_hist_field *f,
			   struct etch_span span)
{
	struct etch_span name = {};
	int ret;

	etch_span_next(&span, '.', &name);
	etch_hist_join_max(&span, &name);
	if (!name.len)
		return etch_hist_bad(p, name.at, "The name of a field is missing here");
	if (name.len >= ETCH_HIST_NAME)
		return etch_hist_bad(p, name.at, "The event has no such field");
	if (memchr(name.at, '=', name.len) || *name.at == '$')
		return etch_hist_bad(p, name.at, "Histograms here have no variables");
	f->name = kstrndup(name.at, name.len, GFP_KERNEL);
	if (!f->name)
		return -ENOMEM;
	if (etch_span_is(name, "hitcount") || etch_span_is(name, "common_stacktrace") ||
	    etch_span_is(name, "stacktrace"))
		ret = etch_hist_special(p, f, name);
	else
		ret = etch_hist_find(p, f, name);
	if (!ret && span.at)
		ret = etch_hist_parse_modifier(p, f, span);
	return ret;
}

/* Does a key's modifier make sense? */
static int etch_hist_check_key(const struct etch_hist_parser *p, const struct etch_hist_field *f,
			       const char *at)
{
	bool number = !f->is_text && f->of != ETCH_FROM_STACK;

	if (f->of == ETCH_FROM_HITS)
		return etch_hist_bad(p, at, "The hits are a value, and no key");
	if (f->as == ETCH_AS_PERCENT || f->as == ETCH_AS_GRAPH)
		return etch_hist_bad(p, at, "Only a value can be shown in this way");
	if (f->as != ETCH_AS_IS && !number)
		return etch_hist_bad(p, at, "Only a number can be shown in this way");
	if (f->as == ETCH_AS_EXECNAME && f->of != ETCH_OF_PID)
		return etch_hist_bad(p, at, "Only common_pid can be shown in this way");
	if (f->as == ETCH_AS_SYSCALL && !IS_ENABLED(CONFIG_ETCH_SYSCALLS))
		return etch_hist_bad(p, at, "This kernel has no names of system calls");
	return 0;
}

static int etch_hist_check_value(const struct etch_hist_parser *p,
				 const struct etch_hist_field *f, const char *at)
{
	if (f->is_text || f->of == ETCH_FROM_STACK)
		return etch_hist_bad(p, at, "Only numbers can be added up");
	if (f->as != ETCH_AS_IS && f->as != ETCH_AS_HEX && f->as != ETCH_AS_PERCENT &&
	    f->as != ETCH_AS_GRAPH)
		return etch_hist_bad(p, at, "A value can have .hex, .percent or .graph only");
	return 0;
}

/* ---- Parts ---- */

static int etch_hist_parse_keys(const struct etch_hist_parser *p)
{
	struct etch_span rest = p->parts[ETCH_PART_KEYS], piece;
	struct etch_hist_spec *spec = p->spec;
	struct etch_hist_field *f;
	int ret;

	while (etch_span_next(&rest, ',', &piece)) {
		if (spec->nr_keys == ETCH_HIST_KEYS)
			return etch_hist_bad(p, piece.at, "A histogram has at most %d keys",
					     ETCH_HIST_KEYS);
		f = &spec->keys[spec->nr_keys++];
		ret = etch_hist_field(p, f, piece) ?: etch_hist_check_key(p, f, piece.at);
		if (ret)
			return ret;
		f->at = spec->shape.keys;
		spec->shape.keys += f->words;
		spec->shape.comm |= f->as == ETCH_AS_EXECNAME;
		if (spec->shape.keys > ETCH_TABLE_WORDS)
			return etch_hist_bad(p, piece.at,
					     "All keys together have at most %zu bytes",
					     ETCH_TABLE_WORDS * sizeof(u64));
	}
	return 0;
}

static int etch_hist_parse_values(const struct etch_hist_parser *p)
{
	struct etch_span rest = p->parts[ETCH_PART_VALUES], piece;
	struct etch_hist_spec *spec = p->spec;
	struct etch_hist_field *f;
	int ret;

	while (etch_span_next(&rest, ',', &piece)) {
		if (etch_span_is(piece, "hitcount"))
			continue;
		if (spec->nr_values == ETCH_TABLE_SUMS)
			return etch_hist_bad(p, piece.at,
					     "A histogram adds up at most %d values",
					     ETCH_TABLE_SUMS);
		f = &spec->values[spec->nr_values++];
		ret = etch_hist_field(p, f, piece) ?: etch_hist_check_value(p, f, piece.at);
		if (ret)
			return ret;
		if (f->of == ETCH_FROM_HITS)
			continue;
		f->at = spec->shape.sums++;
	}
	if (spec->no_hits && !spec->nr_values)
		return etch_hist_bad(p, rest.at ?: p->parts[ETCH_PART_KEYS].at,
				     "Without its hits, this histogram has no value");
	return 0;
}

static int etch_hist_sort_by(const struct etch_hist_parser *p, struct etch_hist_sort *sort,
			     struct etch_span name)
{
	const struct etch_hist_spec *spec = p->spec;
	int i;

	*sort = (struct etch_hist_sort) { .value = -1, .key = -1 };
	if (etch_span_is(name, "hitcount"))
		return 0;
	for (i = 0; i < spec->nr_values; i++) {
		if (etch_span_is(name, spec->values[i].name)) {
			sort->value = i;
			return 0;
		}
	}
	for (i = 0; i < spec->nr_keys; i++) {
		if (etch_span_is(name, spec->keys[i].name)) {
			sort->key = i;
			return 0;
		}
	}
	return etch_hist_bad(p, name.at,
			     "Lines can be sorted by hitcount, or by a key or value that stands here");
}

static int etch_hist_parse_sort(const struct etch_hist_parser *p)
{
	struct etch_span rest = p->parts[ETCH_PART_SORT], piece, name;
	struct etch_hist_spec *spec = p->spec;
	struct etch_hist_sort *sort;
	int ret;

	if (!rest.at)
		rest = (struct etch_span) { "hitcount", strlen("hitcount") };
	while (etch_span_next(&rest, ',', &piece)) {
		if (spec->nr_sorts == ETCH_HIST_SORTS)
			return etch_hist_bad(p, piece.at, "Lines are sorted by at most %d fields",
					     ETCH_HIST_SORTS);
		sort = &spec->sorts[spec->nr_sorts++];
		etch_span_next(&piece, '.', &name);
		etch_hist_join_max(&piece, &name);
		ret = etch_hist_sort_by(p, sort, name);
		if (ret)
			return ret;
		if (!piece.at || etch_span_is(piece, "ascending"))
			continue;
		if (!etch_span_is(piece, "descending"))
			return etch_hist_bad(p, piece.at, "The order is .ascending or .descending");
		sort->descending = true;
	}
	return 0;
}

/* Sizes that are no power of two are rounded up. */
static int etch_hist_parse_size(const struct etch_hist_parser *p)
{
	struct etch_span span = p->parts[ETCH_PART_SIZE];
	unsigned long size;

	p->spec->shape.bits = ETCH_HIST_BITS;
	if (!span.at)
		return 0;
	if (etch_span_number(span, &size) || order_base_2(size) < ETCH_TABLE_BITS_MIN ||
	    order_base_2(size) > ETCH_TABLE_BITS_MAX)
		return etch_hist_bad(p, span.at, "A histogram's size is a number from %lu to %lu",
				     BIT(ETCH_TABLE_BITS_MIN), BIT(ETCH_TABLE_BITS_MAX));
	p->spec->shape.bits = order_base_2(size);
	return 0;
}

static int etch_hist_parse_name(const struct etch_hist_parser *p)
{
	struct etch_span span = p->parts[ETCH_PART_NAME];
	size_t i;

	if (!span.at)
		return 0;
	for (i = 0; i < span.len; i++)
		if (!isalnum(span.at[i]) && span.at[i] != '_')
			return etch_hist_bad(p, span.at + i,
					     "A name has letters, digits and _ only");
	if (!span.len || span.len >= ETCH_HIST_NAME)
		return etch_hist_bad(p, span.at, "A name has 1 to %d characters",
				     ETCH_HIST_NAME - 1);
	p->spec->name = kstrndup(span.at, span.len, GFP_KERNEL);
	return p->spec->name ? 0 : -ENOMEM;
}

/* ---- The whole ---- */

static const struct {
	const char *name;
	enum etch_hist_part part;
} etch_hist_parts[] = {
	{ "keys", ETCH_PART_KEYS }, { "key", ETCH_PART_KEYS },
	{ "values", ETCH_PART_VALUES }, { "vals", ETCH_PART_VALUES }, { "val", ETCH_PART_VALUES },
	{ "sort", ETCH_PART_SORT }, { "size", ETCH_PART_SIZE }, { "name", ETCH_PART_NAME },
};

/* A part with "=". */
static int etch_hist_take_part(struct etch_hist_parser *p, struct etch_span name,
			       struct etch_span content)
{
	struct etch_span *part;
	int i;

	for (i = 0; i < ARRAY_SIZE(etch_hist_parts); i++)
		if (etch_span_is(name, etch_hist_parts[i].name))
			break;
	if (i == ARRAY_SIZE(etch_hist_parts))
		return etch_hist_bad(p, name.at,
				     "Only keys=, values=, sort=, size= or name= can stand here: there are no variables");
	part = &p->parts[etch_hist_parts[i].part];
	if (part->at)
		return etch_hist_bad(p, name.at, "This stands here twice");
	if (!content.len)
		return etch_hist_bad(p, name.at, "Nothing stands behind the =");
	*part = content;
	return 0;
}

/* A part without. */
static int etch_hist_take_word(struct etch_hist_parser *p, struct etch_span word)
{
	struct etch_hist_spec *spec = p->spec;

	if (etch_span_is(word, "pause"))
		spec->pause = true;
	else if (etch_span_is(word, "continue") || etch_span_is(word, "cont"))
		spec->resume = true;
	else if (etch_span_is(word, "clear"))
		spec->clear = true;
	else if (etch_span_is(word, "nohitcount") || etch_span_is(word, "NOHC"))
		spec->no_hits = true;
	else
		return etch_hist_bad(p, word.at,
				     "Only pause, continue, clear, nohitcount or a part with = can stand here");
	return 0;
}

static int etch_hist_take_parts(struct etch_hist_parser *p, struct etch_span rest)
{
	struct etch_span piece, name;
	int ret;

	while (etch_span_next(&rest, ':', &piece)) {
		etch_span_next(&piece, '=', &name);
		ret = piece.at ? etch_hist_take_part(p, name, piece) : etch_hist_take_word(p, name);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * etch_hist_parse() - understand a histogram's text
 * @in: the input that has the text, for error_log; NULL: errors are not reported
 * @text: the text behind "hist:"
 * @len: its bytes
 * @event: whose records it counts
 * @ends: as etch_field_find() has it
 * @spec: gets it, for etch_hist_spec_drop()
 *
 * Context: process, may sleep; the event stays.
 * Return: 0; -EINVAL, reported; or -ENOMEM. If it is not 0, there is nothing to be dropped.
 */
int etch_hist_parse(const struct etch_input *in, const char *text, size_t len,
		    const struct etch_event *event, unsigned int ends,
		    struct etch_hist_spec *spec)
{
	struct etch_hist_parser p = { .in = in, .event = event, .ends = ends, .spec = spec };
	int ret;

	*spec = (struct etch_hist_spec) {};
	ret = etch_hist_take_parts(&p, (struct etch_span) { text, len });
	if (!ret && !p.parts[ETCH_PART_KEYS].at)
		ret = etch_hist_bad(&p, text, "Name what to count by: keys=FIELD");
	ret = ret ?: etch_hist_parse_keys(&p) ?: etch_hist_parse_values(&p) ?:
		etch_hist_parse_sort(&p) ?: etch_hist_parse_size(&p) ?: etch_hist_parse_name(&p);
	if (ret)
		etch_hist_spec_drop(spec);
	return ret;
}

/**
 * etch_hist_parse_word() - understand the name of a field that is one number
 * @in: the input that has the text, for error_log
 * @text: the field, without a modifier
 * @len: its bytes
 * @event: whose records have it
 * @field: gets it; its caller frees @field->name
 *
 * Context: process, may sleep; the event stays.
 * Return: 0; -EINVAL, reported; or -ENOMEM. If it is not 0, there is nothing to be freed.
 */
int etch_hist_parse_word(const struct etch_input *in, const char *text, size_t len,
			 const struct etch_event *event, struct etch_hist_field *field)
{
	const struct etch_hist_parser p = { .in = in, .event = event };
	int ret;

	*field = (struct etch_hist_field) {};
	ret = etch_hist_field(&p, field, (struct etch_span) { text, len });
	if (!ret && (field->is_text || field->of == ETCH_FROM_STACK || field->of == ETCH_FROM_HITS))
		ret = etch_hist_bad(&p, text, "This field is no number");
	if (!ret && field->as != ETCH_AS_IS)
		ret = etch_hist_bad(&p, text, "Only the name of a field can stand here");
	if (ret) {
		kfree(field->name);
		field->name = NULL;
	}
	return ret;
}

/**
 * etch_hist_spec_drop() - free what a histogram's description has
 * @spec: the description
 *
 * Context: process.
 */
void etch_hist_spec_drop(struct etch_hist_spec *spec)
{
	int i;

	for (i = 0; i < ETCH_HIST_KEYS; i++)
		kfree(spec->keys[i].name);
	for (i = 0; i < ETCH_TABLE_SUMS; i++)
		kfree(spec->values[i].name);
	kfree(spec->name);
}

static bool etch_hist_fields_same(const struct etch_hist_field *a,
				  const struct etch_hist_field *b, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (strcmp(a[i].name, b[i].name) || a[i].as != b[i].as ||
		    a[i].buckets != b[i].buckets || a[i].words != b[i].words ||
		    a[i].is_text != b[i].is_text || a[i].is_signed != b[i].is_signed)
			return false;
	return true;
}

/**
 * etch_hist_counts_same() - do two histograms have the same keys and values?
 * @a: a histogram
 * @b: the other one
 *
 * Context: any.
 * Return: true if they do. Then they can share a table, even if they are of two events.
 */
bool etch_hist_counts_same(const struct etch_hist_spec *a, const struct etch_hist_spec *b)
{
	return a->nr_keys == b->nr_keys && a->nr_values == b->nr_values &&
	       etch_hist_fields_same(a->keys, b->keys, a->nr_keys) &&
	       etch_hist_fields_same(a->values, b->values, a->nr_values);
}

/**
 * etch_hist_shows_same() - are two histograms of an event the same one?
 * @a: a histogram
 * @b: the other one
 *
 * Their sizes do not matter.
 *
 * Context: any.
 * Return: true if they have the same keys, values, order and name.
 */
bool etch_hist_shows_same(const struct etch_hist_spec *a, const struct etch_hist_spec *b)
{
	bool named = a->name && b->name && !strcmp(a->name, b->name);
	int i;

	if (a->nr_sorts != b->nr_sorts || (!named && a->name != b->name))
		return false;
	for (i = 0; i < a->nr_sorts; i++)
		if (a->sorts[i].value != b->sorts[i].value ||
		    a->sorts[i].key != b->sorts[i].key ||
		    a->sorts[i].descending != b->sorts[i].descending)
			return false;
	return etch_hist_counts_same(a, b);
}
