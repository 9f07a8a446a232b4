// SPDX-License-Identifier: GPL-2.0

#include <sys/mman.h>

#include "faults.h"

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

bool have_faults(void)
{
	return !access("/proc/self/fail-nth", W_OK) && !access(FAULTS "/failslab", F_OK) &&
	       !access(FAULTS "/fail_page_alloc", F_OK);
}

int faults_set(bool on)
{
	int err = 0;

	for (size_t i = 0; i < ARRAY_LEN(faults_settings) && !err; i++)
		err = write_file(FAULTS, faults_settings[i].file,
				 on ? faults_settings[i].on : faults_settings[i].off);
	return err;
}

/*
 * For the calling task: allocations of other tasks do not fail. The task's memory is locked
 * from here on, so that no page of it is the allocation that fails.
 */
int faults_open(void)
{
	int fd = open("/proc/self/fail-nth", O_RDWR | O_CLOEXEC);

	if (fd < 0 || mlockall(MCL_CURRENT | MCL_FUTURE) || faults_set(true))
		give_up("fail-nth");
	return fd;
}

void faults_close(int fd)
{
	faults_set(false);
	munlockall();
	close(fd);
}

void faults_arm(int fd, unsigned int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth);

	if (pwrite(fd, text, len, 0) != len)
		give_up("fail-nth: %u", nth);
}

/* Returns how many more allocations the armed failure needed; 0 if it has happened. */
unsigned int faults_disarm(int fd)
{
	char text[16] = "";

	if (pread(fd, text, sizeof(text) - 1, 0) <= 0)
		give_up("fail-nth");
	faults_arm(fd, 0);
	return strtoul(text, NULL, 10);
}
