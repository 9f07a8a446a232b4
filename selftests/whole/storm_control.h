/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_STORM_CONTROL_H
#define _ETCH_STORM_CONTROL_H

/* Operations of a storm's workers that change something. For storm.c alone. */

#include "sample.h"
#include "storm_worker.h"

void op_all_events(struct worker *w);
void op_systems(struct worker *w);
void op_set_event(struct worker *w);
void op_size(struct worker *w);
void op_subbuf(struct worker *w);
void op_clock(struct worker *w);
void op_mode(struct worker *w);
void op_on(struct worker *w);
void op_percent(struct worker *w);
void op_flush(struct worker *w);
void op_snapshot(struct worker *w);
void op_empty(struct worker *w);
void op_mark(struct worker *w);
void op_statedump(struct worker *w);
void op_nonsense(struct worker *w);
void op_instance(struct worker *w);
void op_module(struct worker *w);
void op_hotplug(struct worker *w);
void op_suspend(struct worker *w);
const char *suspend_prepare(void);

#endif /* _ETCH_STORM_CONTROL_H */
