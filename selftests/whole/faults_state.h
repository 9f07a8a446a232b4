/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_FAULTS_STATE_H
#define _ETCH_FAULTS_STATE_H

/* The state that must not change when an operation fails. For faults.c alone. */

#include "packets.h"
#include "sample.h"

#define TREE		ETCH "/instances/etch-faults"
#define OTHER		ETCH "/instances/etch-faults-other"

#define STATE_MAX	(1 << 16)

unsigned int count_files(const char *path, bool deep);
void state_of(char state[STATE_MAX]);
bool same_state(const char *was, const char *is);
long long memory_of(const char *name);
void shrink_caches(void);

#endif /* _ETCH_FAULTS_STATE_H */
