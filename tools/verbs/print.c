// SPDX-License-Identifier: GPL-2.0
/*
 * What an event says: see print.h. Conversions follow the kernel's printf().
 */
#include "verbs/print.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#define PRINT_PIECES	256
#define PRINT_WIDTH	512	/* more is a mistake */

/**
 * struct piece - of a print format: text, or a conversion
 * @text: the text, @len bytes; of a conversion what stands behind %p: "pS" and so on
 * @len: see @text
 * @conversion: its letter; 0: text
 * @bits: of an integer's type: 8 to 64
 * @left: "-"
 * @zero: "0"
 * @alternate: "#"
 * @plus: "+", or a blank
 * @width: at least so many characters; -1: as the argument before says
 * @precision: at most so many; -1: none; -2: as the argument before says
 * @star: the argument for "*"
 * @arg: the value to print
 */
struct piece {
	const char *text;
	size_t len;
	char conversion;
	unsigned char bits;
	bool left, zero, alternate;
	char plus;
	int width, precision;
	struct expr *star, *arg;
};

struct print_event {
	bool by_fields;
	unsigned int nr;
	struct piece *pieces;
};

/* ---- Addresses ---- */

void print_symbol(const struct printer *printer, struct out *out, uint64_t address, bool more)
{
	uint64_t offset, size;
	size_t len;
	const char *name = etch_symbol(printer->symbols, address, &len, &offset, &size);

	if (!name) {
		out_text(out, "0x");
		out_hex(out, address, 0, '0');
		return;
	}
	out_bytes(out, name, len);
	if (more) {
		out_text(out, "+0x");
		out_hex(out, offset, 0, '0');
		out_text(out, "/0x");
		out_hex(out, size, 0, '0');
	}
	/* "\t[MODULE]" */
	if (name[len] != '\t')
		return;
	out_char(out, ' ');
	out_bytes(out, name + len + 1, strcspn(name + len + 1, "\n"));
}

static void print_ipv6(struct out *out, const void *at)
{
	char text[INET6_ADDRSTRLEN];

	out_text(out, inet_ntop(AF_INET6, at, text, sizeof(text)) ? text : "?");
}

/* A struct sockaddr with its port. */
static void print_sockaddr(struct out *out, const struct value *value)
{
	const unsigned char *at = (const unsigned char *)value->text;
	unsigned int family = value->len >= 2 ? etch_load(at, 2, false) : 0;

	if (family == AF_INET && value->len >= 8) {
		out_print(out, "%u.%u.%u.%u:%u", at[4], at[5], at[6], at[7], at[2] << 8 | at[3]);
	} else if (family == AF_INET6 && value->len >= 24) {
		out_char(out, '[');
		print_ipv6(out, at + 8);
		out_print(out, "]:%u", at[2] << 8 | at[3]);
	} else {
		out_text(out, "(invalid address)");
	}
}

static void print_bytes(struct out *out, const struct value *value, size_t most,
			const char *between)
{
	size_t nr = value->len < most ? value->len : most;

	for (size_t i = 0; i < nr; i++) {
		if (i)
			out_text(out, between);
		out_hex(out, (unsigned char)value->text[i], 2, '0');
	}
}

/* %p and the letters behind it, of bytes in the record. */
static void print_special(struct out *out, const struct piece *piece, const struct value *value,
			  int width)
{
	const unsigned char *at = (const unsigned char *)value->text;
	char what = piece->len > 1 ? piece->text[1] : 0, more = piece->len > 2 ? piece->text[2] : 0;

	if ((what == 'I' || what == 'i') && more == '4' && value->len >= 4)
		out_print(out, "%u.%u.%u.%u", at[0], at[1], at[2], at[3]);
	else if ((what == 'I' || what == 'i') && more == '6' && value->len >= 16)
		print_ipv6(out, at);
	else if (what == 'I' && more == 'S')
		print_sockaddr(out, value);
	else if (what == 'M' && value->len >= 6)
		print_bytes(out, value, 6, ":");
	else if (what == 'h')
		print_bytes(out, value, width > 0 && width < 64 ? width : 64,
			    more == 'N' ? "" : more == 'C' ? ":" : more == 'D' ? "-" : " ");
	else
		out_char(out, '?');
}

