/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_ETCH_PROBE_H
#define _LINUX_ETCH_PROBE_H

/*
 * Probe events (kprobes, uprobes, fprobes) as events of Etch: what kernel/trace/, which parses
 * their definitions and fetches their arguments, and kernel/etch/source/probe.c know of each
 * other.
 *
 * A definition has a struct trace_probe_event, which ftrace, perf and Etch share, and there a
 * pointer to Etch's half, the struct etch_probe. The record has the arguments in their order:
 *
 *	struct etch_head	as all records
 *	u64			the address of the probe; of a return probe the function's and
 *				the one it returns to
 *	arguments		each aligned like its type, to 4 bytes at most; a string is a
 *				word with its place and length, an array of strings several
 *	strings
 *
 * LOCKS: event_mutex inside etch_mutex. Code that changes definitions holds event_mutex, so it
 * calls etch_probe_define() and etch_probe_forget(), which only note what happened, and
 * etch_probes_sync() when it has let go of all locks.
 */

#include <linux/types.h>

struct etch_probe;
struct etch_probe_counts;
struct trace_probe;

/* Etch's own headers are for 64-bit kernels. */
#ifdef CONFIG_ETCH_PROBES
#include <linux/compiler.h>
#include <linux/etch.h>
#include <linux/limits.h>
#include <linux/sizes.h>

struct etch_probe_text;
struct trace_probe_event;

/**
 * struct etch_probe_head - what the records of probes start with
 * @head: as all have
 * @addr: addresses: one, or two of a return probe
 */
struct etch_probe_head {
	struct etch_head head;
	u64 addr[];
} __packed __aligned(4);

static __always_inline struct etch_probe_head *etch_probe_head(void *record)
{
	return record;
}

/* A record with more bytes than a string's word can say is lost, as too big. */
#define ETCH_PROBE_TOO_BIG	SZ_16M

/**
 * struct etch_probe - the half of a definition that is Etch's
 * @mask: the instances that record it; as the event's own, but for writers to read
 * @size: bytes of a record, strings left out
 * @plain: fetching the arguments cannot fail, and stores all their bytes
 * @strings: an argument is a string
 * @user: its addresses are those of a program
 * @returns: its probes are hit when a function returns
 * @offsets: of the arguments in a record
 * @event: the event
 * @class: its layout
 * @fields: of @class
 * @texts: how the arguments are printed
 * @tpe: the definition, NULL once it has gone; under event_mutex
 * @known: @event is registered; under etch_mutex
 * @node: in one of probe.c's lists
 */
struct etch_probe {
	u64 mask;
	u16 size;
	bool plain;
	bool strings;
	bool user;
	bool returns;
	u16 *offsets;
	struct etch_event event;
	struct etch_class class;
	struct etch_field *fields;
	struct etch_probe_text *texts;
	struct trace_probe_event *tpe;
	bool known;
	struct list_head node;
};

static __always_inline unsigned int etch_probe_len(const struct etch_probe *probe,
						   unsigned int strings)
{
	unsigned int len = probe->size + strings;

	return likely(len <= U16_MAX) ? len : ETCH_PROBE_TOO_BIG;
}

/**
 * struct etch_probe_counts - the hits of an event's probes
 * @counted: the probes count hits
 * @hits: how often they were hit, for any tracer
 * @missed: how often they were hit and could not be handled
 */
struct etch_probe_counts {
	bool counted;
	unsigned long hits;
	unsigned long missed;
};

int etch_probe_define(struct trace_probe *tp);
bool etch_probe_busy(const struct etch_probe *probe);
void etch_probe_forget(struct etch_probe *probe);
void etch_probes_sync(void);
void etch_probe_error(const char *command, const char *why, int at);
void etch_probe_fill(const struct etch_probe *probe, void *record, u32 *last, unsigned int start,
		     unsigned int left);
#else
static inline int etch_probe_define(struct trace_probe *tp)
{
	return 0;
}

static inline bool etch_probe_busy(const struct etch_probe *probe)
{
	return false;
}

static inline void etch_probe_forget(struct etch_probe *probe)
{
}

static inline void etch_probes_sync(void)
{
}

static inline void etch_probe_error(const char *command, const char *why, int at)
{
}
#endif

#endif /* _LINUX_ETCH_PROBE_H */
