// SPDX-License-Identifier: GPL-2.0
/*
 * Parquet files, for SQL over the traces of many machines:
 *
 *	FOLDER/event=SYSTEM.EVENT/host=NAME/UUID.parquet
 *
 * Engines take such a tree as one table with the columns event and host. Traces of several
 * machines, and several ones of a machine, go to one folder; the UUID is the trace's own.
 * The losses are the event etch.lost.
 *
 * A file is groups of rows, a group is columns, and a footer says where they are. Rows wait
 * in memory, by column, until all of them together are PARQUET_WAITING bytes; then each event
 * gets a group. The time has its range in each group's statistics, so that engines skip
 * groups outside of the time that a query asks for.
 */
#include "export/thrift.h"
#include "export/value.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#define PARQUET_WAITING	(32 << 20)	/* bytes of rows */
#define PARQUET_MAGIC	"PAR1"

enum parquet_type { PARQUET_I32 = 1, PARQUET_I64 = 2, PARQUET_BYTES = 6 };
enum { CONVERTED_TEXT = 0, CONVERTED_UNSIGNED = 11, CONVERTED_SIGNED = 15 };
enum { CODEC_NONE = 0, CODEC_GZIP = 2 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3 };

/**
 * struct column - a column of a file
 * @name: its name
 * @type: how values are stored
 * @converted: what they mean; -1: the time
 * @values: of rows that wait
 */
struct column {
	char name[96];
	enum parquet_type type;
	int converted;
	struct bytes values;
};

/**
 * struct table - a file
 * @path: its name; NULL before its first row
 * @columns: its columns
 * @nr: how many
 * @rows: that wait
 * @first: the time of the first of these
 * @last: and of the last
 * @groups: the footer's description of the groups that are written
 * @nr_groups: how many
 * @all: rows in these
 * @at: bytes of the file
 */
struct table {
	char *path;
	struct column *columns;
	unsigned int nr;
	uint32_t rows;
	int64_t first, last;
	struct bytes groups;
	uint32_t nr_groups;
	uint64_t all, at;
};

/**
 * struct parquet - all files
 * @tables: by event, and one more for losses
 * @nr: how many
 * @host: the machine's name, as it is in paths
 * @uuid: the trace's
 * @waiting: bytes of all rows that wait
 * @packed: a column, compressed
 */
struct parquet {
	struct table *tables;
	unsigned int nr;
	char host[128], uuid[64];
	size_t waiting;
	struct bytes packed;
};

/* ---- Folders and names ---- */

/* Letters, digits, - and _: a name as a part of a path. */
static void path_part(char *name)
{
	for (; *name; name++)
		if (!strchr("-_.", *name) && !((*name | 32) >= 'a' && (*name | 32) <= 'z') &&
		    !(*name >= '0' && *name <= '9'))
			*name = '_';
}

static bool make_folder(const char *path)
{
	if (!mkdir(path, 0755) || errno == EEXIST)
		return true;
	etch_complaint("The folder %s cannot be made: %m", path);
	return false;
}

static bool parquet_open(struct export *x)
{
	struct parquet *p = calloc(1, sizeof(*p));
	const char *uuid = strstr(x->source->metadata, "uuid = \"");

	if (!p)
		return false;
	x->own = p;
	p->nr = x->source->nr_events + 1;
	p->tables = calloc(p->nr, sizeof(*p->tables));
	if (!p->tables)
		return false;
	etch_env(x->source, "hostname", p->host, sizeof(p->host));
	path_part(p->host);
	if (!*p->host || *p->host == '.')
		memcpy(p->host, "unknown", 8);
	snprintf(p->uuid, sizeof(p->uuid), "%.36s", uuid ? uuid + 8 : "trace");
	path_part(p->uuid);
	return make_folder(x->to);
}

