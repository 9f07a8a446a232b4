/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_TSDL_H
#define _ETCH_TSDL_H

/*
 * A parser of metadata, for the part of TSDL that it uses. Places of fields are computed as
 * a reader of traces does it, from sizes and alignments.
 *
 * Text that cannot be parsed is no metadata: it ends the program.
 */

#include "etch.h"

#define TSDL_FIELDS	512
#define TSDL_HEAD_BITS	96	/* time, id, context and pid */

struct tsdl_type {
	unsigned int size, align;	/* bits */
	unsigned int base;		/* 0: not said */
	bool is_signed, is_text;
};

struct tsdl_field {
	char name[128];			/* as readers show it */
	struct tsdl_type type;		/* of an element */
	unsigned int at, bits;		/* @bits is 0 for a sequence, whose length varies */
	char length[128];		/* of a sequence: the field with its length */
	unsigned int values;		/* of an enumeration */
	unsigned int remark;		/* characters of the comment in front of it */
};

struct tsdl_event {
	unsigned int id;
	char name[256];			/* system:event */
	struct tsdl_field fields[TSDL_FIELDS];
	unsigned int nr;
	unsigned int end;		/* bits, without sequences */
};

const char *tsdl_event(const char *text, const char *at, struct tsdl_event *e);
const struct tsdl_field *tsdl_find(const struct tsdl_event *e, const char *name);
const char *tsdl_value(const char *text, const char *name);

#endif /* _ETCH_TSDL_H */
