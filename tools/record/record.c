// SPDX-License-Identifier: GPL-2.0
/*
 * etch-record: records the kernel's events into a folder that babeltrace2 reads.
 *
 *	etch-record -e sched -- make -j2	from a command's start to its end
 *	etch-record -e sched -e irq		until Ctrl-C
 *
 * It makes an instance of Etch, has a thread for each CPU pass on that CPU's packets as
 * they are (reader.c, pump.c), and adds the description of them that the kernel gives.
 * Documentation/trace/etch/recorder.rst is its manual.
 *
 * To end a recording, the recorder turns tracing off, and each thread reads the rest of its
 * CPU's packets, up to the end of the file. The recorder then compares the number of records
 * written with the kernel's counters.
 */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define MAX_EVENTS	100	/* options -e, and -p */
#define MAX_PACKET_KB	256	/* more saves nothing that can be measured */

/* For getopt_long(): it has no short name. */
enum { OPTION_OPEN = 1000 };

/**
 * struct options - what the user wants
 * @root: Etch's tree, if not the usual one
 * @instance: which; NULL: one of our own
 * @events: what -e says
 * @nr_events: how many of them
 * @presets: what -p says
 * @nr_presets: how many of them
 * @size: of each CPU's buffer
 * @mode: of the buffers
 * @clock: the clock
 * @percent: the watermark
 * @folder: where the trace goes
 * @receiver: or where else it goes
 * @listen: be that receiver
 * @repair: cut a trace that has an end of its own
 * @seconds: how long, or -1
 * @command: what to run, or NULL
 * @words: all of the command line
 * @state: have the kernel write the state at the start
 * @sync: have it on the disk
 * @open: look at the trace at the end
 * @quiet: print errors only
 * @verbose: tell of the progress in any case
 */
struct options {
	const char *root, *instance;
	const char *events[MAX_EVENTS];
	const char *presets[MAX_EVENTS];
	int nr_events, nr_presets;
	const char *size, *mode, *clock, *percent;
	const char *folder, *receiver, *listen, *repair;
	long seconds;
	char **command, **words;
	bool state, sync, open, quiet, verbose;
};

/**
 * struct recording - a recording under way
 * @options: from the command line
 * @tree: the instance
 * @place: where it goes
 * @kept: the notes that go there, too
 * @readers: the threads
 * @command: the command that runs meanwhile
 * @begin: when it began
 */
struct recording {
	const struct options *options;
	struct tree tree;
	struct place place;
	struct kept kept;
	struct readers readers;
	struct command command;
	struct timespec begin;
};

/* ---- Messages ---- */

static const char *say_name = "etch-record";
static pthread_mutex_t say_lock = PTHREAD_MUTEX_INITIALIZER;
static bool say_line_is_open;	/* a line of progress, that the next one replaces */

void say_as(const char *name)
{
	say_name = name;
}

static void vsay(const char *fmt, va_list args)
{
	int err = errno;

	pthread_mutex_lock(&say_lock);
	fprintf(stderr, "%s%s: ", say_line_is_open ? "\r\033[K" : "", say_name);
	say_line_is_open = false;
	errno = err;
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	pthread_mutex_unlock(&say_lock);
	errno = err;
}

void say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsay(fmt, args);
	va_end(args);
}

int fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsay(fmt, args);
	va_end(args);
	return -1;
}

void say_progress(const char *line, bool terminal)
{
	pthread_mutex_lock(&say_lock);
	fprintf(stderr, "%s%s%s", terminal ? "\r\033[K" : "", line, terminal ? "" : "\n");
	fflush(stderr);
	say_line_is_open = terminal;
	pthread_mutex_unlock(&say_lock);
}

static double recording_time(const struct recording *rec)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - rec->begin.tv_sec + (now.tv_nsec - rec->begin.tv_nsec) / 1e9;
}

/* ---- From the beginning to the end ---- */

/*
 * Each packet takes system calls of its own, so packets are large: an eighth of a CPU's
 * buffer. A sub-buffer is contiguous memory, and if there is not so much, it gets smaller.
 */
