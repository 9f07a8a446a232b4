// SPDX-License-Identifier: GPL-2.0
/*
 * Histograms as text.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/sort.h>
#include <linux/sprintf.h>
#include <linux/string.h>

#include "hist/parse.h"
#include "hist/print.h"
#include "source/syscalls.h"

#define ETCH_BAR		20	/* characters of the longest bar */
#define ETCH_HIST_SAVERS	4	/* functions that save a stack trace, at most */

/* ---- A histogram, as it is written ---- */

static void etch_hist_print_field(struct seq_file *m, const struct etch_hist_field *f)
{
	const char *modifier = etch_hist_modifier(f);

	seq_puts(m, f->of == ETCH_FROM_STACK ? "common_stacktrace" : f->name);
	if (modifier)
		seq_printf(m, ".%s", modifier);
	if (f->as == ETCH_AS_BUCKETS)
		seq_printf(m, "=%lu", f->buckets);
}

static void etch_hist_print_sort(struct seq_file *m, const struct etch_hist_spec *spec,
				 const struct etch_hist_sort *sort)
{
	if (sort->value >= 0)
		seq_puts(m, spec->values[sort->value].name);
	else if (sort->key >= 0)
		seq_puts(m, spec->keys[sort->key].name);
	else
		seq_puts(m, "hitcount");
	if (sort->descending)
		seq_puts(m, ".descending");
}

/**
 * etch_hist_print_spec() - print a histogram as a user would write it
 * @m: the file
 * @spec: the histogram
 *
 * Context: process.
 */
void etch_hist_print_spec(struct seq_file *m, const struct etch_hist_spec *spec)
{
	int i;

	seq_puts(m, "hist:");
	if (spec->name)
		seq_printf(m, "name=%s:", spec->name);
	seq_puts(m, "keys=");
	for (i = 0; i < spec->nr_keys; i++) {
		seq_puts(m, i ? "," : "");
		etch_hist_print_field(m, &spec->keys[i]);
	}
	seq_puts(m, spec->no_hits ? ":vals=" : ":vals=hitcount");
	for (i = 0; i < spec->nr_values; i++) {
		seq_puts(m, i || !spec->no_hits ? "," : "");
		etch_hist_print_field(m, &spec->values[i]);
	}
	seq_puts(m, ":sort=");
	for (i = 0; i < spec->nr_sorts; i++) {
		seq_puts(m, i ? "," : "");
		etch_hist_print_sort(m, spec, &spec->sorts[i]);
	}
	seq_printf(m, ":size=%u", 1U << spec->shape.bits);
	if (spec->no_hits)
		seq_puts(m, ":nohitcount");
}

/* ---- The order of the lines ---- */

static int etch_compare_numbers(u64 a, u64 b, bool is_signed)
{
	if (is_signed)
		return (s64)a < (s64)b ? -1 : (s64)a > (s64)b;
	return a < b ? -1 : a > b;
}

static int etch_compare_keys(const struct etch_hist_field *f, const u64 *a, const u64 *b)
{
	if (f->is_text || f->of == ETCH_FROM_STACK)
		return memcmp(a + f->at, b + f->at, f->words * sizeof(*a));
	return etch_compare_numbers(a[f->at], b[f->at], f->is_signed);
}

static u64 etch_hist_counted(const struct etch_hist_field *value,
			     const struct etch_table_entry *entry)
{
	return value->of == ETCH_FROM_HITS ? entry->hits : entry->sums[value->at];
}

static int etch_compare_by(const struct etch_hist_spec *spec, const struct etch_hist_sort *sort,
			   const struct etch_table_entry *a, const struct etch_table_entry *b)
{
	const struct etch_hist_field *value;

	if (sort->key >= 0)
		return etch_compare_keys(&spec->keys[sort->key], a->key, b->key);
	if (sort->value < 0)
		return etch_compare_numbers(a->hits, b->hits, false);
	value = &spec->values[sort->value];
	return etch_compare_numbers(etch_hist_counted(value, a), etch_hist_counted(value, b),
				    value->is_signed);
}

