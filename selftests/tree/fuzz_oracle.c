// SPDX-License-Identifier: GPL-2.0

#include <ctype.h>
#include <limits.h>

#include "fuzz_oracle.h"

/* How much the kernel's own code copies at once: simple_attr_write(), trace_parse_run_command(). */
#define SIMPLE_ATTR_PART	23
#define PROBES_PART		4095

static const struct fuzz_file fuzz_files[] = {
	{ "enable", FUZZ_BOOL, 4096 },
	{ "tracing_on", FUZZ_BOOL, 256 },
	{ "snapshot", FUZZ_BOOL, 256 },
	{ "trace_clock", FUZZ_CHOICE, 256 },
	{ "buffer_mode", FUZZ_CHOICE, 256 },
	{ "buffer_size_kb", FUZZ_SIZE, 256 },
	{ "buffer_subbuf_size_kb", FUZZ_SUBBUF, 256 },
	{ "buffer_percent", FUZZ_PERCENT, 256 },
	{ "budget", FUZZ_BUDGET, 256 },
	{ "contexts", FUZZ_CONTEXTS, 256 },
	{ "set_event", FUZZ_EVENTS, 512 << 10 },
	{ "set_event_pid", FUZZ_TASKS, 32768 },
	{ "set_event_notrace_pid", FUZZ_TASKS, 32768 },
	{ "set_event_cgroup", FUZZ_TASKS, 4096 },
	{ "event-fork", FUZZ_BOOL, 256 },
	{ "filter", FUZZ_FILTER, 4096 },
	{ "trigger", FUZZ_TRIGGER, 4096 },
	{ "dump_on_oops", FUZZ_DUMP, 256 },
	{ "flush", FUZZ_TEXT, 256 },
	{ "error_log", FUZZ_TEXT, 256 },
	{ "latency", FUZZ_TASKS, 256 },
	{ "trace", FUZZ_ANY, 0 },
	{ "trace_marker", FUZZ_MARKER, 0 },
	{ "trace_marker_raw", FUZZ_MARKER_RAW, 0 },
	{ "statedump", FUZZ_STATE, 256 },
	{ "subbufs", FUZZ_MODULE, 0, SIMPLE_ATTR_PART },
	{ "dynamic_events", FUZZ_PROBES, 0, PROBES_PART },
	{ "kprobe_events", FUZZ_PROBES, 0, PROBES_PART },
	{ "uprobe_events", FUZZ_PROBES, 0, PROBES_PART },
};

const struct fuzz_file *fuzz_file_of(const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	for (size_t i = 0; i < ARRAY_LEN(fuzz_files); i++) {
		if (!strcmp(fuzz_files[i].name, name))
			return &fuzz_files[i];
	}
	return NULL;
}

static bool fuzz_is_space(char c)
{
	return c && strchr(" \t\n\v\f\r\240", c);
}

/* Where the text without white space begins. */
static size_t fuzz_strip(struct fuzz_seen *seen, const struct fuzz_input *in)
{
	size_t from = 0, to = strnlen(in->bytes, in->len);

	while (to && fuzz_is_space(in->bytes[to - 1]))
		to--;
	while (from < to && fuzz_is_space(in->bytes[from]))
		from++;
	memcpy(seen->text, in->bytes + from, to - from);
	seen->text[to - from] = 0;
	return from;
}

static void fuzz_see_number(struct fuzz_seen *seen)
{
	size_t digits = strspn(seen->text, "0123456789");

	seen->verdict = FUZZ_REFUSED;
	if (seen->text[digits] || !digits) {
		seen->at += digits;
		return;
	}
	errno = 0;
	seen->number = strtoul(seen->text, NULL, 10);
	if (!errno)
		seen->verdict = FUZZ_TAKEN;
}

/* @shown: what the file shows before. */
static bool fuzz_is_choice(const char *text, const char *shown)
{
	size_t len = strlen(text);
	const char *at;

	if (!len || strpbrk(text, " []\n"))
		return false;
	for (at = strstr(shown, text); at; at = strstr(at + 1, text)) {
		if ((at == shown || strchr(" [", at[-1])) && strchr("]\n ", at[len]))
			return true;
	}
	return false;
}

/* 0, 1, 2, orig_cpu, INSTANCE, or INSTANCE and one of these; several behind commas. */
static bool fuzz_is_dump(const char *text)
{
	static const char * const how[] = { "0", "1", "2", "orig_cpu" };
	size_t len, name;

	for (;; text += len + 1) {
		bool known = false;

		len = strcspn(text, ",");
		name = strcspn(text, ",=");
		for (size_t i = 0; i < ARRAY_LEN(how); i++)
			known |= name < len && strlen(how[i]) == len - name - 1 &&
				 !memcmp(how[i], text + name + 1, len - name - 1);
		if (!name || (name < len && !known))
			return false;
		if (!text[len])
			return true;
	}
}

