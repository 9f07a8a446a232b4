// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "etch.h"
#include "probing.h"

const char *probing_begins(const char *file, const char *instance)
{
	static char why[128];

	if (!have_etch())
		return NO_ETCH;
	if (!have_text())
		return NO_TEXT;
	snprintf(why, sizeof(why), ETCH "/%s", file);
	if (access(why, F_OK)) {
		snprintf(why, sizeof(why), "no " ETCH "/%s: CONFIG_ETCH_PROBES, and ftrace's probes",
			 file);
		return why;
	}
	etch_as_new();
	forget_all();
	write_file(ETCH, "buffer_size_kb", "2048");
	write_file(ETCH, "error_log", "");
	if (instance)
		mkdir(instance, 0700);
	return NULL;
}

void probing_ends(const char *instance, struct trace *trace)
{
	text_free(trace);
	if (instance)
		rmdir(instance);
	etch_as_new();
	forget_all();
	if (have_ftrace())
		overwrite_file(FTRACE, "dynamic_events", "");
	write_file(ETCH, "buffer_size_kb", "1024");
}

const char *this_program(void)
{
	static char path[PATH_MAX];

	return readlink("/proc/self/exe", path, sizeof(path) - 1) > 0 ? path : NULL;
}

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

void hits_alone(int nr)
{
	int fd = open(ETCH "/tracing_on", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "1", 1) != 1)
		give_up("tracing_on");
	hits(nr);
	if (write(fd, "0", 1) != 1)
		give_up("tracing_on");
	close(fd);
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
