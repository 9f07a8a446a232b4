// SPDX-License-Identifier: GPL-2.0
/*
 * How long things took, in the lines of records: see durations.h. The room states/
 * finds the spans; here, a call's two records become a line.
 */
#include "verbs/durations.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/record.h"
#include "states/states.h"
#include "verbs/table.h"

#define BEHIND_ROOM	256

/* What an event is, for system calls; HALF_EXIT: the thread is gone. */
enum half { HALF_UNKNOWN, HALF_NONE, HALF_ENTER, HALF_LEAVE, HALF_EXIT };

struct half_of {
	enum half half;
	bool raw;	/* of raw_syscalls: all calls' */
	bool alone;	/* its other half is not recorded, or never comes */
	const struct etch_field *nr, *ret;
};

enum call_state { CALL_NONE, CALL_OPEN, CALL_DONE };

/**
 * struct call - a thread's latest call
 * @pid: the thread; 0: a free place
 * @state: whether it has ended
 * @raw: an event of raw_syscalls told of its beginning or, if it is done, of its end
 * @wanted: the user wants its line
 * @told: a line has told that it lasts
 * @nr: its number
 * @since: when it began
 * @text: "read(fd: 3)"
 */
struct call {
	int pid;
	enum call_state state;
	bool raw, wanted, told;
	long long nr;
	uint64_t since;
	char *text;
};

/**
 * struct durations - the calls and spans at hand
 * @liner: prints lines
 * @on: see durations_open()
 * @states: finds the spans
 * @halves: by event's index
 * @nr_halves: how many
 * @calls: a hash table of @room places, of which @nr are used
 * @room: a power of two
 * @nr: see @calls
 * @behind: what the record at hand has ended
 * @is_long: something in it took long
 * @call_known: it has ended a call, after @call_ns
 * @call_ns: see @call_known
 */
struct durations {
	struct liner *liner;
	const char *on;
	struct states *states;
	struct half_of *halves;
	unsigned int nr_halves;
	struct call *calls;
	size_t room, nr;
	char behind[BEHIND_ROOM];
	bool is_long, call_known;
	uint64_t call_ns;
};

/* ---- Spans ---- */

static void __attribute__((format(printf, 2, 3)))
add_behind(struct durations *d, const char *fmt, ...)
{
	size_t len = strlen(d->behind);
	va_list args;

	if (len + 2 < sizeof(d->behind))
		len += snprintf(d->behind + len, sizeof(d->behind) - len, len ? ", " : " <");
	va_start(args, fmt);
	if (len < sizeof(d->behind))
		vsnprintf(d->behind + len, sizeof(d->behind) - len, fmt, args);
	va_end(args);
}

/* " !" if it is a long time to wait. */
static const char *mark_of(struct durations *d, const struct span *span)
{
	bool waits = span->kind != SPAN_RUN && span->kind != SPAN_SLEEP;

	if (!waits || span->end - span->start < DURATIONS_LONG)
		return "";
	d->is_long = true;
	return " !";
}

static void got_span(void *arg, const struct span *span)
{
	static const char * const did[SPAN_KINDS] = {
		[SPAN_RUN] = "ran", [SPAN_READY] = "waited", [SPAN_SLEEP] = "slept",
		[SPAN_BLOCKED] = "was blocked",
	};
	struct durations *d = arg;
	char length[24];

	if (span->fate != SPAN_WHOLE)
		return;
	length_text(length, span->end - span->start);
	if (span->kind == SPAN_CALL) {
		d->call_known = true;
		d->call_ns = span->end - span->start;
	} else if (!did[span->kind]) {
		add_behind(d, "%s%s", length, mark_of(d, span));
	} else if (span->tid) {
		add_behind(d, "%s-%d %s %s%s", states_label(d->states, span->task), span->tid,
			   did[span->kind], length, mark_of(d, span));
	}
}

/* ---- Which event is a half of a call ---- */

/* Is there no end to wait for? */
static bool never_ends(const struct durations *d, const struct etch_event *event, bool raw)
{
	const char *name = event->name + strlen("sys_enter_");
	char other[256];

	if (!raw && (!strcmp(name, "exit") || !strcmp(name, "exit_group")))
		return true;
	if (!d->on || tree_lists(d->on, "raw_syscalls:sys_exit"))
		return false;
	snprintf(other, sizeof(other), "syscalls:sys_exit_%s", raw ? "?" : name);
	return !tree_lists(d->on, other);
}

static struct half_of half_of(const struct durations *d, const struct etch_event *event)
{
	bool raw = !strcmp(event->system, "raw_syscalls");
	struct half_of half = {
		.half = HALF_NONE, .raw = raw,
		.nr = etch_field(event, raw ? "id" : "__syscall_nr"),
	};

