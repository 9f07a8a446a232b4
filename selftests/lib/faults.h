/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_FAULTS_H
#define _ETCH_FAULTS_H

/*
 * Makes one allocation fail: the Nth that the kernel makes for this task.
 *
 * Needs CONFIG_FAILSLAB, CONFIG_FAIL_PAGE_ALLOC and CONFIG_FAULT_INJECTION_DEBUG_FS. By
 * default, allocations that may sleep do not fail, nor do single pages: here they do.
 */

#include "etch.h"

#define FAULTS		"/sys/kernel/debug"
#define NO_FAULTS	"no /proc/self/fail-nth: CONFIG_FAULT_INJECTION, CONFIG_FAILSLAB, " \
			"CONFIG_FAIL_PAGE_ALLOC and CONFIG_FAULT_INJECTION_DEBUG_FS"

/* More than any operation makes. */
#define FAULTS_NEVER	1000000000

bool have_faults(void);
int faults_set(bool on);
int faults_open(void);
void faults_close(int fd);
void faults_arm(int fd, unsigned int nth);
unsigned int faults_disarm(int fd);

#endif /* _ETCH_FAULTS_H */
