// SPDX-License-Identifier: GPL-2.0
/*
 * CSV, as RFC 4180 has it: for spreadsheets.
 *
 *	time,cpu,pid,comm,context,event,lost,fields
 *	61.034417238,1,812,make,task,sched:sched_waking,,comm=sh pid=813 prio=120 target_cpu=0
 *	61.041200100,1,,,,,17,full=17
 *
 * Fields are "name=value", with a blank between them; in a text, blanks, quotes, = and control
 * characters are written as in JSON, in quotes.
 */
#include "export/value.h"

#include <stdio.h>
#include <stdlib.h>

/**
 * struct csv - a file
 * @file: it
 * @b: the line
 * @fields: its last column
 */
struct csv {
	struct file *file;
	struct bytes b, fields;
};

static bool csv_open(struct export *x)
{
	static const char head[] = "time,cpu,pid,comm,context,event,lost,fields\r\n";
	struct csv *csv = calloc(1, sizeof(*csv));

	if (!csv)
		return false;
	x->own = csv;
	csv->file = file_open(x->to);
	if (csv->file)
		file_put(csv->file, head, sizeof(head) - 1);
	return csv->file;
}

/* A column, in quotes if it needs some. */
static void put_column(struct bytes *b, const char *text, size_t len)
{
	bool quote = false;

	for (size_t i = 0; i < len; i++)
		quote |= text[i] == ',' || text[i] == '"' || text[i] == '\n' || text[i] == '\r';
	bytes_u8(b, ',');
	if (!quote) {
		bytes_put(b, text, len);
		return;
	}
	bytes_u8(b, '"');
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"')
			bytes_u8(b, '"');
		bytes_u8(b, text[i]);
	}
	bytes_u8(b, '"');
}

static void put_text(struct bytes *b, const char *text, size_t len)
{
	bool plain = len;

	for (size_t i = 0; i < len; i++)
		plain &= text[i] > ' ' && text[i] < 127 && text[i] != '"' && text[i] != '=';
	if (plain)
		bytes_put(b, text, len);
	else
		value_json_text(b, text, len);
}

static void put_field(struct bytes *b, const char *prefix, const struct etch_field *field,
		      const unsigned char *at, size_t len)
{
	unsigned int elem = field->kind == ETCH_ARRAY ? field->elem : 1;

	bytes_print(b, "%s%s%s=", b->len ? " " : "", prefix, field->name);
	if (field->kind == ETCH_NUMBER && field->hex)
		bytes_print(b, "0x%llx", (unsigned long long)etch_load(at, field->size, false));
	else if (field->kind == ETCH_NUMBER)
		value_decimal(b, etch_load(at, field->size, field->is_signed), field->is_signed);
	else if (field->kind == ETCH_TEXT)
		put_text(b, (const char *)at, strnlen((const char *)at, len));
	else
		for (size_t n = 0; n + elem <= len; n += elem)
			bytes_print(b, "%s0x%llx", n ? ":" : "",
				    (unsigned long long)etch_load(at + n, elem, false));
}

static void put_fields(struct csv *csv, const struct export *x, const struct etch_record *rec)
{
	size_t len;

	csv->fields.len = 0;
	for (unsigned int i = 0; i < rec->event->nr_fields; i++) {
		const struct etch_field *field = &rec->event->fields[i];
		const unsigned char *at = etch_bytes(rec, field, &len);

		put_field(&csv->fields, "", field, at, len);
	}
	for (unsigned int i = 0; i < x->source->nr_contexts; i++) {
		const struct etch_field *field = &x->source->contexts[i];

		put_field(&csv->fields, "common_", field, rec->head + field->offset, field->size);
	}
}

static bool put_line(struct csv *csv)
{
	put_column(&csv->b, (const char *)csv->fields.at, csv->fields.len);
	bytes_text(&csv->b, "\r\n");
	if (csv->b.failed || csv->fields.failed) {
		etch_complaint("There is no memory for a line");
		return false;
	}
	file_put(csv->file, csv->b.at, csv->b.len);
	return !csv->file->error;
}

static bool csv_record(struct export *x, const struct etch_record *rec)
{
	const char *name = names_now(names_find(x->names, rec->pid));
	struct csv *csv = x->own;

	csv->b.len = 0;
	value_seconds(&csv->b, rec->ns);
	bytes_print(&csv->b, ",%d,%d", rec->cpu, rec->pid);
	put_column(&csv->b, name, strlen(name));
	bytes_print(&csv->b, ",%s,%s,", value_context(rec->context), rec->event->full);
	put_fields(csv, x, rec);
	return put_line(csv);
}

static bool csv_loss(struct export *x, const struct etch_record *rec)
{
	struct csv *csv = x->own;
	struct value_cause causes[VALUE_CAUSES];
	unsigned int nr = value_causes(rec->loss, causes);

	csv->b.len = 0;
	csv->fields.len = 0;
	value_seconds(&csv->b, rec->ns);
	bytes_print(&csv->b, ",%d,,,,,%llu", rec->cpu, rec->loss->total);
	for (unsigned int i = 0; i < nr; i++)
		bytes_print(&csv->fields, "%s%s=%llu", i ? " " : "", causes[i].name,
			    causes[i].count);
	return put_line(csv);
}

static bool csv_close(struct export *x, bool whole)
{
	struct csv *csv = x->own;

	if (!csv)
		return false;
	if (csv->file)
		whole = file_close(csv->file, whole);
	bytes_free(&csv->b);
	bytes_free(&csv->fields);
	free(csv);
	return whole;
}

const struct exporter export_csv = {
	.name = "csv",
	.suffix = ".csv",
	.line = "spreadsheets",
	.stream = true,
	.open = csv_open,
	.record = csv_record,
	.loss = csv_loss,
	.close = csv_close,
};
