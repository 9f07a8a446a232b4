/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_IMMEDIATE_INTERNAL_H
#define _KERNEL_ETCH_IMMEDIATE_INTERNAL_H

/* What the tests of immediate.c need to know of it. */

#include <linux/immediate.h>

/* From the linker script. */
extern const struct imv_site __start___imv_table[], __stop___imv_table[];

#if IS_ENABLED(CONFIG_KUNIT)
int imv_poke_batch(const struct imv_poke *pokes, unsigned int nr);
int imv_note_early(const struct imv_change *changes, unsigned int nr);
int imv_set_noted(void);
#endif

#endif /* _KERNEL_ETCH_IMMEDIATE_INTERNAL_H */
