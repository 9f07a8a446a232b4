// SPDX-License-Identifier: GPL-2.0
/*
 * The fields that a filter can name: those of the event, and those that all events have.
 */
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/etch.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "event/event.h"
#include "event/program.h"
#include "filter/field.h"

/* ---- What all events have ---- */

struct etch_common {
	const char *name;
	bool is_string;
	struct etch_test_of test;
};

#define ETCH_COMM_OPERAND	{ .of = ETCH_OF_COMM }
#define ETCH_CPU_OPERAND	{ .of = ETCH_OF_CPU, .size = sizeof(s32), .is_signed = true }

static const struct etch_common etch_commons[] = {
	{ "comm", true, ETCH_COMM_OPERAND },
	{ "COMM", true, ETCH_COMM_OPERAND },
	{ "cpu", false, ETCH_CPU_OPERAND },
	{ "CPU", false, ETCH_CPU_OPERAND },
	{ "common_cpu", false, ETCH_CPU_OPERAND },
	{ "common_context", false, { .of = ETCH_OF_CONTEXT, .size = sizeof(u8) } },
	{ "common_flags", false, { .of = ETCH_OF_FLAGS, .size = sizeof(u8) } },
	{ "common_preempt_count", false, { .of = ETCH_OF_PREEMPT, .size = sizeof(u8) } },
	{ "common_migrate_disable", false, { .of = ETCH_OF_MIGRATE, .size = sizeof(u16) } },
	{ "common_prio", false, { .of = ETCH_OF_PRIO, .size = sizeof(s32), .is_signed = true } },
	{ "common_cgroup", false, { .of = ETCH_OF_CGROUP, .size = sizeof(u64) } },
	{ "common_pid", false, { .of = ETCH_OF_PID, .size = sizeof(s32), .is_signed = true } },
};

/* What ftrace's filters know, and why a filter here does not. */
static const struct {
	const char *name;
	const char *why;
} etch_absents[] = {
	{ "common_type", "Records have no type: an event's filter sees no other event's" },
	{ "stacktrace", "Records have no stack" },
	{ "STACKTRACE", "Records have no stack" },
};

/* ---- Errors ---- */

static int etch_field_bad(struct etch_field_of *field, size_t wrong, const char *why)
{
	field->why = why;
	field->wrong = wrong;
	return -EINVAL;
}

/* ---- The event's own ---- */

static bool etch_is_mask(const struct etch_field *f)
{
	return etch_is_dynamic(f) && strstr(f->type, "cpumask_t");
}