/* The table's file, in folders that say what it has. */
static bool table_create(const struct export *x, struct table *table, const char *system,
			 const char *event)
{
	const struct parquet *p = x->own;
	char name[256], path[4096];
	int len, fd;

	snprintf(name, sizeof(name), "%s.%s", system, event);
	path_part(name);
	len = snprintf(path, sizeof(path) - 256, "%s/event=%s", x->to, name);
	if (!make_folder(path))
		return false;
	len += snprintf(path + len, sizeof(path) - len, "/host=%s", p->host);
	if (!make_folder(path))
		return false;
	snprintf(path + len, sizeof(path) - len, "/%s.parquet", p->uuid);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	table->path = fd < 0 ? NULL : strdup(path);
	if (!table->path || write(fd, PARQUET_MAGIC, 4) != 4) {
		etch_complaint("%s cannot be made: %m", path);
		if (fd >= 0)
			close(fd);
		return false;
	}
	table->at = 4;
	close(fd);
	return true;
}

/* ---- Columns ---- */

static void add_column(struct table *table, const char *prefix, const char *name,
		       enum parquet_type type, int converted)
{
	struct column *column = &table->columns[table->nr++];

	snprintf(column->name, sizeof(column->name), "%s%s", prefix, name);
	column->type = type;
	column->converted = converted;
}

/* Bits are counted in powers of two: 8, 16, 32, 64. */
static int converted_number(unsigned int size, bool is_signed)
{
	return (is_signed ? CONVERTED_SIGNED : CONVERTED_UNSIGNED) + __builtin_ctz(size);
}

static void add_field(struct table *table, const char *prefix, const struct etch_field *field)
{
	if (field->kind == ETCH_NUMBER)
		add_column(table, prefix, field->name,
			   field->size == 8 ? PARQUET_I64 : PARQUET_I32,
			   converted_number(field->size, field->is_signed));
	else
		add_column(table, prefix, field->name, PARQUET_BYTES, CONVERTED_TEXT);
}

static bool add_columns(struct table *table, unsigned int more)
{
	table->columns = calloc(5 + more, sizeof(*table->columns));
	if (!table->columns)
		return false;
	add_column(table, "common_", "time", PARQUET_I64, -1);
	add_column(table, "common_", "cpu", PARQUET_I32, converted_number(4, true));
	return true;
}

static struct table *event_table(const struct export *x, const struct etch_event *event)
{
	const struct etch_source *source = x->source;
	struct parquet *p = x->own;
	struct table *table = &p->tables[event->index];

	if (table->path)
		return table;
	if (!add_columns(table, source->nr_contexts + event->nr_fields))
		return NULL;
	add_column(table, "common_", "pid", PARQUET_I32, converted_number(4, true));
	add_column(table, "common_", "comm", PARQUET_BYTES, CONVERTED_TEXT);
	add_column(table, "common_", "context", PARQUET_BYTES, CONVERTED_TEXT);
	for (unsigned int i = 0; i < source->nr_contexts; i++)
		add_field(table, "common_", &source->contexts[i]);
	for (unsigned int i = 0; i < event->nr_fields; i++)
		add_field(table, "", &event->fields[i]);
	return table_create(x, table, event->system, event->name) ? table : NULL;
}

static const char * const loss_columns[] = {
	"lost", "overwritten", "full", "throttled", "nested", "too_big", "unknown"
};

#define LOSS_COLUMNS	(sizeof(loss_columns) / sizeof(*loss_columns))

static struct table *loss_table(const struct export *x)
{
	struct parquet *p = x->own;
	struct table *table = &p->tables[p->nr - 1];

	if (table->path)
		return table;
	if (!add_columns(table, 1 + LOSS_COLUMNS))
		return NULL;
	add_column(table, "", "since", PARQUET_I64, -1);
	for (size_t i = 0; i < LOSS_COLUMNS; i++)
		add_column(table, "", loss_columns[i], PARQUET_I64, converted_number(8, true));
	return table_create(x, table, "etch", "lost") ? table : NULL;
}

/* ---- Groups of rows ---- */

