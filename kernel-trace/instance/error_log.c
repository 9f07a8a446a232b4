// SPDX-License-Identifier: GPL-2.0
/*
 * Errors in the text that users write to files, and their places in it.
 *
 * An errno is all that a write() can say. The sentence that goes with it is kept
 * here, the last few for each instance, and read from its error_log:
 *
 *	[   12.345678] set_event: error: No such event
 *	  Command: sched:nope
 *	           ^
 *
 * The text is shown as one line of printable characters, with all others escaped, and
 * cut to the part around the error.
 */
#include <linux/etch.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched/clock.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/string_helpers.h>

#include "instance/instance.h"

#define ETCH_ERRORS		8	/* kept for each instance */
#define ETCH_ERROR_BEFORE	60	/* bytes shown before the wrong one */
#define ETCH_ERROR_BYTES	120	/* bytes shown in all */

/**
 * struct etch_error_entry - one error
 * @node: in the instance's errors, the oldest first
 * @text: all that is shown of it
 */
struct etch_error_entry {
	struct list_head node;
	char *text;
};

static void etch_error_free(struct etch_error_entry *error)
{
	kfree(error->text);
	kfree(error);
}

/* Appends @len bytes of @input, escaped, to @buf. An octal escape takes four. */
static char *etch_error_escape(char *buf, const char *input, unsigned int len)
{
	unsigned int flags = ESCAPE_SPACE | ESCAPE_SPECIAL | ESCAPE_OCTAL | ESCAPE_NAP;

	return buf + string_escape_mem(input, len, buf, 4 * len, flags, NULL);
}

/* The three lines of an error. */
static char *etch_error_text(const char *where, const char *input, unsigned int at,
			     const char *why)
{
	char shown[4 * ETCH_ERROR_BYTES + sizeof("......")], *end = shown;
	unsigned int len = strlen(input), from, caret, rem;
	u64 sec = local_clock();

	rem = do_div(sec, NSEC_PER_SEC);
	at = min(at, len);
	from = at > ETCH_ERROR_BEFORE ? at - ETCH_ERROR_BEFORE : 0;
	end += sprintf(end, from ? "..." : "");
	end = etch_error_escape(end, input + from, at - from);
	caret = end - shown;
	end = etch_error_escape(end, input + at, min(len - at, ETCH_ERROR_BYTES - (at - from)));
	sprintf(end, len - from > ETCH_ERROR_BYTES ? "..." : "");

	return kasprintf(GFP_KERNEL, "[%5llu.%06u] %s: error: %s\n  Command: %s\n%*s^\n",
			 sec, rem / (unsigned int)NSEC_PER_USEC, where, why, shown,
			 (int)(strlen("  Command: ") + caret), "");
}

/**
 * etch_error() - remember an error for error_log
 * @inst: whose file was written to
 * @where: which one, from the instance's folder
 * @input: the text that the user wrote, up to the first zero
 * @at: the byte of @input that is wrong
 * @why: a sentence, without a full stop; printf's format
 *
 * If there is no memory, the error is not remembered.
 *
 * Context: process, may sleep.
 */
void etch_error(struct etch_instance *inst, const char *where, const char *input,
		unsigned int at, const char *why, ...)
{
	struct etch_error_entry *error, *oldest = NULL;
	char *sentence;
	va_list args;

	va_start(args, why);
	sentence = kvasprintf(GFP_KERNEL, why, args);
	va_end(args);
	error = kzalloc(sizeof(*error), GFP_KERNEL);
	if (error && sentence)
		error->text = etch_error_text(where, input, at, sentence);
	kfree(sentence);
	if (!error || !error->text) {
		kfree(error);
		return;
	}

	mutex_lock(&inst->errors_lock);
	list_add_tail(&error->node, &inst->errors);
	if (inst->nr_errors++ == ETCH_ERRORS) {
		oldest = list_first_entry(&inst->errors, struct etch_error_entry, node);
		list_del(&oldest->node);
		inst->nr_errors--;
	}
	mutex_unlock(&inst->errors_lock);
	if (oldest)
		etch_error_free(oldest);
}

/**
 * etch_errors_show() - print what is remembered, the oldest first
 * @m: the file
 * @inst: the instance
 *
 * Context: process, may sleep.
 */
void etch_errors_show(struct seq_file *m, struct etch_instance *inst)
{
	struct etch_error_entry *error;

	mutex_lock(&inst->errors_lock);
	list_for_each_entry(error, &inst->errors, node)
		seq_puts(m, error->text);
	mutex_unlock(&inst->errors_lock);
}

/**
 * etch_errors_clear() - forget what is remembered
 * @inst: the instance
 *
 * Context: process, may sleep.
 */
void etch_errors_clear(struct etch_instance *inst)
{
	struct etch_error_entry *error, *next;

	mutex_lock(&inst->errors_lock);
	list_for_each_entry_safe(error, next, &inst->errors, node)
		etch_error_free(error);
	INIT_LIST_HEAD(&inst->errors);
	inst->nr_errors = 0;
	mutex_unlock(&inst->errors_lock);
}
