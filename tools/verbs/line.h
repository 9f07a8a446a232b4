/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A record as a line of text, in the shape of the kernel's files "trace" and "trace_pipe":
 *
 *	            bash-1234    [001] ..s..   12.345678: event: what it says
 *
 * and a loss as one, with its causes behind what the kernel prints:
 *
 *	CPU:1 [LOST 17 EVENTS] 12 overwritten, 5 because the buffer was full
 */
#ifndef _ETCH_LINE_H
#define _ETCH_LINE_H

#include "read/names.h"
#include "verbs/print.h"

/**
 * struct liner - what lines need
 * @source: the trace
 * @printer: what events say
 * @names: of threads
 * @shift: nanoseconds to add to a record's time for the time that is shown
 * @fine: times have nanoseconds, not microseconds
 * @by_fields: events show as name=value
 * @behind: to print behind an event's text; NULL: nothing
 * @behind_red: in red, on a terminal
 * @flags: the contexts that make up the columns, or NULL
 * @preempt: see @flags
 * @migrate: see @flags
 */
struct liner {
	struct etch_source *source;
	struct printer *printer;
	struct names *names;
	int64_t shift;
	bool fine, by_fields;
	const char *behind;
	bool behind_red;
	const struct etch_field *flags, *preempt, *migrate;
};

/* False: no memory, said. */
bool liner_open(struct liner *liner, struct etch_source *source);
void liner_close(struct liner *liner);
void line_header(struct liner *liner, struct out *out);
void line_record(struct liner *liner, struct out *out, const struct etch_record *rec);
void line_loss(struct liner *liner, struct out *out, const struct etch_record *rec);
/* The same with a text in place of the event. */
void line_text(struct liner *liner, struct out *out, const struct etch_record *rec,
	       const char *text);
/* Of an event that begins a system call: "write(fd: 1, buf: 7ffd52a0, count: 8)", no line. */
void line_call(struct liner *liner, struct out *out, const struct etch_record *rec);
/* "12 overwritten, 5 because the buffer was full" */
void line_causes(struct out *out, const struct etch_loss *loss);
/* A time that is shown: seconds, and six or nine digits. */
void line_time(struct out *out, int64_t ns, bool fine);

/*
 * Nanoseconds to add to a record's time, so that it is the time since boot that the kernel
 * prints; 0 if that is not known. Times of the processor's counter have their zero elsewhere.
 */
int64_t line_shift(const struct etch_source *source);

#endif /* _ETCH_LINE_H */
