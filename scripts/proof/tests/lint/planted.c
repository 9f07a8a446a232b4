// SPDX-License-Identifier: GPL-2.0
/* Lines that the compiler with W=1, or sparse, has to report, and others. */

#include <linux/spinlock.h>
#include <linux/uaccess.h>

static DEFINE_SPINLOCK(planted_lock);
void *planted_pointer; /* BAD: sparse */

int planted_function(void) /* BAD: gcc sparse */
{
	return 0;
}

static void __maybe_unused planted_variable(int from)
{
	int to; /* BAD: gcc */

	to = from;
}

static unsigned long __maybe_unused planted_user(void *to, const void *from)
{
	return copy_from_user(to, from, 1); /* BAD: sparse */
}

static unsigned long __maybe_unused right_user(void *to, const void __user *from)
{
	return copy_from_user(to, from, 1);
}

static void __maybe_unused planted_imbalance(bool whether) /* BAD: sparse */
{
	spin_lock(&planted_lock);
	if (whether)
		return;
	spin_unlock(&planted_lock);
}

static void __maybe_unused right_balance(void)
{
	spin_lock(&planted_lock);
	spin_unlock(&planted_lock);
}