/* The column as the file has it; which codec that is. */
static int pack(struct parquet *p, const struct bytes *values, const void **at, size_t *len)
{
#ifdef HAVE_ZLIB
	z_stream z = { .next_in = values->at, .avail_in = values->len };

	p->packed.len = 0;
	/* 16: with the head of gzip. */
	if (values->len && deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK) {
		z.avail_out = deflateBound(&z, values->len) + 32;
		z.next_out = bytes_more(&p->packed, z.avail_out);
		if (z.next_out && deflate(&z, Z_FINISH) == Z_STREAM_END) {
			*at = p->packed.at;
			*len = z.total_out;
			deflateEnd(&z);
			return CODEC_GZIP;
		}
		deflateEnd(&z);
	}
#endif
	(void)p;
	*at = values->at;
	*len = values->len;
	return CODEC_NONE;
}

static void put_page_header(struct bytes *b, uint32_t rows, size_t len, size_t packed)
{
	struct thrift t = { .b = b };

	thrift_number(&t, 1, THRIFT_I32, 0);
	thrift_number(&t, 2, THRIFT_I32, len);
	thrift_number(&t, 3, THRIFT_I32, packed);
	thrift_begin(&t, 5);
	thrift_number(&t, 1, THRIFT_I32, rows);
	thrift_number(&t, 2, THRIFT_I32, ENCODING_PLAIN);
	thrift_number(&t, 3, THRIFT_I32, ENCODING_RLE);
	thrift_number(&t, 4, THRIFT_I32, ENCODING_RLE);
	thrift_end(&t);
	thrift_end(&t);
}

/* Writes a column, and describes it in the footer, as an element of a list. */
static void put_chunk(struct parquet *p, struct table *table, struct column *column,
		      struct thrift *t, struct bytes *data)
{
	uint64_t at = table->at + data->len;
	size_t len, head = data->len;
	const void *packed;
	int codec = pack(p, &column->values, &packed, &len);

	put_page_header(data, table->rows, column->values.len, len);
	head = data->len - head;
	bytes_put(data, packed, len);
	thrift_element(t);
	thrift_number(t, 2, THRIFT_I64, at);
	thrift_begin(t, 3);
	thrift_number(t, 1, THRIFT_I32, column->type);
	thrift_list(t, 2, THRIFT_I32, 1);
	thrift_element_number(t, ENCODING_PLAIN);
	thrift_list(t, 3, THRIFT_BINARY, 1);
	thrift_element_text(t, column->name);
	thrift_number(t, 4, THRIFT_I32, codec);
	thrift_number(t, 5, THRIFT_I64, table->rows);
	thrift_number(t, 6, THRIFT_I64, head + column->values.len);
	thrift_number(t, 7, THRIFT_I64, head + len);
	thrift_number(t, 9, THRIFT_I64, at);
	if (column == table->columns) {
		thrift_begin(t, 12);
		thrift_binary(t, 5, &table->last, sizeof(table->last));
		thrift_binary(t, 6, &table->first, sizeof(table->first));
		thrift_end(t);
	}
	thrift_end(t);
	thrift_end(t);
}

/* Adds to the file's end. */
static bool table_write(struct table *table, const struct bytes *data)
{
	int fd = data->failed ? -1 : open(table->path, O_WRONLY | O_APPEND | O_CLOEXEC);
	size_t done = 0;
	ssize_t n = 0;

	while (fd >= 0 && done < data->len) {
		n = write(fd, data->at + done, data->len - done);
		if (n < 0 && errno != EINTR)
			break;
		done += n > 0 ? n : 0;
	}
	if (fd < 0 || done < data->len || (close(fd) && errno != EINTR)) {
		etch_complaint("%s cannot be written: %m", table->path);
		return false;
	}
	table->at += data->len;
	return true;
}

