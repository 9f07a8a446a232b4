/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Thrift's compact protocol, as it is written: structures of numbered fields, which come in
 * the order of their numbers.
 *
 *	struct thrift t = { .b = b };
 *
 *	thrift_number(&t, 1, THRIFT_I32, 2);
 *	thrift_begin(&t, 3);
 *	thrift_text(&t, 1, "in a structure");
 *	thrift_end(&t);
 *	thrift_end(&t);
 */
#ifndef _ETCH_EXPORT_THRIFT_H
#define _ETCH_EXPORT_THRIFT_H

#include "export/export.h"

enum {
	THRIFT_TRUE = 1, THRIFT_FALSE = 2, THRIFT_I32 = 5, THRIFT_I64 = 6, THRIFT_BINARY = 8,
	THRIFT_LIST = 9, THRIFT_STRUCT = 12,
};

/**
 * struct thrift - a structure that is being written
 * @b: where to
 * @last: the number of the last field, of the structure and of those around it
 * @depth: how many are around it
 */
struct thrift {
	struct bytes *b;
	int last[8];
	unsigned int depth;
};

void thrift_number(struct thrift *t, int field, int type, int64_t value);
void thrift_bool(struct thrift *t, int field, bool value);
void thrift_binary(struct thrift *t, int field, const void *value, size_t len);
void thrift_text(struct thrift *t, int field, const char *text);
/* A structure as a field, up to its end. */
void thrift_begin(struct thrift *t, int field);
void thrift_end(struct thrift *t);
/* A list; its elements follow: numbers, or structures between thrift_element() and an end. */
void thrift_list(struct thrift *t, int field, int type, uint32_t count);
void thrift_element(struct thrift *t);
void thrift_element_number(struct thrift *t, int64_t value);
void thrift_element_text(struct thrift *t, const char *text);

#endif /* _ETCH_EXPORT_THRIFT_H */