static void print_pointer(const struct printer *printer, struct out *out,
			  const struct piece *piece, const struct value *value, int width)
{
	char what = piece->len > 1 ? piece->text[1] : 0;

	if (value->kind != VALUE_NUMBER)
		print_special(out, piece, value, width);
	else if (what && strchr("sSfFB", what))
		print_symbol(printer, out, value->number, what != 's' && what != 'f');
	else
		out_hex(out, value->number, 16, '0');
}

/* ---- Text and numbers ---- */

static void print_text(struct out *out, const struct piece *piece, const char *text, size_t len,
		       int width, int precision)
{
	len = strnlen(text, precision >= 0 && (size_t)precision < len ? (size_t)precision : len);
	for (int pad = len; !piece->left && pad < width; pad++)
		out_char(out, ' ');
	out_bytes(out, text, len);
	for (int pad = len; piece->left && pad < width; pad++)
		out_char(out, ' ');
}

/* Everything that is not simple goes by the C library. */
static void print_padded(struct out *out, const struct piece *piece, uint64_t number, int width,
			 int precision)
{
	char spec[16] = "%", *put = spec + 1;

	if (piece->left)
		*put++ = '-';
	if (piece->zero)
		*put++ = '0';
	if (piece->alternate)
		*put++ = '#';
	if (piece->plus)
		*put++ = piece->plus;
	strcpy(put, "*.*llX");
	put[5] = piece->conversion;
	snprintf(out_room(out), OUT_PIECE, spec, width, precision, (unsigned long long)number);
	out->used += strlen(out->buf + out->used);
}

static void print_number(struct out *out, const struct piece *piece, uint64_t number, int width,
			 int precision)
{
	bool is_signed = piece->conversion == 'd' || piece->conversion == 'i';

	if (piece->bits < 64)
		number = etch_load(&number, piece->bits / 8, is_signed);
	/* The kernel's printf() puts 0x in front of zero, too. */
	if (piece->alternate && piece->conversion == 'x' && !width) {
		out_text(out, "0x");
		out_hex(out, number, 0, '0');
		return;
	}
	if (piece->left || piece->alternate || piece->plus || precision >= 0 ||
	    (is_signed && (int64_t)number < 0 && width) || piece->conversion == 'o' ||
	    piece->conversion == 'X')
		print_padded(out, piece, number, width, precision);
	else if (piece->conversion == 'x')
		out_hex(out, number, width, piece->zero ? '0' : ' ');
	else if (is_signed && (int64_t)number < 0)
		out_signed(out, number);
	else
		out_number(out, number, width, piece->zero ? '0' : ' ');
}

static void print_value(const struct printer *printer, struct out *out, const struct piece *piece,
			const struct value *value, int width, int precision)
{
	if (value->kind == VALUE_UNKNOWN) {
		out_char(out, '?');
	} else if (piece->conversion == 'p') {
		print_pointer(printer, out, piece, value, width);
	} else if (piece->conversion == 's') {
		/* A string in the kernel's memory. */
		if (value->kind == VALUE_NUMBER && !value->number)
			print_text(out, piece, "(null)", 6, width, precision);
		else if (value->kind == VALUE_NUMBER)
			print_symbol(printer, out, value->number, true);
		else
			print_text(out, piece, value->text, value->len, width, precision);
	} else if (value->kind != VALUE_NUMBER) {
		out_char(out, '?');
	} else if (piece->conversion == 'c') {
		out_char(out, value->number);
	} else {
		print_number(out, piece, value->number, width, precision);
	}
}

static int limited(uint64_t number)
{
	return number > PRINT_WIDTH ? PRINT_WIDTH : (int)number;
}

