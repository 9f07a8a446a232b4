/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output, through one large buffer; on a terminal by a pager, and with colours.
 *
 * Functions that begin with out_ append to the buffer. The verb calls out_end() at its end.
 */
#ifndef _ETCH_OUT_H
#define _ETCH_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define OUT_ROOM	(1 << 18)
#define OUT_PIECE	(1 << 12)	/* that much fits behind out_room() */

/**
 * struct out - bytes that have not been written yet
 * @fd: where it goes
 * @used: bytes in @buf
 * @failed: nobody reads any more, or the disk is full: the rest goes nowhere
 * @colour: there are colours
 * @pager: the process that shows it; 0: none
 * @buf: the bytes
 */
struct out {
	int fd;
	size_t used;
	bool failed, colour;
	int pager;
	char buf[OUT_ROOM];
};

enum out_colour { OUT_PLAIN, OUT_RED, OUT_BLUE, OUT_GREY };

/* To the standard output. @page: by a pager, if that is a terminal. */
void out_begin(struct out *out, bool page);
void out_flush(struct out *out);
/* Waits for the pager. 0, or an exit status after a message: some of it may not be written. */
int out_end(struct out *out);

void out_bytes(struct out *out, const char *bytes, size_t len);
void __attribute__((format(printf, 2, 3))) out_print(struct out *out, const char *fmt, ...);
void out_colour(struct out *out, enum out_colour colour);

/* Room for OUT_PIECE bytes. */
static inline char *out_room(struct out *out)
{
	if (OUT_ROOM - out->used < OUT_PIECE)
		out_flush(out);
	return out->buf + out->used;
}

static inline void out_char(struct out *out, char c)
{
	*out_room(out) = c;
	out->used++;
}

static inline void out_text(struct out *out, const char *text)
{
	out_bytes(out, text, strlen(text));
}

/* In base 10; at least @width characters, filled up with @fill in front. */
void out_number(struct out *out, uint64_t number, int width, char fill);
void out_signed(struct out *out, int64_t number);
/* In base 16. */
void out_hex(struct out *out, uint64_t number, int width, char fill);

#endif /* _ETCH_OUT_H */
