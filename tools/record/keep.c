// SPDX-License-Identifier: GPL-2.0
/*
 * What the readers of a trace need beside its packets, in the trace's hidden folder .etch:
 *
 *	formats		the format files of the events that the metadata describes, one
 *			behind the other; newer ones behind older ones
 *	tasks		"start TID TGID PPID NAME" for each thread that was there when the
 *			recording began, and "end ..." for each that was there when it ended
 *	symbols		the functions of /proc/kallsyms, all of them, as its lines have them;
 *			only if the reader of that file may see addresses
 *	account		"cpuN NAME: NUMBER", for each line of stats, since the recording began
 *	command		"recorder: ...", "began: SECONDS", "boot: SECONDS", "ended: SECONDS",
 *			"status: NUMBER"; seconds since 1970. CLOCK_MONOTONIC was at zero at "boot",
 *			which gives times of the processor's counter as the kernel prints them
 *
 * A trace without any of these is a trace: readers then show numbers where they would show
 * names. So what cannot be kept is reported, and the recording goes on.
 */
#include "record.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Text that grows ---- */

static bool text_add(struct kept_text *text, const char *bytes, size_t len)
{
	size_t room = text->room ? text->room : 1 << 16;
	char *more;

	while (room - text->len < len)
		room *= 2;
	if (room != text->room) {
		more = realloc(text->bytes, room);
		if (!more)
			return false;
		text->bytes = more;
		text->room = room;
	}
	memcpy(text->bytes + text->len, bytes, len);
	text->len += len;
	return true;
}

static bool __attribute__((format(printf, 2, 3)))
text_print(struct kept_text *text, const char *fmt, ...)
{
	char line[512];
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	if (len >= (int)sizeof(line))
		len = sizeof(line) - 1;
	return text_add(text, line, len);
}

static void keep_put(struct kept *kept, const char *name, const struct kept_text *text)
{
	if (kept->failed || !text->len)
		return;
	kept->failed = place_note(kept->place, name, text->bytes, text->len);
}

/* ---- Formats ---- */

static bool keep_wants(const struct kept *kept, long id)
{
	return id >= 0 && id < KEEP_IDS && kept->wanted[id / 8] & 1 << id % 8;
}

/* Metadata describes all events, so one file with all formats is quicker than a file for each. */
static void keep_wanted(struct kept *kept)
{
	char *text = tree_formats(kept->tree, NULL);
	struct tree_format format;
	const char *at = text;

	if (!text)
		fail("%s/events/format: %m. The trace has no formats of events", kept->tree->path);
	/* A module that came again has given its events new ids: nobody wants those. */
	while (at && (at = tree_format(at, &format))) {
		if (!keep_wants(kept, format.id))
			continue;
		kept->failed |= !text_add(&kept->formats, format.text, format.len) ||
				!text_add(&kept->formats, "\n", 1);
	}
	free(text);
}

/* The next event of the metadata: its id, and its name, SYSTEM:EVENT. False: no more. */
static bool keep_next(const char **at, long *id, char name[256])
{
	char head[320];

	while ((*at = strstr(*at, "\nevent {\n"))) {
		++*at;
		/* A part: sscanf() measures all of the text that it gets. */
		snprintf(head, sizeof(head), "%.*s", (int)sizeof(head) - 1, *at);
		if (sscanf(head, "event { id = %ld; name = \"%255[^\"]", id, name) == 2 &&
		    *id >= 0 && *id < KEEP_IDS)
			return true;
	}
	return false;
}

void keep_look(struct kept *kept, const char *metadata)
{
	const char *at = metadata;
	char name[256];
	bool any = false;
	long id;

	memset(kept->wanted, 0, sizeof(kept->wanted));
	while (keep_next(&at, &id, name)) {
		unsigned char bit = 1 << id % 8;

		/* Events without a format, as that of trace_marker, are looked for once. */
		if (kept->known[id / 8] & bit)
			continue;
		kept->known[id / 8] |= bit;
		if (!strchr(name, ':'))
			continue;
		kept->wanted[id / 8] |= bit;
		any = true;
	}
	if (any)
		keep_wanted(kept);
}

void keep_formats(struct kept *kept, const char *metadata)
{
	size_t before = kept->formats.len;

	if (!kept->place)
		return;
	keep_look(kept, metadata);
	if (kept->formats.len != before)
		keep_put(kept, "formats", &kept->formats);
}

/* ---- Tasks ---- */

