/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_MODULE_H
#define _ETCH_MODULE_H

/* Loading and unloading modules. */

#include "etch.h"

const char *module_path(const char *env, const char *folder, const char *name);
int module_load(const char *path, const char *parameters);
int module_unload(const char *name);

#endif /* _ETCH_MODULE_H */
