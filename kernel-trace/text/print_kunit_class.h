/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A class whose printer trusts a field for the length of what it prints. It has no event:
 * print_kunit.c expands it and registers one of its own.
 */
DECLARE_EVENT_CLASS(etch_test_lengths,

	TP_PROTO(unsigned int nr),

	TP_ARGS(nr),

	TP_STRUCT__entry(
		__field(	u32,	nr			)
		__dynamic_array(char,	text,	4		)
		__dynamic_array(u32,	words,	2		)
		__rel_dynamic_array(char, more,	0		)
	),

	TP_fast_assign(
		__entry->nr = nr;
	),

	TP_printk("text=%s more=%s array=%s hex=%s str=%s dump=%s bytes=%*ph",
		  __get_str(text), __get_rel_str(more),
		  __print_array(__get_dynamic_array(words), __entry->nr, sizeof(u32)),
		  __print_hex(__get_dynamic_array(words), __entry->nr),
		  __print_hex_str(__get_dynamic_array(words), __entry->nr),
		  __print_hex_dump("", DUMP_PREFIX_NONE, 16, 4, __get_dynamic_array(words),
				   __entry->nr, false),
		  (int)min(__entry->nr, ETCH_TEST_WIDTH), __get_dynamic_array(words))
);
