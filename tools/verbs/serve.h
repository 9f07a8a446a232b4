/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One file for one page: Perfetto's, in a browser on this machine, which can fetch a trace from
 * SERVE_PORT of the local host and nowhere else.
 */
#ifndef _ETCH_SERVE_H
#define _ETCH_SERVE_H

#define SERVE_PORT	9001
#define SERVE_PAGE	"https://ui.perfetto.dev"

/* Listens. -1, said: the port is in use, say. */
int serve_open(void);
/*
 * Gives the file @fd, under the name @path, which begins with a slash, to a browser that asks
 * for it; returns when one has got all of it. Pages of other sites are refused, but programs are
 * not: @path has to have a part that nobody can guess. 0, or an exit status, said.
 */
int serve_until_fetched(int listener, const char *path, int fd);

#endif /* _ETCH_SERVE_H */
