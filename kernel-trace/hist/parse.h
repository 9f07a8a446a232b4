/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_HIST_PARSE_H
#define _KERNEL_ETCH_HIST_PARSE_H

/*
 * The language of histograms, as it stands behind "hist:" in the files trigger.
 *
 *	keys=FIELD[,FIELD[,FIELD]]	or key=
 *	values=VALUE[,VALUE...]		or vals=, val=
 *	sort=SORT[,SORT]
 *	size=NUMBER
 *	name=NAME
 *	pause  continue  cont  clear  nohitcount  NOHC
 *
 * with ":" between them, in any order. FIELD is the name of a field, common_stacktrace, or what
 * all events have (common_pid, common_cpu, comm), and a modifier or none; VALUE is hitcount or a
 * field of numbers, and .hex, .percent, .graph or none; SORT is the name of a key or a value, and
 * .ascending, .descending or none.
 */

#include "hist/keys.h"

struct etch_event;
struct etch_input;
struct seq_file;

#define ETCH_HIST_SORTS		2

/**
 * struct etch_hist_sort - what the lines are sorted by
 * @value: the value of this index; -1: not by a value
 * @key: the key of this index; -1: not by a key. Neither: by the hits
 * @descending: the greatest first
 */
struct etch_hist_sort {
	s8 value;
	s8 key;
	bool descending;
};

/**
 * struct etch_hist_spec - a histogram as a user describes it
 * @keys: what it counts by
 * @values: what it adds up. Those that are hits have no sum in the table
 * @sorts: the first one first
 * @nr_keys: 1 to ETCH_HIST_KEYS
 * @nr_values: 0 to ETCH_TABLE_SUMS
 * @nr_sorts: 1 to ETCH_HIST_SORTS
 * @shape: of its table
 * @name: what its counts are shared by; NULL: they are not
 * @no_hits: the hits are not shown
 * @pause: it begins paused, or shall pause
 * @resume: it shall go on
 * @clear: it shall forget its counts
 */
struct etch_hist_spec {
	struct etch_hist_field keys[ETCH_HIST_KEYS];
	struct etch_hist_field values[ETCH_TABLE_SUMS];
	struct etch_hist_sort sorts[ETCH_HIST_SORTS];
	u8 nr_keys;
	u8 nr_values;
	u8 nr_sorts;
	struct etch_table_shape shape;
	char *name;
	bool no_hits;
	bool pause;
	bool resume;
	bool clear;
};

int etch_hist_parse(const struct etch_input *in, const char *text, size_t len,
		    const struct etch_event *event, unsigned int ends,
		    struct etch_hist_spec *spec);
int etch_hist_parse_word(const struct etch_input *in, const char *text, size_t len,
			 const struct etch_event *event, struct etch_hist_field *field);
void etch_hist_spec_drop(struct etch_hist_spec *spec);
bool etch_hist_counts_same(const struct etch_hist_spec *a, const struct etch_hist_spec *b);
bool etch_hist_shows_same(const struct etch_hist_spec *a, const struct etch_hist_spec *b);
const char *etch_hist_modifier(const struct etch_hist_field *f);

#endif /* _KERNEL_ETCH_HIST_PARSE_H */
