// SPDX-License-Identifier: GPL-2.0
/*
 * The file contexts of an instance: the list of those that its records have.
 *
 * A write is a list of words. If each has a sign, they are added to the contexts that there are,
 * or taken from them; else they are the contexts from now on.
 */
#include <linux/ctype.h>
#include <linux/etch.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "event/contexts.h"
#include "tree/fs.h"

/* The contexts that a user asks for, in the order of the records. @depth: of a stack. */
struct etch_contexts_wish {
	struct {
		u8 kind;
		u8 depth;
	} of[ETCH_CONTEXT_NR];
	unsigned int nr;
};

static int etch_wish_find(const struct etch_contexts_wish *wish, enum etch_context_kind kind)
{
	unsigned int i;

	for (i = 0; i < wish->nr; i++)
		if (wish->of[i].kind == kind)
			return i;
	return -ENOENT;
}

static void etch_wish_drop(struct etch_contexts_wish *wish, unsigned int at)
{
	wish->nr--;
	memmove(&wish->of[at], &wish->of[at + 1], (wish->nr - at) * sizeof(wish->of[0]));
}

static void etch_wish_init(struct etch_contexts_wish *wish, const struct etch_contexts *c)
{
	for (; c && wish->nr < c->nr; wish->nr++) {
		wish->of[wish->nr].kind = c->of[wish->nr].kind;
		wish->of[wish->nr].depth = c->of[wish->nr].depth;
	}
}

/* ---- Words ---- */

static int etch_context_find(const char *word, size_t len)
{
	enum etch_context_kind kind;

	for (kind = 0; kind < ETCH_CONTEXT_NR; kind++)
		if (etch_context_usable(kind) && !strncmp(etch_context_name(kind), word, len) &&
		    !etch_context_name(kind)[len])
			return kind;
	return -EINVAL;
}

/* ":N" at @at, of a stack; or nothing. */
static int etch_context_depth(const struct etch_input *in, const char **at, unsigned int *depth)
{
	unsigned int value = 0;
	const char *digit;

	*depth = ETCH_CONTEXT_DEPTH;
	if (**at != ':')
		return 0;
	for (digit = *at + 1; isdigit(*digit) && value <= ETCH_CONTEXT_STACK; digit++)
		value = value * 10 + *digit - '0';
	if (!value || value > ETCH_CONTEXT_STACK)
		return etch_bad(in, *at + 1, -EINVAL, "A stack has 1 to %u addresses",
				ETCH_CONTEXT_STACK);
	*depth = value;
	*at = digit;
	return 0;
}

/* The word at @word, which has @sign or, if that is 0, has none. */
static int etch_context_word(const struct etch_input *in, const char *word, char sign,
			     const char **end, struct etch_contexts_wish *wish)
{
	const char *name = sign ? word + 1 : word, *at = name;
	unsigned int depth = 0;
	int kind, there, ret;

	while (isalnum(*at) || *at == '_')
		at++;
	kind = etch_context_find(name, at - name);
	if (kind < 0)
		return etch_bad(in, name, -EINVAL, "No such context");
	ret = etch_context_is_stack(kind) ? etch_context_depth(in, &at, &depth) : 0;
	if (ret)
		return ret;
	if (*at && !isspace(*at))
		return etch_bad(in, at, -EINVAL, "Nothing may follow the context here");
	*end = at;
	there = etch_wish_find(wish, kind);
	if (sign == '-' && there < 0)
		return etch_bad(in, name, -ENOENT, "Records have no such context");
	if (sign != '-' && there >= 0)
		return etch_bad(in, name, -EEXIST, "Records have this context already");
	if (sign == '-') {
		etch_wish_drop(wish, there);
		return 0;
	}
	wish->of[wish->nr].kind = kind;
	wish->of[wish->nr++].depth = depth;
	return 0;
}

static char etch_context_sign(const char *word)
{
	return *word == '+' || *word == '-' ? *word : 0;
}

static int etch_contexts_parse(const struct etch_input *in, struct etch_contexts_wish *wish)
{
	const char *at = skip_spaces(in->text);
	bool signs = etch_context_sign(at);
	int ret;

	if (!strcmp(at, "none"))
		return 0;
	if (signs)
		etch_wish_init(wish, in->inst->contexts);
	while (*at) {
		if (!etch_context_sign(at) == signs)
			return etch_bad(in, at, -EINVAL, "Either all words have a sign, or none");
		ret = etch_context_word(in, at, etch_context_sign(at), &at, wish);
		if (ret)
			return ret;
		at = skip_spaces(at);
	}
	return 0;
}

/* ---- The file ---- */

static bool etch_contexts_same(const struct etch_contexts_wish *wish,
			       const struct etch_contexts *c)
{
	unsigned int i;

	if (wish->nr != (c ? c->nr : 0))
		return false;
	for (i = 0; i < wish->nr; i++)
		if (wish->of[i].kind != c->of[i].kind || wish->of[i].depth != c->of[i].depth)
			return false;
	return true;
}

static struct etch_contexts *etch_contexts_make(const struct etch_contexts_wish *wish)
{
	struct etch_contexts *c = etch_contexts_alloc();
	unsigned int i;

	for (i = 0; c && i < wish->nr; i++)
		etch_contexts_add(c, wish->of[i].kind, wish->of[i].depth);
	return c;
}

int etch_contexts_store(const struct etch_input *in)
{
	struct etch_contexts_wish wish = {};
	struct etch_contexts *c = NULL;
	int ret;

	ret = etch_contexts_parse(in, &wish);
	if (ret || etch_contexts_same(&wish, in->inst->contexts))
		return ret;
	if (in->inst->store)
		return etch_bad(in, in->text, -EBUSY,
				"Fixed, since the buffer is in reserved memory");
	if (wish.nr) {
		c = etch_contexts_make(&wish);
		if (!c)
			return etch_bad(in, in->text, -ENOMEM, "Not enough memory");
	}
	ret = etch_instance_set_contexts(in->inst, c);
	if (!ret)
		return 0;
	etch_contexts_put(c);
	if (ret == -ENOMEM)
		return etch_bad(in, in->text, ret, "Not enough memory");
	return etch_bad(in, in->text, ret, "Cannot register an enabled event");
}

static void etch_contexts_show_available(struct seq_file *m)
{
	enum etch_context_kind kind;

	seq_puts(m, "# Available contexts:\n#");
	for (kind = 0; kind < ETCH_CONTEXT_NR; kind++)
		if (etch_context_usable(kind))
			seq_printf(m, " %s%s", etch_context_name(kind),
				   etch_context_is_stack(kind) ? "[:N]" : "");
	seq_putc(m, '\n');
}

void etch_contexts_show(struct seq_file *m, const struct etch_view_of *of)
{
	const struct etch_contexts *c = of->inst->contexts;
	unsigned int i;

	if (!c) {
		etch_contexts_show_available(m);
		return;
	}
	for (i = 0; i < c->nr; i++) {
		seq_printf(m, "%s%s", i ? " " : "", etch_context_name(c->of[i].kind));
		if (c->of[i].depth)
			seq_printf(m, ":%u", c->of[i].depth);
	}
	seq_printf(m, "\n# %u bytes in each record\n", c->size);
}