static void print_piece(struct printer *printer, struct out *out, const struct piece *piece)
{
	int width = piece->width, precision = piece->precision;
	struct value value, star;

	printer->eval.used = 0;
	if (piece->star) {
		star = expr_value(piece->star, &printer->eval);
		if (width == -1)
			width = limited(star.number);
		else
			precision = limited(star.number);
	}
	value = expr_value(piece->arg, &printer->eval);
	print_value(printer, out, piece, &value, width, precision);
}

/* ---- Without a format ---- */

static void print_element(struct out *out, const struct etch_field *field, const void *at)
{
	uint64_t number = etch_load(at, field->elem, field->is_signed);

	if (field->hex) {
		out_text(out, "0x");
		out_hex(out, number, 0, '0');
	} else if (field->is_signed) {
		out_signed(out, number);
	} else {
		out_number(out, number, 0, ' ');
	}
}

static void print_field(struct out *out, const struct etch_record *rec,
			const struct etch_field *field)
{
	const unsigned char *at;
	size_t len;

	at = etch_bytes(rec, field, &len);
	if (field->kind == ETCH_NUMBER) {
		print_element(out, field, at);
	} else if (field->kind == ETCH_TEXT) {
		out_bytes(out, (const char *)at, strnlen((const char *)at, len));
	} else if (field->kind == ETCH_ARRAY) {
		out_char(out, '{');
		for (size_t i = 0; i + field->elem <= len; i += field->elem) {
			if (i)
				out_char(out, ',');
			print_element(out, field, at + i);
		}
		out_char(out, '}');
	} else {
		for (size_t i = 0; i < len; i++)
			out_hex(out, at[i], 2, '0');
	}
}

void print_fields(struct out *out, const struct etch_record *rec)
{
	for (unsigned int i = 0; i < rec->event->nr_fields; i++) {
		if (i)
			out_char(out, ' ');
		out_text(out, rec->event->fields[i].name);
		out_char(out, '=');
		print_field(out, rec, &rec->event->fields[i]);
	}
}

/* ---- Understanding a format ---- */

/* The end of an argument: the next comma that is in no parentheses. */
static const char *arg_end(const char *at, const char *end)
{
	int depth = 0;

	while (at < end && !(depth == 0 && *at == ',')) {
		if (*at == '"') {
			at = expr_skip_string(at, end);
			continue;
		}
		if (*at == '\'' && at + 2 < end)
			at += at[1] == '\\' ? 3 : 2;
		depth += (*at == '(' || *at == '{') - (*at == ')' || *at == '}');
		at++;
	}
	return at;
}

/* The argument behind the comma at @at. */
static struct expr *next_arg(struct printer *printer, const struct etch_event *event,
			     const char **at)
{
	const char *end = event->print + strlen(event->print), *begin = *at;

	if (begin < end && *begin == ',')
		begin++;
	*at = arg_end(begin, end);
	return expr_parse(printer->source, event, begin, *at - begin);
}

/* "-08" and so on, behind the percent sign; the width may be "*". */
static const char *parse_flags(struct piece *piece, const char *at)
{
	for (;; at++) {
		if (*at == '-')
			piece->left = true;
		else if (*at == '0')
			piece->zero = true;
		else if (*at == '#')
			piece->alternate = true;
		else if (*at == '+' || *at == ' ')
			piece->plus = *at;
		else
			return at;
	}
}

static const char *parse_number(const char *at, int *number, int star)
{
	char *end;

	if (*at == '*') {
		*number = star;
		return at + 1;
	}
	*number = limited(strtoul(at, &end, 10));
	return end;
}

static const char *parse_size(struct piece *piece, const char *at)
{
	piece->bits = 32;
	for (; *at && strchr("hlLqzt", *at); at++) {
		if (*at != 'h')
			piece->bits = 64;
		else
			piece->bits = piece->bits == 16 ? 8 : 16;
	}
	return at;
}

