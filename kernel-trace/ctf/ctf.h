/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_CTF_H
#define _KERNEL_ETCH_CTF_H

/*
 * Records as packets of Common Trace Format, and what describes them.
 */

#include "tree/tree.h"

/* ---- packet.c: sub-buffers as packets ---- */

void etch_instance_flush(struct etch_instance *inst, int want);

/* ---- snapshot.c: packets of one moment ---- */

/* The first two under etch_mutex. */
int etch_snapshot_take_of(struct etch_instance *inst, u64 time);
int etch_snapshot_take(struct etch_instance *inst);
void etch_snapshot_drop(struct etch_instance *inst);
/* Under its read_mutex. */
int etch_snapshot_moment(const struct etch_instance *inst, u64 *time);

/* ---- metadata.c: what packets are made of ---- */

int etch_metadata_text(struct seq_file *m, struct etch_instance *inst,
		       const struct etch_event *event);

/* ---- metadata_clock.c: clocks for readers of binary traces ---- */

void etch_origin_get(enum etch_clock clock, struct etch_origin *origin);

extern const struct file_operations etch_metadata_fops, etch_raw_fops, etch_snapshot_fops;

/* ---- user_pipe.c, user_snapshot.c: packets of programs' records; with CONFIG_ETCH_USER ---- */

extern const struct file_operations etch_user_raw_fops, etch_user_snapshot_fops;

#endif /* _KERNEL_ETCH_CTF_H */
