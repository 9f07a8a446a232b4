/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_METADATA_H
#define _KERNEL_ETCH_METADATA_H

/*
 * Interface between the parts of the file "metadata": metadata.c has the file and the
 * description of the trace as a whole, metadata_clock.c describes its clock, metadata_types.c
 * its events, metadata_labels.c finds the names of a field's values in the print format, and
 * metadata_expr.c evaluates the C expressions in there.
 */

#include <linux/etch_clock.h>
#include <linux/types.h>

struct etch_contexts;
struct etch_enums;
struct etch_event;
struct etch_field;
struct etch_origin;
struct seq_file;

/* Values of a field that may have names; a table with more of them has none. */
#define ETCH_LABELS_MAX		1024

/**
 * struct etch_label - the name of a value
 * @value: sign-extended if the field is signed
 * @name: C string literals, one or several, white space between them
 * @len: characters of @name
 */
struct etch_label {
	u64 value;
	const char *name;
	unsigned int len;
};

/**
 * struct etch_labels - the names of a field's values
 * @nr: how many
 * @flags: the field holds flags: each value is a bit, or a few, of which several may be set
 * @label: they, with no value twice
 */
struct etch_labels {
	unsigned int nr;
	bool flags;
	struct etch_label label[ETCH_LABELS_MAX];
};

/* metadata_expr.c */
const char *etch_expr_eval(const char *text, const struct etch_enums *enums,
			   const struct etch_field *field, u64 in, u64 *out);

/* metadata_labels.c */
void etch_labels_find(struct etch_labels *labels, const struct etch_event *event,
		      const struct etch_field *field);

/* metadata_clock.c; etch_origin_get() is in ctf.h */
void etch_metadata_clock(struct seq_file *m, enum etch_clock clock,
			 const struct etch_origin *origin);

/* metadata_types.c */
void etch_metadata_types(struct seq_file *m);
void etch_metadata_contexts(struct seq_file *m, const struct etch_contexts *c);
int etch_metadata_event(struct seq_file *m, const struct etch_event *event,
			struct etch_labels *labels);

#endif /* _KERNEL_ETCH_METADATA_H */
