// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of counts, by key: see table.h.
 */
#include <linux/cpumask.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>

#include "hist/table.h"

/* ---- Memory ---- */

static unsigned int etch_bin_bytes(const struct etch_table_shape *shape)
{
	return sizeof(struct etch_bin) + (shape->keys + shape->sums) * sizeof(u64) +
	       (shape->comm ? TASK_COMM_LEN : 0);
}

/**
 * etch_table_part_bytes() - the memory that a table takes
 * @shape: of the table
 *
 * Context: any.
 * Return: bytes for each CPU.
 */
size_t etch_table_part_bytes(const struct etch_table_shape *shape)
{
	return sizeof(struct etch_table_part) + ((size_t)etch_bin_bytes(shape) << shape->bits);
}

/* All the memory must be there before any of it is taken: nobody else shall lack it. */
static bool etch_table_may_have(size_t part_bytes)
{
	return si_mem_available() >= (long)(num_possible_cpus() * DIV_ROUND_UP(part_bytes,
									      PAGE_SIZE));
}

static void etch_table_free(struct etch_table *table)
{
	int cpu;

	for_each_possible_cpu(cpu)
		vfree(table->parts[cpu]);
	kfree(table);
}

/**
 * etch_table_create() - make a table
 * @shape: of the table
 *
 * Context: process, may sleep.
 * Return: the table, which has one user, for etch_table_put(); NULL: there is not enough memory.
 */
struct etch_table *etch_table_create(const struct etch_table_shape *shape)
{
	size_t bytes = etch_table_part_bytes(shape);
	struct etch_table *table;
	int cpu;

	table = kzalloc(struct_size(table, parts, nr_cpu_ids), GFP_KERNEL);
	if (!table || !etch_table_may_have(bytes)) {
		kfree(table);
		return NULL;
	}
	table->users = 1;
	table->keys = shape->keys;
	table->sums = shape->sums;
	table->comm = shape->comm;
	table->bits = shape->bits;
	table->shift = BITS_PER_LONG_LONG - shape->bits;
	table->bin_bytes = etch_bin_bytes(shape);
	table->part_bytes = bytes;
	for_each_possible_cpu(cpu) {
		table->parts[cpu] = vzalloc_node(bytes, cpu_to_node(cpu));
		if (!table->parts[cpu]) {
			etch_table_free(table);
			return NULL;
		}
	}
	return table;
}

/**
 * etch_table_put() - a user has done with a table
 * @table: the table; no writer of that user may be in it. The last user frees it. Or NULL
 *
 * Context: process, may sleep; callers hold a lock against other users.
 */
void etch_table_put(struct etch_table *table)
{
	if (table && !--table->users)
		etch_table_free(table);
}

/**
 * etch_table_clear() - forget all keys and counts
 * @table: the table
 *
 * Hits until this returns are forgotten as well.
 *
 * Context: process, may sleep; callers hold a lock against others that read, pause or clear it.
 */
void etch_table_clear(struct etch_table *table)
{
	bool paused = table->paused;
	int cpu;

	WRITE_ONCE(table->paused, true);
	synchronize_rcu();
	for_each_possible_cpu(cpu)
		memset(table->parts[cpu], 0, table->part_bytes);
	/* A writer that sees the next store sees the bins as they are here. */
	synchronize_rcu();
	WRITE_ONCE(table->paused, paused);
}

/* ---- Writing ---- */

/* The writer that claimed the bin makes it the key's. */
static void etch_bin_fill(const struct etch_table *table, struct etch_bin *bin, const u64 *key,
			  u64 tag)
{
	memcpy(bin->words, key, table->keys * sizeof(*key));
	if (table->comm)
		memcpy(etch_bin_comm(table, bin), current->comm, TASK_COMM_LEN);
	/* (K) the key before the tag: pairs with etch_bin_ready() */
	smp_store_release(&bin->tag, tag);
}

/**
 * etch_table_find() - find a key's bin, or claim one for it
 * @table: the table
 * @part: this CPU's
 * @key: as many words as the table's keys have
 * @hash: etch_table_hash() of the key
 *
 * Context: any, NMI included; preemption disabled.
 * Return: the bin, to count in; NULL: none is free near the key's place, and the hit is counted
 * as dropped.
 */
