// SPDX-License-Identifier: GPL-2.0
/*
 * view: a page that shows a trace in a browser.
 */
#include "verbs/etch.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "export/export.h"
#include "live/live.h"
#include "verbs/choose.h"
#include "verbs/line.h"
#include "verbs/serve.h"
#include "view/view.h"

static const char view_help[] =
	"etch view: write one page that shows the trace in a browser.\n"
	"\n"
	"  $ etch view trace\n"
	"  trace.html: 104383 records, 2 CPUs, 0 lost; 421 KiB. Open it in a browser\n"
	"\n"
	"The page has CPUs, interrupts, threads, system calls, requests to disks and marks on one\n"
	"line of time, and the tables of etch top for the part that is shown. Wheel and keys\n"
	"zoom, ? explains the others. It needs no network and no other file: mail it, or attach\n"
	"it to a bug report. Its address ends in the part that is shown: page.html#12.5-13.25\n"
	"\n"
	"etch view [OPTION]... FOLDER\n"
	"\n"
	"  --from T, --to T  records between these times, in seconds as etch show prints them;\n"
	"                    +T counts from the first record. A page has up to a million\n"
	"  -o FILE           where the page goes (FOLDER.html)\n"
	"  --open            open it, by xdg-open\n"
	"  --perfetto        no page: prints an address at which Perfetto's page shows the trace,\n"
	"                    which it fetches from this machine; nothing is sent elsewhere\n";

enum { VIEW_OPEN = CHOOSE_NEXT, VIEW_PERFETTO };

/* The options. */
struct request {
	struct choice choice;
	const char *folder, *output;
	bool open, perfetto;
};

