/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_FRAME_NAMES_H
#define _ETCH_FRAME_NAMES_H

/* Stacks of the kernel, as the names of functions, from the one that was called last. */

#include "etch.h"

#define STACK_DEPTH	64

struct stack {
	char names[STACK_DEPTH][64];	/* without what the compiler appends */
	unsigned int nr;
};

bool stack_load_symbols(void);
void stack_add_name(struct stack *s, const char *name);
void stack_add_address(struct stack *s, unsigned long long address);
int stack_find(const struct stack *s, const char *prefix);
bool stack_of_ftrace(const char *tree, const char *within, struct stack *s);

#endif /* _ETCH_FRAME_NAMES_H */
