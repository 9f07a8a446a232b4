// SPDX-License-Identifier: GPL-2.0

#include <sys/syscall.h>
#include <sys/utsname.h>

#include "sample.h"

/* The reason to skip a test without the module. */
const char *no_sample(void)
{
	return have_modules() ? "no etch-sample.ko: CONFIG_SAMPLE_ETCH=m, or set ETCH_SAMPLE_KO"
			      : NO_MODULES;
}

const char *sample_path(void)
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

int sample_load(void)
{
	int fd = open(sample_path(), O_RDONLY | O_CLOEXEC);
	int err = 0;

	if (syscall(SYS_finit_module, fd, "", 0))
		err = errno;
	close(fd);
	return err;
}

int sample_unload(void)
{
	return syscall(SYS_delete_module, SAMPLE, O_NONBLOCK) ? errno : 0;
}
