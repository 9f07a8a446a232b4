/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_IMMEDIATE_TEST_H
#define _KERNEL_ETCH_IMMEDIATE_TEST_H

/*
 * Values that are set while everybody reads them; shared by immediate_test.c and
 * the module immediate_test_mod.c.
 */

#include <linux/bits.h>
#include <linux/immediate.h>

DECLARE_IMV(u8, imv_test_8);
DECLARE_IMV(u16, imv_test_16);
DECLARE_IMV(u32, imv_test_32);
DECLARE_IMV(u64, imv_test_64);

/* What they are set to besides zero: no byte of one is a byte of the other. */
#define IMV_TEST_A	0x1122334455667788ULL
#define IMV_TEST_B	0x99aabbccddeeff0fULL

/* As much of a constant as a value holds; a cast alone is a mistake for sparse. */
#define imv_test_part(name, value)						\
	((__imv_type_##name)((value) &						\
			     GENMASK_ULL(8 * sizeof(__imv_type_##name) - 1, 0)))

/* Reads once. */
#define imv_test_is_bad(name) ({						\
	__imv_type_##name __value = imv_read(name);				\
										\
	__value != imv_test_part(name, IMV_TEST_A) &&				\
	__value != imv_test_part(name, IMV_TEST_B) && __value;			\
})

/**
 * imv_test_read() - read all of them once, at sites of the caller's own
 *
 * Context: any, NMI included.
 * Return: how many of the four were none of the values that they are set to.
 */
static __always_inline unsigned int imv_test_read(void)
{
	unsigned int bad = 0;

	bad += imv_test_is_bad(imv_test_8);
	bad += imv_test_is_bad(imv_test_16);
	bad += imv_test_is_bad(imv_test_32);
	bad += imv_test_is_bad(imv_test_64);
	return bad;
}

int imv_test_run(unsigned long times);
long imv_test_bad(void);

#endif /* _KERNEL_ETCH_IMMEDIATE_TEST_H */