static void choose_packet(const struct tree *tree)
{
	char *size = tree_read(tree, "buffer_size_kb", NULL);
	char *usual = tree_read(tree, "buffer_subbuf_size_kb", NULL);
	unsigned long least = usual ? strtoul(usual, NULL, 10) : 0;
	unsigned long all = size ? strtoul(size, NULL, 10) : 0;
	char text[32];

	for (unsigned long kb = MAX_PACKET_KB; least && kb > least; kb /= 2) {
		if (8 * kb > all)
			continue;
		snprintf(text, sizeof(text), "%lu", kb);
		if (!tree_try(tree, "buffer_subbuf_size_kb", text))
			break;
	}
	free(size);
	free(usual);
}

/* Tracing is off until the threads are there. An instance in use goes on meanwhile. */
static int set_up(struct tree *tree, const struct options *o)
{
	if (tree->own && tree_write(tree, "tracing_on", "0"))
		return -1;
	if ((o->clock && tree_change(tree, "trace_clock", o->clock)) ||
	    (o->mode && tree_change(tree, "buffer_mode", o->mode)) ||
	    (o->size && tree_choose_size(tree, o->size)) ||
	    tree_change(tree, "buffer_percent", o->percent))
		return -1;
	if (tree->own)
		choose_packet(tree);
	for (int i = 0; i < o->nr_events; i++)
		if (tree_choose_events(tree, o->events[i]))
			return -1;
	for (int i = 0; i < o->nr_presets; i++)
		if (preset_choose(tree, o->presets[i]))
			return -1;
	return 0;
}

/* How long to wait for something to happen: at most up to the next line of progress. */
static int patience(const struct recording *rec)
{
	double left = rec->options->seconds - recording_time(rec);

	return rec->options->seconds < 0 || left > 1 ? 1000 : left > 0 ? left * 1000 + 1 : 0;
}

/* Nobody reads progress that goes to a file, unless it is asked for. */
static bool progress_is_wanted(const struct options *o)
{
	return !o->quiet && (o->verbose || isatty(STDERR_FILENO));
}

static int watch(struct recording *rec)
{
	struct pollfd fds[3] = {
		{ .fd = rec->command.signals, .events = POLLIN },
		{ .fd = rec->readers.news, .events = POLLIN },
		{ .fd = rec->place.control, .events = POLLRDHUP },
	};
	int wait;

	while ((wait = patience(rec))) {
		poll(fds, 3, wait);
		if (fds[0].revents && command_is_over(&rec->command))
			return 0;
		if (rec->readers.failed)
			return -1;
		if (fds[2].revents)
			return readers_alone(&rec->readers);
		if (rec->readers.off) {
			say("somebody has turned tracing off: that is the end");
			return 0;
		}
		if (readers_look(&rec->readers))
			return -1;
		if (progress_is_wanted(rec->options))
			account_progress(&rec->readers, recording_time(rec));
	}
	return 0;
}

/* Whether to record only what the instance holds now; tracing may be off. */
static bool only_what_is_there(const struct options *o)
{
	return !o->seconds && !o->command;
}

static int record_on(struct recording *rec)
{
	int ret;

	if (command_prepare(&rec->command))
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &rec->begin);
	keep_begin(&rec->kept, &rec->tree, &rec->place, rec->options->words);
	if (readers_open(&rec->readers, &rec->tree, &rec->place, &rec->kept))
		return -1;
	/* Before there are threads, which may have newer metadata to send. */
	keep_start(&rec->kept);
	if (readers_look(&rec->readers))
		return -1;
	if (only_what_is_there(rec->options))
		return 0;
	ret = tree_change(&rec->tree, "tracing_on", "1");
	rec->readers.begun = !ret;
	/* That it took long to get here is not on the account of -d. */
	clock_gettime(CLOCK_MONOTONIC, &rec->begin);
	/* Events are on: a task that begins meanwhile is in one or the other. */
	if (!ret && rec->options->state)
		ret = tree_write(&rec->tree, "statedump", "1");
	if (!ret)
		ret = command_start(&rec->command);
	if (!ret)
		ret = watch(rec);
	return ret;
}