	if (etch_is(event, "sched:sched_process_exit"))
		half.half = HALF_EXIT;
	if (d->liner->by_fields || (!raw && strcmp(event->system, "syscalls")))
		return half;
	if (!strncmp(event->name, "sys_enter", 9) && event->name[9] == (raw ? 0 : '_')) {
		half.half = HALF_ENTER;
		half.alone = never_ends(d, event, raw);
	} else if (!strncmp(event->name, "sys_exit", 8) && event->name[8] == (raw ? 0 : '_')) {
		half.half = HALF_LEAVE;
		half.ret = etch_field(event, "ret");
	}
	return half;
}

static const struct half_of *find_half(struct durations *d, const struct etch_event *event)
{
	static const struct half_of none = { .half = HALF_NONE };
	struct half_of *half, *more;

	if (event->index >= d->nr_halves) {
		more = etch_by_event(d->liner->source, d->halves, &d->nr_halves, sizeof(*more));
		if (!more)
			return &none;
		d->halves = more;
	}
	half = &d->halves[event->index];
	if (half->half == HALF_UNKNOWN)
		*half = half_of(d, event);
	return half;
}

/* ---- Calls ---- */

static struct call *place_of(const struct durations *d, int pid)
{
	size_t at = (uint32_t)pid * 2654435761u & (d->room - 1);

	while (d->calls[at].pid && d->calls[at].pid != pid)
		at = (at + 1) & (d->room - 1);
	return &d->calls[at];
}

static bool double_room(struct durations *d)
{
	struct call *old = d->calls;
	size_t nr = d->room;

	d->calls = calloc(2 * nr, sizeof(*d->calls));
	if (!d->calls) {
		d->calls = old;
		return false;
	}
	d->room = 2 * nr;
	for (size_t i = 0; i < nr; i++)
		if (old[i].pid)
			*place_of(d, old[i].pid) = old[i];
	free(old);
	return true;
}

/* NULL: no thread, or no memory. */
static struct call *call_of(struct durations *d, int pid)
{
	struct call *call;

	if (pid <= 0 || (2 * d->nr >= d->room && !double_room(d)))
		return NULL;
	call = place_of(d, pid);
	d->nr += !call->pid;
	call->pid = pid;
	return call;
}

static void call_closes(struct call *call, enum call_state state)
{
	free(call->text);
	call->text = NULL;
	call->state = state;
}

/* "read(fd: 3, buf: 7ffd52a0, count: 64)", to be freed. */
static char *call_text(struct durations *d, struct out *out, const struct etch_record *rec)
{
	size_t before;
	char *text;

	/* So much is there in one piece. */
	out_room(out);
	before = out->used;
	line_call(d->liner, out, rec);
	text = strndup(out->buf + before, out->used - before);
	out->used = before;
	return text;
}

/* Its end was not recorded, or is in no record that is left. */
static unsigned int end_unknown(struct durations *d, struct out *out,
				const struct etch_record *rec, struct call *call)
{
	unsigned int lines = 0;

	if (call->state == CALL_OPEN && call->wanted && call->text) {
		d->liner->behind = " <?>";
		line_text(d->liner, out, rec, call->text);
		lines++;
	}
	call_closes(call, CALL_NONE);
	return lines;
}

static unsigned int call_begins(struct durations *d, struct out *out,
				const struct etch_record *rec, const struct half_of *half,
				bool wanted)
{
	struct call *call = call_of(d, rec->pid);
	long long nr = etch_number(rec, half->nr);
	unsigned int lines = 0;

	if (!call)
		return 0;
	/* Two events may tell of one call; that with the names counts. */
	if (call->state == CALL_OPEN && call->nr == nr && call->raw != half->raw) {
		call->wanted |= wanted;
		if (!half->raw) {
			free(call->text);
			call->text = call_text(d, out, rec);
			call->raw = false;
		}
	} else {
		lines = end_unknown(d, out, rec, call);
		*call = (struct call){
			.pid = rec->pid, .state = CALL_OPEN, .raw = half->raw,
			.wanted = wanted, .nr = nr, .since = rec->ns,
			.text = call_text(d, out, rec) };
	}
	if (!half->alone)
		return lines;
	d->liner->behind = NULL;
	if (!wanted || !call->text)
		return lines;
	line_text(d->liner, out, rec, call->text);
	/* The other event may come, and there is nothing more to print. */
	call_closes(call, CALL_OPEN);
	call->wanted = false;
	return lines + 1;
}

/* " = -2 (No such file or directory)" */
static void add_result(char *text, size_t room, const struct etch_record *rec,
		       const struct half_of *half)
{
	long long ret = etch_number(rec, half->ret);

	if (!half->ret)
		*text = 0;
	else if (ret < 0 && ret > -4096)
		snprintf(text, room, " = %lld (%s)", ret, strerror(-ret));
	else
		snprintf(text, room, ret >> 32 ? " = 0x%llx" : " = %lld", ret);
}