struct etch_bin *etch_table_find(const struct etch_table *table, struct etch_table_part *part,
				 const u64 *key, u64 hash)
{
	unsigned int mask = BIT(table->bits) - 1, index = hash >> table->shift, tries;
	u64 tag = etch_table_tag(hash);

	for (tries = 0; tries < ETCH_TABLE_PROBES; tries++, index = (index + 1) & mask) {
		struct etch_bin *bin = etch_table_bin(table, part, index);
		u64 old = READ_ONCE(bin->tag);

		if (old == tag && etch_words_same(bin->words, key, table->keys))
			return bin;
		if (old == ETCH_BIN_FREE &&
		    cmpxchg_local(&bin->tag, ETCH_BIN_FREE, ETCH_BIN_CLAIMED) == ETCH_BIN_FREE) {
			etch_bin_fill(table, bin, key, tag);
			return bin;
		}
	}
	local64_inc(&part->drops);
	return NULL;
}

/* ---- Reading ---- */

/* Has it a key? Then that is complete. */
static bool etch_bin_ready(const struct etch_bin *bin)
{
	/* (k) the tag before the key: pairs with etch_bin_fill() */
	return smp_load_acquire(&bin->tag) & ~ETCH_BIN_CLAIMED;
}

static struct etch_bin *etch_bin_of(const struct etch_table *table, int cpu, size_t index)
{
	return etch_table_bin(table, table->parts[cpu], index);
}

static size_t etch_table_used(const struct etch_table *table)
{
	size_t nr = 0, i;
	int cpu;

	for_each_possible_cpu(cpu)
		for (i = 0; i < BIT(table->bits); i++)
			nr += etch_bin_ready(etch_bin_of(table, cpu, i));
	return nr;
}

static void etch_entry_read(const struct etch_table *table, struct etch_bin *bin,
			    struct etch_table_entry *entry)
{
	unsigned int i;

	*entry = (struct etch_table_entry) {
		.key = bin->words,
		.comm = etch_bin_comm(table, bin),
		.hits = local64_read(&bin->hits),
	};
	for (i = 0; i < table->sums; i++)
		entry->sums[i] = local64_read(etch_bin_sum(table, bin, i));
}

/* At most @most entries: bins that were claimed since they were counted can wait. */
static void etch_table_collect(const struct etch_table *table, struct etch_table_view *view,
			       size_t most)
{
	size_t i;
	int cpu;

	for_each_possible_cpu(cpu) {
		for (i = 0; i < BIT(table->bits) && view->nr < most; i++) {
			struct etch_bin *bin = etch_bin_of(table, cpu, i);

			if (etch_bin_ready(bin))
				etch_entry_read(table, bin, &view->entries[view->nr++]);
		}
		view->drops += local64_read(&table->parts[cpu]->drops);
	}
}

static int etch_entry_compare(const void *a, const void *b, const void *priv)
{
	const struct etch_table_entry *one = a, *other = b;
	const struct etch_table *table = priv;

	return memcmp(one->key, other->key, table->keys * sizeof(*one->key));
}

/* The entries of a key, which stand side by side, become one. */
static void etch_table_merge(const struct etch_table *table, struct etch_table_view *view)
{
	struct etch_table_entry *to = view->entries, *from = to, *end = to + view->nr;
	unsigned int i;

	if (!view->nr)
		return;
	for (from++; from < end; from++) {
		if (etch_entry_compare(to, from, table)) {
			*++to = *from;
			continue;
		}
		to->hits += from->hits;
		for (i = 0; i < table->sums; i++)
			to->sums[i] += from->sums[i];
	}
	view->nr = to + 1 - view->entries;
}

/**
 * etch_table_read() - read all counts
 * @table: the table, which writers may be in
 * @view: gets them, for etch_table_view_free()
 *
 * No count is less than it was when the table was read before. They are not of one moment.
 *
 * Context: process, may sleep; callers hold a lock against others that clear it.
 * Return: 0 or -ENOMEM.
 */
int etch_table_read(const struct etch_table *table, struct etch_table_view *view)
{
	size_t most = etch_table_used(table), i;

	*view = (struct etch_table_view) {};
	view->entries = kvmalloc_array(max(most, 1UL), sizeof(*view->entries), GFP_KERNEL);
	if (!view->entries)
		return -ENOMEM;
	etch_table_collect(table, view, most);
	sort_r(view->entries, view->nr, sizeof(*view->entries), etch_entry_compare, NULL, table);
	etch_table_merge(table, view);
	for (i = 0; i < view->nr; i++)
		view->hits += view->entries[i].hits;
	return 0;
}

/**
 * etch_table_view_free() - free what a reader found
 * @view: from etch_table_read()
 *
 * Context: process, may sleep.
 */
void etch_table_view_free(struct etch_table_view *view)
{
	kvfree(view->entries);
}
