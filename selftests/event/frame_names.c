// SPDX-License-Identifier: GPL-2.0
/* Stacks of the kernel: names for addresses, and what ftrace prints. */
#include <ctype.h>

#include "frame_names.h"

struct symbol {
	unsigned long long address;
	char *name;
};

static struct symbol *symbols;
static size_t nr_symbols;

static int by_address(const void *a, const void *b)
{
	const struct symbol *one = a, *two = b;

	if (one->address != two->address)
		return one->address < two->address ? -1 : 1;
	return strcmp(one->name, two->name);
}

static void add_symbol(char *line)
{
	char type, name[256];
	unsigned long long address;

	if (sscanf(line, "%llx %c %255s", &address, &type, name) != 3 || !address ||
	    tolower(type) != 't')
		return;
	symbols[nr_symbols++] = (struct symbol) { address, strdup(name) };
}

/* False if the kernel does not tell addresses. */
bool stack_load_symbols(void)
{
	char *text = read_path("/proc/kallsyms", NULL), *line, *rest = text;

	if (!text)
		return false;
	if (!symbols)
		symbols = must_alloc(NULL, count_lines(text) * sizeof(*symbols));
	nr_symbols = 0;
	while ((line = strsep(&rest, "\n")))
		add_symbol(line);
	free(text);
	qsort(symbols, nr_symbols, sizeof(*symbols), by_address);
	return nr_symbols;
}

void stack_add_name(struct stack *s, const char *name)
{
	size_t len = strcspn(name, ".+ \n");

	if (s->nr < STACK_DEPTH)
		snprintf(s->names[s->nr++], sizeof(s->names[0]), "%.*s", (int)len, name);
}

/*
 * An address that a call returns to: behind the call, so it may be the next function's.
 * "?" is code without a name, such as a program of BPF's.
 */
void stack_add_address(struct stack *s, unsigned long long address)
{
	size_t low = 0, high = nr_symbols;

	/* The last symbol below the address. */
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (symbols[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - symbols[low - 1].address > 65536) {
		stack_add_name(s, "?");
		return;
	}
	low--;
	/* Of several names the same one in each kernel. */
	while (low && symbols[low - 1].address == symbols[low].address)
		low--;
	stack_add_name(s, symbols[low].name);
}

/* The first function whose name begins like this, or -1. */
int stack_find(const struct stack *s, const char *prefix)
{
	unsigned int i;

	for (i = 0; i < s->nr; i++)
		if (!strncmp(s->names[i], prefix, strlen(prefix)))
			return i;
	return -1;
}

/* The first stack in a buffer of ftrace's with a function in it. */
bool stack_of_ftrace(const char *tree, const char *within, struct stack *s)
{
	char *text = read_file(tree, "trace"), *line, *rest = text;
	bool found = false;

	s->nr = 0;
	while (!found && rest && (line = strsep(&rest, "\n"))) {
		if (!strncmp(line, " => ", 4)) {
			stack_add_name(s, line + 4);
			continue;
		}
		found = stack_find(s, within) >= 0;
		if (!found)
			s->nr = 0;
	}
	free(text);
	return found;
}