static bool etch_number_size(unsigned int size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static void etch_field_string(const struct etch_field *f, struct etch_test_of *test)
{
	if (f->is_pointer)
		test->of = ETCH_OF_POINTER;
	else if (etch_is_dynamic(f))
		test->of = ETCH_OF_DYNAMIC;
	else
		test->of = ETCH_OF_STRING;
	test->most = f->size;
}

/* NAME[INDEX]. */
static int etch_field_element(const struct etch_field *f, const char *name,
			      struct etch_field_of *field, struct etch_test_of *test)
{
	unsigned int index;
	int used = 0;

	if (sscanf(name + field->len, "[%u]%n", &index, &used) != 1 || !used)
		return etch_field_bad(field, field->len,
				      "The number of an element is missing here");
	if (f->kind == ETCH_FIELD_FIXED || f->is_string || !etch_number_size(f->elem_size))
		return etch_field_bad(field, field->len, "This field is no array of numbers");
	if (index > U16_MAX || (!etch_is_dynamic(f) && (index + 1) * f->elem_size > f->size))
		return etch_field_bad(field, field->len + 1, "The array has no such element");
	test->size = f->elem_size;
	if (etch_is_dynamic(f)) {
		test->of = ETCH_OF_ELEMENT;
		test->index = index;
	} else {
		test->of = ETCH_OF_FIELD;
		test->offset += index * f->elem_size;
	}
	field->len += used;
	return 0;
}

/* The suffix of a field without an index. */
static int etch_field_suffix(const struct etch_field *f, const char *name,
			     struct etch_field_of *field, struct etch_test_of *test)
{
	const char *suffix = name + field->len;

	if (str_has_prefix(suffix, ".ustring")) {
		if (!f->is_pointer)
			return etch_field_bad(field, field->len, "This field is no pointer");
		field->is_string = true;
		test->of = ETCH_OF_USER;
		field->len += strlen(".ustring");
	} else if (str_has_prefix(suffix, ".function")) {
		if (f->size != sizeof(long) || f->kind != ETCH_FIELD_FIXED)
			return etch_field_bad(field, field->len, "This field is no address");
		field->is_function = true;
		field->len += strlen(".function");
	} else if (*suffix == '.') {
		return etch_field_bad(field, field->len, "Only .ustring and .function can follow");
	}
	return 0;
}

static int etch_field_own(const struct etch_field *f, const char *name,
			  struct etch_field_of *field, struct etch_test_of *test)
{
	*test = (struct etch_test_of) {
		.of = ETCH_OF_FIELD,
		.size = f->size,
		.is_signed = f->is_signed,
		.offset = f->offset,
		.relative = f->kind == ETCH_FIELD_REL_LOC,
	};
	if (name[field->len] == '[')
		return etch_field_element(f, name, field, test);
	if (etch_is_mask(f)) {
		test->of = ETCH_OF_MASK;
	} else if (f->is_string) {
		field->is_string = true;
		etch_field_string(f, test);
	} else if (f->kind != ETCH_FIELD_FIXED || !etch_number_size(f->size)) {
		return etch_field_bad(field, 0, "This field can be compared by its elements only");
	}
	return etch_field_suffix(f, name, field, test);
}

/* ---- Latencies ---- */

/* latency or latency.max, where an instance has a trigger that finds it. */
static int etch_field_latency(unsigned int ends, const char *name, struct etch_field_of *field,
			      struct etch_test_of *test)
{
	bool longest = !strncmp(name + field->len, ".max", 4) &&
		       !isalnum(name[field->len + 4]) && name[field->len + 4] != '_';

	if (!ends)
		return etch_field_bad(field, 0,
				      "The event ends no latency: write end:NAME:key=FIELD to its trigger first");
	*test = (struct etch_test_of) {
		.of = longest ? ETCH_OF_LONGEST : ETCH_OF_LATENCY,
		.size = sizeof(u64),
		.index = ends,
	};
	if (longest)
		field->len += strlen(".max");
	else if (name[field->len] == '.' || name[field->len] == '[')
		return etch_field_bad(field, field->len, "Only .max can follow");
	return 0;
}

static bool etch_is_named(const char *known, const char *name, size_t len)
{
	return !strncmp(known, name, len) && !known[len];
}

/**
 * etch_field_find() - find out which field a filter means
 * @event: the event
 * @ends: the bit of the instance in which the event's hits end latencies; 0: they end none
 * @name: begins with the field's name
 * @field: is filled in
 * @test: what the test looks at is filled in
 *
 * A field of the event goes before one that all events have.
 *
 * Context: any.
 * Return: 0; or -EINVAL, with field->why.
 */
int etch_field_find(const struct etch_event *event, unsigned int ends, const char *name,
		    struct etch_field_of *field, struct etch_test_of *test)
{
	const struct etch_class *class = event->class;
	int i;

	while (isalnum(name[field->len]) || name[field->len] == '_')
		field->len++;
	if (!field->len)
		return etch_field_bad(field, 0, "The name of a field is missing here");
	for (i = 0; i < class->nr_fields; i++)
		if (etch_is_named(class->fields[i].name, name, field->len))
			return etch_field_own(&class->fields[i], name, field, test);
	for (i = 0; i < ARRAY_SIZE(etch_commons); i++) {
		if (!etch_is_named(etch_commons[i].name, name, field->len))
			continue;
		field->is_string = etch_commons[i].is_string;
		*test = etch_commons[i].test;
		return 0;
	}
	if (etch_is_named("latency", name, field->len))
		return etch_field_latency(ends, name, field, test);
	for (i = 0; i < ARRAY_SIZE(etch_absents); i++)
		if (etch_is_named(etch_absents[i].name, name, field->len))
			return etch_field_bad(field, 0, etch_absents[i].why);
	return etch_field_bad(field, 0, "The event has no such field");
}
