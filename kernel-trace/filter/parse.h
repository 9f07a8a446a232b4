/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_PARSE_H
#define _KERNEL_ETCH_PARSE_H

/*
 * The language of filters.
 *
 *	filter	= term { "||" term }
 *	term	= factor { "&&" factor }
 *	factor	= "!" factor | "(" filter ")" | test
 *	test	= field relation value
 *	field	= NAME [ "[" NUMBER "]" ] [ ".ustring" | ".function" ] | "latency" [ ".max" ]
 *	value	= NUMBER | '"' TEXT '"' | "'" TEXT "'" | SYMBOL | "CPUS{" LIST "}"
 *
 * The relations of numbers are == != < <= > >= and & (a bit is in both); of characters ==, !=
 * and ~ (a glob); of CPUs and masks of CPUs ==, != and &. SYMBOL stands behind .function.
 */

struct etch_event;
struct etch_input;
struct etch_program;

struct etch_program *etch_filter_parse(const struct etch_input *in, const char *text,
				       const struct etch_event *event, unsigned int ends);

#endif /* _KERNEL_ETCH_PARSE_H */
