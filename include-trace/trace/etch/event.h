/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The descriptors that tie the other expansions together. The event in struct.h
 * expands into
 *
 *	static const struct etch_class __maybe_unused etch_class_lookup = {
 *		.system = "sample",
 *		.fields = etch_fields_lookup,
 *		.nr_fields = ARRAY_SIZE(etch_fields_lookup) - 1,
 *		.size = offsetof(struct etch_raw_lookup, __data),
 *		.print_fmt = "\"key=%llu name=%s\", REC->key, __get_str(name)",
 *		.print = etch_print_lookup,
 *	};
 *
 *	static struct etch_event etch_event_lookup = {
 *		.name = "lookup",
 *		.class = &etch_class_lookup,
 *		.tp = &__tracepoint_lookup,
 *	};
 *	static struct etch_event *etch_event_ptr_lookup
 *		__used __section("_etch_events") = &etch_event_lookup;
 *
 * The pointers are gathered in a section, because a compiler may pad what it puts
 * into one, structs above all. An event with a text of its own gets a class of
 * its own, which differs in the last two lines.
 */

#include <trace/stages/stage7_class_define.h>

#define __etch_class(_class, template, _printer, _text)			\
static const struct etch_class __maybe_unused _class = {		\
	.system = __stringify(TRACE_SYSTEM),				\
	.fields = etch_fields_##template,				\
	.nr_fields = ARRAY_SIZE(etch_fields_##template) - 1,		\
	.size = offsetof(struct etch_raw_##template, __data),		\
	.print_fmt = _text,						\
	.print = _printer,						\
};

#define __etch_event(_class, call)					\
static struct etch_event etch_event_##call = {				\
	.name = #call,							\
	.class = &_class,						\
	.tp = &__tracepoint_##call,					\
};									\
static struct etch_event *etch_event_ptr_##call __used			\
	__section("_etch_events") = &etch_event_##call

#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(call, proto, args, tstruct, assign, print)	\
	__etch_class(etch_class_##call, call, etch_print_##call, PARAMS(print))

#undef DEFINE_EVENT
#define DEFINE_EVENT(template, call, proto, args)			\
	__etch_event(etch_class_##template, call)

#undef DEFINE_EVENT_PRINT
#define DEFINE_EVENT_PRINT(template, call, proto, args, print)		\
	__etch_class(etch_class_event_##call, template,			\
		     etch_print_event_##call, PARAMS(print))		\
	__etch_event(etch_class_event_##call, call)

/* Names for numbers, for format files. */

#undef TRACE_DEFINE_ENUM
#define TRACE_DEFINE_ENUM(a)	__etch_enum(a, #a, __UNIQUE_ID(etch_enum))

#undef TRACE_DEFINE_SIZEOF
#define TRACE_DEFINE_SIZEOF(a)						\
	__etch_enum(sizeof(a), "sizeof(" #a ")", __UNIQUE_ID(etch_enum))

#define __etch_enum(_value, _name, _id)	___etch_enum(_value, _name, _id)
#define ___etch_enum(_value, _name, _id)				\
static const struct etch_enum _id = {					\
	.system = __stringify(TRACE_SYSTEM),				\
	.name = _name,							\
	.value = _value,						\
};									\
static const struct etch_enum * const _id##_ptr __used			\
	__section("_etch_enums") = &_id

#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)

#undef __etch_class
#undef __etch_event
#undef __etch_enum
#undef ___etch_enum

#undef TRACE_DEFINE_ENUM
#define TRACE_DEFINE_ENUM(a)

#undef TRACE_DEFINE_SIZEOF
#define TRACE_DEFINE_SIZEOF(a)