/* Makes a trace of the packets written so far, even after an error. */
static int record_off(struct recording *rec)
{
	int ret;

	command_signals_abort("\netch-record: aborted. The instance is left, and the trace perhaps cut off (see -r)\n");
	if (!rec->readers.ready)
		return -1;
	ret = tree_change(&rec->tree, "tracing_on", "0");
	/* A CPU may have come since the last look. */
	ret |= readers_look(&rec->readers);
	ret |= readers_end(&rec->readers);
	ret |= account_tell(&rec->readers, &rec->place, recording_time(rec), rec->options->quiet);
	readers_keep_account(&rec->readers, &rec->kept);
	keep_end(&rec->kept, rec->command.status);
	readers_close(&rec->readers);
	ret |= place_end(&rec->place);
	return ret;
}

static int open_place(struct place *place, const struct options *o)
{
	static char name[64];	/* the caller of record_for() has it at the end */
	time_t now = time(NULL);

	place->sync = o->sync;
	if (o->receiver)
		return place_receiver(place, o->receiver);
	strftime(name, sizeof(name), "etch-%Y%m%d-%H%M%S", localtime(&now));
	return place_folder(place, o->folder ? o->folder : name);
}

static int record(const struct options *o, struct recorded *recorded)
{
	struct recording rec = { .options = o };
	int ret;

	if (command_open(&rec.command, o->command) || tree_open(&rec.tree, o->root, o->instance))
		return EXIT_FAILED;
	ret = set_up(&rec.tree, o);
	if (!ret)
		ret = open_place(&rec.place, o);
	if (!ret) {
		recorded->folder = rec.place.dir < 0 ? NULL : rec.place.path;
		ret = record_on(&rec);
		ret |= record_off(&rec);
	}
	ret |= tree_close(&rec.tree);
	command_leave(&rec.command);
	return rec.command.status ? rec.command.status : ret ? EXIT_FAILED : EXIT_OK;
}

/* ---- Options ---- */

static const char usage[] =
	"Record the kernel's events with Etch, for babeltrace2 and Trace Compass.\n"
	"\n"
	"  etch-record -e EVENT... [OPTION]... [-- COMMAND [ARGUMENT]...]\n"
	"  etch-record -l [ADDRESS:]PORT -o FOLDER\n"
	"  etch-record -r FOLDER\n"
	"\n"
	"It records until COMMAND ends or, if there is none, until Ctrl-C.\n"
	"\n"
	"  -e EVENT    what to record, as in set_event: sched, sched:sched_switch, 'irq:*';\n"
	"              several with commas, or -e again\n"
	"  -p PRESET   events that belong together: sched, syscalls, io, irq, boot, all\n"
	"  -d SECONDS  no longer than that; 0: only the records already there (with -i)\n"
	"  -o FOLDER   where the trace goes (etch-DATE-TIME)\n"
	"  -s ADDRESS:PORT  send it there, to etch-record -l\n"
	"  -S          begin with the state of the machine: tasks, open files, devices\n"
	"  -f          make sure that it is on the disk before the end\n"
	"\n"
	"  -i NAME     use this instance, and put back what is changed in it; '' or . is the\n"
	"              main tree. Otherwise one is made for the time of the recording\n"
	"  -b SIZE     of each CPU's buffer: KiB, or with K, M, G (as found)\n"
	"  -m MODE     of a full buffer: overwrite or discard (as found)\n"
	"  -c CLOCK    see trace_clock; in an instance with records, they are gone (as found)\n"
	"  -w PERCENT  how full a buffer is before it is read (25)\n"
	"  -t FOLDER   where Etch's files are (/sys/kernel/debug/etch)\n"
	"\n"
	"  -l [ADDRESS:]PORT  receive a trace that is sent with -s\n"
	"  -r FOLDER   cut a trace that ends within a packet: its recorder was killed\n"
	"\n"
	"  -v          progress once a second, on a terminal or not\n"
	"  -q          print errors only\n"
	"\n"
	"The exit status is 0 if nothing went wrong. Lost records, which the kernel counts,\n"
	"are reported and are no error. If COMMAND fails, its exit status is passed on.\n";

static int misused(const char *why)
{
	fail("%s. See %s -h", why, say_name);
	return EXIT_USAGE;
}

