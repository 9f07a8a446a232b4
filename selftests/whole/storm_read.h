/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_STORM_READ_H
#define _ETCH_STORM_READ_H

/* Operations of a storm's workers that read. For storm.c alone. */

#include "storm_worker.h"
#include "text.h"

void op_read_trace(struct worker *w);
void op_read_pipe(struct worker *w);
void op_read_lists(struct worker *w);
void op_visit(struct worker *w);
void op_list(struct worker *w);
void op_forget(struct worker *w);
void op_take(struct worker *w);
void op_collect(struct worker *w);
void op_read_snapshot(struct worker *w);
void op_poll(struct worker *w);
void op_wait_text(struct worker *w);
void op_wait_packets(struct worker *w);
const char *storm_recorder(void);
void op_record(struct worker *w);
void op_collect_text(struct worker *w);

#endif /* _ETCH_STORM_READ_H */
