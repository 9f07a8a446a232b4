// SPDX-License-Identifier: GPL-2.0
/* The functions of shim.h. */

#include "shim.h"

int shim_warnings;
long shim_allocs = -1;
long shim_live;
long shim_patience = -1;
struct notifier_block *shim_on_panic;

/* Of exactly that size: the sanitizer catches a read or write behind it. */
void *shim_alloc(size_t align, size_t size)
{
	if (!shim_allocs)
		return NULL;
	if (shim_allocs > 0)
		shim_allocs--;
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

/* %pUb came out as an address and "Ub": there the UUID has to be. Returns what is behind it. */
static const char *seq_uuid(struct seq_file *m, const char *text)
{
	const char *at = strstr(text, "0x");
	char *end;
	const u8 *uuid;

	if (!at)
		abort();
	uuid = (const u8 *)strtoul(at, &end, 16);
	if (!strstarts(end, "Ub"))
		abort();
	seq_write(m, text, at - text);
	for (int i = 0; i < 16; i++)
		seq_printf(m, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
	return end + 2;
}

void seq_printf(struct seq_file *m, const char *fmt, ...)
{
	char some[256], *text = some;
	const char *rest;
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(some, sizeof(some), fmt, args);
	va_end(args);
	if (len >= (int)sizeof(some)) {
		va_start(args, fmt);
		len = vasprintf(&text, fmt, args);
		va_end(args);
	}
	if (len < 0)
		abort();
	rest = strstr(fmt, "%pUb") ? seq_uuid(m, text) : text;
	seq_write(m, rest, text + len - rest);
	if (text != some)
		free(text);
}

/* Escape as octal numbers the characters in @only: with other flags it means something else. */
void seq_escape_str(struct seq_file *m, const char *text, unsigned int flags, const char *only)
{
	if (flags != ESCAPE_OCTAL)
		abort();
	for (; *text; text++)
		seq_printf(m, strchr(only, *text) ? "\\%03o" : "%c", (u8)*text);
}

int single_open(struct file *file, int (*show)(struct seq_file *m, void *v), void *p)
{
	struct seq_file *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (!m)
		return -ENOMEM;
	m->private = p;
	m->show = show;
	file->private_data = m;
	return 0;
}

int seq_open(struct file *file, const struct seq_operations *op)
{
	int ret = single_open(file, NULL, NULL);

	if (!ret)
		((struct seq_file *)file->private_data)->op = op;
	return ret;
}

int seq_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	free(m->buf);
	kfree(m);
	return 0;
}

int single_release(struct inode *inode, struct file *file)
{
	return seq_release(inode, file);
}

/* Anew for each piece, as one who reads little at a time has it done. */
static void seq_read_pieces(struct seq_file *m)
{
	loff_t pos = 0;
	void *v;

	do {
		v = m->op->start(m, &pos);
		if (v) {
			if (m->op->show(m, v))
				abort();
			v = m->op->next(m, v, &pos);
		}
		m->op->stop(m, v);
	} while (v);
}

const char *shim_read(struct file *file)
{
	struct seq_file *m = file->private_data;

	m->count = 0;
	if (m->op)
		seq_read_pieces(m);
	else if (m->show(m, NULL))
		abort();
	seq_write(m, "", 1);
	return m->buf;
}

char *kmemdup_nul(const char *text, size_t len, gfp_t gfp)
{
	char *copy = shim_alloc(1, len + 1);

	return copy ? memcpy(copy, text, len) : NULL;
}

char *kstrdup(const char *text, gfp_t gfp)
{
	return text ? kmemdup_nul(text, strlen(text), gfp) : NULL;
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
	char first = text[*text == '+'], *end;

	errno = 0;
	if (base == 16 ? !isxdigit(first) : !isdigit(first))
		return -EINVAL;
	*value = strtoul(text, &end, base);
	if (errno)
		return -ERANGE;
	return *end && strcmp(end, "\n") ? -EINVAL : 0;
}

int kstrtoull(const char *text, unsigned int base, unsigned long long *value)
{
	unsigned long number;
	int ret = kstrtoul(text, base, &number);

	if (!ret)
		*value = number;
	return ret;
}

int kstrtouint(const char *text, unsigned int base, unsigned int *value)
{
	unsigned long number;
	int ret = kstrtoul(text, base, &number);

	if (!ret && number > UINT_MAX)
		ret = -ERANGE;
	if (!ret)
		*value = number;
	return ret;
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
