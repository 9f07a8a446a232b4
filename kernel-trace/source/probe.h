/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_SOURCE_PROBE_H
#define _KERNEL_ETCH_SOURCE_PROBE_H

/*
 * Probe events: probe.c has their way from definitions to events, probe_layout.c what a record
 * of one looks like, and as text, and probe_files.c the files that define them.
 */

#include <linux/etch_probe.h>

struct etch_event;

/* ---- probe_layout.c ---- */

struct etch_probe *etch_probe_make(struct trace_probe *tp);
void etch_probe_free(struct etch_probe *probe);

/* ---- probe.c ---- */

struct etch_probe *etch_probe_of(const struct etch_event *event);

#endif /* _KERNEL_ETCH_SOURCE_PROBE_H */
