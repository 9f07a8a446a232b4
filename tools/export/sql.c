// SPDX-License-Identifier: GPL-2.0
/*
 * An SQLite database: for queries about one machine.
 *
 *	records		each record: common_time, common_cpu, common_pid, common_comm,
 *			common_context, event
 *	EVENT		the records of an event, with the same columns and its fields;
 *			SYSTEM_EVENT if two events have the name
 *	lost		what was lost: common_time, since, common_cpu, lost, and by cause
 *	threads		tid, tgid, ppid, name
 *	machine		key, value: the machine, the clock
 *
 * Times are in nanoseconds, arrays are text as JSON has it. SQLite's numbers have a sign and
 * 63 bits, so an address of the kernel shows as a negative number: printf('%x', ...) shows it
 * as it is.
 */
#include "export/value.h"

#ifdef HAVE_SQLITE3

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include <sqlite3.h>

#define SQL_COMMON	"common_time INTEGER, common_cpu INTEGER, common_pid INTEGER, " \
			"common_comm TEXT, common_context TEXT"

static const char * const sql_begin[] = {
	"PRAGMA journal_mode = OFF",
	"PRAGMA synchronous = OFF",
	"BEGIN",
	"CREATE TABLE records (" SQL_COMMON ", event TEXT)",
	"CREATE TABLE lost (common_time INTEGER, since INTEGER, common_cpu INTEGER, lost INTEGER, "
		"overwritten INTEGER, full INTEGER, throttled INTEGER, nested INTEGER, "
		"too_big INTEGER, unknown INTEGER)",
	"CREATE TABLE threads (tid INTEGER PRIMARY KEY, tgid INTEGER, ppid INTEGER, name TEXT)",
	"CREATE TABLE machine (key TEXT PRIMARY KEY, value)",
};

/**
 * struct sql - a database
 * @db: it
 * @records: adds to the table of all records
 * @lost: adds to that of losses
 * @events: adds to the table of an event, by event; NULL before its first record
 * @text: an array's
 */
struct sql {
	sqlite3 *db;
	sqlite3_stmt *records, *lost, **events;
	struct bytes text;
};

static bool sql_run(struct sql *sql, const char *text)
{
	char *error = NULL;

	if (sqlite3_exec(sql->db, text, NULL, NULL, &error) == SQLITE_OK)
		return true;
	etch_complaint("SQLite: %s", error ? error : "out of memory");
	sqlite3_free(error);
	return false;
}

static sqlite3_stmt *sql_prepare(struct sql *sql, const char *text)
{
	sqlite3_stmt *statement = NULL;

	if (sqlite3_prepare_v2(sql->db, text, -1, &statement, NULL) != SQLITE_OK)
		etch_complaint("SQLite: %s", sqlite3_errmsg(sql->db));
	return statement;
}

/* Runs a statement whose values are bound. */
static bool sql_step(struct sql *sql, sqlite3_stmt *statement)
{
	int status = sqlite3_step(statement);

	sqlite3_reset(statement);
	if (status != SQLITE_DONE)
		etch_complaint("SQLite: %s", sqlite3_errmsg(sql->db));
	return status == SQLITE_DONE;
}

