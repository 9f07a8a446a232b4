// SPDX-License-Identifier: GPL-2.0
/*
 * Histograms: the triggers "hist", and the files hist in the folders of events.
 *
 * A histogram counts the hits of its event in a table (table.h), by a key that it takes from the
 * record (keys.h). Histograms of one name in an instance share a table.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/init.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "event/ended.h"
#include "hist/parse.h"
#include "hist/print.h"
#include "tree/tree.h"
#include "trigger/trigger.h"

/**
 * struct etch_hist - a histogram
 * @table: what it counts in; NULL: it is not in force yet
 * @latency: it counts only hits that have ended a latency: that is a key, or added up
 * @plain_sums: all that it adds up is at fixed places of the record
 * @plain: its key has numbers only, and they and all that it adds up are at fixed places
 * @nr_sums: how many sums there are
 * @key: the first field of its key
 * @sums: the fields that it adds up
 * @spec: as the user described it
 */
struct etch_hist {
	struct etch_table *table;
	bool latency;
	bool plain_sums;
	bool plain;
	u8 nr_sums;
	struct etch_hist_field key;
	struct etch_hist_field sums[ETCH_TABLE_SUMS];
	struct etch_hist_spec spec;
};

static struct etch_trigger_kind etch_hist_kind;

/* ---- Hits ---- */

static __always_inline const struct etch_hist *etch_hist_of(const struct etch_trigger *trigger)
{
	return container_of(trigger, struct etch_order, trigger)->private;
}

static __always_inline struct etch_table_part *etch_hist_part(const struct etch_table *table)
{
	return table->parts[smp_processor_id()];
}

/* @plain: a constant. */
static __always_inline void etch_hist_count(const struct etch_hist *hist, struct etch_bin *bin,
					    const void *record, bool plain)
{
	const struct etch_hist_field *f = hist->sums, *end;
	local64_t *sum;

	local64_inc(&bin->hits);
	sum = etch_bin_sum(hist->table, bin, 0);
	for (end = f + hist->nr_sums; f < end; f++, sum++)
		local64_add(plain ? etch_hist_plain(f, record) : etch_hist_value(f, record), sum);
}

static noinline void etch_hist_count_key(const struct etch_hist *hist, const u64 *key, u64 hash,
					 const void *record)
{
	const struct etch_table *table = hist->table;
	struct etch_bin *bin = etch_table_find(table, etch_hist_part(table), key, hash);

	if (bin)
		etch_hist_count(hist, bin, record, false);
}

/* The key's bin is not the first one. */
static noinline void etch_hist_count_word(const struct etch_hist *hist, u64 key,
					  const void *record)
{
	etch_hist_count_key(hist, &key, etch_table_hash(&key, 1), record);
}

/* A plain histogram of one key. @sums: a constant; -1: not known. */
static __always_inline void etch_hist_word_sums(struct etch_trigger *trigger,
						const struct etch_hit *hit, int sums)
{
	const struct etch_hist *hist = etch_hist_of(trigger);
	const struct etch_table *table = hist->table;
	const struct etch_hist_field *f = &hist->key;
	const void *record = hit->record;
	struct etch_bin *bin;
	u64 key, hash;

	if (unlikely(READ_ONCE(table->paused)))
		return;
	key = etch_hist_word(f, etch_hist_plain(f, record));
	hash = etch_table_hash(&key, 1);
	bin = etch_table_guess(table, etch_hist_part(table), hash);
	if (unlikely(!etch_bin_has(bin, &key, 1, hash)))
		return etch_hist_count_word(hist, key, record);
	if (sums < 0)
		return etch_hist_count(hist, bin, record, true);
	local64_inc(&bin->hits);
	if (sums)
		local64_add(etch_hist_plain(hist->sums, record), etch_bin_at(bin, 1, 0));
}

static void etch_hist_hit_word(struct etch_trigger *trigger, const struct etch_hit *hit)
{
	etch_hist_word_sums(trigger, hit, 0);
}

static void etch_hist_hit_word_sum(struct etch_trigger *trigger, const struct etch_hit *hit)
{
	etch_hist_word_sums(trigger, hit, 1);
}

static void etch_hist_hit_word_many(struct etch_trigger *trigger, const struct etch_hit *hit)
{
	etch_hist_word_sums(trigger, hit, -1);
}

/* A plain histogram of several. */
static void etch_hist_hit_words(struct etch_trigger *trigger, const struct etch_hit *hit)
{
	const struct etch_hist *hist = etch_hist_of(trigger);
	const struct etch_hist_field *f = hist->spec.keys;
	const struct etch_table *table = hist->table;
	unsigned int nr = hist->spec.nr_keys, i;
	u64 key[ETCH_HIST_KEYS] __uninitialized, hash;
	const void *record = hit->record;
	struct etch_bin *bin;

	if (unlikely(READ_ONCE(table->paused)))
		return;
	for (i = 0; i < nr; i++)
		key[i] = etch_hist_word(&f[i], etch_hist_plain(&f[i], record));
	hash = etch_table_hash(key, nr);
	bin = etch_table_guess(table, etch_hist_part(table), hash);
	if (unlikely(!etch_bin_has(bin, key, nr, hash)))
		return etch_hist_count_key(hist, key, hash, record);
	etch_hist_count(hist, bin, record, true);
}

