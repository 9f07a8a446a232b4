/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_SAMPLE_H
#define _ETCH_SAMPLE_H

/*
 * The module samples/etch/etch-sample, looked for in $ETCH_SAMPLE_KO, beside the test
 * and among the modules of this kernel. Functions return 0 or an errno.
 */

#include <sys/syscall.h>
#include <sys/utsname.h>

#include "etch_test.h"

#define SAMPLE			"etch_sample"
#define SAMPLE_PARAMETERS	"/sys/module/" SAMPLE "/parameters"

/* What to say when there is none. */
static inline const char *no_sample(void)
{
	return have_modules() ? "no etch-sample.ko: CONFIG_SAMPLE_ETCH=m, or set ETCH_SAMPLE_KO"
			      : NO_MODULES;
}

static inline const char *sample_path(void)
{
	static char path[512];
	struct utsname uts;
	const char *env = getenv("ETCH_SAMPLE_KO");

	if (env && !access(env, R_OK))
		return env;
	if (!access("etch-sample.ko", R_OK))
		return "etch-sample.ko";
	uname(&uts);
	snprintf(path, sizeof(path), "/lib/modules/%s/kernel/samples/etch/etch-sample.ko",
		 uts.release);
	return access(path, R_OK) ? NULL : path;
}

static inline int sample_load(void)
{
	int fd = open(sample_path(), O_RDONLY | O_CLOEXEC);
	int err = 0;

	if (syscall(SYS_finit_module, fd, "", 0))
		err = errno;
	close(fd);
	return err;
}

static inline int sample_unload(void)
{
	return syscall(SYS_delete_module, SAMPLE, O_NONBLOCK) ? errno : 0;
}

#endif /* _ETCH_SAMPLE_H */
