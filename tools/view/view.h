/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One HTML page that shows a trace, for a browser that has no network.
 *
 *	page.html, page.css, trace.js, draw.js, tables.js, keys.js
 *			the page; the Makefile makes C strings of them: page.html.inc,
 *			page.css.inc, page.js.inc
 *	page.c		puts the page together, around the data
 *	data.c		the data: records, spans of states/, losses, marks
 *	pack.c		bytes, compressed and in base64
 *
 * The data are, before they are compressed:
 *
 *	u32		the length of the JSON, in the order of bytes of x86
 *	JSON		names, CPUs, losses, marks; how many records and spans there are, and
 *			bytes of both
 *	records		in the order of time; for each: how long after the one before (ns), the
 *			CPU and the event, both as indices in JSON's lists, and the thread
 *	spans		in the order of their ends; for each: kind and fate (struct span), how
 *			much later it ends than the one before, how long it was, the CPU's
 *			index + 1 (0: unknown), the thread, its name, the label, and bytes if
 *			it is a request
 *
 * Each number has 7 bits in a byte, the lowest first; all bytes but the last have bit 7
 * set. Those that may be negative, of threads and ends, are doubled; negative ones are
 * 2 * -n - 1.
 */
#ifndef _ETCH_VIEW_H
#define _ETCH_VIEW_H

#include <stdio.h>

#include "read/bytes.h"
#include "states/states.h"

#define VIEW_RECORDS	1000000		/* a page has no more */
#define VIEW_MARKS	100000
#define VIEW_TEXT	200		/* bytes of a mark */

/* ---- data.c ---- */

/**
 * struct view - a trace, as the page gets it
 * @source: the trace
 * @from: records between these times (ns of the clock), if they are not 0
 * @to: see @from
 * @from_first: @from counts from the first record
 * @to_first: @to does
 * @shift: nanoseconds to add to a time for the time that is shown
 * @states: has the labels
 * @json: the beginning of the JSON: losses
 * @marks: marks, in JSON
 * @records: see above
 * @spans: see above
 * @nr_records: how many
 * @nr_spans: how many
 * @nr_marks: how many
 * @nr_losses: how many
 * @lost: records that are missing
 * @begun: there was a record, or a loss
 * @base: its time
 * @first: of the first record, and
 * @last: of the last, ns
 * @span_end: of the last span, from @base on
 */
struct view {
	struct etch_source *source;
	uint64_t from, to;
	bool from_first, to_first;
	int64_t shift;
	struct states *states;
	struct bytes json, marks, records, spans;
	unsigned long long nr_records, nr_spans, nr_marks, nr_losses, lost;
	bool begun;
	uint64_t base, first, last;
	int64_t span_end;
};

enum view_end { VIEW_DONE, VIEW_TOO_MANY, VIEW_FAILED };

/* Reads the trace. VIEW_TOO_MANY: it has more than VIEW_RECORDS, and @last is the last's time. */
enum view_end view_read(struct view *view);
/* All of it, as described above; JSON's bytes end in view->json. */
bool view_finish(struct view *view);
void view_free(struct view *view);

/* ---- pack.c ---- */

/* How the data are compressed, in the words of the page. */
#ifdef HAVE_ZLIB
#define VIEW_FORMAT "deflate"
#else
#define VIEW_FORMAT "plain"
#endif
/* Writes several pieces as one, in base64. False: it could not be written, errno says why. */
bool view_pack(FILE *to, const struct bytes * const *pieces);

/* ---- page.c ---- */

/* Writes the page. False: errno says why. */
bool view_page(FILE *to, struct view *view);

#endif /* _ETCH_VIEW_H */