/* "TID (NAME) STATE PPID ..."; the name may have any character in it. */
static void keep_task(struct kept *kept, const char *when, const char *tgid, char *stat)
{
	char *name = strchr(stat, '('), *end = strrchr(stat, ')');
	int ppid;

	if (!name || !end || end < name || sscanf(end, ") %*c %d", &ppid) != 1)
		return;
	*end = 0;
	for (char *at = ++name; *at; at++)
		if (iscntrl((unsigned char)*at))
			*at = '?';
	text_print(&kept->tasks, "%s %ld %s %d %s\n", when, strtol(stat, NULL, 10), tgid, ppid,
		   name);
}

static void keep_process(struct kept *kept, const char *when, const char *tgid)
{
	struct tree proc = { .path = "/proc" };
	char path[600], *stat;
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/task", tgid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)*entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/task/%s/stat", tgid, entry->d_name);
		stat = tree_read(&proc, path, NULL);
		if (stat)
			keep_task(kept, when, tgid, stat);
		free(stat);
	}
	if (dir)
		closedir(dir);
}

static void keep_tasks(struct kept *kept, const char *when)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)*entry->d_name))
			keep_process(kept, when, entry->d_name);
	if (dir)
		closedir(dir);
	keep_put(kept, "tasks", &kept->tasks);
}

/* ---- Symbols ---- */

/* Lines "ADDRESS TYPE NAME [MODULE]". Addresses are zero for those who may not see them. */
void keep_symbols(struct kept *kept)
{
	struct tree proc = { .path = "/proc" };
	char *text = tree_read(&proc, "kallsyms", NULL), *line, *end;
	struct kept_text found = {};
	bool zero = true;

	for (line = text; line && *line; line = end + 1) {
		size_t digits = strspn(line, "0123456789abcdef");

		end = strchr(line, '\n');
		if (!end)
			break;
		zero &= strspn(line, "0") == digits;
		if (line[digits] == ' ' && strchr("TtWw", line[digits + 1]))
			text_add(&found, line, end - line + 1);
	}
	if (!zero)
		keep_put(kept, "symbols", &found);
	free(found.bytes);
	free(text);
}

/* ---- The command and the account ---- */

/* As a shell takes it. */
static void keep_word(struct kept *kept, const char *word)
{
	bool plain = *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyz"
					   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,=+@%")];

	text_add(&kept->command, plain ? " " : " '", plain ? 1 : 2);
	for (; *word; word++) {
		if (*word == '\'')
			text_add(&kept->command, "'\\''", 4);
		else
			text_add(&kept->command, *word == '\n' ? " " : word, 1);
	}
	if (!plain)
		text_add(&kept->command, "'", 1);
}

static void keep_time(struct kept *kept, const char *what, long long ns)
{
	text_print(&kept->command, "%s: %lld.%09lld\n", what, ns / 1000000000, ns % 1000000000);
}

static long long clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* When CLOCK_MONOTONIC was zero: read in the middle between two readings of the wall clock. */
static long long boot_ns(void)
{
	long long before, mono, after, best = LLONG_MAX, boot = 0;

	for (int i = 0; i < 5; i++) {
		before = clock_ns(CLOCK_REALTIME);
		mono = clock_ns(CLOCK_MONOTONIC);
		after = clock_ns(CLOCK_REALTIME);
		if (after - before >= best)
			continue;
		best = after - before;
		boot = before + best / 2 - mono;
	}
	return boot;
}

void keep_begin(struct kept *kept, const struct tree *tree, struct place *place, char **words)
{
	memset(kept, 0, sizeof(*kept));
	kept->tree = tree;
	kept->place = place;
	text_print(&kept->command, "recorder:");
	while (*words)
		keep_word(kept, *words++);
	text_print(&kept->command, "\n");
	keep_time(kept, "began", clock_ns(CLOCK_REALTIME));
	keep_time(kept, "boot", boot_ns());
}

void keep_start(struct kept *kept)
{
	keep_put(kept, "command", &kept->command);
	keep_tasks(kept, "start");
}

void keep_account(struct kept *kept, int cpu, const struct account *account)
{
	for (int i = 0; i < STATS; i++)
		text_print(&kept->account, "cpu%d %s: %llu\n", cpu, account_names[i],
			   account->of[i]);
}

void keep_end(struct kept *kept, int status)
{
	keep_tasks(kept, "end");
	keep_symbols(kept);
	keep_put(kept, "account", &kept->account);
	keep_time(kept, "ended", clock_ns(CLOCK_REALTIME));
	text_print(&kept->command, "status: %d\n", status);
	keep_put(kept, "command", &kept->command);
	keep_drop(kept);
}

void keep_drop(struct kept *kept)
{
	free(kept->formats.bytes);
	free(kept->tasks.bytes);
	free(kept->account.bytes);
	free(kept->command.bytes);
}
