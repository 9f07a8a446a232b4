/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_ACCESS_TABLE_H
#define _ETCH_ACCESS_TABLE_H

/*
 * Every file and folder of a tree, with its mode: the table of
 * Documentation/trace/etch/access.rst, row by row in the same order. The check of the
 * documentation compares the two.
 */

#include "etch.h"

#define INSTANCE	ETCH "/instances/etch-access"

struct row {
	const char *file;	/* from the tree's folder; a * is any one name, or part of it */
	mode_t mode;
	bool folder;
};

#define NR_ROWS		65

extern const struct row rows[NR_ROWS];

/* A file or folder that the walk found, and its row. */
struct entry {
	char *path;
	const struct row *row;
	struct stat st;
};

extern struct tree {
	struct entry entries[40000];
	size_t nr, unknown;
	unsigned int hits[NR_ROWS];
} tree;

bool is_optional(const struct row *r);
const struct row *row_of(const char *path);
void tree_walk(void);
void tree_walk_drawn(void);
bool is_folder(const struct entry *e);
int try_open(const char *path, int flags);

#endif /* _ETCH_ACCESS_TABLE_H */
