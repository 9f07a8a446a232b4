// SPDX-License-Identifier: GPL-2.0
/*
 * etch: the tool for Etch's binary traces.
 *
 * As etch-record, which is another name of it, it is the recorder alone.
 * Documentation/trace/etch/tool.rst is its manual.
 */
#include "verbs/etch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/record.h"

#define ETCH_VERSION "1.0"

/* In the order of the list that "etch" prints. */
static const struct verb * const verbs[] = {
	&verb_record,
	&verb_list,
	&verb_show,
	&verb_trace,
	&verb_check,
	&verb_top,
	&verb_latency,
	&verb_syscalls,
	&verb_irqs,
	&verb_block,
	&verb_diff,
	&verb_view,
	&verb_export,
	&verb_receive,
	&verb_repair,
};

static const char *running = "etch";

static void vsentence(const char *fmt, va_list args, const char *hint)
{
	fflush(stdout);
	fprintf(stderr, "etch %s: ", running);
	vfprintf(stderr, fmt, args);
	fprintf(stderr, hint, running);
}

int misused(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsentence(fmt, args, ". See etch %s --help\n");
	va_end(args);
	return EXIT_MISUSED;
}

int trouble(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsentence(fmt, args, "\n");
	va_end(args);
	return EXIT_TROUBLE;
}

static void complain(const char *sentence)
{
	fflush(stdout);
	fprintf(stderr, "etch %s: %s\n", running, sentence);
}

/* ---- Help ---- */

static int list_verbs(FILE *to)
{
	fputs("Etch: record what the kernel does, and look at it\n", to);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (verbs[i])
			fprintf(to, "  etch %-34s %s\n", verbs[i]->example, verbs[i]->line);
	fputs("etch VERB --help tells more; etch --version names the libraries that are in it\n", to);
	return to == stdout ? 0 : EXIT_MISUSED;
}

static int version(void)
{
	static const char * const libraries[] = {
#ifdef HAVE_ZLIB
		"zlib",
#endif
#ifdef HAVE_SQLITE3
		"sqlite3",
#endif
#ifdef HAVE_BABELTRACE2
		"babeltrace2",
#endif
		NULL
	};

	printf("etch " ETCH_VERSION ", with the C library");
	for (int i = 0; libraries[i]; i++)
		printf("%s%s", libraries[i + 1] ? ", " : " and ", libraries[i]);
	putchar('\n');
	return 0;
}

const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (verbs[i] && !strcmp(verbs[i]->name, name))
			return verbs[i];
	return NULL;
}

int verb_run(const struct verb *verb, int argc, char **argv)
{
	running = verb->name;
	etch_complain = complain;
	return verb->run(argc, argv);
}

static bool is_help(const char *word)
{
	return word && (!strcmp(word, "--help") || !strcmp(word, "-h"));
}

static int run(int argc, char **argv)
{
	const char *word = argv[1];
	const struct verb *verb;
	bool help = is_help(word) || !strcmp(word, "help");

	if (help && !argv[2])
		return list_verbs(stdout);
	if (!strcmp(word, "--version") || !strcmp(word, "-V"))
		return version();
	verb = verb_find(help ? argv[2] : word);
	if (!verb) {
		fprintf(stderr, "etch: there is no verb '%s'. The verbs are:\n",
			help ? argv[2] : word);
		return list_verbs(stderr);
	}
	if (help || is_help(argv[2])) {
		fputs(verb->help, stdout);
		return 0;
	}
	return verb_run(verb, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	const char *name = argc ? strrchr(argv[0], '/') : NULL;

	name = name ? name + 1 : argc ? argv[0] : "etch";
	if (!strcmp(name, "etch-record"))
		return record_main(name, argc, argv);
	return argc < 2 ? list_verbs(stdout) : run(argc, argv);
}
