// SPDX-License-Identifier: GPL-2.0
/*
 * Which records of a trace: see choose.h.
 */
#include "verbs/choose.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "verbs/etch.h"
#include "verbs/line.h"

enum what { WHAT_FIELD, WHAT_CONTEXT, WHAT_PID, WHAT_CPU, WHAT_COMM, WHAT_LEVEL };

/**
 * struct condition - "FIELD OP VALUE"
 * @name: the field
 * @op: the operator's characters, as a number
 * @text: the value
 * @number: the same, if it is one: @is_number
 * @is_number: see @number
 * @what: a field of the event, or what all records have
 * @context: a WHAT_CONTEXT
 * @fields: by event's index: the field of that name, or NULL
 * @found: some event has it
 */
struct condition {
	char name[64];
	int op;
	const char *text;
	long long number;
	bool is_number;
	enum what what;
	const struct etch_field *context, **fields;
	bool found;
};

#define OP(a, b)	((a) << 8 | (b))

/* ---- Options ---- */

static int time_option(const char *arg, int64_t *ns, bool *set, bool *first)
{
	const char *at = arg + (*arg == '+');
	long long seconds = 0, fraction = 0;
	int digits = 0;

	if (!isdigit((unsigned char)*at) && *at != '.')
		return misused("'%s' is no time in seconds, as 12.345 or +0.5", arg);
	for (; isdigit((unsigned char)*at) && seconds < 1000000000LL; at++)
		seconds = 10 * seconds + *at - '0';
	if (*at == '.')
		for (at++; isdigit((unsigned char)*at); at++)
			if (digits++ < 9)
				fraction = 10 * fraction + *at - '0';
	if (*at)
		return misused("'%s' is no time in seconds, as 12.345 or +0.5", arg);
	for (; digits < 9; digits++)
		fraction *= 10;
	*ns = seconds * 1000000000 + fraction;
	*set = true;
	*first = *arg == '+';
	return 0;
}

static int list_option(const char **list, unsigned int *nr, const char *arg)
{
	if (*nr == CHOOSE_MOST)
		return misused("'%s' is one option too many", arg);
	list[(*nr)++] = arg;
	return 0;
}

/* The operator at @at, and behind it; 0: there is none. */
static int condition_op(const char **at)
{
	static const char * const ops[] = { "==", "!=", "<=", ">=", "<", ">", "&", "~", "=" };

	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		size_t len = strlen(ops[i]);

		if (strncmp(*at, ops[i], len))
			continue;
		*at += len;
		return len == 2 ? OP(ops[i][0], ops[i][1]) :
		       *ops[i] == '=' ? OP('=', '=') : *ops[i];
	}
	return 0;
}

