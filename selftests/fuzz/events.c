// SPDX-License-Identifier: GPL-2.0
/*
 * Any text as a choice of events: written to set_event (tree/set_event.c), or as the kernel's
 * parameter etch_event= (tree/boot.c). What its words name, by event/gate.c and the kernel's own
 * glob.c, is worked out here once more, in another way: it must be what is recorded then. Or it
 * is refused where a word names nothing, and all is as before.
 *
 * The input's first byte chooses from enum around. The second says how often there is
 * memory, or how long who writes lives. In the rest, a zero ends what one write() has.
 */

#include <linux/etch.h>
#include <linux/fs.h>

#include "tree/tree.h"

enum around {
	BOOT	= 1 << 0,	/* the parameter; else set_event */
	TRUNC	= 1 << 1,	/* opened with > and not with >> */
	OFF	= 1 << 2,	/* tracing_on is 0 until the end */
	REFUSE	= 1 << 3,	/* some events' own functions do */
	PERSIST	= 1 << 4,	/* in a reserved region, which has no room for some events */
	SMALL	= 1 << 5,	/* the buffer cannot grow */
	MEMORY	= 1 << 6,	/* there is some, but not for ever */
	KILLED	= 1 << 7,
};

static unsigned int around;

static void must(bool good)
{
	if (!good)
		abort();
}

/* ---- The events, and the instances that record them ---- */

static const struct {
	const char *system, *name;
	bool hidden, gate, refuses, no_room;
} names[] = {
	{ "etch", "marker", .hidden = true },
	{ "etch", "marker_raw", .hidden = true },
	{ "sched", "sched_switch" },
	{ "sched", "sched_waking" },
	{ "sched", "sched_wakeup", .refuses = true },
	{ "sched", "sched_wakeup_new" },
	{ "irq", "irq_handler_entry", .no_room = true },
	{ "irq", "softirq_entry" },
	{ "x", "irq" },
	{ "x", "hidden", .hidden = true },
	{ "a", "a" },
	{ "a", "b" },
	{ "b", "a", .gate = true },
	{ "ab", "abba" },
	{ "syscalls", "sys_enter_open", .gate = true },
	{ "syscalls", "sys_enter_openat", .gate = true, .refuses = true },
	{ "raw_syscalls", "sys_enter" },
	/* No header can have those, but names come from elsewhere, too. */
	{ "odd", "a]b-c" },
	{ "odd", "!not" },
	{ "odd", "st*r[" },
	{ "odd", "\344\377\\", .refuses = true, .no_room = true },
};

#define NR	ARRAY_SIZE(names)

static struct etch_class classes[NR];
static struct etch_event events[NR];
static struct tracepoint tps[NR];
static u64 gates[NR];			/* of events without a tracepoint */
static long comms;

struct mutex etch_mutex;	/* taken by nobody */
unsigned int etch_generation;
struct etch_instance *etch_instances[ETCH_BITS];

/* The one that is written to, and one that has a selection of its own. */
static struct etch_instance inst = { .rec.bit = 2 }, other = { .rec.bit = 1 };

/* What the one has to record, as is worked out here. */
static bool wanted[NR];

static bool others(unsigned int i)
{
	return i % 3 == 1 && !names[i].hidden && !names[i].refuses;
}

static u64 *open_of(unsigned int i)
{
	return names[i].gate ? &gates[i] : &tps[i].wanted;
}

/* An event with a hook of its own runs it for the first instance that wants the event. */
static int set_gate(unsigned int i, u64 mask)
{
	if ((around & REFUSE) && names[i].refuses && mask && !*open_of(i))
		return -EPERM;
	*open_of(i) = mask;
	return 0;
}

static int event_gate(struct etch_event *event, u64 mask)
{
	return set_gate(event - events, mask);
}

void tracepoint_set_instances(struct tracepoint_instances *set, unsigned int nr)
{
	must(nr && nr <= TRACEPOINT_SET_MAX);
	for (unsigned int i = 0; i < nr; i++)
		set[i].ret = set_gate(set[i].tp - tps, set[i].instances);
}

/* No event has rules. */
u64 etch_rules_gate(struct etch_event *event, u64 mask)
{
	return mask;
}

bool etch_rules_unlink(struct etch_event *event)
{
	return false;
}

bool etch_rules_soft(struct etch_event *event, u64 bit, bool on)
{
	return false;
}

bool etch_event_is_soft(const struct etch_recorder *rec, const struct etch_event *event)
{
	return false;
}

