// SPDX-License-Identifier: GPL-2.0
/*
 * record, receive and repair: the recorder, by its verbs.
 */
#include "verbs/etch.h"

#include <stdio.h>
#include <stdlib.h>

#include "record/record.h"

static const char record_help[] =
	"etch record: record the kernel's events into a folder.\n"
	"\n"
	"  # etch record -e sched -o trace -- make\n"
	"  etch record: 214093 records of 2 CPUs, 9.1 MB, in 4.2 s, in trace\n"
	"  # etch show trace | head -1\n"
	"    make-812   [001] .....    61.034417: sched_process_exec: filename=/usr/bin/make ...\n"
	"\n"
	"It records until the command ends or, if there is none, until Ctrl-C. At the end it says\n"
	"how many records were lost, if any, why, and what to do about it.\n"
	"\n"
	"  -e EVENT    what to record: sched, sched:sched_switch, 'irq:*'; several with\n"
	"              commas, or -e again; etch list shows them\n"
	"  -p PRESET   events that belong together: sched, syscalls, io, irq, boot, all\n"
	"  -d SECONDS  no longer than that; 0: only the records already there (with -i)\n"
	"  -o FOLDER   where the trace goes (etch-DATE-TIME)\n"
	"  -s ADDRESS:PORT  send it there, to etch receive\n"
	"  -S          begin with the state of the machine: tasks, open files, devices\n"
	"  -f          make sure that it is on the disk before the end\n"
	"  -i NAME     use this instance, and put back what is changed in it; . is the main\n"
	"              tree. Otherwise one is made for the time of the recording\n"
	"  -b SIZE     of each CPU's buffer: KiB, or with K, M, G (as found)\n"
	"  -m MODE     of a full buffer: overwrite or discard (as found)\n"
	"  -c CLOCK    see trace_clock (as found)\n"
	"  -w PERCENT  how full a buffer is before it is read (25)\n"
	"  -t FOLDER   where Etch's files are (/sys/kernel/debug/etch)\n"
	"  --open      look at it with etch view at the end\n"
	"  -v, -q      progress once a second, on a terminal or not; print errors only\n";

static const char receive_help[] =
	"etch receive: receive one trace that another machine sends.\n"
	"\n"
	"  $ etch receive -o trace 4000\n"
	"  etch receive: listening on 4000\n"
	"\n"
	"and there, as root:\n"
	"\n"
	"  # etch record -e sched -s 192.0.2.1:4000 -- make\n"
	"\n"
	"  [ADDRESS:]PORT  where to listen. Nobody is asked for a name, and nothing is encrypted:\n"
	"                  listen at an address that only friends can reach\n"
	"  -o FOLDER       where the trace goes\n"
	"  -f              make sure that it is on the disk before the end\n";

static const char repair_help[] =
	"etch repair: make a trace whole again that was cut off.\n"
	"\n"
	"  # etch repair trace\n"
	"  etch repair: cpu1: 1640 bytes behind the last whole packet are cut off\n"
	"\n"
	"If the recorder is killed or the machine goes down, a file may end within a packet. etch\n"
	"shows such a trace as it is; babeltrace2 refuses it until this has cut off the packet.\n"
	"etch check says whether there is something to repair.\n";

/* The recorder has left signals as it needs them. */
static int open_trace(const struct verb *view, const char *folder)
{
	static const int changed[] = { SIGINT, SIGTERM, SIGPIPE, SIGXFSZ };
	char *words[] = { "view", NULL, NULL };
	sigset_t none;
	int ret;

	/* Its name may look like an option. */
	if (asprintf(&words[1], "%s%s", *folder == '-' ? "./" : "", folder) < 0)
		return trouble("there is no memory");
	for (size_t i = 0; i < sizeof(changed) / sizeof(*changed); i++)
		signal(changed[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	ret = verb_run(view, 2, words);
	free(words[1]);
	return ret;
}

static int run_record(int argc, char **argv)
{
	const struct verb *view = verb_find("view");
	struct recorded recorded = { .can_open = view };
	int ret = record_for(&recorded, "etch record", argc, argv), opened;

	if (!recorded.open || !recorded.folder)
		return ret;
	opened = open_trace(view, recorded.folder);
	return ret ? ret : opened;
}

static int run_receive(int argc, char **argv)
{
	char *words[] = { "receive", "-l", NULL, NULL, NULL, NULL, NULL };
	const char *folder = NULL, *address = NULL;
	int nr = 3;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-o") && argv[i + 1] && !folder)
			words[nr++] = argv[i], words[nr++] = argv[++i], folder = argv[i];
		else if (!strcmp(argv[i], "-f") && !words[5])
			words[nr++] = argv[i];
		else if (*argv[i] != '-' && !address)
			address = words[2] = argv[i];
		else
			return misused("'%s' is not understood", argv[i]);
	}
	if (!folder || !address)
		return misused("%s is missing", folder ? "the port" : "the folder (-o)");
	return record_main("etch receive", nr, words);
}

static int run_repair(int argc, char **argv)
{
	char *words[] = { "repair", "-r", argv[1], NULL };

	if (argc != 2)
		return misused("name one folder");
	return record_main("etch repair", 3, words);
}

const struct verb verb_record = {
	"record", "record -e sched -o DIR -- make", "record while a command runs", record_help,
	run_record
};

const struct verb verb_receive = {
	"receive", "receive -o DIR 4000", "the same, of another machine", receive_help,
	run_receive
};

const struct verb verb_repair = {
	"repair", "repair DIR", "cut what is broken off its end", repair_help, run_repair
};