static const char *after_blanks(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

static int condition_option(struct choice *choice, const char *arg)
{
	const char *at = after_blanks(arg), *begin = at;
	struct condition *more, *c;
	char *end;

	more = realloc(choice->conditions, (choice->nr_conditions + 1) * sizeof(*more));
	if (!more)
		return trouble("There is no memory for '%s'", arg);
	choice->conditions = more;
	c = memset(&more[choice->nr_conditions], 0, sizeof(*c));
	while (isalnum((unsigned char)*at) || *at == '_')
		at++;
	if (at == begin || at - begin >= (long)sizeof(c->name))
		return misused("'%s' does not begin with the name of a field", arg);
	memcpy(c->name, begin, at - begin);
	at = after_blanks(at);
	c->op = condition_op(&at);
	c->text = after_blanks(at);
	if (!c->op || !*c->text)
		return misused("'%s' is no condition, as 'bytes_req > 4096'", arg);
	c->number = *c->text == '-' ? strtoll(c->text, &end, 0) :
				      (long long)strtoull(c->text, &end, 0);
	c->is_number = !*after_blanks(end);
	if (!c->is_number && c->op != OP('=', '=') && c->op != OP('!', '=') && c->op != '~')
		return misused("'%s': a text is compared by ==, != or ~", arg);
	choice->nr_conditions++;
	return 0;
}

int choose_option(struct choice *choice, int option, const char *arg)
{
	switch (option) {
	case CHOOSE_FROM:
		return time_option(arg, &choice->from, &choice->from_set, &choice->from_first);
	case CHOOSE_TO:
		return time_option(arg, &choice->to, &choice->to_set, &choice->to_first);
	case 'c':
		choice->cpus = arg;
		return 0;
	case 't':
		return list_option(choice->tasks, &choice->nr_tasks, arg);
	case 'e':
		return list_option(choice->events, &choice->nr_events, arg);
	case 'f':
		return condition_option(choice, arg);
	default:
		return -1;
	}
}

/* ---- Before the first record ---- */

static bool glob_is(const char *glob, const char *text)
{
	return !fnmatch(glob, text, 0);
}

bool choose_names(const char *word, const struct etch_event *event)
{
	return glob_is(word, event->full) || glob_is(word, event->name) ||
	       !strcmp(word, event->system);
}

/* Counts the events from the number @from on that a word means. */
static unsigned int choose_event(struct choice *choice, const char *word, unsigned int from)
{
	const struct etch_source *source = choice->source;
	unsigned int nr = 0;

	for (unsigned int i = from; i < source->nr_events; i++) {
		if (!choose_names(word, source->events[i]))
			continue;
		choice->event_chosen[i] = true;
		nr++;
	}
	return nr;
}

/* Looks for the condition's field in events from the number @from on. False: no memory. */
static bool condition_know(struct choice *choice, struct condition *c, unsigned int from)
{
	const struct etch_source *source = choice->source;
	unsigned int nr = from;
	const struct etch_field **more = etch_by_event(source, c->fields, &nr, sizeof(*more));

	if (!more)
		return false;
	c->fields = more;
	for (unsigned int i = from; i < source->nr_events; i++) {
		c->fields[i] = etch_field(source->events[i], c->name);
		c->found |= !!c->fields[i];
	}
	return true;
}

/* The events that there are now: all, or those that have come. False: no memory. */
static bool choose_know(struct choice *choice)
{
	unsigned int from = choice->nr_known, nr = from;
	bool *more;

	for (unsigned int i = 0; i < choice->nr_conditions; i++)
		if (!condition_know(choice, &choice->conditions[i], from))
			return false;
	more = etch_by_event(choice->source, choice->event_chosen, &nr, sizeof(*more));
	if (!more)
		return false;
	choice->event_chosen = more;
	choice->nr_known = nr;
	return true;
}

static int choose_events(struct choice *choice)
{
	for (unsigned int i = 0; i < choice->nr_events; i++)
		if (!choose_event(choice, choice->events[i], 0))
			return trouble("the trace describes no event '%s'", choice->events[i]);
	return 0;
}

/* Events have come. One that there is no memory for is not chosen. */
static bool choose_more(struct choice *choice)
{
	unsigned int from = choice->nr_known;

	if (!choose_know(choice))
		return false;
	for (unsigned int i = 0; i < choice->nr_events; i++)
		choose_event(choice, choice->events[i], from);
	return true;
}

static int condition_begin(struct choice *choice, struct condition *c)
{
	static const char * const names[] = {
		[WHAT_PID] = "pid", [WHAT_CPU] = "cpu", [WHAT_COMM] = "comm",
		[WHAT_LEVEL] = "context",
	};

	c->context = etch_context(choice->source, c->name);
	if (c->context)
		c->what = WHAT_CONTEXT;
	for (enum what what = WHAT_PID; what <= WHAT_LEVEL; what++)
		if (!strcmp(names[what], c->name))
			c->what = what;
	if (c->found || c->what != WHAT_FIELD)
		return 0;
	return trouble("no event of the trace has a field '%s'", c->name);
}

int choose_begin(struct choice *choice, struct etch_source *source, const struct names *names)
{
	int ret;

	choice->source = source;
	choice->names = names;
	choice->shift = line_shift(source);
	choice->any = !choice->from_set && !choice->to_set && !choice->cpus &&
		      !choice->nr_tasks && !choice->nr_events && !choice->nr_conditions;
	if (!choose_know(choice))
		return EXIT_TROUBLE;
	ret = choose_events(choice);
	for (unsigned int i = 0; i < choice->nr_conditions && !ret; i++)
		ret = condition_begin(choice, &choice->conditions[i]);
	return ret;
}

void choose_end(struct choice *choice)
{
	for (unsigned int i = 0; i < choice->nr_conditions; i++)
		free(choice->conditions[i].fields);
	free(choice->conditions);
	free(choice->event_chosen);
}

/* ---- A record ---- */

/* "0-3,7" */
bool cpu_chosen(const char *list, int cpu)
{
	char *end;

	while (*list) {
		long first = strtol(list, &end, 10), last = first;

		if (end == list)
			return false;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		if (cpu >= first && cpu <= last)
			return true;
		list = end + (*end == ',');
	}
	return false;
}

static bool task_chosen(const struct choice *choice, int pid)
{
	const char *comm = names_shown(choice->names, pid);
	char number[16];

	snprintf(number, sizeof(number), "%d", pid);
	for (unsigned int i = 0; i < choice->nr_tasks; i++)
		if (!strcmp(choice->tasks[i], number) || glob_is(choice->tasks[i], comm))
			return true;
	return false;
}

static bool number_holds(const struct condition *c, uint64_t value, bool is_signed)
{
	long long a = value, b = c->number;
	bool less = is_signed ? a < b : value < (uint64_t)b;

	switch (c->op) {
	case OP('=', '='):
		return a == b;
	case OP('!', '='):
		return a != b;
	case '<':
		return less;
	case OP('<', '='):
		return less || a == b;
	case '>':
		return !less && a != b;
	case OP('>', '='):
		return !less;
	case '&':
		return value & (uint64_t)b;
	default:
		return false;
	}
}

static bool text_holds(const struct condition *c, const char *text, size_t len)
{
	char copy[256];

	if (len >= sizeof(copy))
		len = sizeof(copy) - 1;
	memcpy(copy, text, len);
	copy[len] = 0;
	switch (c->op) {
	case '~':
		return glob_is(c->text, copy);
	case OP('!', '='):
		return strcmp(copy, c->text);
	default:
		return c->op == OP('=', '=') && !strcmp(copy, c->text);
	}
}

static bool level_holds(const struct condition *c, enum etch_context level)
{
	static const char * const names[] = { "task", "softirq", "hardirq", "nmi" };

	return c->is_number ? number_holds(c, level, false) :
			      text_holds(c, names[level], strlen(names[level]));
}

static bool condition_holds(const struct choice *choice, const struct condition *c,
			    const struct etch_record *rec)
{
	const struct etch_field *field = c->fields[rec->event->index];
	const char *text;
	size_t len;

	if (field && field->kind == ETCH_TEXT) {
		text = etch_text(rec, field, &len);
		return text_holds(c, text, len);
	}
	if (field)
		return field->kind == ETCH_NUMBER && c->is_number &&
		       number_holds(c, etch_number(rec, field), field->is_signed);
	switch (c->what) {
	case WHAT_CONTEXT:
		return c->is_number && number_holds(c, etch_context_number(rec, c->context),
						    c->context->is_signed);
	case WHAT_PID:
		return c->is_number && number_holds(c, rec->pid, true);
	case WHAT_CPU:
		return c->is_number && number_holds(c, rec->cpu, true);
	case WHAT_COMM:
		text = names_shown(choice->names, rec->pid);
		return text_holds(c, text, strlen(text));
	case WHAT_LEVEL:
		return level_holds(c, rec->context);
	default:
		return false;
	}
}

static void first_record(struct choice *choice, int64_t time)
{
	choice->begun = true;
	if (choice->from_first)
		choice->from += time;
	if (choice->to_first)
		choice->to += time;
}

bool choose_is_over(const struct choice *choice, const struct etch_record *rec)
{
	return choice->to_set && choice->begun &&
	       (int64_t)(rec->ns + choice->shift) > choice->to;
}

bool chosen(struct choice *choice, const struct etch_record *rec)
{
	int64_t time = rec->ns + choice->shift;

	if (choice->any)
		return true;
	if (!choice->begun)
		first_record(choice, time);
	if ((choice->from_set && time < choice->from) || (choice->to_set && time > choice->to) ||
	    (choice->cpus && !cpu_chosen(choice->cpus, rec->cpu)))
		return false;
	if (rec->loss)
		return true;
	if (rec->event->index >= choice->nr_known && !choose_more(choice))
		return false;
	if (choice->nr_events && !choice->event_chosen[rec->event->index])
		return false;
	if (choice->nr_tasks && !task_chosen(choice, rec->pid))
		return false;
	for (unsigned int i = 0; i < choice->nr_conditions; i++)
		if (!condition_holds(choice, &choice->conditions[i], rec))
			return false;
	return true;
}
