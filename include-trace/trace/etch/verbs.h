/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The verbs of TP_STRUCT__entry(), said in seven primitives. An expansion
 * defines the primitives and includes this file; it does not restate the verbs.
 *
 *	__etch_field(type, item)		one value
 *	__etch_struct(type, item)		one struct or union
 *	__etch_array(type, item, len)		len elements
 *	__etch_dynamic(loc, type, item, len)	len elements, known when it is hit
 *	__etch_string(loc, item, src)		a copy of src, a pointer or NULL
 *	__etch_string_len(loc, item, src, len)	of its first len characters
 *	__etch_cpumask(loc, item)		a bit for each possible CPU
 *
 * loc is data or rel: what the offset of a dynamic field counts from.
 */

#undef __field
#define __field(type, item)		__etch_field(type, item)

#undef __field_ext
#define __field_ext(type, item, filter)	__etch_field(type, item)

#undef __field_struct
#define __field_struct(type, item)	__etch_struct(type, item)

#undef __field_struct_ext
#define __field_struct_ext(type, item, filter) __etch_struct(type, item)

#undef __array
#define __array(type, item, len)	__etch_array(type, item, len)

#undef __dynamic_array
#define __dynamic_array(type, item, len) __etch_dynamic(data, type, item, len)

#undef __string
#define __string(item, src)		__etch_string(data, item, src)

#undef __string_len
#define __string_len(item, src, len)	__etch_string_len(data, item, src, len)

#undef __vstring
#define __vstring(item, fmt, ap)					\
	__etch_dynamic(data, char, item, __trace_event_vstr_len(fmt, ap))

#undef __bitmask
#define __bitmask(item, nr_bits)					\
	__etch_dynamic(data, unsigned long, item, BITS_TO_LONGS(nr_bits))

#undef __cpumask
#define __cpumask(item)			__etch_cpumask(data, item)

#undef __sockaddr
#define __sockaddr(item, len)		__etch_dynamic(data, u8, item, len)

#undef __rel_dynamic_array
#define __rel_dynamic_array(type, item, len) __etch_dynamic(rel, type, item, len)

#undef __rel_string
#define __rel_string(item, src)		__etch_string(rel, item, src)

#undef __rel_string_len
#define __rel_string_len(item, src, len) __etch_string_len(rel, item, src, len)

#undef __rel_bitmask
#define __rel_bitmask(item, nr_bits)					\
	__etch_dynamic(rel, unsigned long, item, BITS_TO_LONGS(nr_bits))

#undef __rel_cpumask
#define __rel_cpumask(item)		__etch_cpumask(rel, item)

#undef __rel_sockaddr
#define __rel_sockaddr(item, len)	__etch_dynamic(rel, u8, item, len)

#undef TP_STRUCT__entry
#define TP_STRUCT__entry(args...)	args
