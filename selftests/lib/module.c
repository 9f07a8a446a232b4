// SPDX-License-Identifier: GPL-2.0

#include <sys/syscall.h>
#include <sys/utsname.h>

#include "module.h"

/*
 * The file @name.ko: the one that @env names in the environment, or else the one beside the
 * test, or else the one in @folder of this kernel's modules. NULL if there is none. The next
 * call overwrites it.
 */
const char *module_path(const char *env, const char *folder, const char *name)
{
	const char *chosen = env ? getenv(env) : NULL;
	static char path[512];
	struct utsname uts;

	if (chosen && !access(chosen, R_OK))
		return chosen;
	snprintf(path, sizeof(path), "%s.ko", name);
	if (!access(path, R_OK))
		return path;
	uname(&uts);
	snprintf(path, sizeof(path), "/lib/modules/%s/kernel/%s/%s.ko", uts.release, folder, name);
	return access(path, R_OK) ? NULL : path;
}

/* Loads the module in the file @path. Returns 0 or an errno. */
int module_load(const char *path, const char *parameters)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = 0;

	if (syscall(SYS_finit_module, fd, parameters, 0))
		err = errno;
	close(fd);
	return err;
}

/* Returns 0 or an errno: EAGAIN if the module is in use. */
int module_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? errno : 0;
}
