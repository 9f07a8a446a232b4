// SPDX-License-Identifier: GPL-2.0
/*
 * The folder .etch of a trace: what its recorder has kept beside the packets. All of it may be
 * missing, cut off or wrong; lines that make no sense are skipped.
 */
#include "read/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTES_SIZE	(256 << 20)	/* of a file; more is a mistake */
#define NOTES_FUNCTION	(1 << 20)	/* bytes of one; a larger gap ends a module */

/* ---- Files ---- */

/* All of @fd, of @size bytes or so; NULL with errno. */
static char *read_rest(int fd, size_t size, size_t *len)
{
	char *text = malloc(size + 1);
	ssize_t n;

	*len = 0;
	while (text && *len < size && (n = read(fd, text + *len, size - *len))) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			free(text);
			return NULL;
		}
		*len += n;
	}
	if (text)
		text[*len] = 0;
	return text;
}

char *etch_file_read(const char *folder, const char *name, size_t *len)
{
	char path[4096], *text = NULL;
	size_t dummy;
	struct stat st;
	int fd, err;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st)) {
		err = errno;
	} else if (!S_ISREG(st.st_mode) || st.st_size > NOTES_SIZE) {
		err = S_ISREG(st.st_mode) ? EFBIG : EINVAL;
	} else {
		text = read_rest(fd, st.st_size, len ? len : &dummy);
		err = errno;
	}
	if (fd >= 0)
		close(fd);
	errno = err;
	return text;
}

/* ---- Symbols ---- */

struct symbol {
	uint64_t address;
	const char *name;
};

struct etch_symbols {
	char *text;
	struct symbol *list;
	size_t nr;
};

static int symbol_order(const void *a, const void *b)
{
	const struct symbol *one = a, *two = b;

	return one->address < two->address ? -1 : one->address > two->address;
}

/* "ADDRESS TYPE NAME\t[MODULE]"; of functions, for data may lie anywhere. */
static bool symbol_line(const char *line, struct symbol *symbol)
{
	char *end;

	symbol->address = strtoull(line, &end, 16);
	if (end == line || end[0] != ' ' || !end[1] || !strchr("TtWw", end[1]) || end[2] != ' ')
		return false;
	symbol->name = end + 3;
	return true;
}

static size_t lines_of(const char *text)
{
	size_t nr = 1;

	while ((text = strchr(text, '\n'))) {
		text++;
		nr++;
	}
	return nr;
}

struct etch_symbols *etch_symbols_open(const char *folder)
{
	struct etch_symbols *symbols = calloc(1, sizeof(*symbols));
	char *text = etch_file_read(folder, ".etch/symbols", NULL);
	const char *at = text;

	if (symbols && text)
		symbols->list = malloc(lines_of(text) * sizeof(*symbols->list));
	if (!symbols || !text || !symbols->list) {
		free(symbols);
		free(text);
		return NULL;
	}
	symbols->text = text;
	for (; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
		symbols->nr += symbol_line(at, &symbols->list[symbols->nr]);
	qsort(symbols->list, symbols->nr, sizeof(*symbols->list), symbol_order);
	return symbols;
}

const char *etch_symbol(const struct etch_symbols *symbols, uint64_t address, size_t *len,
			uint64_t *offset, uint64_t *size)
{
	size_t low = 0, high = symbols ? symbols->nr : 0, first;

	/* The first one behind the address. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->list[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || low == symbols->nr)
		return NULL;
	/* Of several names of one address, the first one, as the kernel has it. */
	for (first = low - 1; first && symbols->list[first - 1].address ==
	     symbols->list[first].address;)
		first--;
	*offset = address - symbols->list[first].address;
	*size = symbols->list[low].address - symbols->list[first].address;
	if (*size > NOTES_FUNCTION)
		return NULL;
	*len = strcspn(symbols->list[first].name, " \t\n");
	return symbols->list[first].name;
}

void etch_symbols_close(struct etch_symbols *symbols)
{
	if (!symbols)
		return;
	free(symbols->list);
	free(symbols->text);
	free(symbols);
}

/* ---- Tasks ---- */

static int task_order(const void *a, const void *b)
{
	const struct etch_task *one = a, *two = b;

	if (one->tid != two->tid)
		return one->tid < two->tid ? -1 : 1;
	return two->at_start - one->at_start;
}

/* "start TID TGID PPID NAME"; ends the name with a zero. */
static bool task_line(char *line, struct etch_task *task)
{
	char when[8];
	int used = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%7s %d %d %d %n", when, &task->tid, &task->tgid, &task->ppid,
		   &used) != 4 || !used)
		return false;
	task->at_start = !strcmp(when, "start");
	task->comm = line + used;
	return task->at_start || !strcmp(when, "end");
}

struct etch_tasks *etch_tasks_open(const char *folder)
{
	struct etch_tasks *tasks = calloc(1, sizeof(*tasks));
	char *text = etch_file_read(folder, ".etch/tasks", NULL), *at = text, *next;

	if (tasks && text)
		tasks->list = malloc(lines_of(text) * sizeof(*tasks->list));
	if (!tasks || !text || !tasks->list) {
		free(tasks);
		free(text);
		return NULL;
	}
	tasks->text = text;
	for (; at; at = next) {
		next = strchr(at, '\n');
		next = next ? next + 1 : NULL;
		tasks->nr += task_line(at, &tasks->list[tasks->nr]);
	}
	qsort(tasks->list, tasks->nr, sizeof(*tasks->list), task_order);
	return tasks;
}

const struct etch_task *etch_task(const struct etch_tasks *tasks, int tid)
{
	size_t low = 0, high = tasks ? tasks->nr : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tasks->list[middle].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return tasks && low < tasks->nr && tasks->list[low].tid == tid ? &tasks->list[low] : NULL;
}

void etch_tasks_close(struct etch_tasks *tasks)
{
	if (!tasks)
		return;
	free(tasks->list);
	free(tasks->text);
	free(tasks);
}
