/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The text printer. The event in struct.h expands into
 *
 *	static notrace void
 *	etch_print_lookup(struct etch_text *__text, const void *__record)
 *	{
 *		struct trace_seq __maybe_unused *p = &__text->tmp;
 *		struct etch_raw_lookup __maybe_unused *field = (void *)__record;
 *		int __maybe_unused ret = TRACE_TYPE_HANDLED;
 *		int __maybe_unused flags = 0;
 *
 *		etch_text_printf(__text, "key=%llu name=%s" "\n", field->key,
 *				 ((char *)((void *)field +
 *				  (field->__data_loc_name & 0xffff))));
 *	}
 *
 * and an event with a text of its own, DEFINE_EVENT_PRINT(), into a further one,
 * named etch_print_event_EVENT. The verbs of TP_printk() are the kernel's own;
 * they work in the trace_seq that they find as p. And ret is what ftrace's printers have
 * under that name: a header (usb/gadget/udc) prints it where it means __entry->ret.
 * So is flags, how ftrace shows symbols, here never in a way of its own: a header
 * (platform/surface/aggregator) takes it for a packet's state.
 *
 * Verbs that are given a length do not trust it: they read no more than the record has.
 */

#include <trace/stages/stage3_trace_output.h>

#undef __print_hex
#define __print_hex(buf, buf_len)					\
	({								\
		const void *__buf = (buf);				\
									\
		trace_print_hex_seq(p, __buf,				\
				    etch_text_fit(__text, __buf, buf_len, 1), false); \
	})

#undef __print_hex_str
#define __print_hex_str(buf, buf_len)					\
	({								\
		const void *__buf = (buf);				\
									\
		trace_print_hex_seq(p, __buf,				\
				    etch_text_fit(__text, __buf, buf_len, 1), true); \
	})

#undef __print_array
#define __print_array(array, count, el_size)				\
	({								\
		const void *__array = (array);				\
									\
		BUILD_BUG_ON(el_size != 1 && el_size != 2 &&		\
			     el_size != 4 && el_size != 8);		\
		trace_print_array_seq(p, __array,			\
				      etch_text_fit(__text, __array, count, el_size), \
				      el_size);				\
	})

#undef __print_hex_dump
#define __print_hex_dump(prefix_str, prefix_type, rowsize, groupsize,	\
			 buf, len, ascii)				\
	({								\
		const void *__buf = (buf);				\
									\
		trace_print_hex_dump_seq(p, prefix_str, prefix_type,	\
					 rowsize, groupsize, __buf,	\
					 etch_text_fit(__text, __buf, len, 1), ascii); \
	})

#define __etch_printer(function, template, print)			\
static notrace void function(struct etch_text *__text, const void *__record) \
{									\
	struct trace_seq __maybe_unused *p = &__text->tmp;		\
	struct etch_raw_##template __maybe_unused *field = (void *)__record; \
	int __maybe_unused ret = TRACE_TYPE_HANDLED;			\
	int __maybe_unused flags = 0;					\
									\
	etch_text_printf(__text, print);				\
}

#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(call, proto, args, tstruct, assign, print)	\
	__etch_printer(etch_print_##call, call, PARAMS(print))

#undef DEFINE_EVENT_PRINT
#define DEFINE_EVENT_PRINT(template, call, proto, args, print)		\
	__etch_printer(etch_print_event_##call, template, PARAMS(print))

#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)

#undef __etch_printer
#undef DEFINE_EVENT_PRINT
#define DEFINE_EVENT_PRINT(template, call, proto, args, print)
