/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ETCH_FUZZ_TSDL_H
#define ETCH_FUZZ_TSDL_H

/*
 * Is a text whole TSDL? Literals end, and so do braces, and not before there is one: nothing
 * that was put into the text leads out of where it stands.
 */

#include <linux/seq_file.h>

/* The word at @at, if a block begins with it. */
static inline size_t tsdl_begins(const char *at, const char *end)
{
	size_t len = 0;

	while (at + len < end && at[len] >= 'a' && at[len] <= 'z')
		len++;
	return end - at > (long)len + 1 && !memcmp(at + len, " {", 2) ? len : 0;
}

/* What its blocks are, with a blank behind each. Aborts if it is not whole. */
static inline void tsdl_outline(const char *text, size_t size, char *outline, size_t room)
{
	bool literal = false, line = true;
	const char *end = text + size;
	unsigned int braces = 0;

	*outline = 0;
	for (const char *at = text; at < end; at++) {
		size_t begins = line && !literal && !braces ? tsdl_begins(at, end) : 0;

		if (begins) {
			size_t used = strlen(outline);

			snprintf(outline + used, room - used, "%.*s ", (int)begins, at);
		}
		if (literal && *at == '\\' && at + 1 < end)
			at++;
		else if (*at == '"')
			literal = !literal;
		else if (!literal && *at == '{')
			braces++;
		else if (!literal && *at == '}' && !braces--)
			abort();
		line = *at == '\n';
		if (!*at)
			abort();
	}
	if (literal || braces || !line)
		abort();
}

#endif /* ETCH_FUZZ_TSDL_H */
