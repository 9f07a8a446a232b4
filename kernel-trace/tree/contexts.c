// SPDX-License-Identifier: GPL-2.0
/*
 * The file contexts of an instance: the list of those that its records have.
 *
 * A write is a list of words. If each has a sign, they are added to the contexts that there are,
 * or taken from them; else they are the contexts from now on.
 */
#include <linux/ctype.h>
#include <linux/etch.h>
#include <linux/kstrtox.h>
#include <linux/perf_event.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "event/contexts.h"
#include "tree/fs.h"

/* A context that a user asks for. @depth: of a stack. @counter: of perf. */
struct etch_wish {
	u8 kind;
	u8 depth;
	struct etch_counter_spec counter;
};

/* All of them, in the order of the records. */
struct etch_contexts_wish {
	struct etch_wish of[ETCH_CONTEXTS_MAX];
	unsigned int nr;
};

static bool etch_wish_counts(const struct etch_wish *wish, const struct etch_counter_spec *spec)
{
	return wish->kind == ETCH_CONTEXT_PERF && wish->counter.type == spec->type &&
	       wish->counter.config == spec->config;
}

static int etch_wish_find(const struct etch_contexts_wish *wish, const struct etch_wish *word)
{
	unsigned int i;

	for (i = 0; i < wish->nr; i++)
		if (word->kind == ETCH_CONTEXT_PERF ?
		    etch_wish_counts(&wish->of[i], &word->counter) :
		    wish->of[i].kind == word->kind)
			return i;
	return -ENOENT;
}

static unsigned int etch_wish_counters(const struct etch_contexts_wish *wish)
{
	unsigned int i, nr = 0;

	for (i = 0; i < wish->nr; i++)
		nr += wish->of[i].kind == ETCH_CONTEXT_PERF;
	return nr;
}

static void etch_wish_drop(struct etch_contexts_wish *wish, unsigned int at)
{
	wish->nr--;
	memmove(&wish->of[at], &wish->of[at + 1], (wish->nr - at) * sizeof(wish->of[0]));
}

static void etch_wish_init(struct etch_contexts_wish *wish, const struct etch_contexts *c)
{
	for (; c && wish->nr < c->nr; wish->nr++) {
		const struct etch_context_of *of = &c->of[wish->nr];
		const struct etch_counter *counter = etch_context_counter(c, of);
		struct etch_wish *word = &wish->of[wish->nr];

		word->kind = of->kind;
		word->depth = of->depth;
		if (counter)
			word->counter = counter->spec;
	}
}

/* ---- Counters ---- */

/* What perf calls them. */
static const struct etch_counter_name {
	const char *name;
	u32 type;
	u64 config;
} etch_counter_names[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "cgroup-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES },
};

/* "r" and the number in the processor's own code, in hexadecimal digits. */
static bool etch_counter_raw(struct etch_counter_spec *counter)
{
	counter->type = PERF_TYPE_RAW;
	return counter->name[0] == 'r' && isxdigit(counter->name[1]) &&
	       !kstrtoull(counter->name + 1, 16, &counter->config);
}

static bool etch_counter_known(struct etch_counter_spec *counter)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(etch_counter_names); i++) {
		if (strcmp(etch_counter_names[i].name, counter->name))
			continue;
		counter->type = etch_counter_names[i].type;
		counter->config = etch_counter_names[i].config;
		return true;
	}
	return etch_counter_raw(counter);
}

/* ":NAME" at @at, of perf. */
static int etch_context_counter_word(const struct etch_input *in, const char **at,
				     struct etch_counter_spec *counter)
{
	const char *name = *at + 1, *end = name;

