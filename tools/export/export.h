/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writing a trace in the formats of other programs.
 *
 *	export.c	the formats' table, and the pass over the trace
 *	file.c		a file that is being written
 *	proto.c		protocol buffers, for Perfetto
 *	thrift.c	Thrift's compact protocol, for Parquet
 *	value.c		values as text, for JSON, CSV, SQL and Parquet
 *	ftrace.c	a record as ftrace has it, and the text that describes it: what
 *			trace-cmd and perf share
 *
 * and a file for each format. Such a file has a struct exporter, which the pass calls: open(),
 * then record() or loss() in the order of times, then close(). To add one, write the file
 * and name it in the table of export.c.
 *
 * The law that each of them keeps, and that scripts/proof/ctf/exports.py checks with the
 * programs that read the formats: as many records as the trace has, at the same times to
 * the nanosecond, and all losses, by CPU, at their places. Memory does not grow with the
 * number of records, but with those of events, CPUs and threads.
 */
#ifndef _ETCH_EXPORT_H
#define _ETCH_EXPORT_H

#include "read/bytes.h"
#include "read/names.h"

/* ---- file.c ---- */

/**
 * struct file - a file that is being written
 * @path: its name; "-": the standard output
 * @fd: the file
 * @regular: it is one, which can be removed if it is not whole
 * @at: bytes so far
 * @error: the first error, or 0
 * @gzip: what compresses it, or NULL
 * @used: bytes of @buf that wait
 * @buf: see @used
 */
struct file {
	char *path;
	int fd;
	bool regular;
	uint64_t at;
	int error;
	void *gzip;
	size_t used;
	unsigned char buf[1 << 16];
};

/* NULL, said: it cannot be made. */
struct file *file_open(const char *path);
/* Bytes from here on are compressed as gzip does it, if zlib is built in; they stay as written. */
void file_gzip(struct file *file);
void file_put(struct file *file, const void *from, size_t len);
/* Over bytes that were written before. */
void file_over(struct file *file, uint64_t at, const void *from, size_t len);
/* The first @len bytes of a file behind the others. */
void file_copy(struct file *file, int fd, uint64_t len);
/* Closes the file; false, said, and the file is gone, if it is not whole or @whole is not. */
bool file_close(struct file *file, bool whole);

/* ---- ftrace.c ---- */

/* What the three bytes behind a record's type are in ftrace, of all that is known here. */
struct ftrace_head {
	uint16_t type;
	uint8_t flags, preempt;
};

/* Adds the record as ftrace has it: the head, contexts, and the fields where they were. */
void ftrace_record(struct bytes *b, const struct etch_source *source,
		   const struct etch_record *rec);
/* How many bytes that adds. */
size_t ftrace_len(const struct etch_source *source, const struct etch_record *rec);
/* Adds the format file that describes it, without a zero at the end. */
void ftrace_format(struct bytes *b, const struct etch_source *source,
		   const struct etch_event *event);
/*
 * Adds what both files of trace-cmd and of perf have: the magic, the descriptions of pages of
 * @page bytes, and the formats of the events for which @used returns true.
 */
void ftrace_tracing(struct bytes *b, const struct etch_source *source, const char *version,
		    uint32_t page, bool (*used)(void *own, const struct etch_event *event),
		    void *own);

/* ---- The pass ---- */

/**
 * struct part - what the user wants to see of a trace
 * @from: its beginning, in nanoseconds of the trace's clock, or 0
 * @to: its end, or 0
 * @from_first: @from counts from the first record
 * @to_first: @to does
 * @shift: ns from the trace's times to those that are shown
 */
struct part {
	uint64_t from, to;
	bool from_first, to_first;
	int64_t shift;
};

/**
 * struct export - a trace that is being exported
 * @source: the trace
 * @folder: where it is
 * @to: the file or folder that is written
 * @names: its threads; all that the trace has are known already
 * @symbols: its functions, or NULL
 * @largest: bytes of the largest record, as ftrace has it
 * @first: the time of the first record or loss, in nanoseconds, if the exporter is @twice
 * @last: and of the last
 * @part: see there, or NULL: all of the trace
 * @records: how many were given to the exporter
 * @rec: the one that is looked at
 * @own: the exporter's
 */
struct export {
	struct etch_source *source;
	const char *folder, *to;
	struct names *names;
	struct etch_symbols *symbols;
	size_t largest;
	uint64_t first, last;
	const struct part *part;
	unsigned long long records;
	const struct etch_record *rec;
	void *own;
};

/**
 * struct exporter - a format
 * @name: what users write behind -f
 * @suffix: of the file that is written if there is no -o
 * @line: its readers, in a few words
 * @folder: it is a folder, not a file; and "-" makes no sense
 * @stream: it can go to the standard output
 * @twice: it wants @names, @largest, @first and @last before the first record
 * @part: it heeds @part of struct export
 * @open: begins; sets @own. False, said, if it cannot
 * @renamed: from the record @rec on, a thread has another name; may be NULL. @x is the export
 * @record: one more record. False, said, to stop
 * @loss: records that are missing here
 * @close: ends; frees @own. @whole: nothing went wrong until now. False, said, if it did
 */
struct exporter {
	const char *name, *suffix, *line;
	bool folder, stream, twice, part;
	bool (*open)(struct export *x);
	void (*renamed)(void *x, const struct name *name);
	bool (*record)(struct export *x, const struct etch_record *rec);
	bool (*loss)(struct export *x, const struct etch_record *rec);
	bool (*close)(struct export *x, bool whole);
};

extern const struct exporter export_dat, export_perf, export_perfetto, export_lttng;
extern const struct exporter export_json, export_csv, export_sqlite, export_parquet,
	export_svg;

/* By name; NULL: there is none. */
const struct exporter *exporter_find(const char *name);
/* The formats one by one; NULL behind the last. */
const struct exporter *exporter_each(size_t n);
/*
 * Exports a trace; an exit status. @to may be NULL: beside the trace, with the suffix. So may
 * @part: all of the trace.
 */
int export_run(const struct exporter *format, const char *folder, const char *to,
	       const struct part *part);

#endif /* _ETCH_EXPORT_H */
