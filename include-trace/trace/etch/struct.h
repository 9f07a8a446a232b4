/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The payload struct of each event class. This event
 *
 *	TRACE_EVENT(lookup,
 *		TP_PROTO(u64 key, const char *name),
 *		TP_ARGS(key, name),
 *		TP_STRUCT__entry(
 *			__field(u64, key)
 *			__string(name, name)
 *		),
 *		TP_fast_assign(
 *			__entry->key = key;
 *			__assign_str(name);
 *		),
 *		TP_printk("key=%llu name=%s", __entry->key, __get_str(name))
 *	);
 *
 * expands into
 *
 *	struct etch_raw_lookup {
 *		struct etch_head ent;
 *		u64 key __aligned(ETCH_ALIGN(u64));
 *		u32 __data_loc_name __aligned(4);
 *		char __data[];
 *	} __packed __aligned(4);
 *
 * Packed takes the natural alignment away, and aligned gives back at most 4.
 *
 * What an expansion's head says that it expands into is compared with what the
 * preprocessor makes of it, in each of these files.
 */

#define __etch_aligned(type)	__aligned(ETCH_ALIGN(type))

#undef __etch_field
#define __etch_field(type, item)	type item __etch_aligned(type);

#undef __etch_struct
#define __etch_struct(type, item)	type item __etch_aligned(type);

#undef __etch_array
#define __etch_array(type, item, len)	type item[len] __etch_aligned(type);

#undef __etch_dynamic
#define __etch_dynamic(loc, type, item, len) u32 __##loc##_loc_##item __aligned(4);

#undef __etch_string
#define __etch_string(loc, item, src)	__etch_dynamic(loc, char, item, 0)

#undef __etch_string_len
#define __etch_string_len(loc, item, src, len) __etch_dynamic(loc, char, item, 0)

#undef __etch_cpumask
#define __etch_cpumask(loc, item)	__etch_dynamic(loc, unsigned long, item, 0)

#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(call, proto, args, tstruct, assign, print)	\
	struct etch_raw_##call {					\
		struct etch_head ent;					\
		tstruct							\
		char __data[];						\
	} __packed __aligned(4);

#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)

#undef __etch_aligned
