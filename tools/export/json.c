// SPDX-License-Identifier: GPL-2.0
/*
 * JSON: an object in each line, for jq and for programs that people write.
 *
 *	{"time":61.034417238,"cpu":1,"event":"sched:sched_waking","pid":812,"comm":"make",
 *	 "context":"task","fields":{"comm":"sh","pid":813,"prio":120,"target_cpu":0}}
 *	{"time":61.041200100,"cpu":1,"lost":17,"since":61.040000000,"causes":{"full":17}}
 *
 * Times are seconds with nine digits behind the point: the text is exact, whatever a
 * reader makes of the number.
 */
#include "export/value.h"

#include <stdio.h>
#include <stdlib.h>

struct json {
	struct file *file;
	struct bytes b;
};

static bool json_open(struct export *x)
{
	struct json *json = calloc(1, sizeof(*json));

	if (!json)
		return false;
	x->own = json;
	json->file = file_open(x->to);
	return json->file;
}

static void put_field(struct bytes *b, bool first, const struct etch_field *field,
		      const unsigned char *at, size_t len)
{
	if (!first)
		bytes_u8(b, ',');
	value_json_text(b, field->name, strlen(field->name));
	bytes_u8(b, ':');
	if (field->kind == ETCH_NUMBER)
		value_decimal(b, etch_load(at, field->size, field->is_signed), field->is_signed);
	else if (field->kind == ETCH_TEXT)
		value_json_text(b, at, strnlen((const char *)at, len));
	else
		value_array(b, field, at, len);
}

/* What each line begins with. */
static void put_place(struct json *json, const struct etch_record *rec)
{
	json->b.len = 0;
	bytes_text(&json->b, "{\"time\":");
	value_seconds(&json->b, rec->ns);
	bytes_text(&json->b, ",\"cpu\":");
	value_decimal(&json->b, rec->cpu, true);
}

static bool put_line(struct json *json)
{
	bytes_text(&json->b, "}\n");
	if (json->b.failed) {
		etch_complaint("There is no memory for a line");
		return false;
	}
	file_put(json->file, json->b.at, json->b.len);
	return !json->file->error;
}

static bool json_record(struct export *x, const struct etch_record *rec)
{
	const struct name *name = names_find(x->names, rec->pid);
	struct json *json = x->own;
	struct bytes *b = &json->b;
	size_t len;

	put_place(json, rec);
	bytes_text(b, ",\"event\":");
	value_json_text(b, rec->event->full, strlen(rec->event->full));
	bytes_text(b, ",\"pid\":");
	value_decimal(b, (int64_t)rec->pid, true);
	bytes_text(b, ",\"comm\":");
	value_json_text(b, names_now(name), strlen(names_now(name)));
	bytes_print(b, ",\"context\":\"%s\",\"fields\":{", value_context(rec->context));
	for (unsigned int i = 0; i < rec->event->nr_fields; i++) {
		const struct etch_field *field = &rec->event->fields[i];
		const unsigned char *at = etch_bytes(rec, field, &len);

		put_field(b, !i, field, at, len);
	}
	bytes_u8(b, '}');
	if (!etch_has_contexts(rec) || !x->source->nr_contexts)
		return put_line(json);
	bytes_text(b, ",\"contexts\":{");
	for (unsigned int i = 0; i < x->source->nr_contexts; i++) {
		const struct etch_field *field = &x->source->contexts[i];

		put_field(b, !i, field, rec->head + field->offset, field->size);
	}
	bytes_u8(b, '}');
	return put_line(json);
}

static bool json_loss(struct export *x, const struct etch_record *rec)
{
	struct json *json = x->own;
	struct value_cause causes[VALUE_CAUSES];
	unsigned int nr = value_causes(rec->loss, causes);

	put_place(json, rec);
	bytes_text(&json->b, ",\"lost\":");
	value_decimal(&json->b, rec->loss->total, false);
	bytes_text(&json->b, ",\"since\":");
	value_seconds(&json->b, etch_clock_ns(&x->source->clock, rec->loss->since));
	bytes_text(&json->b, ",\"causes\":{");
	for (unsigned int i = 0; i < nr; i++)
		bytes_print(&json->b, "%s\"%s\":%llu", i ? "," : "", causes[i].name,
			    causes[i].count);
	bytes_u8(&json->b, '}');
	return put_line(json);
}

static bool json_close(struct export *x, bool whole)
{
	struct json *json = x->own;

	if (!json)
		return false;
	if (json->file)
		whole = file_close(json->file, whole);
	bytes_free(&json->b);
	free(json);
	return whole;
}

const struct exporter export_json = {
	.name = "json",
	.suffix = ".json",
	.line = "jq, and programs that people write",
	.stream = true,
	.open = json_open,
	.record = json_record,
	.loss = json_loss,
	.close = json_close,
};
