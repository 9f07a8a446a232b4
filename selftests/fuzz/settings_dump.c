// SPDX-License-Identifier: GPL-2.0
/*
 * The dump when the kernel dies (text/dump.c), with any text as the file dump_on_oops and as
 * the kernel's parameters. The test works out once more, from users.rst,
 * which instances the text names; then the kernel panics, and must dump exactly those.
 */

#include <linux/etch.h>
#include <linux/etch_ring.h>

#include "settings.h"
#include "text/merge.h"

/* The part of an instance that is dumped: ETCH_ALL_CPUS, SHIM_CPU, or ... */
#define NOTHING	(-2)
#define WRONG	(-3)

/* "2" and the names behind it cannot be used, and nor can one with an equals sign. */
static struct etch_instance some[] = {
	{ .name = "a" }, { .name = "ab" }, { .name = "2" }, { .name = "orig_cpu" },
	{ .name = "a=2" },
};

static struct etch_ring *no_rings[SHIM_CPU + 1];
static int dumped[ETCH_BITS];
static u64 dumped_lines;
static bool room;

static char setting[256] = "0";
static u64 lines = 1000;

static void must(bool good)
{
	if (!good)
		abort();
}

/* ---- What dump.c has around it ---- */

struct etch_merge *etch_merge_create(struct etch_instance *inst, int cpu,
				     enum etch_merge_way way)
{
	return (struct etch_merge *)no_rings;
}

void etch_merge_free(struct etch_merge *m)
{
}

int etch_line_init(struct etch_line *line)
{
	return 0;
}

void etch_line_free(struct etch_line *line)
{
}

bool etch_line_fit(struct etch_line *line, unsigned int len)
{
	return room;
}

/* Twice for each instance: to count, and to print. */
void etch_merge_look(struct etch_merge *m, struct etch_instance *inst, int cpu, u64 max)
{
	int bit;

	for (bit = ETCH_MAIN; etch_instances[bit] != inst; bit++)
		;
	must(dumped[bit] == NOTHING || dumped[bit] == cpu);
	dumped[bit] = cpu;
	dumped_lines = max;
}

const struct etch_item *etch_merge_item(struct etch_merge *m)
{
	return NULL;
}

void etch_merge_next(struct etch_merge *m)
{
	abort();
}

void etch_item_print(struct etch_line *line, const struct etch_item *item)
{
	abort();
}

void etch_ring_off(struct etch_ring *r)
{
	abort();
}

void etch_instance_alarm(void *data, bool pressing)
{
	struct etch_instance *inst = data;

	must(!inst->on && inst->dumped);
}

void etch_clock_learn_now(void)
{
}

unsigned int etch_write_abandon(void)
{
	return 0;
}

/* ---- What a text asks for, worked out here ---- */

static bool is(const char *word, size_t len, const char *what)
{
	return strlen(what) == len && !memcmp(word, what, len);
}

static int how_of(const char *word, size_t len)
{
	if (is(word, len, "0"))
		return NOTHING;
	if (is(word, len, "1"))
		return ETCH_ALL_CPUS;
	return is(word, len, "2") || is(word, len, "orig_cpu") ? SHIM_CPU : WRONG;
}

/* What a text asks for of an instance, by the last word that speaks of it; WRONG: no text. */
static int asked_of(const char *text, const char *name)
{
	int how = NOTHING;
	size_t len;

	for (;; text += len + 1) {
		size_t own = strcspn(text, ",=");

		len = strcspn(text, ",");
		if (!own)
			return WRONG;
		if (own < len && how_of(text + own + 1, len - own - 1) == WRONG)
			return WRONG;
		if (own == len && how_of(text, len) != WRONG)
			how = name ? how : how_of(text, len);
		else if (name && is(text, own, name))
			how = own < len ? how_of(text + own + 1, len - own - 1) : ETCH_ALL_CPUS;
		if (!text[len])
			return how;
	}
}

static bool is_setting(const char *text)
{
	return asked_of(text, NULL) != WRONG;
}

/* ---- And what is dumped ---- */

static void check_panic(void)
{
	bool on[ETCH_BITS];

	for (int bit = ETCH_MAIN; bit < ETCH_BITS; bit++) {
		dumped[bit] = NOTHING;
		if (etch_instances[bit])
			on[bit] = etch_instances[bit]->on;
	}
	dumped_lines = lines;
	shim_on_panic->notifier_call(shim_on_panic, 0, NULL);
	for (int bit = ETCH_MAIN; bit < ETCH_BITS; bit++) {
		struct etch_instance *inst = etch_instances[bit];
		int want = inst ? asked_of(setting, inst->name) : NOTHING;

		must(dumped[bit] == want);
		if (!inst)
			continue;
		must(inst->dumped == (want != NOTHING));
		must(inst->on == (want == NOTHING && on[bit]));
		inst->dumped = false;
		inst->on = on[bit];
	}
	must(dumped_lines == lines);
}

static void check(void)
{
	struct etch_view_of of = { etch_instances[ETCH_MAIN], ETCH_ALL_CPUS };
	struct seq_file m = { .buf = NULL };

	etch_dump_show(&m, &of);
	must(m.count == strlen(setting) + 1 && !memcmp(m.buf, setting, m.count - 1));
	must(m.buf[m.count - 1] == '\n');
	free(m.buf);
	check_panic();
}

/* The next test finds everything as it was. */
static void reset(void)
{
	char none[] = "=0", many[] = "1000";

	shim_etch_dump_setup(none);
	shim_etch_dump_lines_setup(many);
	strscpy(setting, "0");
	lines = 1000;
}

void dump_written(const char *text, size_t len, bool taken)
{
	char *copy, *from;

	if (memchr(text, 0, len) && (size_t)((char *)memchr(text, 0, len) - text) + 1 < len) {
		must(!taken);
		return;
	}
	copy = strndup(text, len);
	from = strim(copy);
	must(taken == (len <= 256 && strlen(from) < sizeof(setting) && is_setting(from)));
	if (taken)
		strscpy(setting, from);
	free(copy);
	check();
	reset();
}

void dump_boot(char *text)
{
	shim_etch_dump_setup(text);
	if (*text == ',')
		snprintf(setting, sizeof(setting), "1%s", text);
	else
		strscpy(setting, *text == '=' ? text + 1 : "1");
	if (!is_setting(setting))
		strscpy(setting, "0");
	check();
	reset();
}

void dump_lines_boot(char *text)
{
	const char *digits = text + (*text == '+'), *end = digits + strspn(digits, "0123456789");
	unsigned long number;

	shim_etch_dump_lines_setup(text);
	errno = 0;
	number = strtoul(digits, NULL, 10);
	if (end > digits && (!*end || !strcmp(end, "\n")) && !errno && number &&
	    number <= UINT_MAX)
		lines = number;
	/* There is something to count lines of. */
	strscpy(setting, "1");
	shim_etch_dump_setup(setting + 1);
	check();
	reset();
}

void dump_begin(struct etch_instance *main)
{
	char all[] = "";

	main->rings = no_rings;
	etch_instances[ETCH_MAIN] = main;
	for (unsigned int i = 0; i < ARRAY_SIZE(some); i++) {
		some[i].rings = no_rings;
		some[i].on = true;
		etch_instances[ETCH_MAIN + 2 * (i + 1)] = &some[i];
	}
	shim_etch_dump_setup(all);
	must(!shim_etch_dump_init());
	must(!shim_live);
	room = true;
	must(!shim_etch_dump_init());
	reset();
}
