/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_TABLE_H
#define _KERNEL_ETCH_TABLE_H

/*
 * Tables of counts, by key: what a histogram counts in.
 *
 * Each CPU has a part of its own, of 2^n bins, and writes to no other. A key's bin is at its
 * hash, or in one of the next ETCH_TABLE_PROBES - 1 bins. A hit that finds no bin there is
 * counted as dropped; so the hits of all bins and the drops are together the hits.
 *
 * A writer claims a free bin by a compare and exchange on its own CPU, which needs no lock and
 * no locked instruction:
 *
 *	tag 0		free
 *	tag 1		claimed; the writer that this CPU is in, or interrupted, stores the key
 *	any other	the bin has the key with this hash, and keeps it
 *
 * A writer that interrupts another one between the two stores passes the claimed bin by. So a
 * key can have two bins, also on one CPU: the reader adds up all bins of a key.
 */

#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/types.h>

#include <asm/local64.h>

#define ETCH_TABLE_PROBES	16
#define ETCH_TABLE_BITS_MIN	7
#define ETCH_TABLE_BITS_MAX	17
#define ETCH_TABLE_SUMS		3	/* at most, besides the hits */
#define ETCH_TABLE_WORDS	40	/* of a key, at most */

#define ETCH_BIN_FREE		0ULL
#define ETCH_BIN_CLAIMED	1ULL
#define ETCH_BIN_KEYED		2ULL	/* set in the tag of each bin that has a key */

/**
 * struct etch_bin - the counts of a key
 * @tag: see above
 * @hits: how many
 * @words: the key; the sums, each a local64_t; the name of the task that claimed the bin, if
 *	   the table keeps it
 */
struct etch_bin {
	u64 tag;
	local64_t hits;
	u64 words[];
};

/**
 * struct etch_table_part - what a CPU has of a table
 * @drops: hits that found no bin
 * @bins: struct etch_bin, in a cache line of their own
 */
struct etch_table_part {
	local64_t drops;
	u8 bins[] ____cacheline_aligned;
};

/**
 * struct etch_table - a table
 * @paused: writers count nothing
 * @users: histograms that have the table
 * @comm: bins keep the name of the task that claimed them
 * @keys: words of a key
 * @sums: how many sums a bin has
 * @bits: a part has so many bins, as a power of two
 * @shift: takes a hash to the index of a bin
 * @bin_bytes: of a bin
 * @part_bytes: of a part
 * @parts: by CPU; all possible ones have theirs
 */
struct etch_table {
	bool paused;
	bool comm;
	unsigned int users;
	u8 keys;
	u8 sums;
	u8 bits;
	u8 shift;
	u16 bin_bytes;
	size_t part_bytes;
	struct etch_table_part *parts[];
};

/**
 * struct etch_table_shape - what a table has to have room for
 * @keys: words of a key, 1 to ETCH_TABLE_WORDS
 * @sums: 0 to ETCH_TABLE_SUMS
 * @comm: the name of the task that first had the key
 * @bits: bins for each CPU, as a power of two
 */
struct etch_table_shape {
	unsigned int keys;
	unsigned int sums;
	unsigned int bits;
	bool comm;
};

size_t etch_table_part_bytes(const struct etch_table_shape *shape);
struct etch_table *etch_table_create(const struct etch_table_shape *shape);
void etch_table_put(struct etch_table *table);
void etch_table_clear(struct etch_table *table);

struct etch_bin *etch_table_find(const struct etch_table *table, struct etch_table_part *part,
				 const u64 *key, u64 hash);

/* ---- Reading ---- */

/**
 * struct etch_table_entry - a key and its counts, of all CPUs
 * @key: in the table
 * @comm: in the table, if it keeps names
 * @hits: how many
 * @sums: as many as the table has
 */
struct etch_table_entry {
	const u64 *key;
	const char *comm;
	u64 hits;
	u64 sums[ETCH_TABLE_SUMS];
};

/**
 * struct etch_table_view - what a reader found
 * @hits: of all entries
 * @drops: hits that found no bin
 * @nr: entries
 * @entries: each key once, in the order of the keys' bytes
 */
struct etch_table_view {
	u64 hits;
	u64 drops;
	size_t nr;
	struct etch_table_entry *entries;
};

int etch_table_read(const struct etch_table *table, struct etch_table_view *view);
void etch_table_view_free(struct etch_table_view *view);

/* ---- Writing ---- */

/* The upper bits of a product depend on all bits of both factors. */
static __always_inline u64 etch_table_hash(const u64 *key, unsigned int words)
{
	u64 hash = key[0] * GOLDEN_RATIO_64;
	unsigned int i;

	for (i = 1; i < words; i++)
		hash = ((hash ^ hash >> 32) + key[i]) * GOLDEN_RATIO_64;
	return hash;
}

static __always_inline u64 etch_table_tag(u64 hash)
{
	return hash | ETCH_BIN_KEYED;
}

static __always_inline struct etch_bin *etch_table_bin(const struct etch_table *table,
						       struct etch_table_part *part,
						       unsigned int index)
{
	return (struct etch_bin *)(part->bins + index * table->bin_bytes);
}

static __always_inline bool etch_words_same(const u64 *a, const u64 *b, unsigned int words)
{
	unsigned int i;

	for (i = 0; i < words; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/**
 * etch_table_guess() - the bin where a key's hash says
 * @table: the table
 * @part: this CPU's
 * @hash: etch_table_hash() of the key
 *
 * Most hits find that it is the key's: etch_bin_has(). Else it may be one of the next.
 *
 * Context: as etch_table_find().
 * Return: the bin.
 */
static __always_inline struct etch_bin *etch_table_guess(const struct etch_table *table,
							 struct etch_table_part *part, u64 hash)
{
	return etch_table_bin(table, part, hash >> table->shift);
}

/* Is a bin that of a key? */
static __always_inline bool etch_bin_has(const struct etch_bin *bin, const u64 *key,
					 unsigned int words, u64 hash)
{
	return READ_ONCE(bin->tag) == etch_table_tag(hash) &&
	       etch_words_same(bin->words, key, words);
}

/* A sum of a bin whose key has so many words. */
static __always_inline local64_t *etch_bin_at(struct etch_bin *bin, unsigned int keys,
					      unsigned int index)
{
	return (local64_t *)&bin->words[keys + index];
}

static __always_inline local64_t *etch_bin_sum(const struct etch_table *table,
					       struct etch_bin *bin, unsigned int index)
{
	return etch_bin_at(bin, table->keys, index);
}

static __always_inline char *etch_bin_comm(const struct etch_table *table, struct etch_bin *bin)
{
	return (char *)&bin->words[table->keys + table->sums];
}

#endif /* _KERNEL_ETCH_TABLE_H */
