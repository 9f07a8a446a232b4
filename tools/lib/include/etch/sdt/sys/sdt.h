/* SPDX-License-Identifier: GPL-2.0 */
/* For a program whose sources say <sys/sdt.h>: compile it with "-I PREFIX/include/etch/sdt". */
#include <etch/sdt.h>
