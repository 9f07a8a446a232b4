// SPDX-License-Identifier: GPL-2.0
/*
 * What users write to files: taken over whole, understood or refused.
 */
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/kstrtox.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "instance/instance.h"

/**
 * etch_bad() - refuse an input
 * @in: the input; NULL: nobody wants to know what is wrong
 * @at: the place in @in->text that is wrong
 * @err: the errno that the writer gets
 * @why: a sentence, without a full stop; printf's format
 *
 * Context: process, may sleep.
 * Return: @err.
 */
int etch_bad(const struct etch_input *in, const char *at, int err, const char *why, ...)
{
	struct va_format vaf = { .fmt = why };
	va_list args;

	if (!in)
		return err;
	va_start(args, why);
	vaf.va = &args;
	etch_error(in->inst, in->where, in->text, at - in->text, "%pV", &vaf);
	va_end(args);
	return err;
}

/**
 * etch_input_get() - copy the text that a user writes to a file
 * @inst: whose file
 * @cpu: whose file, or ETCH_ALL_CPUS
 * @buf: the text, in user memory
 * @count: its bytes
 * @max: how many there may be
 * @where: the file, from the instance's folder; printf's format
 *
 * Context: process, may sleep.
 * Return: the input, to be freed by kvfree(); or an ERR_PTR() of -EINVAL (too long,
 * or it has a zero in it; reported), -EFAULT or -ENOMEM.
 */
struct etch_input *etch_input_get(struct etch_instance *inst, int cpu,
				  const char __user *buf, size_t count, size_t max,
				  const char *where, ...)
{
	size_t len = min(count, max);
	struct etch_input *in;
	va_list args;
	int ret = 0;

	in = kvzalloc(struct_size(in, text, len + 1), GFP_KERNEL);
	if (!in)
		return ERR_PTR(-ENOMEM);
	in->inst = inst;
	in->cpu = cpu;
	va_start(args, where);
	vsnprintf(in->where, sizeof(in->where), where, args);
	va_end(args);

	if (copy_from_user(in->text, buf, len))
		ret = -EFAULT;
	else if (count > max)
		ret = etch_bad(in, in->text + len, -EINVAL, "Longer than %zu bytes", max);
	else if (strlen(in->text) + 1 < len)
		ret = etch_bad(in, in->text + strlen(in->text), -EINVAL, "A zero byte");
	if (ret) {
		kvfree(in);
		return ERR_PTR(ret);
	}
	strim(in->text);
	return in;
}

/**
 * etch_input_number() - understand input as a decimal number
 * @in: the input
 * @value: gets the number
 *
 * Context: process, may sleep.
 * Return: 0, or -EINVAL, reported.
 */
int etch_input_number(const struct etch_input *in, unsigned long *value)
{
	const char *at = skip_spaces(in->text), *end = at;

	while (isdigit(*end))
		end++;
	if (*end || end == at)
		return etch_bad(in, end, -EINVAL, "Not a number");
	if (kstrtoul(at, 10, value))
		return etch_bad(in, at, -EINVAL, "Too large");
	return 0;
}

/**
 * etch_input_bool() - understand input as 0 or 1
 * @in: the input
 * @value: gets it
 *
 * Context: process, may sleep.
 * Return: 0, or -EINVAL, reported.
 */
int etch_input_bool(const struct etch_input *in, bool *value)
{
	const char *at = skip_spaces(in->text);

	if ((at[0] != '0' && at[0] != '1') || at[1])
		return etch_bad(in, at, -EINVAL, "Neither 0 nor 1");
	*value = at[0] == '1';
	return 0;
}
