/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ETCH_FUZZ_SETTINGS_H
#define ETCH_FUZZ_SETTINGS_H

/* What settings.c has of settings_dump.c. */

#include <linux/types.h>

struct etch_instance;

/* Once: @main is the main tree. */
void dump_begin(struct etch_instance *main);

/* What the file dump_on_oops did with a text is right, and so is what a panic dumps then. */
void dump_written(const char *text, size_t len, bool taken);

/* The kernel is booted with a parameter of that text: etch_dump_on_oops, or ..._lines=. */
void dump_boot(char *text);
void dump_lines_boot(char *text);

#endif /* ETCH_FUZZ_SETTINGS_H */
