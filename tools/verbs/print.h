/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an event says, by the print format in its format file:
 *
 *	print fmt: "comm=%s pid=%d", REC->comm, REC->pid
 *
 * becomes pieces, once; for each record they are printed one after the other. An argument
 * that has no value outside of the kernel shows as "?". An event without a format shows its
 * fields, name=value.
 */
#ifndef _ETCH_PRINT_H
#define _ETCH_PRINT_H

#include "verbs/expr.h"
#include "verbs/out.h"

/**
 * struct printer - how the records of a trace are printed
 * @source: the trace
 * @symbols: names of addresses, or NULL
 * @events: what the print formats have become, by event's index; NULL: not looked at yet
 * @nr_events: how many are in @events
 * @eval: room to work in
 */
struct printer {
	struct etch_source *source;
	struct etch_symbols *symbols;
	struct print_event **events;
	unsigned int nr_events;
	struct eval eval;
};

/* NULL: no memory, said. */
struct printer *printer_open(struct etch_source *source);
void printer_close(struct printer *printer);
/* The text behind the event's name. */
void print_record(struct printer *printer, struct out *out, const struct etch_record *rec);
/* All its fields: " name=value ..." */
void print_fields(struct out *out, const struct etch_record *rec);
/* A function's name, and, if @more, +offset/size; without symbols the address. */
void print_symbol(const struct printer *printer, struct out *out, uint64_t address, bool more);

#endif /* _ETCH_PRINT_H */
