// SPDX-License-Identifier: GPL-2.0
/*
 * The file budget of an instance.
 *
 * A write sets both bounds, and takes away the one that it does not name.
 */
#include <linux/cpumask.h>
#include <linux/ctype.h>
#include <linux/etch.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "tree/fs.h"

/* The bounds that a user asks for. */
struct etch_budget_wish {
	u64 bytes;
	unsigned int percent;
	bool has_bytes;
	bool has_percent;
};

/* The number at @at, and how it ends. */
static int etch_budget_number(const struct etch_input *in, const char *at, const char **end,
			      u64 most, u64 *value)
{
	const char *digit;

	*value = 0;
	for (digit = at; isdigit(*digit); digit++) {
		*value = *value * 10 + *digit - '0';
		if (*value > most)
			return etch_bad(in, at, -EINVAL, "Too large: at most %llu", most);
	}
	*end = digit;
	if (digit == at)
		return etch_bad(in, at, -EINVAL, "Not a number");
	return 0;
}

static int etch_budget_bytes(const struct etch_input *in, const char *at, const char **end,
			     struct etch_budget_wish *wish)
{
	static const char units[] = "KMGT";
	const char *unit;
	int ret, shift;

	if (wish->has_bytes)
		return etch_bad(in, at, -EINVAL, "bytes= is there twice");
	wish->has_bytes = true;
	at += strlen("bytes=");
	ret = etch_budget_number(in, at, end, ETCH_BUDGET_MAX_BYTES, &wish->bytes);
	if (ret)
		return ret;
	unit = **end ? strchr(units, toupper(**end)) : NULL;
	if (unit) {
		shift = 10 * (unit - units + 1);
		if (wish->bytes > ETCH_BUDGET_MAX_BYTES >> shift)
			return etch_bad(in, at, -EINVAL, "Too large: at most %llu",
					ETCH_BUDGET_MAX_BYTES);
		wish->bytes <<= shift;
		++*end;
	}
	if (strstarts(*end, "/s"))
		*end += strlen("/s");
	return 0;
}

static int etch_budget_cpu(const struct etch_input *in, const char *at, const char **end,
			   struct etch_budget_wish *wish)
{
	u64 percent;
	int ret;

	if (wish->has_percent)
		return etch_bad(in, at, -EINVAL, "cpu= is there twice");
	wish->has_percent = true;
	ret = etch_budget_number(in, at + strlen("cpu="), end, 100 * num_possible_cpus(),
				 &percent);
	if (ret)
		return ret;
	wish->percent = percent;
	if (**end == '%')
		++*end;
	return 0;
}

static int etch_budget_parse(const struct etch_input *in, struct etch_budget_wish *wish)
{
	const char *at = skip_spaces(in->text), *end;
	int ret;

	if (!strcmp(at, "none"))
		return 0;
	while (*at) {
		if (strstarts(at, "bytes="))
			ret = etch_budget_bytes(in, at, &end, wish);
		else if (strstarts(at, "cpu="))
			ret = etch_budget_cpu(in, at, &end, wish);
		else
			return etch_bad(in, at, -EINVAL,
					"Neither bytes=, nor cpu=, nor none alone");
		if (ret)
			return ret;
		if (*end && !isspace(*end))
			return etch_bad(in, end, -EINVAL, "Nothing may follow the number here");
		at = skip_spaces(end);
	}
	return 0;
}

int etch_budget_store(const struct etch_input *in)
{
	struct etch_budget_wish wish = {};
	int ret;

	ret = etch_budget_parse(in, &wish);
	if (ret)
		return ret;
	ret = etch_instance_set_budget(in->inst, wish.bytes, wish.percent);
	if (ret)
		return etch_bad(in, in->text, ret, "Not enough memory");
	return 0;
}

void etch_budget_show(struct seq_file *m, const struct etch_view_of *of)
{
	static const char * const units[] = { "", "K", "M", "G", "T" };
	const struct etch_budget *budget = &of->inst->budget;
	u64 bytes = budget->bytes;
	unsigned int unit = 0;

	for (; bytes && !(bytes & 1023) && unit < ARRAY_SIZE(units) - 1; unit++)
		bytes >>= 10;
	if (bytes)
		seq_printf(m, "bytes=%llu%s/s\n", bytes, units[unit]);
	if (budget->percent)
		seq_printf(m, "cpu=%u%% (at %u ns per record)\n", budget->percent, budget->ns);
	if (!budget->bytes && !budget->percent)
		seq_puts(m, "none\n");
	seq_printf(m, "throttled: %llu\n", etch_instance_throttled(of->inst));
}
