/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_SOURCE_PROBE_STORE_H
#define _KERNEL_ETCH_SOURCE_PROBE_STORE_H

/*
 * From the hit of a probe to a record of Etch: what the kinds of probes in kernel/trace/ share.
 *
 * Each of them has a process_fetch_insn() of its own, so trace_probe_tmpl.h includes this file
 * behind the code that it takes from there. Without CONFIG_ETCH_PROBES it does nothing.
 */

#include <linux/etch_probe.h>

#ifdef CONFIG_ETCH_PROBES
#include <linux/cleanup.h>
#include <linux/etch_expand.h>
#include <linux/preempt.h>
#include <linux/string.h>

/*
 * Store one string, or an array of them, at @dl. Return how many bytes of the @maxlen behind
 * @record + @start they took.
 */
static nokprobe_inline int etch_probe_store_strings(struct probe_arg *arg, u32 *dl, void *record,
						    int start, void *rec, void *edata, int maxlen)
{
	int ret;

	*dl = make_data_loc(maxlen, start);
	ret = process_fetch_insn(arg->code, rec, edata, dl, record);
	if (ret <= 0) {
		memset(dl, 0, sizeof(*dl) * (arg->count ?: 1));
		return 0;
	}
	/* The name of a symbol leaves @dl as it is, and does not count its zero. */
	if (!arg->count && ret < get_loc_len(*dl))
		*dl = make_data_loc(++ret, start);
	return ret;
}

/*
 * Store the value of each argument into a record, which has @maxlen bytes for strings. An
 * argument that cannot be fetched is zero, or no string.
 */
static nokprobe_inline void etch_probe_store_args(const struct etch_probe *probe,
						  struct trace_probe *tp, void *record, void *rec,
						  void *edata, int maxlen)
{
	int i, used, start = probe->size;
	u32 *last = NULL;

	if (!probe->plain && tp->nr_args)
		memset(record + probe->offsets[0], 0, start - probe->offsets[0]);
	for (i = 0; i < tp->nr_args; i++) {
		struct probe_arg *arg = tp->args + i;
		void *dest = record + probe->offsets[i];

		if (likely(!arg->dynamic)) {
			fetch_store_arg(arg, rec, edata, dest, record);
			continue;
		}
		used = etch_probe_store_strings(arg, dest, record, start, rec, edata, maxlen);
		last = dest + sizeof(*last) * ((arg->count ?: 1) - 1);
		start += used;
		maxlen -= used;
	}
	/* A string may have become shorter since it was measured. */
	if (unlikely(maxlen && last))
		etch_probe_fill(probe, record, last, start, maxlen);
}

/*
 * Record a hit at @addr, or of a return probe the return from there to @ret. @rec and @edata
 * are what process_fetch_insn() takes.
 */
static nokprobe_inline void etch_probe_hit(struct trace_probe *tp, unsigned long addr,
					   unsigned long ret, void *rec, void *edata)
{
	struct etch_probe *probe;
	struct etch_write w;
	int dsize;
	u64 mask;

	/* Removing an instance, or the event, waits for this. */
	guard(preempt_notrace)();
	probe = READ_ONCE(tp->event->etch);
	mask = probe ? READ_ONCE(probe->mask) : 0;
	if (!mask)
		return;
	dsize = probe->strings ? __get_data_size(tp, rec, edata) : 0;
	w = etch_write_begin_mask(etch_probe_len(probe, dsize), &probe->event, mask);
	if (!w.record)
		return;
	etch_probe_head(w.record)->addr[0] = addr;
	if (probe->returns)
		etch_probe_head(w.record)->addr[1] = ret;
	etch_probe_store_args(probe, tp, w.record, rec, edata, dsize);
	etch_write_end_quick(w.ring);
}
#else
static inline void etch_probe_hit(struct trace_probe *tp, unsigned long addr, unsigned long ret,
				  void *rec, void *edata)
{
}
#endif

#endif /* _KERNEL_ETCH_SOURCE_PROBE_STORE_H */
