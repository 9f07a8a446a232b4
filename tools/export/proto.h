/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Protocol buffers, as they are written. A field is its number and a value: a number, or
 * bytes with their length; a message in a message is such bytes:
 *
 *	size_t packet = proto_begin(b, 1);
 *
 *	proto_number(b, 10, 1);
 *	proto_end(b, packet);
 *
 * Fields that come in the order of their numbers give the bytes that any other program
 * gives for the same message.
 */
#ifndef _ETCH_EXPORT_PROTO_H
#define _ETCH_EXPORT_PROTO_H

#include "export/export.h"

void proto_number(struct bytes *b, unsigned int field, uint64_t value);
void proto_bytes(struct bytes *b, unsigned int field, const void *value, size_t len);
void proto_text(struct bytes *b, unsigned int field, const char *text);
/* A message: returns what its end needs. */
size_t proto_begin(struct bytes *b, unsigned int field);
void proto_end(struct bytes *b, size_t begun);

#endif /* _ETCH_EXPORT_PROTO_H */