/* A histogram of latencies, otherwise plain. */
static void etch_hist_hit_latency(struct etch_trigger *trigger, const struct etch_hit *hit)
{
	const struct etch_hist *hist = etch_hist_of(trigger);
	const struct etch_table *table = hist->table;
	struct etch_bin *bin;
	u64 key, hash;

	if (unlikely(READ_ONCE(table->paused)) || !etch_ended_latency(trigger->bit, &key))
		return;
	key = etch_hist_word(&hist->key, key);
	hash = etch_table_hash(&key, 1);
	bin = etch_table_guess(table, etch_hist_part(table), hash);
	if (unlikely(!etch_bin_has(bin, &key, 1, hash)))
		return etch_hist_count_word(hist, key, hit->record);
	etch_hist_count(hist, bin, hit->record, true);
}

/* Any histogram. */
static void etch_hist_hit(struct etch_trigger *trigger, const struct etch_hit *hit)
{
	const struct etch_hist *hist = etch_hist_of(trigger);
	const struct etch_table *table = hist->table;
	u64 key[ETCH_TABLE_WORDS] __uninitialized, ns;

	if (READ_ONCE(table->paused) || (hist->latency && !etch_ended_latency(trigger->bit, &ns)))
		return;
	etch_hist_key(hist->spec.keys, hist->spec.nr_keys, hit->record, key);
	etch_hist_count_key(hist, key, etch_table_hash(key, table->keys), hit->record);
}

/* ---- Their lives ---- */

static void etch_hist_free(struct etch_order *order)
{
	struct etch_hist *hist = order->private;

	etch_table_put(hist->table);
	etch_hist_spec_drop(&hist->spec);
	kfree(hist);
}

/* What hits use of the description stands together. */
static void etch_hist_prepare(struct etch_hist *hist)
{
	const struct etch_hist_spec *spec = &hist->spec;
	int i;

	hist->key = spec->keys[0];
	hist->plain = true;
	hist->plain_sums = true;
	for (i = 0; i < spec->nr_keys; i++) {
		hist->plain &= spec->keys[i].of == ETCH_OF_FIELD;
		hist->latency |= etch_is_latency(spec->keys[i].of);
	}
	for (i = 0; i < spec->nr_values; i++) {
		if (spec->values[i].of == ETCH_FROM_HITS)
			continue;
		hist->sums[hist->nr_sums++] = spec->values[i];
		hist->plain_sums &= spec->values[i].of == ETCH_OF_FIELD;
		hist->latency |= etch_is_latency(spec->values[i].of);
	}
	hist->plain &= hist->plain_sums;
}

static void etch_hist_choose_hit(struct etch_hist *hist, struct etch_trigger *trigger)
{
	bool one = hist->spec.nr_keys == 1;

	if (hist->plain && one && hist->nr_sums < 2)
		trigger->hit = hist->nr_sums ? etch_hist_hit_word_sum : etch_hist_hit_word;
	else if (hist->plain)
		trigger->hit = one ? etch_hist_hit_word_many : etch_hist_hit_words;
	else if (one && hist->plain_sums && hist->key.of == ETCH_OF_LATENCY)
		trigger->hit = etch_hist_hit_latency;
	else
		trigger->hit = etch_hist_hit;
}

static int etch_hist_make(struct etch_order *order, const struct etch_input *in, const char *args,
			  size_t len)
{
	unsigned int ends = order->inst->rec.bit;
	struct etch_hist *hist;
	int ret;

	if (!args)
		return etch_bad(in, in->text + strlen(in->text), -EINVAL,
				"Name what to count by: keys=FIELD");
	hist = kzalloc(sizeof(*hist), GFP_KERNEL);
	if (!hist)
		return etch_bad(in, args, -ENOMEM, "Not enough memory");
	/* The trigger that finds latencies may have been taken away before this one. */
	if (!order->away)
		ends = etch_event_ends(&order->inst->rec, order->event);
	ret = etch_hist_parse(in, args, len, order->event, ends, &hist->spec);
	if (ret) {
		kfree(hist);
		return ret == -ENOMEM ? etch_bad(in, args, ret, "Not enough memory") : ret;
	}
	etch_hist_prepare(hist);
	order->private = hist;
	etch_hist_choose_hit(hist, &order->trigger);
	return 0;
}

static bool etch_hist_same(const struct etch_order *a, const struct etch_order *b)
{
	const struct etch_hist *one = a->private, *other = b->private;

	return etch_hist_shows_same(&one->spec, &other->spec);
}

