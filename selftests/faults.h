/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_FAULTS_H
#define _ETCH_FAULTS_H

/*
 * Having one allocation fail: the Nth that the kernel makes for this task.
 *
 * Wants CONFIG_FAILSLAB, CONFIG_FAIL_PAGE_ALLOC and CONFIG_FAULT_INJECTION_DEBUG_FS. What
 * may sleep is made to fail, too, and so is every size: by default neither is.
 */

#include <sys/mman.h>

#include "etch_test.h"

#define FAULTS		"/sys/kernel/debug"
#define NO_FAULTS	"no /proc/self/fail-nth: CONFIG_FAULT_INJECTION, CONFIG_FAILSLAB, " \
			"CONFIG_FAIL_PAGE_ALLOC and CONFIG_FAULT_INJECTION_DEBUG_FS"

/* More than any operation makes. */
#define FAULTS_NEVER	1000000000

static const struct {
	const char *file, *on, *off;
} faults_settings[] = {
	{ "failslab/ignore-gfp-wait", "N", "Y" },
	{ "failslab/verbose", "0", "2" },
	{ "fail_page_alloc/ignore-gfp-wait", "N", "Y" },
	{ "fail_page_alloc/ignore-gfp-highmem", "N", "Y" },
	{ "fail_page_alloc/min-order", "0", "1" },
	{ "fail_page_alloc/verbose", "0", "2" },
};

static inline bool have_faults(void)
{
	return !access("/proc/self/fail-nth", W_OK) && !access(FAULTS "/failslab", F_OK) &&
	       !access(FAULTS "/fail_page_alloc", F_OK);
}

static inline int faults_set(bool on)
{
	int err = 0;

	for (size_t i = 0; i < ARRAY_LEN(faults_settings) && !err; i++)
		err = write_file(FAULTS, faults_settings[i].file,
				 on ? faults_settings[i].on : faults_settings[i].off);
	return err;
}

/*
 * Open for who calls it: no other task's allocations fail. Its own memory is there from now
 * on, so that no page of it is what fails.
 */
static inline int faults_open(void)
{
	int fd = open("/proc/self/fail-nth", O_RDWR | O_CLOEXEC);

	if (fd < 0 || mlockall(MCL_CURRENT | MCL_FUTURE) || faults_set(true))
		give_up("fail-nth");
	return fd;
}

static inline void faults_close(int fd)
{
	faults_set(false);
	munlockall();
	close(fd);
}

static inline void faults_arm(int fd, unsigned int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth);

	if (pwrite(fd, text, len, 0) != len)
		give_up("fail-nth: %u", nth);
}

/* Returns how many allocations more it would have taken: 0, one has failed. */
static inline unsigned int faults_disarm(int fd)
{
	char text[16] = "";

	if (pread(fd, text, sizeof(text) - 1, 0) <= 0)
		give_up("fail-nth");
	faults_arm(fd, 0);
	return strtoul(text, NULL, 10);
}

#endif /* _ETCH_FAULTS_H */
