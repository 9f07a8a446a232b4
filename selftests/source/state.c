// SPDX-License-Identifier: GPL-2.0

#include "state.h"

const struct state_kind state_kinds[NR_STATE_KINDS] = {
	{ "statedump_task", "tasks" },
	{ "statedump_exe", "exes" },
	{ "statedump_file", "files" },
	{ "statedump_mount", "mounts" },
	{ "statedump_irq", "irqs" },
	{ "statedump_block", "blocks" },
	{ "statedump_netif", "netifs" },
	{ "statedump_module", "modules" },
};

/* Why there is nothing to test; NULL: there is. */
const char *no_statedump(void)
{
	if (!have_etch())
		return NO_ETCH;
	if (!have_text())
		return NO_TEXT;
	return access(ETCH "/statedump", F_OK) ? NO_STATEDUMP : NULL;
}

/* A dump, alone in the buffer. Without records: it failed. */
struct trace state_dump(const char *tree)
{
	int err;

	overwrite_file(tree, "trace", "");
	err = write_file(tree, "statedump", "1");
	if (err) {
		printf("# statedump: %s\n", strerror(err));
		return (struct trace) {};
	}
	return text_read(tree, "trace");
}

/* Where the value behind "NAME=" begins; NULL: there is none. */
static const char *state_at(const char *text, const char *name)
{
	size_t len = strlen(name);
	const char *at;

	for (at = strstr(text, name); at; at = strstr(at + 1, name)) {
		if ((at == text || at[-1] == ' ') && at[len] == '=')
			return at + len + 1;
	}
	return NULL;
}

/* -1: there is none. */
long long state_value(const char *text, const char *name)
{
	const char *at = state_at(text, name);

	return at ? strtoll(at, NULL, 10) : -1;
}

/* Up to the next space, in a buffer that takes turns. */
const char *state_word(const char *text, const char *name)
{
	static char words[4][4096];
	static unsigned int turn;
	char *word = words[turn++ % ARRAY_LEN(words)];
	const char *at = state_at(text, name);

	snprintf(word, sizeof(words[0]), "%.*s", at ? (int)strcspn(at, " ") : 0, at ?: "");
	return word;
}

/* The first record of an event whose text has this in it, as whole words. */
const struct record *state_find(const struct trace *trace, const char *event,
				const char *fmt, ...)
{
	char words[4096], text[8192];
	va_list args;

	va_start(args, fmt);
	vsnprintf(words + 1, sizeof(words) - 2, fmt, args);
	va_end(args);
	words[0] = ' ';
	strcat(words, " ");
	for (size_t i = 0; i < trace->nr; i++) {
		if (strcmp(trace->records[i].event, event))
			continue;
		snprintf(text, sizeof(text), " %s ", trace->records[i].text);
		if (strstr(text, words))
			return &trace->records[i];
	}
	return NULL;
}