/* The histogram is there already: pause, continue or clear it. */
static int etch_hist_change(struct etch_order *old, struct etch_order *order,
			    const struct etch_input *in)
{
	const struct etch_hist *wish = order->private;
	struct etch_table *table = ((const struct etch_hist *)old->private)->table;

	if (!wish->spec.pause && !wish->spec.resume && !wish->spec.clear)
		return etch_bad(in, in->text, -EEXIST, "This histogram is there already");
	if (wish->spec.pause)
		WRITE_ONCE(table->paused, true);
	if (wish->spec.clear)
		etch_table_clear(table);
	if (wish->spec.resume)
		WRITE_ONCE(table->paused, false);
	return 0;
}

/* The histogram of the instance with this name. */
static struct etch_hist *etch_hist_by_name(const struct etch_order *order)
{
	const struct etch_hist *hist = order->private;
	struct etch_order *other;

	for_each_etch_order(other, order->inst, NULL, &etch_hist_kind) {
		struct etch_hist *named = other->private;

		if (named->spec.name && !strcmp(named->spec.name, hist->spec.name))
			return named;
	}
	return NULL;
}

static int etch_hist_share(struct etch_hist *hist, const struct etch_hist *other,
			   const struct etch_input *in)
{
	if (!etch_hist_counts_same(&hist->spec, &other->spec))
		return etch_bad(in, in->text, -EINVAL,
				"The histogram %s has other keys or values: choose another name",
				hist->spec.name);
	hist->spec.shape.bits = other->spec.shape.bits;
	hist->table = other->table;
	hist->table->users++;
	return 0;
}

/* All memory that a histogram ever needs is taken now. */
static int etch_hist_arm(struct etch_order *order, const struct etch_input *in)
{
	struct etch_hist *hist = order->private, *other;
	const struct etch_table_shape *shape = &hist->spec.shape;

	if (hist->spec.resume || hist->spec.clear)
		return etch_bad(in, in->text, -ENOENT,
				"There is no such histogram that could go on or be cleared");
	other = hist->spec.name ? etch_hist_by_name(order) : NULL;
	if (other)
		return etch_hist_share(hist, other, in);
	hist->table = etch_table_create(shape);
	if (!hist->table)
		return etch_bad(in, in->text, -ENOMEM,
				"This histogram needs %zu KiB of memory for each of %u CPUs, which are not free: choose a smaller size",
				etch_table_part_bytes(shape) >> 10, num_possible_cpus());
	hist->table->paused = hist->spec.pause;
	return 0;
}

/* ---- Files ---- */

static void etch_hist_show_line(struct seq_file *m, const struct etch_order *order)
{
	const struct etch_hist *hist = order->private;

	etch_hist_print_spec(m, &hist->spec);
	if (hist->table->paused)
		seq_puts(m, ":pause");
}

static void etch_hist_note(struct seq_file *m, const struct etch_order *order)
{
	const struct etch_hist *hist = order->private;

	seq_printf(m, "# %zu KiB of memory for each of %u CPUs\n",
		   hist->table->part_bytes >> 10, num_possible_cpus());
}

static void etch_hist_show_one(struct seq_file *m, const struct etch_order *order)
{
	const struct etch_hist *hist = order->private;
	struct etch_table_view view;

	seq_puts(m, "# event histogram\n#\n# trigger info: ");
	etch_hist_print_spec(m, &hist->spec);
	if (order->trigger.filter)
		seq_printf(m, " if %s", order->trigger.filter->text);
	seq_puts(m, hist->table->paused ? " [paused]\n" : " [active]\n");
	etch_hist_note(m, order);
	seq_puts(m, "#\n\n");
	if (etch_table_read(hist->table, &view)) {
		seq_puts(m, "# There is not enough memory to read this histogram\n");
		return;
	}
	etch_hist_sort(&hist->spec, &view);
	etch_hist_print_view(m, &hist->spec, &view);
	etch_table_view_free(&view);
}

static void etch_hist_show(struct seq_file *m, const struct etch_node *node)
{
	struct etch_order *order;
	bool more = false;

	for_each_etch_order(order, node->inst, node->event, &etch_hist_kind) {
		seq_puts(m, more ? "\n\n" : "");
		etch_hist_show_one(m, order);
		more = true;
	}
}

static const struct etch_event_control etch_hist_controls[] = {
	{ "hist", 0400, ETCH_OF_EVENT, .has = etch_event_has_rules, .show = etch_hist_show },
	{}
};

static struct etch_files etch_hist_files = {
	.of_event = etch_hist_controls,
};

static struct etch_trigger_kind etch_hist_kind = {
	.name = "hist",
	.no_count = true,
	.make = etch_hist_make,
	.same = etch_hist_same,
	.change = etch_hist_change,
	.arm = etch_hist_arm,
	.show = etch_hist_show_line,
	.note = etch_hist_note,
	.free = etch_hist_free,
};

static int __init etch_hist_offer(void)
{
	etch_trigger_offer(&etch_hist_kind);
	etch_tree_offer(&etch_hist_files);
	return 0;
}
core_initcall(etch_hist_offer);