static bool table_group(struct parquet *p, struct table *table)
{
	struct thrift t = { .b = &table->groups };
	struct bytes data = {};
	bool fine;

	if (!table->rows)
		return true;
	thrift_list(&t, 1, THRIFT_STRUCT, table->nr);
	for (unsigned int i = 0; i < table->nr; i++) {
		data.failed |= table->columns[i].values.failed;
		put_chunk(p, table, &table->columns[i], &t, &data);
		table->columns[i].values.len = 0;
	}
	thrift_number(&t, 2, THRIFT_I64, data.len);
	thrift_number(&t, 3, THRIFT_I64, table->rows);
	thrift_end(&t);
	fine = table_write(table, &data);
	table->nr_groups++;
	table->all += table->rows;
	table->rows = 0;
	bytes_free(&data);
	return fine;
}

static bool all_groups(struct parquet *p)
{
	p->waiting = 0;
	for (unsigned int i = 0; i < p->nr; i++) {
		if (!table_group(p, &p->tables[i]))
			return false;
		/* Memory of columns that are wide for once goes back. */
		for (unsigned int c = 0; c < p->tables[i].nr; c++)
			bytes_free(&p->tables[i].columns[c].values);
	}
	return true;
}

/* ---- Rows ---- */

static void put_text(struct bytes *b, const void *text, size_t len)
{
	size_t at = b->len;
	uint32_t bytes;

	bytes_u32(b, 0);
	value_utf8(b, text, len);
	bytes = b->len - at - 4;
	if (!b->failed)
		memcpy(b->at + at, &bytes, sizeof(bytes));
}

static void put_array(struct bytes *b, const struct etch_field *field, const unsigned char *at,
		      size_t len)
{
	size_t begun = b->len;
	uint32_t bytes;

	bytes_u32(b, 0);
	value_array(b, field, at, len);
	bytes = b->len - begun - 4;
	if (!b->failed)
		memcpy(b->at + begun, &bytes, sizeof(bytes));
}

static void put_field(struct bytes *b, const struct etch_field *field, const unsigned char *at,
		      size_t len)
{
	uint64_t value;

	if (field->kind == ETCH_TEXT) {
		put_text(b, at, strnlen((const char *)at, len));
	} else if (field->kind != ETCH_NUMBER) {
		put_array(b, field, at, len);
	} else {
		value = etch_load(at, field->size, field->is_signed);
		bytes_put(b, &value, field->size == 8 ? 8 : 4);
	}
}

/* Time of the wall clock, if the trace's clock has a relation to that. */
static int64_t parquet_time(const struct export *x, uint64_t ns)
{
	return ns + (x->source->clock.absolute ? x->source->clock.offset_ns : 0);
}

static void begin_row(const struct export *x, struct table *table, const struct etch_record *rec)
{
	int64_t time = parquet_time(x, rec->ns);

	if (!table->rows++)
		table->first = time;
	table->last = time;
	bytes_u64(&table->columns[0].values, time);
	bytes_u32(&table->columns[1].values, rec->cpu);
}

static bool parquet_record(struct export *x, const struct etch_record *rec)
{
	struct table *table = event_table(x, rec->event);
	const char *context = value_context(rec->context);
	const char *name = names_now(names_find(x->names, rec->pid));
	struct parquet *p = x->own;
	struct column *column;
	size_t len;

	if (!table)
		return false;
	begin_row(x, table, rec);
	bytes_u32(&table->columns[2].values, rec->pid);
	put_text(&table->columns[3].values, name, strlen(name));
	put_text(&table->columns[4].values, context, strlen(context));
	column = table->columns + 5;
	for (unsigned int i = 0; i < x->source->nr_contexts; i++) {
		const struct etch_field *field = &x->source->contexts[i];

		put_field(&column++->values, field, rec->head + field->offset, field->size);
	}
	for (unsigned int i = 0; i < rec->event->nr_fields; i++) {
		const unsigned char *at = etch_bytes(rec, &rec->event->fields[i], &len);

		put_field(&column++->values, &rec->event->fields[i], at, len);
	}
	/* About as much as was added: numbers and short texts grow by less than half. */
	p->waiting += 40 + 2 * ftrace_len(x->source, rec);
	return p->waiting < PARQUET_WAITING || all_groups(p);
}

