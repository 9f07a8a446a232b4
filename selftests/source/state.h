/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_STATE_H
#define _ETCH_STATE_H

/* Dumps of the machine's state, and their records. */

#include "text.h"

#define NO_STATEDUMP	"no " ETCH "/statedump: CONFIG_ETCH_STATEDUMP"

/* The kinds of records: the last word of the event, and the name of their number. */
struct state_kind {
	const char *event, *count;
};

#define NR_STATE_KINDS	8
extern const struct state_kind state_kinds[NR_STATE_KINDS];

const char *no_statedump(void);
struct trace state_dump(const char *tree);
long long state_value(const char *text, const char *name);
const char *state_word(const char *text, const char *name);
__printf(3, 4) const struct record *state_find(const struct trace *trace, const char *event,
					       const char *fmt, ...);

#endif /* _ETCH_STATE_H */
