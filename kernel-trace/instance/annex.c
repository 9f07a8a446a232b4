// SPDX-License-Identifier: GPL-2.0
/*
 * The room that keeps records of instances outside of their rings, if there is one.
 */

#include <linux/cache.h>

#include "instance/instance.h"

const struct etch_annex *etch_annex __ro_after_init;
