// SPDX-License-Identifier: GPL-2.0
/*
 * Folders for what nobody keeps.
 */
#include "live/live.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

int scratch_make(char *path, size_t room)
{
	const char *where = getenv("TMPDIR") ?: "/tmp";

	if (snprintf(path, room, "%s/etch-XXXXXX", where) >= (int)room) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return mkdtemp(path) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

void scratch_remove(const char *path)
{
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
