// SPDX-License-Identifier: GPL-2.0
/* The functions of shim.h. */

#include "shim.h"

int shim_warnings;
long shim_allocs = -1;
long shim_live;

/* Of exactly that size: what reads or writes behind it is caught. */
void *shim_alloc(size_t align, size_t size)
{
	shim_live++;
	return calloc(1, size);
}

void shim_free(void *p)
{
	if (p)
		shim_live--;
	free(p);
}

void seq_write(struct seq_file *m, const void *data, size_t len)
{
	if (m->fixed && m->count + len >= m->size) {
		m->count = m->size;
		return;
	}
	if (m->count + len >= m->size) {
		m->size = 2 * (m->count + len) + 64;
		m->buf = realloc(m->buf, m->size);
		if (!m->buf)
			abort();
	}
	memcpy(m->buf + m->count, data, len);
	m->count += len;
}

void seq_printf(struct seq_file *m, const char *fmt, ...)
{
	char *text;
	va_list args;
	int len;

	va_start(args, fmt);
	len = vasprintf(&text, fmt, args);
	va_end(args);
	if (len < 0)
		abort();
	seq_write(m, text, len);
	free(text);
}

/* What etch_bad() passes on is a format with its arguments. */
char *kvasprintf(gfp_t gfp, const char *fmt, va_list args)
{
	struct va_format *inner = NULL;
	char *text;

	if (!strcmp(fmt, "%pV"))
		inner = va_arg(args, struct va_format *);
	if (vasprintf(&text, inner ? inner->fmt : fmt, inner ? *inner->va : args) < 0)
		abort();
	shim_live++;
	return text;
}

char *kasprintf(gfp_t gfp, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = kvasprintf(gfp, fmt, args);
	va_end(args);
	return text;
}

char *strim(char *text)
{
	size_t len = strlen(text);

	while (len && isspace(text[len - 1]))
		text[--len] = 0;
	return skip_spaces(text);
}

/* A line feed may end it; nothing may come before it but a plus. */
int kstrtoul(const char *text, unsigned int base, unsigned long *value)
{
	char *end;

	errno = 0;
	if (!isdigit(text[*text == '+']))
		return -EINVAL;
	*value = strtoul(text, &end, base);
	if (errno)
		return -ERANGE;
	return *end && strcmp(end, "\n") ? -EINVAL : 0;
}

int match_string(const char * const *strings, size_t n, const char *text)
{
	for (size_t i = 0; i < n && strings[i]; i++)
		if (!strcmp(strings[i], text))
			return i;
	return -EINVAL;
}

/* As much as fits is written, and what would have been is returned. */
int string_escape_mem(const char *from, size_t len, char *to, size_t size,
		      unsigned int flags, const char *only)
{
	size_t n = 0;
	char one[5];

	for (size_t i = 0; i < len; i++) {
		unsigned char c = from[i];

		if (c == '\\' || c == '"')
			sprintf(one, "\\%c", c);
		else if (c < ' ' || c > '~')
			sprintf(one, "\\%03o", c);
		else
			sprintf(one, "%c", c);
		for (char *at = one; *at; at++, n++)
			if (n < size)
				to[n] = *at;
	}
	return n;
}

unsigned long long memparse(const char *text, char **end)
{
	unsigned long long value = strtoull(text, end, 0);
	static const char units[] = "kKmMgGtTpPeE";
	const char *unit = **end ? strchr(units, **end) : NULL;

	if (*text == '-' || isspace(*text)) {
		*end = (char *)text;
		return 0;
	}
	if (unit) {
		value <<= 10 * ((unit - units) / 2 + 1);
		++*end;
	}
	return value;
}