/* Behind a percent sign. */
static const char *parse_conversion(struct piece *piece, const char *at)
{
	const char *begin;

	piece->precision = -1;
	at = parse_flags(piece, at);
	if (*at == '*' || (*at >= '1' && *at <= '9'))
		at = parse_number(at, &piece->width, -1);
	if (*at == '.')
		at = parse_number(at + 1, &piece->precision, -2);
	at = parse_size(piece, at);
	piece->conversion = *at;
	piece->text = begin = at;
	if (!*at)
		return at;
	at++;
	while (piece->conversion == 'p' && ((*at >= 'a' && *at <= 'z') ||
					    (*at >= 'A' && *at <= 'Z') || *at == '4' || *at == '6'))
		at++;
	piece->len = at - begin;
	return at;
}

/* Cuts @text, which ends with a zero, into pieces of @list. 0: there are too many. */
static unsigned int parse_pieces(const char *text, struct piece *list)
{
	unsigned int nr = 0;

	while (*text) {
		struct piece *piece = &list[nr];

		if (nr++ == PRINT_PIECES)
			return 0;
		memset(piece, 0, sizeof(*piece));
		if (*text == '%' && text[1] != '%') {
			text = parse_conversion(piece, text + 1);
			continue;
		}
		piece->text = text;
		text += *text == '%';
		piece->text = text;
		piece->len = 1 + strcspn(text + 1, "%");
		text += piece->len;
	}
	return nr;
}

static bool parse_print(struct printer *printer, const struct etch_event *event,
			struct print_event *print)
{
	struct piece list[PRINT_PIECES + 1];
	const char *at = event->print, *end = at ? at + strlen(at) : NULL;
	struct piece *pieces;
	size_t len;
	char *text;

	if (!at || *at != '"')
		return false;
	/* Literals one behind the other are rare: those have a fmt that is an expression. */
	at = expr_skip_string(at, end);
	if (at < end && *at != ',')
		return false;
	text = expr_literal(printer->source, event->print, at, &len);
	print->nr = text ? parse_pieces(text, list) : 0;
	pieces = etch_source_alloc(printer->source, print->nr * sizeof(*pieces));
	if (!text || !pieces || (len && !print->nr))
		return false;
	for (unsigned int i = 0; i < print->nr; i++) {
		if (!list[i].conversion)
			continue;
		if (list[i].width == -1 || list[i].precision == -2)
			list[i].star = next_arg(printer, event, &at);
		list[i].arg = next_arg(printer, event, &at);
		if (!strchr("diuxXoscp", list[i].conversion))
			return false;
	}
	memcpy(pieces, list, print->nr * sizeof(*pieces));
	print->pieces = pieces;
	return true;
}

/* What an event's print format has become. */
static struct print_event *understood(struct printer *printer, const struct etch_event *event)
{
	static struct print_event by_fields = { .by_fields = true };
	struct print_event *print, **more;

	if (event->index >= printer->nr_events) {
		more = etch_by_event(printer->source, printer->events, &printer->nr_events,
				     sizeof(*more));
		if (!more)
			return &by_fields;
		printer->events = more;
	}
	if (printer->events[event->index])
		return printer->events[event->index];
	print = etch_source_alloc(printer->source, sizeof(*print));
	if (!print || !parse_print(printer, event, print))
		print = &by_fields;
	return printer->events[event->index] = print;
}

void print_record(struct printer *printer, struct out *out, const struct etch_record *rec)
{
	const struct print_event *print = understood(printer, rec->event);

	if (print->by_fields) {
		print_fields(out, rec);
		return;
	}
	printer->eval.rec = rec;
	for (unsigned int i = 0; i < print->nr; i++) {
		const struct piece *piece = &print->pieces[i];

		if (piece->conversion)
			print_piece(printer, out, piece);
		else
			out_bytes(out, piece->text, piece->len);
	}
}

struct printer *printer_open(struct etch_source *source)
{
	struct printer *printer = calloc(1, sizeof(*printer));

	if (!printer) {
		etch_complaint("There is no memory to print records");
		return NULL;
	}
	printer->source = source;
	printer->symbols = etch_symbols_open(source->path);
	return printer;
}

void printer_close(struct printer *printer)
{
	if (!printer)
		return;
	etch_symbols_close(printer->symbols);
	free(printer->events);
	free(printer);
}
