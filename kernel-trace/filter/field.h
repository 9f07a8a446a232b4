/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_FIELD_H
#define _KERNEL_ETCH_FIELD_H

/* What a name in a filter means, in the records of an event. */

#include <linux/types.h>

struct etch_event;
struct etch_test_of;

/**
 * struct etch_field_of - a field as a filter names it
 * @len: characters of the name, with what belongs to it
 * @is_string: it is compared with text
 * @is_function: it is compared with a function
 * @why: the mistake, as a sentence without a full stop
 * @wrong: where that is, in characters from the name's first
 */
struct etch_field_of {
	size_t len;
	bool is_string;
	bool is_function;
	const char *why;
	size_t wrong;
};

int etch_field_find(const struct etch_event *event, unsigned int ends, const char *name,
		    struct etch_field_of *field, struct etch_test_of *test);

#endif /* _KERNEL_ETCH_FIELD_H */
