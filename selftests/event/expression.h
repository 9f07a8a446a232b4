/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_EXPRESSION_H
#define _ETCH_EXPRESSION_H

/*
 * Filter expressions, valid ones and others, by chance: over the fields of an event that both
 * tracers have. The same seed gives the same expressions, but for the ID of this process.
 */

#include "etch.h"

#define EXPRESSION_MAX	1200

/* As a filter sees it: FIELD_OTHER is an array, or text of no kind that filters know. */
enum field_kind {
	FIELD_NUMBER,
	FIELD_TEXT,
	FIELD_POINTER,
	FIELD_CPU,
	FIELD_MASK,
	FIELD_OTHER,
};

struct field {
	char name[40];
	enum field_kind kind;
	unsigned int size;
	bool is_signed;
};

struct fields {
	struct field each[40];
	unsigned int nr;
};

extern uint64_t expression_seed;
/* Numbers and texts that make a difference: what hits have. */
extern const uint64_t expression_numbers[12];
extern const char * const expression_texts[12];

uint32_t expression_below(uint32_t limit);
bool fields_read(struct fields *fields, const char *tree, const char *event);
void expression_make(char text[EXPRESSION_MAX], const struct fields *fields);

#endif /* _ETCH_EXPRESSION_H */
