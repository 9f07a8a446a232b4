// SPDX-License-Identifier: GPL-2.0
/*
 * Output: see out.h.
 */
#include "verbs/out.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs/etch.h"

/* ---- The pager ---- */

static void __attribute__((noreturn)) run_pager(int from)
{
	const char *pager = getenv("PAGER");

	dup2(from, STDIN_FILENO);
	if (!pager || !*pager)
		pager = "less";
	setenv("LESS", "FRSX", 0);
	execl("/bin/sh", "sh", "-c", pager, NULL);
	_exit(127);
}

/* If there is no pager, the terminal shows it all. */
static void start_pager(struct out *out)
{
	const char *pager = getenv("PAGER");
	int ends[2];

	if (pager && !strcmp(pager, "cat"))
		return;
	if ((!pager || !*pager) && access("/usr/bin/less", X_OK) && access("/bin/less", X_OK))
		return;
	if (pipe(ends))
		return;
	out->pager = fork();
	if (!out->pager) {
		close(ends[1]);
		run_pager(ends[0]);
	}
	close(ends[0]);
	if (out->pager < 0) {
		out->pager = 0;
		close(ends[1]);
		return;
	}
	out->fd = ends[1];
	/* Ctrl-C is the pager's. */
	signal(SIGINT, SIG_IGN);
}

void out_begin(struct out *out, bool page)
{
	const char *term = getenv("TERM");
	bool terminal = isatty(STDOUT_FILENO);

	out->fd = STDOUT_FILENO;
	out->used = 0;
	out->failed = false;
	out->pager = 0;
	out->colour = terminal && !getenv("NO_COLOR") && term && strcmp(term, "dumb");
	signal(SIGPIPE, SIG_IGN);
	if (page && terminal)
		start_pager(out);
}

void out_flush(struct out *out)
{
	size_t done = 0;
	ssize_t n;

	while (!out->failed && done < out->used) {
		n = write(out->fd, out->buf + done, out->used - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EPIPE)
			trouble("The output cannot be written: %m");
		if (n < 0)
			out->failed = true;
		else
			done += n;
	}
	out->used = 0;
}

int out_end(struct out *out)
{
	out_flush(out);
	if (!out->pager)
		return out->failed && errno != EPIPE ? EXIT_TROUBLE : 0;
	close(out->fd);
	while (waitpid(out->pager, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

/* ---- Text ---- */

void out_bytes(struct out *out, const char *bytes, size_t len)
{
	while (len) {
		size_t n = len < OUT_PIECE ? len : OUT_PIECE;

		memcpy(out_room(out), bytes, n);
		out->used += n;
		bytes += n;
		len -= n;
	}
}

void out_print(struct out *out, const char *fmt, ...)
{
	char *at = out_room(out);
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(at, OUT_PIECE, fmt, args);
	va_end(args);
	if (len >= OUT_PIECE)
		len = OUT_PIECE - 1;
	if (len > 0)
		out->used += len;
}

void out_colour(struct out *out, enum out_colour colour)
{
	static const char * const codes[] = {
		[OUT_PLAIN] = "\033[0m", [OUT_RED] = "\033[1;31m", [OUT_BLUE] = "\033[34m",
		[OUT_GREY] = "\033[90m",
	};

	if (out->colour)
		out_text(out, codes[colour]);
}

/* ---- Numbers ---- */

static void out_digits(struct out *out, const char *digits, int len, int width, char fill)
{
	for (; len < width; width--)
		out_char(out, fill);
	out_bytes(out, digits, len);
}

void out_number(struct out *out, uint64_t number, int width, char fill)
{
	char digits[20], *at = digits + sizeof(digits);

	do {
		*--at = '0' + number % 10;
		number /= 10;
	} while (number);
	out_digits(out, at, digits + sizeof(digits) - at, width, fill);
}

void out_signed(struct out *out, int64_t number)
{
	if (number < 0)
		out_char(out, '-');
	out_number(out, number < 0 ? -(uint64_t)number : (uint64_t)number, 0, ' ');
}

void out_hex(struct out *out, uint64_t number, int width, char fill)
{
	char digits[16], *at = digits + sizeof(digits);

	do {
		*--at = "0123456789abcdef"[number % 16];
		number /= 16;
	} while (number);
	out_digits(out, at, digits + sizeof(digits) - at, width, fill);
}