static int view_options(struct request *r, int argc, char **argv)
{
	static const struct option options[] = {
		CHOOSE_LONG, { "open", no_argument, NULL, VIEW_OPEN },
		{ "perfetto", no_argument, NULL, VIEW_PERFETTO }, {}
	};
	int option, ret = 0;

	opterr = 0;
	optind = 1;
	while (!ret && (option = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		if (option == VIEW_OPEN)
			r->open = true;
		else if (option == VIEW_PERFETTO)
			r->perfetto = true;
		else if (option == 'o')
			r->output = optarg;
		else if (option == '?')
			ret = misused("there is no such option, or its value is missing");
		else
			ret = choose_option(&r->choice, option, optarg);
	}
	if (ret)
		return ret;
	if (optind + 1 != argc)
		return misused("name one folder of a trace");
	if (r->perfetto && (r->output || r->choice.from_set || r->choice.to_set))
		return misused("--perfetto is of all of the trace, and writes no file");
	r->folder = argv[optind];
	return 0;
}

/* A time of the options, by the trace's clock. */
static uint64_t time_of(int64_t ns, bool set, bool first, int64_t shift)
{
	if (!set)
		return 0;
	return first ? ns : ns > shift ? ns - shift : 1;
}

static int view_trace(const struct request *r, struct view *v)
{
	const struct choice *c = &r->choice;

	v->shift = line_shift(v->source);
	v->from = time_of(c->from, c->from_set, c->from_first, v->shift);
	v->to = time_of(c->to, c->to_set, c->to_first, v->shift);
	v->from_first = c->from_set && c->from_first;
	v->to_first = c->to_set && c->to_first;
	switch (view_read(v)) {
	case VIEW_TOO_MANY:
		return trouble("a page has at most %d records, and there are more. Choose %s%.3f",
			       VIEW_RECORDS, "a part by --from and --to, up to --to ",
			       (v->last + v->shift) / 1e9 - 0.001);
	case VIEW_FAILED:
		return EXIT_TROUBLE;
	default:
		if (!v->nr_records)
			return trouble("%s has no records%s", r->folder,
				       c->from_set || c->to_set ? " between these times" : "");
		return view_finish(v) ? 0 : trouble("There is no memory for the page");
	}
}

/* "trace.html" for "trace/"; to be freed. */
static char *output_of(const struct request *r)
{
	size_t len = strlen(r->folder);
	char *path;

	if (r->output)
		return strdup(r->output);
	while (len > 1 && r->folder[len - 1] == '/')
		len--;
	return asprintf(&path, "%.*s.html", (int)len, r->folder) < 0 ? NULL : path;
}

static void open_page(const char *path)
{
	fflush(stdout);
	execlp("xdg-open", "xdg-open", path, NULL);
	trouble("xdg-open cannot be run: %m. Open %s in a browser", path);
}

static int write_page(struct view *v, const char *path)
{
	FILE *to = fopen(path, "we");
	long size;

	if (!to)
		return trouble("%s: %m", path);
	if (!view_page(to, v)) {
		int why = errno;

		fclose(to);
		unlink(path);
		return trouble("%s cannot be written: %s", path, strerror(why));
	}
	size = ftell(to);
	if (fclose(to))
		return trouble("%s cannot be written: %m", path);
	printf("%s: %llu records, %u CPU%s, %llu lost; %ld KiB. Open it in a browser\n", path,
	       v->nr_records, v->source->nr_cpus, v->source->nr_cpus == 1 ? "" : "s", v->lost,
	       (size + 1023) >> 10);
	return 0;
}

/* ---- Perfetto ---- */

/* A process of its own: this one has to serve meanwhile. */
static void open_address(const char *address)
{
	fflush(stdout);
	if (fork())
		return;
	execlp("xdg-open", "xdg-open", address, NULL);
	trouble("xdg-open cannot be run: %m. Open the address in a browser");
	_exit(EXIT_TROUBLE);
}

/* Writes the trace for Perfetto into a file without a name. Returns it, or -1, said. */
static int perfetto_file(const char *folder, const char *scratch)
{
	char file[PATH_MAX + 16];
	int fd = -1;

	snprintf(file, sizeof(file), "%s/trace.pftrace", scratch);
	if (!export_run(exporter_find("perfetto"), folder, file, NULL)) {
		fd = open(file, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			trouble("%s: %m", file);
	}
	scratch_remove(scratch);
	return fd;
}

static int view_perfetto(const struct request *r)
{
	char scratch[PATH_MAX], path[64], address[160];
	int fd, listener = serve_open(), ret;

	if (listener < 0)
		return EXIT_TROUBLE;
	if (scratch_make(scratch, sizeof(scratch)))
		return trouble("There is no place for the trace, see $TMPDIR: %m");
	snprintf(path, sizeof(path), "%s/trace.pftrace", strrchr(scratch, '/'));
	fd = perfetto_file(r->folder, scratch);
	if (fd < 0)
		return EXIT_TROUBLE;
	snprintf(address, sizeof(address), SERVE_PAGE "/#!/?url=http://127.0.0.1:%d%s", SERVE_PORT,
		 path);
	printf("Open this in a browser on this machine; Ctrl-C ends the wait for it:\n%s\n",
	       address);
	if (r->open)
		open_address(address);
	fflush(stdout);
	ret = serve_until_fetched(listener, path, fd);
	if (!ret)
		puts("Perfetto's page has the trace.");
	return ret;
}

static int run_view(int argc, char **argv)
{
	struct request r = {};
	struct view v = {};
	char *path = NULL;
	int ret = view_options(&r, argc, argv);

	if (!ret && r.perfetto)
		return view_perfetto(&r);
	if (!ret) {
		v.source = etch_trace_open(r.folder);
		path = output_of(&r);
		ret = v.source && path ? view_trace(&r, &v) : EXIT_TROUBLE;
	}
	if (!ret)
		ret = write_page(&v, path);
	if (!ret) {
		report_damage(v.source);
		if (r.open)
			open_page(path);
	}
	free(path);
	view_free(&v);
	etch_close(v.source);
	choose_end(&r.choice);
	return ret;
}

const struct verb verb_view = {
	"view", "view DIR", "a page for the browser", view_help, run_view
};