static bool sql_open(struct export *x)
{
	struct sql *sql = calloc(1, sizeof(*sql));

	if (!sql)
		return false;
	x->own = sql;
	sql->events = calloc(x->source->nr_events + 1, sizeof(*sql->events));
	if (unlink(x->to) && !access(x->to, F_OK)) {
		etch_complaint("%s cannot be replaced: %m", x->to);
		return false;
	}
	if (!sql->events || sqlite3_open(x->to, &sql->db) != SQLITE_OK) {
		etch_complaint("%s cannot be made: %s", x->to,
			       sql->db ? sqlite3_errmsg(sql->db) : "no memory");
		return false;
	}
	for (size_t i = 0; i < sizeof(sql_begin) / sizeof(*sql_begin); i++)
		if (!sql_run(sql, sql_begin[i]))
			return false;
	sql->records = sql_prepare(sql, "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)");
	sql->lost = sql_prepare(sql, "INSERT INTO lost VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	return sql->records && sql->lost;
}

/* ---- Tables of events ---- */

/* Is it the only event with that name, which no table of ours has? */
static bool only_name(const struct etch_source *source, const struct etch_event *event)
{
	static const char * const ours[] = { "records", "lost", "threads", "machine" };

	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		if (!strcasecmp(event->name, ours[i]))
			return false;
	for (unsigned int i = 0; i < source->nr_events; i++)
		if (source->events[i] != event &&
		    !strcasecmp(source->events[i]->name, event->name) &&
		    strcmp(source->events[i]->full, event->full))
			return false;
	return strncmp(event->name, "sqlite_", 7);
}

/* Names in quotes; quotes in names, which no event has, are left out. */
static void put_name(struct bytes *b, const char *prefix, const char *name)
{
	bytes_u8(b, '"');
	bytes_text(b, prefix);
	for (; *name; name++)
		if (*name != '"')
			bytes_u8(b, *name);
	bytes_u8(b, '"');
}

static void put_table(struct bytes *b, const struct etch_source *source,
		      const struct etch_event *event)
{
	char system[128];

	snprintf(system, sizeof(system), "%.120s_", event->system);
	put_name(b, only_name(source, event) ? "" : system, event->name);
}

/* Columns are the same whether they have large letters or small ones. */
static bool column_again(const struct etch_event *event, unsigned int index)
{
	for (unsigned int i = 0; i < index; i++)
		if (!strcasecmp(event->fields[i].name, event->fields[index].name))
			return true;
	return !strncasecmp(event->fields[index].name, "common_", 7);
}

static void put_column(struct bytes *b, const char *prefix, const struct etch_field *field)
{
	bytes_text(b, ", ");
	put_name(b, prefix, field->name);
	bytes_text(b, field->kind == ETCH_NUMBER ? " INTEGER" : " TEXT");
}

/* The statement that adds a record to the event's table, which it makes. */
static sqlite3_stmt *sql_event(struct sql *sql, const struct etch_source *source,
			       const struct etch_event *event)
{
	struct bytes make = {}, add = {};
	sqlite3_stmt *statement = NULL;
	char again[32];

	bytes_text(&make, "CREATE TABLE IF NOT EXISTS ");
	put_table(&make, source, event);
	bytes_text(&make, " (" SQL_COMMON);
	bytes_text(&add, "INSERT INTO ");
	put_table(&add, source, event);
	bytes_text(&add, " VALUES (?, ?, ?, ?, ?");
	for (unsigned int i = 0; i < source->nr_contexts; i++, bytes_text(&add, ", ?"))
		put_column(&make, "common_", &source->contexts[i]);
	for (unsigned int i = 0; i < event->nr_fields; i++, bytes_text(&add, ", ?")) {
		snprintf(again, sizeof(again), "field%u_", i);
		put_column(&make, column_again(event, i) ? again : "", &event->fields[i]);
	}
	bytes_textz(&make, ")");
	bytes_textz(&add, ")");
	if (!make.failed && !add.failed && sql_run(sql, (char *)make.at))
		statement = sql_prepare(sql, (char *)add.at);
	bytes_free(&make);
	bytes_free(&add);
	return statement;
}

/* ---- Records ---- */

static void bind_common(sqlite3_stmt *statement, const struct export *x,
			const struct etch_record *rec)
{
	sqlite3_bind_int64(statement, 1, rec->ns);
	sqlite3_bind_int(statement, 2, rec->cpu);
	sqlite3_bind_int(statement, 3, rec->pid);
	sqlite3_bind_text(statement, 4, names_now(names_find(x->names, rec->pid)), -1,
			  SQLITE_STATIC);
	sqlite3_bind_text(statement, 5, value_context(rec->context), -1, SQLITE_STATIC);
}

static void bind_field(struct sql *sql, sqlite3_stmt *statement, int column,
		       const struct etch_field *field, const unsigned char *at, size_t len)
{
	if (field->kind == ETCH_NUMBER) {
		sqlite3_bind_int64(statement, column,
				   etch_load(at, field->size, field->is_signed));
		return;
	}
	if (field->kind == ETCH_TEXT) {
		sqlite3_bind_text(statement, column, (const char *)at,
				  strnlen((const char *)at, len), SQLITE_STATIC);
		return;
	}
	sql->text.len = 0;
	value_array(&sql->text, field, at, len);
	sqlite3_bind_text(statement, column, (char *)sql->text.at, sql->text.len,
			  SQLITE_TRANSIENT);
}

static bool sql_record(struct export *x, const struct etch_record *rec)
{
	struct sql *sql = x->own;
	sqlite3_stmt **event = &sql->events[rec->event->index];
	int column = 6;
	size_t len;

	if (!*event)
		*event = sql_event(sql, x->source, rec->event);
	if (!*event)
		return false;
	bind_common(sql->records, x, rec);
	sqlite3_bind_text(sql->records, 6, rec->event->full, -1, SQLITE_STATIC);
	bind_common(*event, x, rec);
	for (unsigned int i = 0; i < x->source->nr_contexts; i++) {
		const struct etch_field *field = &x->source->contexts[i];

		bind_field(sql, *event, column++, field, rec->head + field->offset, field->size);
	}
	for (unsigned int i = 0; i < rec->event->nr_fields; i++) {
		const struct etch_field *field = &rec->event->fields[i];
		const unsigned char *at = etch_bytes(rec, field, &len);

		bind_field(sql, *event, column++, field, at, len);
	}
	return sql_step(sql, sql->records) && sql_step(sql, *event);
}

static bool sql_loss(struct export *x, const struct etch_record *rec)
{
	const struct etch_loss *loss = rec->loss;
	const unsigned long long causes[] = { loss->total, loss->overwritten, loss->full,
					      loss->throttled, loss->nested, loss->too_big,
					      loss->unknown };
	struct sql *sql = x->own;

	sqlite3_bind_int64(sql->lost, 1, rec->ns);
	sqlite3_bind_int64(sql->lost, 2, etch_clock_ns(&x->source->clock, loss->since));
	sqlite3_bind_int(sql->lost, 3, rec->cpu);
	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		sqlite3_bind_int64(sql->lost, 4 + i, causes[i]);
	return sql_step(sql, sql->lost);
}

/* ---- The end ---- */

static bool put_threads(struct sql *sql, const struct names *names)
{
	sqlite3_stmt *add = sql_prepare(sql, "INSERT INTO threads VALUES (?, ?, ?, ?)");
	const struct name *name;
	bool fine = add;

	for (size_t i = 0; fine && (name = names_each(names, i)); i++) {
		sqlite3_bind_int(add, 1, name->tid);
		sqlite3_bind_int(add, 2, name->tgid);
		sqlite3_bind_int(add, 3, name->ppid);
		sqlite3_bind_text(add, 4, names_now(name), -1, SQLITE_STATIC);
		fine = sql_step(sql, add);
	}
	sqlite3_finalize(add);
	return fine;
}

static bool put_machine(struct sql *sql, const struct etch_source *source)
{
	static const char * const keys[] = { "hostname", "sysname", "kernel_release",
					     "kernel_version", "architecture", "instance" };
	sqlite3_stmt *add = sql_prepare(sql, "INSERT INTO machine VALUES (?, ?)");
	bool fine = add;
	char value[256];

	for (size_t i = 0; fine && i < sizeof(keys) / sizeof(*keys); i++) {
		etch_env(source, keys[i], value, sizeof(value));
		sqlite3_bind_text(add, 1, keys[i], -1, SQLITE_STATIC);
		sqlite3_bind_text(add, 2, value, -1, SQLITE_TRANSIENT);
		fine = sql_step(sql, add);
	}
	if (fine) {
		sqlite3_bind_text(add, 1, "clock", -1, SQLITE_STATIC);
		sqlite3_bind_text(add, 2, source->clock.name, -1, SQLITE_STATIC);
		fine = sql_step(sql, add);
	}
	if (fine && source->clock.absolute) {
		sqlite3_bind_text(add, 1, "wall_clock_offset", -1, SQLITE_STATIC);
		sqlite3_bind_int64(add, 2, source->clock.offset_ns);
		fine = sql_step(sql, add);
	}
	sqlite3_finalize(add);
	return fine;
}

static bool sql_close(struct export *x, bool whole)
{
	struct sql *sql = x->own;

	if (!sql)
		return false;
	whole = whole && put_threads(sql, x->names) && put_machine(sql, x->source) &&
		sql_run(sql, "COMMIT");
	sqlite3_finalize(sql->records);
	sqlite3_finalize(sql->lost);
	for (unsigned int i = 0; sql->events && i < x->source->nr_events; i++)
		sqlite3_finalize(sql->events[i]);
	if (sql->db && sqlite3_close(sql->db) != SQLITE_OK)
		whole = false;
	if (sql->db && !whole)
		unlink(x->to);
	bytes_free(&sql->text);
	free(sql->events);
	free(sql);
	return whole;
}

#else

static bool sql_open(struct export *x)
{
	etch_complaint("%s cannot be made: this etch was built without libsqlite3-dev", x->to);
	return false;
}

static bool sql_record(struct export *x, const struct etch_record *rec)
{
	(void)x;
	return !rec;
}

static bool sql_loss(struct export *x, const struct etch_record *rec)
{
	(void)x;
	return !rec;
}

static bool sql_close(struct export *x, bool whole)
{
	(void)x;
	return whole;
}

#endif

const struct exporter export_sqlite = {
	.name = "sqlite",
	.suffix = ".sqlite",
	.line = "SQL, by SQLite",
	.open = sql_open,
	.record = sql_record,
	.loss = sql_loss,
	.close = sql_close,
};