/* 0, or an exit code for which it is over. */
static int parse_option(struct options *o, int option)
{
	char *end;

	switch (option) {
	case 'e':
		if (o->nr_events == MAX_EVENTS)
			return misused("so many -e: put commas between events");
		o->events[o->nr_events++] = optarg;
		return 0;
	case 'p':
		if (o->nr_presets == MAX_EVENTS)
			return misused("so many -p: put commas between presets");
		o->presets[o->nr_presets++] = optarg;
		return preset_check(optarg) ? EXIT_USAGE : 0;
	case 'd':
		o->seconds = strtol(optarg, &end, 10);
		if (end == optarg || *end || o->seconds < 0)
			return misused("-d needs a number of seconds");
		return 0;
	case 'o':
		o->folder = optarg;
		return 0;
	case 's':
		o->receiver = optarg;
		return 0;
	case 'S':
		o->state = true;
		return 0;
	case 'f':
		o->sync = true;
		return 0;
	case 'i':
		o->instance = optarg;
		return 0;
	case 'b':
		o->size = optarg;
		return 0;
	case 'm':
		o->mode = optarg;
		return 0;
	case 'c':
		o->clock = optarg;
		return 0;
	case 'w':
		o->percent = optarg;
		return 0;
	case 't':
		o->root = optarg;
		return 0;
	case 'l':
		o->listen = optarg;
		return 0;
	case 'r':
		o->repair = optarg;
		return 0;
	case 'v':
		o->verbose = true;
		return 0;
	case 'q':
		o->quiet = true;
		return 0;
	case OPTION_OPEN:
		o->open = true;
		return 0;
	default:
		return misused("no such option");
	}
}

static int check_options(const struct options *o)
{
	if (o->folder && o->receiver)
		return misused("-o and -s exclude each other");
	if (o->listen && !o->folder)
		return misused("-l needs -o");
	if (o->listen || o->repair)
		return 0;
	if (!o->instance && !o->nr_events && !o->nr_presets && !o->state)
		return misused("there is nothing to record: name events (-e), or a preset (-p)");
	if (o->open && o->receiver)
		return misused("--open and -s exclude each other: the trace is elsewhere");
	if (!o->instance && only_what_is_there(o))
		return misused("-d 0 needs an instance (-i)");
	if (o->state && only_what_is_there(o))
		return misused("-S and -d 0 exclude each other: the state is recorded");
	return 0;
}

static int run_receiver(const struct options *o)
{
	struct place place = { .sync = o->sync };
	struct rlimit before;

	open_many_files(&before);
	signal(SIGPIPE, SIG_IGN);
	return place_folder(&place, o->folder) || receive(o->listen, &place) ?
	       EXIT_FAILED : EXIT_OK;
}

int record_for(struct recorded *recorded, const char *name, int argc, char **argv)
{
	static const struct option options[] = { { "open", no_argument, NULL, OPTION_OPEN }, {} };
	struct options o = { .seconds = -1, .percent = "25", .words = argv };
	int option, ret;

	say_as(name);
	optind = 1;
	/* The command's options are not ours: + ends at the first word that is none. */
	while ((option = getopt_long(argc, argv, "+e:p:d:o:s:Sfi:b:m:c:w:t:l:r:vqh", options,
				     NULL)) != -1) {
		if (option == 'h') {
			fputs(usage, stdout);
			return EXIT_OK;
		}
		ret = parse_option(&o, option);
		if (ret)
			return ret;
	}
	if (optind < argc)
		o.command = argv + optind;
	ret = check_options(&o);
	if (!ret && o.open && !recorded->can_open)
		ret = misused("--open needs the verb view, and this program has none");
	if (ret)
		return ret;
	recorded->open = o.open;
	/* A file that may not be larger: the errno says so. */
	signal(SIGXFSZ, SIG_IGN);
	if (o.repair)
		return repair(o.repair) ? EXIT_FAILED : EXIT_OK;
	return o.listen ? run_receiver(&o) : record(&o, recorded);
}

int record_main(const char *name, int argc, char **argv)
{
	struct recorded recorded = {};

	return record_for(&recorded, name, argc, argv);
}

/* Where this room is linked alone. The program etch has a main() of its own. */
int __attribute__((weak)) main(int argc, char **argv)
{
	return record_main("etch-record", argc, argv);
}
