/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of threads, as they were when a record was written: by the tasks that the recorder
 * noted, by packets, and by records that tell of a name. There is one name for each thread
 * that the trace has, however long the trace is.
 */
#ifndef _ETCH_COMM_H
#define _ETCH_COMM_H

#include "read/read.h"

#define COMM_ROOM	17

struct comms;

/* NULL: no memory, said. */
struct comms *comms_open(struct etch_source *source);
void comms_close(struct comms *comms);
/* What a record, or the packet that it is in, tells. Before the name of its thread is used. */
void comms_learn(struct comms *comms, const struct etch_record *rec);
/* "<...>" if nobody knows. */
const char *comm_of(const struct comms *comms, int pid);

#endif /* _ETCH_COMM_H */
