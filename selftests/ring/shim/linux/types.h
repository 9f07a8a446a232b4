/* SPDX-License-Identifier: GPL-2.0 */
/* The C library's headers want the one of this name, too. */
#include_next <linux/types.h>
#include "../shim.h"