bool etch_event_enabled(const struct etch_recorder *rec, const struct etch_event *event)
{
	return event->mask & 1ULL << rec->bit;
}

/* A reserved region asks this before it records an event. */
static int admit(struct etch_recorder *rec, const struct etch_event *event)
{
	must(rec == &inst.rec);
	return names[event - events].no_room ? -ENOSPC : 0;
}

void etch_comm_get(void)
{
	comms++;
}

void etch_comm_put(void)
{
	comms--;
}

static void make_events(void)
{
	for (unsigned int i = 0; i < NR; i++) {
		classes[i].system = names[i].system;
		events[i].name = names[i].name;
		events[i].class = &classes[i];
		events[i].hidden = names[i].hidden;
		if (names[i].gate)
			events[i].gate = event_gate;
		else
			events[i].tp = &tps[i];
		list_add_tail(&events[i].node, &etch_events);
	}
	must(!etch_gates_set_on(&other.rec, true));
	for (unsigned int i = 0; i < NR; i++)
		if (others(i))
			must(!etch_event_enable(&other.rec, &events[i], true));
	/* Who hides one has it recorded: that is not for set_event to show, or to change. */
	for (unsigned int i = 0; i < NR; i++)
		if (names[i].hidden)
			must(!etch_event_enable(&inst.rec, &events[i], true));
}

/* Enable some events before somebody opens set_event. */
static void select_some(void)
{
	for (unsigned int i = 0; i < NR; i += 2) {
		wanted[i] = !names[i].hidden && !names[i].refuses && !names[i].no_room;
		if (wanted[i])
			must(!etch_event_enable(&inst.rec, &events[i], true));
	}
}

/* Enabled is what has to be, and open what is enabled where something is recorded. */
static void check_events(bool on)
{
	long users = 0;

	for (unsigned int i = 0; i < NR; i++) {
		u64 mine = (u64)(wanted[i] || names[i].hidden) << inst.rec.bit;
		u64 its = (u64)others(i) << other.rec.bit;

		must(events[i].mask == (mine | its));
		must(*open_of(i) == (on ? mine | its : its));
		users += events[i].mask != 0;
	}
	must(comms == users);
}

/* ---- What the files have around them ---- */

static long users, said;
static size_t said_at;

int etch_instance_get(struct etch_instance *i)
{
	users++;
	return 0;
}

void etch_instance_put(struct etch_instance *i)
{
	users--;
}

int etch_instance_grow(struct etch_instance *i)
{
	return around & SMALL ? -ENOMEM : 0;
}

unsigned int etch_subbuf_bytes(unsigned long bytes)
{
	return bytes;
}

int etch_view_open(const struct etch_view_of *of)
{
	return etch_instance_get(of->inst);
}

/* As instance/input.c has it, which is fuzzed in settings.c. */
struct etch_input *etch_input_get(struct etch_instance *i, int cpu, const char *buf,
				  size_t count, size_t max, const char *where, ...)
{
	struct etch_input *in = kvzalloc(struct_size(in, text, count + 1), GFP_KERNEL);

	if (!in)
		return ERR_PTR(-ENOMEM);
	in->inst = i;
	in->cpu = cpu;
	memcpy(in->text, buf, count);
	strim(in->text);
	return in;
}

int etch_bad(const struct etch_input *in, const char *at, int err, const char *why, ...)
{
	must(err < 0 && at >= in->text && at <= in->text + strlen(in->text));
	said_at = at - in->text;
	said++;
	return err;
}

/* Only events/ uses these. */
int etch_input_bool(const struct etch_input *in, bool *value)
{
	abort();
}

void etch_format_show(struct seq_file *m, const struct etch_event *event,
		      const struct etch_contexts *contexts)
{
	abort();
}

/* ---- What words name, worked out here ---- */

struct piece {
	const char *text;
	size_t len;
};

/*
 * The characters that [...] stands for, from behind its bracket on, and the text behind it;
 * NULL: nothing closes it, and the bracket is a character like others.
 */
static const char *class_of(const char *at, const char *end, bool in[256])
{
	bool not = at < end && *at == '!';
	const char *first = at + not;

	if (end - first < 2 || !memchr(first + 1, ']', end - first - 1))
		return NULL;
	memset(in, not, 256);
	for (at = first; *at != ']' || at == first; at++) {
		u8 from = *at, to = from;

		if (end - at > 2 && at[1] == '-' && at[2] != ']') {
			at += 2;
			to = *at;
		}
		for (int c = from; c <= to; c++)
			in[c] = !not;
	}
	return at + 1;
}