static void call_line(struct durations *d, struct out *out, const struct etch_record *rec,
		      const struct half_of *half, const struct call *call)
{
	char behind[BEHIND_ROOM], length[24], name[300];
	size_t len;

	add_result(behind, sizeof(behind), rec, half);
	len = strlen(behind);
	d->liner->behind_red = d->call_known && d->call_ns >= DURATIONS_LONG;
	snprintf(behind + len, sizeof(behind) - len, " <%s%s>",
		 d->call_known ? length_text(length, d->call_ns) : "?",
		 d->liner->behind_red ? " !" : "");
	d->liner->behind = behind;
	if (half->raw)
		snprintf(name, sizeof(name), "call %lld(...)",
			 (long long)etch_number(rec, half->nr));
	else
		snprintf(name, sizeof(name), "%s(...)", rec->event->name + strlen("sys_exit_"));
	line_text(d->liner, out, rec, call && call->text ? call->text : name);
	d->liner->behind = NULL;
	d->liner->behind_red = false;
}

static unsigned int call_ends(struct durations *d, struct out *out,
			      const struct etch_record *rec, const struct half_of *half,
			      bool wanted)
{
	struct call *call = call_of(d, rec->pid);
	long long nr = etch_number(rec, half->nr);
	unsigned int lines = 0;

	if (!call)
		return 0;
	if (call->state == CALL_DONE && call->nr == nr && call->raw != half->raw) {
		call->state = CALL_NONE;
		return 0;
	}
	if (call->state == CALL_OPEN && half->nr && call->nr != nr)
		lines = end_unknown(d, out, rec, call);
	if (wanted || (call->state == CALL_OPEN && call->wanted)) {
		call_line(d, out, rec, half, call->state == CALL_OPEN ? call : NULL);
		lines++;
	}
	call_closes(call, CALL_DONE);
	call->nr = nr;
	call->raw = half->raw;
	return lines;
}

static void thread_gone(struct durations *d, int pid)
{
	struct call *call = call_of(d, pid);

	if (call)
		call_closes(call, CALL_NONE);
}

/* ---- Lines ---- */

unsigned int durations_line(struct durations *d, struct out *out, const struct etch_record *rec,
			    bool wanted)
{
	const struct half_of *half;

	*d->behind = 0;
	d->is_long = d->call_known = false;
	states_record(d->states, rec);
	if (rec->loss) {
		if (wanted)
			line_loss(d->liner, out, rec);
		return wanted;
	}
	half = find_half(d, rec->event);
	if (half->half == HALF_ENTER)
		return call_begins(d, out, rec, half, wanted);
	if (half->half == HALF_LEAVE)
		return call_ends(d, out, rec, half, wanted);
	if (half->half == HALF_EXIT)
		thread_gone(d, rec->pid);
	if (!wanted)
		return 0;
	if (*d->behind) {
		strncat(d->behind, ">", sizeof(d->behind) - strlen(d->behind) - 1);
		d->liner->behind = d->behind;
		d->liner->behind_red = d->is_long;
	}
	line_record(d->liner, out, rec);
	d->liner->behind = NULL;
	d->liner->behind_red = false;
	return 1;
}

static void tell_open(struct durations *d, struct out *out, struct call *call, uint64_t now)
{
	char length[24];

	call->told = true;
	out_print(out, "# %s-%d is in %s since ", names_shown(d->liner->names, call->pid), call->pid,
		  call->text);
	line_time(out, call->since + d->liner->shift, d->liner->fine);
	out_print(out, ", for %s\n", length_text(length, now - call->since));
}

static int by_since(const void *one, const void *two)
{
	const struct call *a = *(struct call **)one, *b = *(struct call **)two;

	return a->since < b->since ? -1 : a->since > b->since;
}

void durations_tell_open(struct durations *d, struct out *out, uint64_t now, uint64_t ns)
{
	struct call **list = calloc(d->nr + 1, sizeof(*list));
	size_t nr = 0;

	for (size_t i = 0; list && i < d->room; i++) {
		struct call *call = &d->calls[i];

		if (call->state == CALL_OPEN && call->wanted && !call->told && call->text &&
		    call->since + ns <= now)
			list[nr++] = call;
	}
	if (nr)
		qsort(list, nr, sizeof(*list), by_since);
	for (size_t i = 0; i < nr; i++)
		tell_open(d, out, list[i], now);
	free(list);
}

struct durations *durations_open(struct liner *liner, const char *on)
{
	struct durations *d = calloc(1, sizeof(*d));

	if (d) {
		d->liner = liner;
		d->on = on;
		d->room = 1024;
		d->calls = calloc(d->room, sizeof(*d->calls));
		d->states = d->calls ? states_open(liner->source, got_span, d) : NULL;
	}
	if (d && d->states)
		return d;
	etch_complaint("There is no memory for what the records tell");
	durations_close(d);
	return NULL;
}

void durations_close(struct durations *d)
{
	if (!d)
		return;
	states_close(d->states);
	for (size_t i = 0; d->calls && i < d->room; i++)
		free(d->calls[i].text);
	free(d->calls);
	free(d->halves);
	free(d);
}
