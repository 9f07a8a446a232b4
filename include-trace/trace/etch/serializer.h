/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The serializer: reserve, fill in place, commit. The event in struct.h expands
 * into
 *
 *	static __maybe_unused noinline notrace void
 *	etch_write_lookup(u64 __who, u64 key, const char *name,
 *			  const struct etch_event *__event)
 *	{
 *		struct etch_dyn_lookup __maybe_unused __uninitialized __data_offsets;
 *		struct etch_raw_lookup *entry;
 *		struct etch_write __w;
 *
 *		__w = etch_write_begin(__who, __event,
 *				       etch_len_lookup(&__data_offsets, key, name));
 *		entry = __w.record;
 *		if (!entry)
 *			return;
 *		entry->__data_loc_name = __data_offsets.name;
 *		{
 *			entry->key = key;
 *			do {
 *				char *__str__ = ((char *)((void *)entry +
 *					(entry->__data_loc_name & 0xffff)));
 *				int __len__ = ((entry->__data_loc_name >> 16) & 0xffff) - 1;
 *				memcpy(__str__, __data_offsets.name_ptr_ ? :
 *				       EVENT_NULL_STR, __len__);
 *				__str__[__len__] = '\0';
 *			} while (0);
 *		}
 *		etch_write_end_quick(__w.ring);
 *	}
 *
 * The verbs of TP_fast_assign(), here __assign_str(), are the kernel's own.
 *
 * Out of line, so that a stub which is called for ftrace or perf alone saves no
 * registers for it. What the gate says takes the place of the stub's first argument, so that
 * the event's own arguments stay in the registers that the stub was called with.
 */

#include <trace/stages/stage6_event_callback.h>
#include <trace/etch/verbs.h>

#undef __etch_dynamic
#define __etch_dynamic(loc, type, item, len)				\
	__entry->__##loc##_loc_##item = __data_offsets.item;

#undef __etch_string
#define __etch_string(loc, item, src)	__etch_dynamic(loc, char, item, 0)

#undef __etch_string_len
#define __etch_string_len(loc, item, src, len) __etch_dynamic(loc, char, item, 0)

#undef __etch_cpumask
#define __etch_cpumask(loc, item)	__etch_dynamic(loc, unsigned long, item, 0)

#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(call, proto, args, tstruct, assign, print)	\
static __maybe_unused noinline notrace void				\
etch_write_##call(u64 __who, proto, const struct etch_event *__event)	\
{									\
	struct etch_dyn_##call __maybe_unused __uninitialized __data_offsets; \
	struct etch_raw_##call *entry;					\
	struct etch_write __w;						\
									\
	__w = etch_write_begin(__who, __event,				\
			       etch_len_##call(&__data_offsets, args));	\
	entry = __w.record;						\
	if (!entry)							\
		return;							\
									\
	tstruct								\
									\
	{ assign; }							\
									\
	etch_write_end_quick(__w.ring);					\
}

#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)
