/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values as text, for formats that are text.
 */
#ifndef _ETCH_EXPORT_VALUE_H
#define _ETCH_EXPORT_VALUE_H

#include "export/export.h"

/* Characters as they are; bytes that are none become U+FFFD. */
void value_utf8(struct bytes *b, const void *text, size_t len);
/* In quotes, as JSON has it. */
void value_json_text(struct bytes *b, const void *text, size_t len);
void value_decimal(struct bytes *b, uint64_t value, bool is_signed);
/* "[1,2,3]" */
void value_array(struct bytes *b, const struct etch_field *field, const unsigned char *at,
		 size_t len);
/* Seconds with all nine digits. */
void value_seconds(struct bytes *b, uint64_t ns);
/* "task", "softirq", "hardirq", "nmi". */
const char *value_context(enum etch_context context);

/* A cause of loss, and how many records it took. */
#define VALUE_CAUSES	6

struct value_cause {
	const char *name;
	unsigned long long count;
};

/* Those causes that took some; returns how many. */
unsigned int value_causes(const struct etch_loss *loss, struct value_cause causes[VALUE_CAUSES]);

#endif /* _ETCH_EXPORT_VALUE_H */