static void fuzz_see_size(struct fuzz_seen *seen)
{
	if (seen->verdict == FUZZ_REFUSED)
		return;
	if (!seen->number || seen->number > ULONG_MAX >> 10)
		seen->verdict = FUZZ_REFUSED;
	else if (seen->number > 4096)
		seen->verdict = FUZZ_EITHER;	/* with so much memory, or not */
}

static void fuzz_see_kind(struct fuzz_seen *seen, enum fuzz_kind kind, const char *shown)
{
	switch (kind) {
	case FUZZ_BOOL:
		seen->verdict = !strcmp(seen->text, "0") || !strcmp(seen->text, "1");
		seen->number = seen->text[0] == '1';
		break;
	case FUZZ_CHOICE:
		seen->verdict = fuzz_is_choice(seen->text, shown);
		break;
	case FUZZ_SIZE:
		fuzz_see_number(seen);
		fuzz_see_size(seen);
		break;
	case FUZZ_SUBBUF:
		fuzz_see_number(seen);
		if (seen->verdict && (!seen->number || seen->number > 512))
			seen->verdict = FUZZ_REFUSED;
		else if (seen->verdict)
			seen->verdict = FUZZ_EITHER;	/* too many of them in a large buffer */
		break;
	case FUZZ_CONTEXTS:
	case FUZZ_BUDGET:
		seen->verdict = *seen->text ? FUZZ_EITHER : FUZZ_TAKEN;
		break;
	case FUZZ_PERCENT:
		fuzz_see_number(seen);
		if (seen->verdict && seen->number > 100)
			seen->verdict = FUZZ_REFUSED;
		break;
	case FUZZ_EVENTS:
		seen->verdict = *seen->text ? FUZZ_EITHER : FUZZ_TAKEN;
		seen->at = -1;
		break;
	case FUZZ_FILTER:
	case FUZZ_TRIGGER:
		seen->verdict = *seen->text ? FUZZ_EITHER : FUZZ_REFUSED;
		seen->at = -1;
		break;
	case FUZZ_TASKS:
		seen->verdict = *seen->text ? FUZZ_EITHER : FUZZ_TAKEN;
		seen->at = -1;
		break;
	case FUZZ_DUMP:
		seen->verdict = strlen(seen->text) < 256 && fuzz_is_dump(seen->text);
		seen->at = -1;
		break;
	case FUZZ_STATE:
		seen->verdict = strcmp(seen->text, "1") ? FUZZ_REFUSED : FUZZ_EITHER;
		break;
	case FUZZ_MARKER:
	case FUZZ_MARKER_RAW:
	case FUZZ_MODULE:
		seen->verdict = FUZZ_EITHER;
		break;
	case FUZZ_PROBES:
		seen->verdict = FUZZ_EITHER;
		seen->at = -1;
		break;
	case FUZZ_TEXT:
	case FUZZ_ANY:
		seen->verdict = FUZZ_TAKEN;
	}
}

/* The expected result of writing @in to @file, which shows @shown before. */
void fuzz_see(struct fuzz_seen *seen, const struct fuzz_file *file, const struct fuzz_input *in,
	      const char *shown)
{
	size_t len = strnlen(in->bytes, in->len);

	seen->at = fuzz_strip(seen, in);
	fuzz_see_kind(seen, file->kind, shown);
	/* Too long, or a zero that is not the last byte. */
	if (file->max && (in->len > file->max || len + 1 < in->len)) {
		seen->verdict = FUZZ_REFUSED;
		seen->at = in->len > file->max ? -1 : (int)len;
	}
}

/* Does the file show what it took? @shown: afterwards. */
bool fuzz_shows(const struct fuzz_seen *seen, enum fuzz_kind kind, const char *shown)
{
	char word[64];

	switch (kind) {
	case FUZZ_BOOL:
	case FUZZ_PERCENT:
		snprintf(word, sizeof(word), "%lu\n", seen->number);
		return !strcmp(shown, word);
	case FUZZ_CHOICE:
		snprintf(word, sizeof(word), "[%.60s]", seen->text);
		return strstr(shown, word);
	case FUZZ_SIZE:
	case FUZZ_SUBBUF:
		return strtoul(shown, NULL, 10) >= seen->number;
	default:
		return true;
	}
}
