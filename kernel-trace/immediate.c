// SPDX-License-Identifier: GPL-2.0
/*
 * Immediate values, in the form that every architecture has: a value in memory
 * beside its branch. See include/linux/immediate.h.
 */
#include <linux/immediate.h>

/**
 * __imv_set() - change an embedded immediate value
 * @imv: the value
 * @value: what it is from now on
 *
 * The value is set before the branch opens and cleared after it has closed, so
 * that whoever comes through the branch finds a value.
 *
 * Context: process, may sleep. Calls on one value are serialised by the caller.
 * Return: 0. An architecture that patches code may fail with a negative errno
 * and leave everything as it was.
 */
int __imv_set(struct imv *imv, u64 value)
{
	if (value) {
		WRITE_ONCE(imv->value, value);
		static_key_enable(&imv->branch);
	} else {
		static_key_disable(&imv->branch);
		WRITE_ONCE(imv->value, 0);
	}
	return 0;
}
EXPORT_SYMBOL_GPL(__imv_set);
