// SPDX-License-Identifier: GPL-2.0
/*
 * The names in print formats, and the numbers that they stand for.
 *
 * The text of TP_printk() names enumerators and sizes, which nobody outside of the
 * kernel knows. TRACE_DEFINE_ENUM() and TRACE_DEFINE_SIZEOF() leave their numbers in a
 * section of the kernel, or of the module.
 */
#include <linux/ctype.h>
#include <linux/etch.h>
#include <linux/module.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "event/event.h"

/* Those of one header stand together, so a system's are a small part of a table. */
static struct etch_enum_part etch_enum_part(const struct etch_enum * const *table,
					    unsigned int nr, const char *system)
{
	struct etch_enum_part part = { .first = table };
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (strcmp(table[i]->system, system))
			continue;
		if (!part.nr)
			part.first = table + i;
		part.nr = table + i + 1 - part.first;
	}
	return part;
}

static const struct etch_enum *
etch_enum_search(const struct etch_enum_part *part, const char *system, const char *name,
		 size_t len)
{
	unsigned int i;

	for (i = 0; i < part->nr; i++) {
		const struct etch_enum *e = part->first[i];

		if (!strncmp(e->name, name, len) && !e->name[len] && !strcmp(e->system, system))
			return e;
	}
	return NULL;
}

/**
 * etch_enums_of() - the names that a print format may have
 * @event: whose it is: names are those of a system
 *
 * Context: any; the event stays while the result is used.
 * Return: where they are, for etch_enum_find().
 */
struct etch_enums etch_enums_of(const struct etch_event *event)
{
	const char *system = event->class->system;
	struct etch_enums enums = { .system = system };

#ifdef CONFIG_MODULES
	if (event->mod)
		enums.of_module = etch_enum_part(event->mod->etch_enums,
						 event->mod->num_etch_enums, system);
#endif
	enums.of_kernel = etch_enum_part(__start_etch_enums,
					 __stop_etch_enums - __start_etch_enums, system);
	return enums;
}

/**
 * etch_enum_find() - what a name stands for
 * @enums: the names that there are
 * @name: the name, or "sizeof(type)"
 * @len: its characters
 *
 * Context: any; the event of @enums stays while the result is used.
 * Return: the name with its number, or NULL.
 */
const struct etch_enum *etch_enum_find(const struct etch_enums *enums, const char *name,
				       size_t len)
{
	return etch_enum_search(&enums->of_module, enums->system, name, len) ?:
	       etch_enum_search(&enums->of_kernel, enums->system, name, len);
}

/* Length of the identifier, or of "sizeof(type)", at @text. */
static size_t etch_word_len(const char *text)
{
	size_t len = 0;

	while (isalnum(text[len]) || text[len] == '_')
		len++;
	if (len == 6 && !strncmp(text, "sizeof", 6) && text[6] == '(') {
		const char *end = strchr(text, ')');

		if (end)
			len = end + 1 - text;
	}
	return len;
}

/* Length of the literal at @text, its quotes included. */
static size_t etch_literal_len(const char *text)
{
	size_t len = 1;

	while (text[len] && text[len] != text[0]) {
		if (text[len] == '\\' && text[len + 1])
			len++;
		len++;
	}
	return text[len] ? len + 1 : len;
}

/**
 * etch_piece_len() - how long the next piece of C text is
 * @text: the text; not its end
 *
 * A piece is a literal in quotes, a word, a number with all that clings to it (in
 * 0x1f and 10UL the letters start no word), "sizeof(type)", or one character.
 *
 * Context: any.
 * Return: characters, at least 1.
 */
size_t etch_piece_len(const char *text)
{
	if (*text == '"' || *text == '\'')
		return etch_literal_len(text);
	if (isalnum(*text) || *text == '_')
		return etch_word_len(text);
	return 1;
}

/* Is the word at @at, in @text, the name of a member? */
static bool etch_is_member(const char *text, const char *at)
{
	if (at > text && at[-1] == '.')
		return true;
	return at > text + 1 && at[-1] == '>' && at[-2] == '-';
}

/**
 * etch_print_fmt() - a print format for a program that does not know the kernel's names
 * @s: gets the text, with numbers for the names that have one
 * @event: whose it is
 *
 * A name inside a literal or a longer word stays, and so does the name of a member.
 *
 * Context: any; the event stays while this runs.
 */
void etch_print_fmt(struct seq_buf *s, const struct etch_event *event)
{
	const char *text = event->class->print_fmt, *at;
	const struct etch_enums enums = etch_enums_of(event);
	const struct etch_enum *e;
	size_t len;

	for (at = text; *at; at += len) {
		len = etch_piece_len(at);
		e = NULL;
		if ((isalpha(*at) || *at == '_') && !etch_is_member(text, at))
			e = etch_enum_find(&enums, at, len);
		if (e)
			seq_buf_printf(s, "%ld", e->value);
		else
			seq_buf_putmem(s, at, len);
	}
}

/**
 * etch_print_fmt_dup() - a print format that outlives the event
 * @event: whose it is
 *
 * Context: process, may sleep; the event stays while this runs.
 * Return: the text of etch_print_fmt(), to be freed by kvfree(); NULL if there is no
 * memory.
 */
char *etch_print_fmt_dup(const struct etch_event *event)
{
	size_t size = strlen(event->class->print_fmt) + 64;
	struct seq_buf s;
	char *text;

	for (;;) {
		text = kvmalloc(size, GFP_KERNEL);
		if (!text)
			return NULL;
		seq_buf_init(&s, text, size - 1);
		etch_print_fmt(&s, event);
		if (!seq_buf_has_overflowed(&s))
			break;
		/* A number may be longer than its name. */
		kvfree(text);
		size *= 2;
	}
	text[seq_buf_used(&s)] = '\0';
	return text;
}
