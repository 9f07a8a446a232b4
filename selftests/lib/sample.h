/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_SAMPLE_H
#define _ETCH_SAMPLE_H

/*
 * The module samples/etch/etch-sample, looked for in $ETCH_SAMPLE_KO, beside the test
 * and among the modules of this kernel. Functions return 0 or an errno.
 */

#include "etch.h"

#define SAMPLE			"etch_sample"
#define SAMPLE_PARAMETERS	"/sys/module/" SAMPLE "/parameters"

const char *no_sample(void);
const char *sample_path(void);
int sample_load(void);
int sample_unload(void);

#endif /* _ETCH_SAMPLE_H */