/* Bit n: the part of the pattern so far can be the first n characters of the name. */
static bool fits(struct piece pattern, const char *name)
{
	const char *at = pattern.text, *end = at + pattern.len;
	size_t len = strlen(name);
	u64 seen = 1;

	while (at < end && seen) {
		const char *behind = NULL;
		bool in[256] = {};
		u64 next = 0;

		if (*at == '*') {
			seen = -(seen & -seen);
			at++;
			continue;
		}
		if (*at == '[')
			behind = class_of(at + 1, end, in);
		if (!behind) {
			bool any = *at == '?';

			if (*at == '\\' && ++at == end)
				break;
			memset(in, any, sizeof(in));
			in[(u8)*at] = true;
			behind = at + 1;
		}
		for (size_t n = 0; n < len; n++)
			if (seen >> n & 1 && in[(u8)name[n]])
				next |= 2ULL << n;
		seen = next;
		at = behind;
	}
	return seen >> len & 1;
}

static bool names_event(struct piece word, unsigned int i)
{
	const char *colon = memchr(word.text, ':', word.len);
	struct piece system = word, name;

	if (names[i].hidden)
		return false;
	if (!colon)
		return fits(word, names[i].system) || fits(word, names[i].name);
	system.len = colon - word.text;
	name.text = colon + 1;
	name.len = word.len - system.len - 1;
	return fits(system, names[i].system) && (!name.len || fits(name, names[i].name));
}

static bool names_any(struct piece word)
{
	for (unsigned int i = 0; i < NR; i++)
		if (names_event(word, i))
			return true;
	return false;
}

/* Where in a word that names nothing the fault is: behind a system that there is. */
static size_t fault_in(struct piece word)
{
	const char *colon = memchr(word.text, ':', word.len);
	struct piece system = word;

	if (!colon)
		return 0;
	system.len = colon + 1 - word.text;
	return names_any(system) ? system.len : 0;
}

static bool may_enable(unsigned int i)
{
	if ((around & PERSIST) && names[i].no_room)
		return false;
	return !(around & REFUSE) || !names[i].refuses || (around & OFF);
}

/* All that it names, except events that cannot be enabled. */
static void enable(struct piece word, bool set[NR])
{
	for (unsigned int i = 0; i < NR; i++)
		if (names_event(word, i))
			set[i] |= may_enable(i);
}

/* The next word in the text; none: it is empty. A no-break space ends no word. */
static struct piece next_word(const char **at, const char *end)
{
	struct piece word;

	while (*at < end && isspace(**at))
		++*at;
	word.text = *at;
	while (*at < end && !strchr(" \t\n\v\f\r", **at))
		++*at;
	word.len = *at - word.text;
	return word;
}

/*
 * What becomes of a selection; where it is refused, or NULL. The last word that names an
 * event decides, and the first event that cannot be enabled decides which word is refused.
 */
static const char *select_words(struct piece text, bool replace, bool set[NR])
{
	const char *at = text.text, *end = at + text.len, *last[NR] = {};
	struct piece word, bare;

	while ((word = next_word(&at, end)).len) {
		bare = word;
		bare.text += *word.text == '!';
		bare.len -= *word.text == '!';
		if (word.len > 256)
			return word.text;
		if (!names_any(bare))
			return bare.text + fault_in(bare);
		for (unsigned int i = 0; i < NR; i++)
			if (names_event(bare, i))
				last[i] = word.text;
	}
	if (text.len && (around & SMALL))
		return text.text;
	for (unsigned int i = 0; i < NR; i++) {
		if (last[i] && *last[i] != '!' && !may_enable(i))
			return last[i];
		if (last[i])
			set[i] = *last[i] != '!';
		else if (replace)
			set[i] = false;
	}
	return NULL;
}

/* ---- set_event ---- */

static struct piece trimmed(const char *text, size_t len)
{
	while (len && isspace(text[len - 1]))
		len--;
	return (struct piece){ text, len };
}

