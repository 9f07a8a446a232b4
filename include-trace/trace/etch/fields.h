/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The field descriptors. The event in struct.h expands into
 *
 *	static struct etch_field etch_fields_lookup[] __ro_after_init = {
 *		{
 *			.type = "u64", .name = "key",
 *			.size = sizeof(u64), .elem_size = sizeof(u64),
 *			.align = ETCH_ALIGN(u64), .kind = ETCH_FIELD_FIXED,
 *			.is_signed = is_signed_type(u64),
 *			.is_pointer = etch_is_string_pointer(u64),
 *			.is_string = etch_is_string_pointer(u64)
 *		}, {
 *			.type = "__data_loc char[]", .name = "name",
 *			.size = sizeof(u32), .elem_size = sizeof(char),
 *			.align = ETCH_ALIGN(char), .kind = ETCH_FIELD_DATA_LOC,
 *			.is_signed = is_signed_type(char),
 *			.is_string = etch_is_char(char)
 *		},
 *		{}
 *	};
 *
 * The empty one is there for events without fields. A primitive does not know
 * which class it stands in, so it cannot name the struct to take an offset from:
 * the offsets are added up when the event is registered, and checked against
 * the size of the struct.
 */

#undef __etch_field
#define __etch_field(_type, _item) {					\
	.type = #_type, .name = #_item,					\
	.size = sizeof(_type), .elem_size = sizeof(_type),		\
	.align = ETCH_ALIGN(_type), .kind = ETCH_FIELD_FIXED,		\
	.is_signed = is_signed_type(_type),				\
	.is_pointer = etch_is_string_pointer(_type),			\
	.is_string = etch_is_string_pointer(_type) },

#undef __etch_struct
#define __etch_struct(_type, _item) {					\
	.type = #_type, .name = #_item,					\
	.size = sizeof(_type), .elem_size = sizeof(_type),		\
	.align = ETCH_ALIGN(_type), .kind = ETCH_FIELD_FIXED },

#undef __etch_array
#define __etch_array(_type, _item, _len) {				\
	.type = #_type"["__stringify(_len)"]", .name = #_item,		\
	.size = sizeof(_type[_len]), .elem_size = sizeof(_type),	\
	.align = ETCH_ALIGN(_type), .kind = ETCH_FIELD_ARRAY,		\
	.is_signed = is_signed_type(_type),				\
	.is_string = etch_is_char(_type) },

#define __etch_kind_data	ETCH_FIELD_DATA_LOC
#define __etch_kind_rel		ETCH_FIELD_REL_LOC

#undef __etch_dynamic
#define __etch_dynamic(loc, _type, _item, _len) {			\
	.type = "__" #loc "_loc " #_type "[]", .name = #_item,		\
	.size = sizeof(u32), .elem_size = sizeof(_type),		\
	.align = ETCH_ALIGN(_type), .kind = __etch_kind_##loc,		\
	.is_signed = is_signed_type(_type),				\
	.is_string = etch_is_char(_type) },

#undef __etch_string
#define __etch_string(loc, item, src)	__etch_dynamic(loc, char, item, 0)

#undef __etch_string_len
#define __etch_string_len(loc, item, src, len) __etch_dynamic(loc, char, item, 0)

#undef __etch_cpumask
#define __etch_cpumask(loc, _item) {					\
	.type = "__" #loc "_loc cpumask_t", .name = #_item,		\
	.size = sizeof(u32), .elem_size = sizeof(unsigned long),	\
	.align = ETCH_ALIGN(unsigned long), .kind = __etch_kind_##loc },

#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(call, proto, args, tstruct, assign, print)	\
static struct etch_field etch_fields_##call[] __ro_after_init = {	\
	tstruct								\
	{}								\
};

#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)

#undef __etch_kind_data
#undef __etch_kind_rel
