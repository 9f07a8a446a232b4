// SPDX-License-Identifier: GPL-2.0

#include "text.h"

/* ftrace distinguishes a hard interrupt inside a softirq, and an NMI inside either: merge them. */
static char text_context(char flag)
{
	switch (flag) {
	case 'Z':
	case 'z':
		return 'Z';
	case 'H':
	case 'h':
		return 'h';
	case 's':
		return 's';
	default:
		return '.';
	}
}

/* Parses "[cpu] flags time: ". Returns its end, or NULL if @at does not point to one. */
static char *text_prefix(char *at, struct record *r)
{
	unsigned long long whole;
	char *end, *flags;
	long cpu = strtol(at + 1, &end, 10);

	if (end - at < 4 || end[0] != ']' || end[1] != ' ')
		return NULL;
	flags = end + 2;
	if (strcspn(flags, " ") != 5)
		return NULL;
	whole = strtoull(flags + 5, &end, 10);
	if (end == flags + 5)
		return NULL;
	if (*end == '.')
		whole = whole * 1000000 + strtoull(end + 1, &end, 10);
	if (end[0] != ':' || end[1] != ' ')
		return NULL;
	r->cpu = cpu;
	r->context = text_context(flags[2]);
	r->time = whole;
	return end + 2;
}

/*
 * Ends the name at @event with a zero, and returns its end; NULL if there is no name. The full
 * name of a system call's event is written over the time in front of it.
 */
static char *text_cut_event(char **event)
{
	static const struct {
		const char *behind, *name;
	} calls[] = { { "(", "sys_enter_" }, { " -> ", "sys_exit_" } };
	char *end = *event + strcspn(*event, ":( ");

	for (size_t i = 0; i < 2 && !strncmp(*event, "sys_", 4); i++) {
		if (strncmp(end, calls[i].behind, strlen(calls[i].behind)))
			continue;
		*event -= strlen(calls[i].name) - strlen("sys_");
		memcpy(*event, calls[i].name, strlen(calls[i].name));
		*end = 0;
		return end;
	}
	end = strchr(*event, ':');
	if (end)
		*end = 0;
	return end;
}

/* One line, ended with a zero. False: this is no record's first line. */
bool text_parse_line(char *line, struct record *r)
{
	char *at, *event = NULL, *dash, *end;

	for (at = strchr(line, '['); at && !event; at = strchr(at + 1, '[')) {
		event = text_prefix(at, r);
		if (event)
			break;
	}
	if (!event)
		return false;
	*at = 0;
	dash = strrchr(line, '-');
	if (!dash)
		return false;
	r->pid = atoi(dash + 1);
	end = text_cut_event(&event);
	if (!end)
		return false;
	r->event = event;
	r->text = end + (end[1] == ' ' ? 2 : 1);
	return true;
}

static bool text_lost_note(const char *line, struct trace *trace)
{
	unsigned long long lost;
	int cpu;

	if (sscanf(line, "CPU:%d [LOST %llu EVENTS]", &cpu, &lost) != 2)
		return false;
	trace->lost_notes++;
	trace->lost += lost;
	return true;
}

/* A line that begins no record belongs to the one before: put its newline back. */
static void text_join(struct trace *trace, char *line)
{
	if (trace->nr && line > trace->buf)
		line[-1] = '\n';
}

/* Takes over @buf. */
struct trace text_parse(char *buf)
{
	struct trace trace = { .buf = buf };
	char *line, *next;
	size_t room = 0;

	for (line = buf; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = 0;
		if (*line == '#' || text_lost_note(line, &trace))
			continue;
		if (trace.nr == room) {
			room = room ? 2 * room : 1024;
			trace.records = must_alloc(trace.records, room * sizeof(*trace.records));
		}
		if (text_parse_line(line, &trace.records[trace.nr]))
			trace.nr++;
		else
			text_join(&trace, line);
	}
	return trace;
}

struct trace text_read(const char *tree, const char *file)
{
	char *buf = read_file(tree, file);

	if (!buf)
		give_up("%s/%s", tree, file);
	return text_parse(buf);
}

void text_free(struct trace *trace)
{
	free(trace->records);
	free(trace->buf);
	*trace = (struct trace) {};
}

size_t text_count(const struct trace *trace, const char *event)
{
	size_t n = 0;

	for (size_t i = 0; i < trace->nr; i++)
		n += !strcmp(trace->records[i].event, event);
	return n;
}
