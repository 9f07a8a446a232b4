/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_TEST_NMI_H
#define _KERNEL_ETCH_TEST_NMI_H

/*
 * Non-maskable interrupts for tests. Without CONFIG_ETCH_TEST_NMI there are none,
 * and starting them succeeds all the same.
 */

#ifdef CONFIG_ETCH_TEST_NMI
int etch_test_nmis_start(void (*hit)(void));
void etch_test_nmis_stop(void);
#else
static inline int etch_test_nmis_start(void (*hit)(void))
{
	return 0;
}

static inline void etch_test_nmis_stop(void) { }
#endif

#endif /* _KERNEL_ETCH_TEST_NMI_H */