static bool parquet_loss(struct export *x, const struct etch_record *rec)
{
	const struct etch_loss *loss = rec->loss;
	const unsigned long long causes[LOSS_COLUMNS] = {
		loss->total, loss->overwritten, loss->full, loss->throttled, loss->nested,
		loss->too_big, loss->unknown
	};
	struct table *table = loss_table(x);
	struct parquet *p = x->own;

	if (!table)
		return false;
	begin_row(x, table, rec);
	bytes_u64(&table->columns[2].values,
		  parquet_time(x, etch_clock_ns(&x->source->clock, loss->since)));
	for (size_t i = 0; i < LOSS_COLUMNS; i++)
		bytes_u64(&table->columns[3 + i].values, causes[i]);
	p->waiting += 128;
	return p->waiting < PARQUET_WAITING || all_groups(p);
}

/* ---- Footers ---- */

static void put_schema(struct thrift *t, const struct column *column)
{
	thrift_element(t);
	thrift_number(t, 1, THRIFT_I32, column->type);
	thrift_number(t, 3, THRIFT_I32, 0);	/* each row has one */
	thrift_text(t, 4, column->name);
	if (column->converted >= 0) {
		thrift_number(t, 6, THRIFT_I32, column->converted);
	} else {
		thrift_begin(t, 10);
		thrift_begin(t, 8);		/* a time, */
		/* A time that is said to be UTC's has microseconds only, in DuckDB. */
		thrift_bool(t, 1, false);
		thrift_begin(t, 2);
		thrift_begin(t, 3);		/* in nanoseconds */
		thrift_end(t);
		thrift_end(t);
		thrift_end(t);
		thrift_end(t);
	}
	thrift_end(t);
}

static bool table_end(struct table *table)
{
	struct bytes data = {};
	struct thrift t = { .b = &data };
	bool fine;

	if (!table->path)
		return true;
	thrift_number(&t, 1, THRIFT_I32, 1);
	thrift_list(&t, 2, THRIFT_STRUCT, table->nr + 1);
	thrift_element(&t);
	thrift_text(&t, 4, "schema");
	thrift_number(&t, 5, THRIFT_I32, table->nr);
	thrift_end(&t);
	for (unsigned int i = 0; i < table->nr; i++)
		put_schema(&t, &table->columns[i]);
	thrift_number(&t, 3, THRIFT_I64, table->all);
	thrift_list(&t, 4, THRIFT_STRUCT, table->nr_groups);
	bytes_put(&data, table->groups.at, table->groups.len);
	thrift_text(&t, 6, "etch");
	thrift_end(&t);
	bytes_u32(&data, data.len);
	bytes_text(&data, PARQUET_MAGIC);
	data.failed |= table->groups.failed;
	fine = table_write(table, &data);
	bytes_free(&data);
	return fine;
}

static void table_free(struct table *table, bool whole)
{
	if (table->path && !whole)
		unlink(table->path);
	for (unsigned int i = 0; i < table->nr; i++)
		bytes_free(&table->columns[i].values);
	bytes_free(&table->groups);
	free(table->columns);
	free(table->path);
}

static bool parquet_close(struct export *x, bool whole)
{
	struct parquet *p = x->own;

	if (!p)
		return false;
	whole = whole && all_groups(p);
	for (unsigned int i = 0; p->tables && i < p->nr; i++)
		whole = whole && table_end(&p->tables[i]);
	for (unsigned int i = 0; p->tables && i < p->nr; i++)
		table_free(&p->tables[i], whole);
	bytes_free(&p->packed);
	free(p->tables);
	free(p);
	return whole;
}

const struct exporter export_parquet = {
	.name = "parquet",
	.suffix = "-parquet",
	.line = "DuckDB, ClickHouse, Spark: many machines",
	.folder = true,
	.open = parquet_open,
	.record = parquet_record,
	.loss = parquet_loss,
	.close = parquet_close,
};
