// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "etch.h"
#include "probing.h"

/* Add a definition. Return 0, or an error's number. */
int define_probe(const char *text)
{
	return write_bytes(ETCH, "dynamic_events", O_APPEND, text, strlen(text));
}

/* Remove all definitions, and disable all events. */
void forget_all(void)
{
	overwrite_file(ETCH, "set_event", "");
	overwrite_file(ETCH, "dynamic_events", "");
}

void hit(int i)
{
	struct open_how how = { .flags = O_DIRECTORY };
	char name[32];

	snprintf(name, sizeof(name), "/etch-probe-%d", i);
	syscall(SYS_openat2, DFD + i, name, &how, sizeof(how));
}

void hits(int nr)
{
	for (int i = 0; i < nr; i++)
		hit(i);
}

/* Is @what in a file? If not, show the file. */
bool says(const char *tree, const char *file, const char *what)
{
	char *text = read_file(tree, file);
	bool found = text && strstr(text, what);

	if (!found)
		printf("# %s does not say '%s', but:\n%s\n", file, what, text ?: "nothing");
	free(text);
	return found;
}