	if (**at != ':')
		return etch_bad(in, *at, -EINVAL, "Write perf:NAME, as perf list names counters");
	while (isalnum(*end) || *end == '-')
		end++;
	if (end - name >= sizeof(counter->name))
		return etch_bad(in, name, -EINVAL, "No such counter");
	memcpy(counter->name, name, end - name);
	if (!etch_counter_known(counter))
		return etch_bad(in, name, -EINVAL, "No such counter");
	*at = end;
	return 0;
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

/* The part of a word that stands behind its name, at @at. */
static int etch_context_more(const struct etch_input *in, const char **at, struct etch_wish *word)
{
	unsigned int depth = 0;
	int ret = 0;

	if (word->kind == ETCH_CONTEXT_PERF)
		ret = etch_context_counter_word(in, at, &word->counter);
	else if (etch_context_is_stack(word->kind))
		ret = etch_context_depth(in, at, &depth);
	if (ret)
		return ret;
	word->depth = depth;
	if (**at && !isspace(**at))
		return etch_bad(in, *at, -EINVAL, "Nothing may follow the context here");
	return 0;
}

/* @word, whose text is at @name and has @sign or, if that is 0, has none. */
static int etch_wish_apply(const struct etch_input *in, struct etch_contexts_wish *wish,
			   const struct etch_wish *word, const char *name, char sign)
{
	int there = etch_wish_find(wish, word);

	if (sign == '-' && there < 0)
		return etch_bad(in, name, -ENOENT, "Records have no such context");
	if (sign != '-' && there >= 0)
		return etch_bad(in, name, -EEXIST, "Records have this context already");
	if (sign == '-') {
		etch_wish_drop(wish, there);
		return 0;
	}
	if (word->kind == ETCH_CONTEXT_PERF && etch_wish_counters(wish) == ETCH_COUNTERS_MAX)
		return etch_bad(in, name, -ENOSPC, "Records have at most %u counters",
				ETCH_COUNTERS_MAX);
	wish->of[wish->nr++] = *word;
	return 0;
}

/* The word at @word, which has @sign or, if that is 0, has none. */
static int etch_context_word(const struct etch_input *in, const char *word, char sign,
			     const char **end, struct etch_contexts_wish *wish)
{
	const char *name = sign ? word + 1 : word, *at = name;
	struct etch_wish one = {};
	int kind, ret;

	while (isalnum(*at) || *at == '_')
		at++;
	kind = etch_context_find(name, at - name);
	if (kind < 0)
		return etch_bad(in, name, -EINVAL, "No such context");
	one.kind = kind;
	ret = etch_context_more(in, &at, &one);
	if (ret)
		return ret;
	*end = at;
	return etch_wish_apply(in, wish, &one, name, sign);
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
	for (i = 0; i < wish->nr; i++) {
		const struct etch_counter *counter = etch_context_counter(c, &c->of[i]);

		if (wish->of[i].kind != c->of[i].kind || wish->of[i].depth != c->of[i].depth)
			return false;
		if (counter && !etch_wish_counts(&wish->of[i], &counter->spec))
			return false;
	}
	return true;
}

static struct etch_contexts *etch_contexts_make(const struct etch_contexts_wish *wish)
{
	struct etch_contexts *c = etch_contexts_alloc();
	unsigned int i;

	for (i = 0; c && i < wish->nr; i++)
		if (wish->of[i].kind == ETCH_CONTEXT_PERF)
			etch_contexts_add_counter(c, &wish->of[i].counter);
		else
			etch_contexts_add(c, wish->of[i].kind, wish->of[i].depth);
	return c;
}

static int etch_contexts_failed(const struct etch_input *in, int err)
{
	if (err == -ENOMEM)
		return etch_bad(in, in->text, err, "Not enough memory");
	if (err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV)
		return etch_bad(in, strnstr(in->text, "perf:", strlen(in->text)) ?: in->text,
				err, "This machine has no such counter");
	return etch_bad(in, in->text, err, "Cannot register an enabled event");
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
	return etch_contexts_failed(in, ret);
}

static void etch_contexts_show_available(struct seq_file *m)
{
	enum etch_context_kind kind;

	seq_puts(m, "# Available contexts:\n#");
	for (kind = 0; kind < ETCH_CONTEXT_NR; kind++)
		if (etch_context_usable(kind))
			seq_printf(m, " %s%s", etch_context_name(kind),
				   etch_context_is_stack(kind) ? "[:N]" :
				   kind == ETCH_CONTEXT_PERF ? ":NAME" : "");
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
		if (c->of[i].kind == ETCH_CONTEXT_PERF)
			seq_printf(m, ":%s", etch_context_counter(c, &c->of[i])->spec.name);
	}
	seq_printf(m, "\n# %u bytes in each record\n", c->size);
}
