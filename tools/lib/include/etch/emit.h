/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_EMIT_H
#define _ETCH_EMIT_H

/*
 * libetch: events of programs for other languages than C and C++, which have <etch/user.h>.
 *
 *	event = etch_event("server", "request", "u32 id; string path");
 *	if (etch_event_enabled(event))
 *		etch_emit(event, fields, len);
 *
 * The bytes at fields are those of a record: numbers as in memory, each aligned to its size, to 4
 * at most; for a string, a 32-bit word with the place of its bytes, counted from 12 before the
 * fields, in the lower half, and how many there are, with a zero behind, in the upper one. The
 * strings' bytes stand behind all fields.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * etch_event() - register an event
 * @provider: the provider's name, of letters, digits and underscores
 * @event: its own name, the same
 * @fields: "TYPE NAME; TYPE NAME": u8 to u64, s8 to s64, bool, char, string; or "u32 NAME[4]"
 *
 * Context: any thread; not in a handler of a signal.
 * Return: a number for the event, which it has until the process ends; or a negative errno: that
 * of opening /dev/etch, -EINVAL, -EEXIST: the provider is a part of the kernel; -EDQUOT or -E2BIG:
 * the user, or the process, has as many events as there may be.
 */
int etch_event(const char *provider, const char *event, const char *fields);

/**
 * etch_event_enabled() - does anybody want the event?
 * @event: of etch_event()
 *
 * Context: any.
 * Return: true if so; false if there is no such event.
 */
int etch_event_enabled(int event);

/**
 * etch_event_gate() - where is what etch_event_enabled() looks at?
 * @event: of etch_event()
 *
 * Context: any.
 * Return: a word that is not 0 while the event is enabled; or NULL.
 */
const volatile uint32_t *etch_event_gate(int event);

/**
 * etch_emit() - record an event, if it is enabled
 * @event: of etch_event()
 * @fields: its fields
 * @len: how many bytes; above 4096, a multiple of 4
 *
 * A record that cannot be stored is counted as lost.
 *
 * Context: any, a handler of a signal included.
 * Return: 0; -EINVAL: that is no event, or too many bytes.
 */
int etch_emit(int event, const void *fields, size_t len);

#ifdef __cplusplus
}
#endif

#endif /* _ETCH_EMIT_H */