/* Returns whether it was taken. */
static bool write_once(struct file *file, const char *text, size_t len, bool replace)
{
	long lives = shim_patience;
	const char *wrong;
	bool set[NR];
	loff_t pos = 0;
	ssize_t ret;

	memcpy(set, wanted, sizeof(set));
	wrong = select_words(trimmed(text, len), replace, set);
	said = 0;
	ret = etch_set_event_fops.write(file, text, len, &pos);
	must(ret < 0 ? !pos : ret == (ssize_t)len && pos == ret);
	if (lives > 0 && !shim_patience)
		must(ret == -EINTR && !said);
	else if (wrong && shim_allocs && shim_patience)
		must(said == 1 && text + said_at == wrong);
	if (wrong)
		must(ret < 0);
	else if (ret < 0)
		must(ret == (shim_allocs ? -EINTR : -ENOMEM) || !shim_patience);
	if (ret >= 0)
		memcpy(wanted, set, sizeof(set));
	check_events(!(around & OFF));
	return ret >= 0;
}

static void check_list(struct file *file)
{
	const char *at = shim_read(file);
	char line[64];

	for (unsigned int i = 0; i < NR; i++) {
		snprintf(line, sizeof(line), "%s:%s\n", names[i].system, names[i].name);
		if (wanted[i]) {
			must(strstarts(at, line));
			at += strlen(line);
		}
	}
	must(!*at);
}

static void write_all(const char *text, size_t size)
{
	struct etch_view_of of = { .inst = &inst, .cpu = ETCH_ALL_CPUS };
	struct inode inode = { .i_private = &of };
	struct file file = { .f_mode = FMODE_WRITE, .f_flags = around & TRUNC ? O_TRUNC : 0 };
	bool replace = around & TRUNC, failed = false;
	const char *end = text + size;
	size_t len;

	if (etch_set_event_fops.open(&inode, &file)) {
		must(!shim_allocs && !users);
		check_events(!(around & OFF));
		return;
	}
	check_events(!(around & OFF));
	for (; text < end; text += len + 1) {
		len = strnlen(text, end - text);
		failed = !write_once(&file, text, len, replace);
		replace &= failed;
	}
	check_list(&file);
	/* When every write was refused, the selection stays. */
	if (replace && !failed)
		memset(wanted, 0, sizeof(wanted));
	etch_set_event_fops.release(&inode, &file);
	must(!users);
}

/* ---- etch_event= ---- */

/*
 * With a comma first: so the list is empty again when it has been gone through. It has no
 * more room than the kernel's command line.
 */
static void boot_with(const char *text, size_t size)
{
	char list[COMMAND_LINE_SIZE] = ",", comma[] = ",";
	const char *end = text + size, *at = list;
	size_t len;

	shim_etch_event_setup(comma);
	for (; text < end; text += len + 1) {
		size_t used = strlen(list), room = sizeof(list) - 1 - used;
		char *one;

		len = strnlen(text, end - text);
		one = strndup(text, len);
		shim_etch_event_setup(one);
		free(one);
		if (room)
			list[used] = ',';
		if (room > 1)
			memcpy(list + used + 1, text, min(len, room - 1));
		list[used + min(len + 1, room)] = 0;
	}
	while (*(at += strspn(at, ", "))) {
		struct piece word = { at, strcspn(at, ", ") };

		enable(word, wanted);
		at += word.len;
	}
	etch_boot_events(&inst);
}

/* ---- All of it ---- */

/* Turned off, or on: that fails as a whole, too. */
static void turn_round(void)
{
	bool on = around & OFF, good = true;

	for (unsigned int i = 0; i < NR; i++)
		good &= !on || !(around & REFUSE) || !wanted[i] || !names[i].refuses;
	must(!etch_gates_set_on(&inst.rec, on) == good);
	check_events(on && good);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (size < 2)
		return 0;
	if (list_empty(&etch_events))
		make_events();
	around = data[0];
	inst.rec.admit = around & PERSIST ? admit : NULL;
	must(!etch_gates_set_on(&inst.rec, !(around & OFF)));
	/* Without a zero behind: nobody may look for one. */
	text = malloc(size - 2);
	memcpy(text, data + 2, size - 2);
	if (around & BOOT) {
		boot_with(text, size - 2);
	} else {
		select_some();
		shim_allocs = around & MEMORY ? data[1] : -1;
		shim_patience = around & KILLED ? data[1] : -1;
		write_all(text, size - 2);
		shim_allocs = -1;
		shim_patience = -1;
	}
	free(text);
	check_events(!(around & OFF));
	turn_round();

	around = 0;
	memset(wanted, 0, sizeof(wanted));
	etch_events_disable_all(&inst.rec);
	must(!etch_gates_set_on(&inst.rec, false));
	check_events(false);
	must(!shim_live && !shim_warnings);
	return 0;
}
