/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long a record is, where its dynamic fields go, and the sources of their content.
 * The event in struct.h expands into
 *
 *	struct etch_dyn_lookup {
 *		u32 name;
 *		const void *name_ptr_;
 *	};
 *
 *	static inline notrace unsigned int
 *	etch_len_lookup(struct etch_dyn_lookup *__dyn, u64 key, const char *name)
 *	{
 *		struct etch_raw_lookup __maybe_unused *entry;
 *		unsigned int __end = offsetof(typeof(*entry), __data);
 *
 *		{
 *			const char *__src = __string_src(name);
 *
 *			__dyn->name_ptr_ = __src;
 *			etch_dynamic(&__end, &__dyn->name, ETCH_ALIGN(char),
 *				     (strlen(__src) + 1) * sizeof(char), 0);
 *		}
 *		return __end;
 *	}
 *
 * Not __always_inline: the compiler refuses that where a length is taken of a
 * va_list.
 */

/* For __string_src(), and for the sizes that __assign_bitmask() uses. */
#include <trace/stages/stage5_get_offsets.h>
#include <trace/etch/verbs.h>

/* The offsets, and for strings the source, so that it is looked at once. */

#undef __etch_field
#define __etch_field(type, item)

#undef __etch_struct
#define __etch_struct(type, item)

#undef __etch_array
#define __etch_array(type, item, len)

#undef __etch_dynamic
#define __etch_dynamic(loc, type, item, len) u32 item; const void *item##_ptr_;

#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(call, proto, args, tstruct, assign, print)	\
	struct etch_dyn_##call {					\
		tstruct							\
	};

#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)

/* The lengths. */

#define __etch_base_data(item)	0
#define __etch_base_rel(item)						\
	(offsetof(typeof(*entry), __rel_loc_##item) + sizeof(u32))

#undef __etch_dynamic
#define __etch_dynamic(loc, type, item, len)				\
	etch_dynamic(&__end, &__dyn->item, ETCH_ALIGN(type),		\
		     (len) * sizeof(type), __etch_base_##loc(item));

#undef __etch_string
#define __etch_string(loc, item, src)					\
	{								\
		const char *__src = __string_src(src);		\
									\
		__dyn->item##_ptr_ = __src;				\
		__etch_dynamic(loc, char, item, strlen(__src) + 1)	\
	}

#undef __etch_string_len
#define __etch_string_len(loc, item, src, len)				\
	__dyn->item##_ptr_ = src;					\
	__etch_dynamic(loc, char, item, (len) + 1)

#undef __etch_cpumask
#define __etch_cpumask(loc, item)					\
	__etch_dynamic(loc, unsigned long, item, BITS_TO_LONGS(nr_cpumask_bits))

#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(call, proto, args, tstruct, assign, print)	\
static inline notrace unsigned int					\
etch_len_##call(struct etch_dyn_##call *__dyn, proto)			\
{									\
	struct etch_raw_##call __maybe_unused *entry;			\
	unsigned int __end = offsetof(typeof(*entry), __data);		\
									\
	tstruct								\
									\
	return __end;							\
}

#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)

#undef __etch_base_data
#undef __etch_base_rel
