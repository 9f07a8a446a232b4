/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_SAMPLE_H
#define _ETCH_SAMPLE_H

/*
 * The modules of samples/etch: etch-sample, which has events, and etch-ring-sample, which has
 * ring buffers. $ETCH_SAMPLE_KO and $ETCH_RING_SAMPLE_KO may name their files. Functions that
 * load and unload return 0 or an errno.
 */

#include "module.h"

#define SAMPLE			"etch_sample"
#define SAMPLE_PARAMETERS	"/sys/module/" SAMPLE "/parameters"

#define RING_SAMPLE		"etch_ring_sample"
#define RING_SAMPLE_FILES	"/sys/kernel/debug/etch-ring-sample"

const char *no_sample(void);
const char *sample_path(void);
int sample_load(void);
int sample_unload(void);
const char *ring_sample_path(void);
int ring_sample_load(const char *parameters);
int ring_sample_unload(void);

#endif /* _ETCH_SAMPLE_H */