/* Lines that are equal in all this stand in the order of their keys. */
static int etch_hist_compare(const void *a, const void *b, const void *priv)
{
	const struct etch_table_entry *one = a, *other = b;
	const struct etch_hist_spec *spec = priv;
	int i, ret;

	for (i = 0; i < spec->nr_sorts; i++) {
		ret = etch_compare_by(spec, &spec->sorts[i], one, other);
		if (ret)
			return spec->sorts[i].descending ? -ret : ret;
	}
	for (i = 0; i < spec->nr_keys; i++) {
		ret = etch_compare_keys(&spec->keys[i], one->key, other->key);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * etch_hist_sort() - put the entries of a histogram in order
 * @spec: the histogram
 * @view: its table, as it was read
 *
 * Context: process, may sleep.
 */
void etch_hist_sort(const struct etch_hist_spec *spec, struct etch_table_view *view)
{
	sort_r(view->entries, view->nr, sizeof(*view->entries), etch_hist_compare, NULL, spec);
}

/* ---- Keys ---- */

/* Is an address in a function of Etch, or in the stub of an event? */
static bool etch_hist_is_own(u64 address)
{
	char symbol[16];

	snprintf(symbol, sizeof(symbol), "%ps", (void *)(unsigned long)address);
	return str_has_prefix(symbol, "etch_") || str_has_prefix(symbol, "__tracestub_");
}

/*
 * Where the trace of the event's caller begins: behind Etch's functions, which stand behind those
 * that save the trace.
 */
static unsigned int etch_hist_stack_begins(const u64 *addresses)
{
	unsigned int i = 0;

	while (i < ETCH_HIST_SAVERS && !etch_hist_is_own(addresses[i]))
		i++;
	if (i == ETCH_HIST_SAVERS)
		return 0;
	while (i < ETCH_HIST_STACK && etch_hist_is_own(addresses[i]))
		i++;
	return i;
}

static void etch_hist_print_stack(struct seq_file *m, const u64 *addresses)
{
	unsigned int i;

	seq_puts(m, "common_stacktrace:\n");
	for (i = etch_hist_stack_begins(addresses); i < ETCH_HIST_STACK && addresses[i]; i++)
		seq_printf(m, "         %pS\n", (void *)(unsigned long)addresses[i]);
}

static void etch_hist_print_number(struct seq_file *m, const struct etch_hist_field *f, u64 number,
				   const struct etch_table_entry *entry)
{
	void *address = (void *)(unsigned long)number;

	switch (f->as) {
	case ETCH_AS_HEX:
		seq_printf(m, "%llx", number & f->mask);
		return;
	case ETCH_AS_SYM:
		seq_printf(m, "[%llx] %-45ps", number, address);
		return;
	case ETCH_AS_SYM_OFFSET:
		seq_printf(m, "[%llx] %-55pS", number, address);
		return;
	case ETCH_AS_EXECNAME:
		seq_printf(m, "%-16.*s[%10llu]", TASK_COMM_LEN, entry->comm, number);
		return;
	case ETCH_AS_SYSCALL:
		seq_printf(m, "%-30s[%3lld]", etch_syscall_name(number) ?: "unknown_syscall",
			   number);
		return;
	case ETCH_AS_LOG2:
		seq_printf(m, "~ 2^%-2llu", number);
		return;
	case ETCH_AS_BUCKETS:
		seq_printf(m, f->is_signed ? "~ %lld-%lld" : "~ %llu-%llu", number,
			   number + f->buckets - 1);
		return;
	default:
		seq_printf(m, f->is_signed ? "%10lld" : "%10llu", number);
		return;
	}
}

static void etch_hist_print_key(struct seq_file *m, const struct etch_hist_spec *spec,
				const struct etch_table_entry *entry)
{
	const char *end = " }";
	int i;

	seq_puts(m, "{ ");
	for (i = 0; i < spec->nr_keys; i++) {
		const struct etch_hist_field *f = &spec->keys[i];
		const u64 *key = entry->key + f->at;

		seq_puts(m, i ? ", " : "");
		if (f->of == ETCH_FROM_STACK) {
			etch_hist_print_stack(m, key);
			end = "}";
			continue;
		}
		seq_printf(m, "%s: ", f->name);
		if (f->is_text)
			seq_printf(m, "%-50.*s", (int)(f->words * sizeof(*key)),
				   (const char *)key);
		else
			etch_hist_print_number(m, f, *key, entry);
	}
	seq_puts(m, end);
}

/* ---- Values ---- */

/* The sum of a value over all entries, and the greatest. */
struct etch_hist_whole {
	u64 sum;
	u64 most;
};

static void etch_hist_print_value(struct seq_file *m, const struct etch_hist_field *f, u64 number,
				  const struct etch_hist_whole *whole)
{
	u64 part;

	switch (f->as) {
	case ETCH_AS_PERCENT:
		part = whole->sum ? mul_u64_u64_div_u64(number, 10000, whole->sum) : 0;
		seq_printf(m, "  %s (%%): %3llu.%02llu", f->name, part / 100, part % 100);
		return;
	case ETCH_AS_GRAPH:
		part = whole->most ? mul_u64_u64_div_u64(number, ETCH_BAR, whole->most) : 0;
		seq_printf(m, "  %s: %-*.*s", f->name, ETCH_BAR, (int)part,
			   "####################");
		return;
	case ETCH_AS_HEX:
		seq_printf(m, "  %s: %10llx", f->name, number);
		return;
	default:
		seq_printf(m, f->is_signed ? "  %s: %10lld" : "  %s: %10llu", f->name, number);
		return;
	}
}

/* Parts and bars are of numbers that are not negative. */
static u64 etch_hist_share(const struct etch_hist_field *f, u64 number)
{
	return f->as >= ETCH_AS_PERCENT && f->is_signed && (s64)number < 0 ? 0 : number;
}

static struct etch_hist_whole etch_hist_add_up(const struct etch_hist_field *f,
					       const struct etch_table_view *view)
{
	struct etch_hist_whole whole = {};
	size_t i;

	for (i = 0; i < view->nr; i++) {
		u64 number = etch_hist_share(f, etch_hist_counted(f, &view->entries[i]));

		whole.sum += number;
		whole.most = max(whole.most, number);
	}
	return whole;
}

/**
 * etch_hist_print_view() - print the lines of a histogram
 * @m: the file
 * @spec: the histogram
 * @view: its table, as it was read
 *
 * Context: process.
 */
void etch_hist_print_view(struct seq_file *m, const struct etch_hist_spec *spec,
			  const struct etch_table_view *view)
{
	struct etch_hist_whole wholes[ETCH_TABLE_SUMS];
	const struct etch_table_entry *entry;
	int i;

	for (i = 0; i < spec->nr_values; i++)
		wholes[i] = etch_hist_add_up(&spec->values[i], view);
	for (entry = view->entries; entry < view->entries + view->nr; entry++) {
		etch_hist_print_key(m, spec, entry);
		if (!spec->no_hits)
			seq_printf(m, " hitcount: %10llu", entry->hits);
		for (i = 0; i < spec->nr_values; i++) {
			const struct etch_hist_field *f = &spec->values[i];

			etch_hist_print_value(m, f,
					      etch_hist_share(f, etch_hist_counted(f, entry)),
					      &wholes[i]);
		}
		seq_putc(m, '\n');
	}
	seq_printf(m, "\nTotals:\n    Hits: %llu\n    Entries: %zu\n    Dropped: %llu\n",
		   view->hits, view->nr, view->drops);
}
