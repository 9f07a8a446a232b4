// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of metadata: the text of events that are made up, kind by kind, the names of
 * values, the expressions, the clock.
 */

#include <kunit/test.h>
#include <linux/etch.h>
#include <linux/etch_clock.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uuid.h>

#include "ctf/ctf.h"
#include "ctf/metadata.h"

#define ETCH_MD_TEXT	4096

#define ETCH_MD_FIELD(_type, _name, _kind, _offset, _size, _elem, _align, ...)	\
	{								\
		.type = _type, .name = _name,				\
		.kind = ETCH_FIELD_##_kind, .offset = _offset,		\
		.size = _size, .elem_size = _elem, .align = _align,	\
		__VA_ARGS__						\
	}

/* An event with those fields, that many bytes, and that print format. */
#define DEFINE_ETCH_MD_EVENT(_var, _fields, _size, _print)		\
	struct etch_class _var##_class = {				\
		.system = "etch_md", .fields = _fields,			\
		.nr_fields = ARRAY_SIZE(_fields), .size = _size,	\
		.print_fmt = _print,					\
	};								\
	struct etch_event _var = {					\
		.name = #_var, .class = &_var##_class, .id = 7,		\
	}

struct etch_md_test {
	struct seq_file m;
	char text[ETCH_MD_TEXT + 1];
	struct etch_labels labels;
};

static int etch_md_init(struct kunit *test)
{
	struct etch_md_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	t->m.buf = t->text;
	t->m.size = ETCH_MD_TEXT;
	test->priv = t;
	return 0;
}

/* Returns the text written so far. The next text begins anew. */
static const char *etch_md_text(struct etch_md_test *t)
{
	t->text[t->m.count] = '\0';
	t->m.count = 0;
	return t->text;
}

/* The lines between "struct {" and "};"; or NULL if the event is refused. */
static char *etch_md_fields(struct etch_md_test *t, const struct etch_event *event)
{
	static const char begin[] = "\tfields := struct {\n", end[] = "\t};\n};\n";
	char *from, *to;

	if (etch_metadata_event(&t->m, event, &t->labels)) {
		etch_md_text(t);
		return NULL;
	}
	etch_md_text(t);
	from = strstr(t->text, begin);
	to = from ? strstr(from, end) : NULL;
	if (!to || to[strlen(end)])
		return NULL;
	*to = '\0';
	return from + strlen(begin);
}

/* ---- Kinds of fields ---- */

static void etch_md_frame(struct kunit *test)
{
	struct etch_md_test *t = test->priv;
	struct etch_field fields[] = {};
	DEFINE_ETCH_MD_EVENT(nothing, fields, 12, "\"\"");

	KUNIT_ASSERT_EQ(test, etch_metadata_event(&t->m, &nothing, &t->labels), 0);
	KUNIT_EXPECT_STREQ(test, etch_md_text(t),
			   "\nevent {\n\tid = 7;\n\tname = \"etch_md:nothing\";\n"
			   "\tstream_id = 0;\n\tfields := struct {\n\t};\n};\n");
}

static void etch_md_numbers(struct kunit *test)
{
	struct etch_md_test *t = test->priv;
	struct etch_field fields[] = {
		ETCH_MD_FIELD("u8", "a", FIXED, 12, 1, 1, 1),
		ETCH_MD_FIELD("short", "b", FIXED, 14, 2, 2, 2, .is_signed = 1),
		ETCH_MD_FIELD("int", "c", FIXED, 16, 4, 4, 4, .is_signed = 1),
		ETCH_MD_FIELD("u64", "d", FIXED, 20, 8, 8, 4),
		ETCH_MD_FIELD("struct page *", "e", FIXED, 28, 8, 8, 4),
		ETCH_MD_FIELD("const char *", "f", FIXED, 36, 8, 8, 4,
			      .is_pointer = 1, .is_string = 1),
		ETCH_MD_FIELD("unsigned long", "g", FIXED, 44, 8, 8, 4),
		ETCH_MD_FIELD("bool", "h", FIXED, 52, 1, 1, 1),
		/* As in a packed struct. */
		ETCH_MD_FIELD("__le32", "i", FIXED, 53, 4, 4, 1),
		ETCH_MD_FIELD("unsigned long", "gg", FIXED, 60, 8, 8, 4),
	};
	DEFINE_ETCH_MD_EVENT(numbers, fields, 68, "\"%pS %lu\", (void *)REC->g, (void *)REC->ggg");

	KUNIT_EXPECT_STREQ(test, etch_md_fields(t, &numbers),
			   "\t\tuint8_t _a;\n\t\tint16_t _b;\n\t\tint32_t _c;\n\t\tuint64_t _d;\n"
			   "\t\txint64_t _e;\n\t\txint64_t _f;\n\t\txint64_t _g;\n\t\tuint8_t _h;\n"
			   "\t\tinteger { size = 32; align = 8; signed = false; base = 10; } _i;\n"
			   "\t\tuint64_t _gg;\n");
}

static void etch_md_arrays(struct kunit *test)
{
	struct etch_md_test *t = test->priv;
	struct etch_field fields[] = {
		ETCH_MD_FIELD("char[5]", "text", ARRAY, 12, 5, 1, 1, .is_string = 1),
		ETCH_MD_FIELD("u8[3]", "bytes", ARRAY, 17, 3, 1, 1),
		ETCH_MD_FIELD("long[2]", "longs", ARRAY, 20, 16, 8, 4, .is_signed = 1),
		ETCH_MD_FIELD("int[0]", "none", ARRAY, 36, 0, 4, 4, .is_signed = 1),
		ETCH_MD_FIELD("void *[1]", "ptrs", ARRAY, 36, 8, 8, 4),
		ETCH_MD_FIELD("u8", "odd", FIXED, 44, 1, 1, 1),
		/* A struct is bytes, which have no alignment: what it would skip is named. */
		ETCH_MD_FIELD("struct in6_addr", "addr", FIXED, 48, 16, 16, 4),
		ETCH_MD_FIELD("struct pair", "pair", FIXED, 64, 8, 8, 4),
		ETCH_MD_FIELD("struct {}[2]", "empty", ARRAY, 72, 0, 0, 1),
	};
	DEFINE_ETCH_MD_EVENT(arrays, fields, 72, "\"\"");

	KUNIT_EXPECT_STREQ(test, etch_md_fields(t, &arrays),
			   "\t\tchar8_t _text[5];\n\t\tuint8_t _bytes[3];\n\t\tint64_t _longs[2];\n"
			   "\t\tint32_t _none[0];\n\t\txint64_t _ptrs[1];\n\t\tuint8_t _odd;\n"
			   "\t\tuint8_t __pad_45[3];\n\t\txint8_t _addr[16];\n\t\txint8_t _pair[8];\n"
			   "\t\txint8_t _empty[0];\n");
}

static void etch_md_dynamic(struct kunit *test)
{
	struct etch_md_test *t = test->priv;
	struct etch_field fields[] = {
		ETCH_MD_FIELD("u8", "k", FIXED, 12, 1, 1, 1),
		ETCH_MD_FIELD("__data_loc char[]", "s", DATA_LOC, 16, 4, 1, 1, .is_string = 1),
		ETCH_MD_FIELD("__rel_loc int[]", "ints", REL_LOC, 20, 4, 4, 4, .is_signed = 1),
		ETCH_MD_FIELD("__data_loc unsigned long[]", "bits", DATA_LOC, 24, 4, 8, 4),
		ETCH_MD_FIELD("__data_loc cpumask_t", "cpus", DATA_LOC, 28, 4, 8, 4),
		ETCH_MD_FIELD("__data_loc unsigned long[]", "longs", DATA_LOC, 32, 4, 8, 4),
		ETCH_MD_FIELD("__data_loc struct odd[]", "odds", DATA_LOC, 36, 4, 12, 4),
		ETCH_MD_FIELD("u16", "z", FIXED, 40, 2, 2, 2),
	};
	DEFINE_ETCH_MD_EVENT(dynamic, fields, 42, "\"%s\", __get_rel_bitmask(bits)");

	KUNIT_EXPECT_STREQ(test, etch_md_fields(t, &dynamic),
			   "\t\tuint8_t _k;\n"
			   "\t\tloc16_t __s_offset;\n"
			   "\t\tuint16_t __s_length;\n"
			   "\t\tloc16_t __ints_offset;\n"
			   "\t\tinteger { size = 2; align = 1; } __ints_rest;\n"
			   "\t\tinteger { size = 14; align = 1; } __ints_length;\n"
			   "\t\tloc16_t __bits_offset;\n"
			   "\t\tinteger { size = 3; align = 1; } __bits_rest;\n"
			   "\t\tinteger { size = 13; align = 1; } __bits_length;\n"
			   "\t\tloc16_t __cpus_offset;\n"
			   "\t\tinteger { size = 3; align = 1; } __cpus_rest;\n"
			   "\t\tinteger { size = 13; align = 1; } __cpus_length;\n"
			   "\t\tloc16_t __longs_offset;\n"
			   "\t\tinteger { size = 3; align = 1; } __longs_rest;\n"
			   "\t\tinteger { size = 13; align = 1; } __longs_length;\n"
			   "\t\tloc16_t __odds_offset;\n"
			   "\t\tuint16_t __odds_length;\n"
			   "\t\tuint16_t _z;\n"
			   "\t\tchar8_t _s[__s_length];\n"
			   "\t\tint32_t _ints[__ints_length];\n"
			   "\t\txint64_t _bits[__bits_length];\n"
			   "\t\txint64_t _cpus[__cpus_length];\n"
			   "\t\tuint64_t _longs[__longs_length];\n"
			   "\t\tstruct { xint8_t bytes[__odds_length]; } align(32) _odds;\n");
}

/* Readers take one underscore away, and then no two names are the same. */
static void etch_md_names(struct kunit *test)
{
	struct etch_md_test *t = test->priv;
	struct etch_field fields[] = {
		ETCH_MD_FIELD("u8", "event", FIXED, 12, 1, 1, 1),
		ETCH_MD_FIELD("u8", "_lead", FIXED, 13, 1, 1, 1),
		ETCH_MD_FIELD("u8", "_s_length", FIXED, 14, 1, 1, 1),
		ETCH_MD_FIELD("u8", "twice", FIXED, 15, 1, 1, 1),
		ETCH_MD_FIELD("__data_loc char[]", "s", DATA_LOC, 16, 4, 1, 1, .is_string = 1),
		ETCH_MD_FIELD("u8", "twice", FIXED, 20, 1, 1, 1),
		ETCH_MD_FIELD("u8", "twice_5", FIXED, 21, 1, 1, 1),
	};
	DEFINE_ETCH_MD_EVENT(names, fields, 22, "\"\"");

	KUNIT_EXPECT_STREQ(test, etch_md_fields(t, &names),
			   "\t\tuint8_t _event;\n\t\tuint8_t __lead;\n\t\tuint8_t __s_length;\n"
			   "\t\tuint8_t _twice;\n"
			   "\t\tloc16_t __s_offset;\n\t\tuint16_t __s_length_;\n"
			   "\t\tuint8_t _twice_5_;\n\t\tuint8_t _twice_5;\n"
			   "\t\tchar8_t _s[__s_length_];\n");
}

/* A field at another place than TSDL gives it is refused. */
static void etch_md_misplaced(struct kunit *test)
{
	struct etch_md_test *t = test->priv;
	struct etch_field fields[] = {
		ETCH_MD_FIELD("u8", "a", FIXED, 12, 1, 1, 1),
		ETCH_MD_FIELD("u32", "b", FIXED, 16, 4, 4, 4),
	};
	DEFINE_ETCH_MD_EVENT(misplaced, fields, 20, "\"\"");

	KUNIT_EXPECT_NOT_NULL(test, etch_md_fields(t, &misplaced));
	fields[1].offset = 13;
	misplaced_class.size = 17;
	KUNIT_EXPECT_NULL(test, etch_md_fields(t, &misplaced));
	fields[1].offset = 16;
	KUNIT_EXPECT_NULL(test, etch_md_fields(t, &misplaced));
	misplaced_class.size = 20;
	fields[1].elem_size = 8;
	KUNIT_EXPECT_NULL(test, etch_md_fields(t, &misplaced));
	fields[1].elem_size = 4;
	fields[0].kind = ETCH_FIELD_DATA_LOC;
	KUNIT_EXPECT_NULL(test, etch_md_fields(t, &misplaced));
}

/* ---- Names of values ---- */

/* The names of a field "x", as "name=value name=value"; "0x" in front if it holds flags. */
static const char *etch_md_labels(struct etch_md_test *t, const char *print,
				  unsigned int size, bool is_signed)
{
	struct etch_field fields[] = {
		ETCH_MD_FIELD("?", "x", FIXED, 12, size, size, min(size, 4U),
			      .is_signed = is_signed),
		ETCH_MD_FIELD("u32", "y", FIXED, 20, 4, 4, 4),
	};
	DEFINE_ETCH_MD_EVENT(labels, fields, 24, print);
	unsigned int i;

	etch_labels_find(&t->labels, &labels, &fields[0]);
	if (t->labels.flags)
		seq_puts(&t->m, "0x");
	for (i = 0; i < t->labels.nr; i++) {
		const struct etch_label *label = &t->labels.label[i];

		seq_printf(&t->m, " %.*s=%lld", label->len, label->name, label->value);
	}
	return etch_md_text(t);
}

static void etch_md_symbols(struct kunit *test)
{
	struct etch_md_test *t = test->priv;

#define EXPECT_LABELS(_print, _size, _signed, _labels)			\
	KUNIT_EXPECT_STREQ(test, etch_md_labels(t, _print, _size, _signed), _labels)

	EXPECT_LABELS("\"x=%s\", __print_symbolic(REC->x, { 0, \"no\" }, {1,\"yes\"})", 4, true,
		      " \"no\"=0 \"yes\"=1");
	EXPECT_LABELS("\"\", __print_symbolic_u64(REC->x, { ~0ULL, \"all\" }, )", 8, false,
		      " \"all\"=-1");
	/* Negative ones, as the helper compares them: as unsigned longs. */
	EXPECT_LABELS("\"\", __print_symbolic(REC->x, { -1, \"a\" }, { 255, \"b\" })", 1, true,
		      " \"a\"=-1");
	EXPECT_LABELS("\"\", __print_symbolic(REC->x, { -1, \"a\" }, { 255, \"b\" })", 1, false,
		      " \"b\"=255");
	EXPECT_LABELS("\"\", __print_symbolic((unsigned long)(REC->x), { 256, \"a\" })", 1, false,
		      "");
	/* The first of two names is printed. */
	EXPECT_LABELS("\"\", __print_symbolic(REC->x, { 1, \"a\" }, { 1, \"b\" })", 4, true,
		      " \"a\"=1");
	/* In the text of a format, and in the name of another helper, there is no table. */
	EXPECT_LABELS("\"__print_symbolic(REC->x, { 1, 'a' })\"", 4, true, "");
	EXPECT_LABELS("\"\", my__print_symbolic(REC->x, { 1, \"a\" })", 4, true, "");
	/* An end that some tables have. */
	EXPECT_LABELS("\"\", __print_symbolic(REC->x, { 1, \"a\" }, { -1, ((void *)0) })", 4, true,
		      " \"a\"=1");
	EXPECT_LABELS("\"\", __print_symbolic(REC->x, { 1, \"a)\\\"}\" \" b\" })", 4, true,
		      " \"a)\\\"}\" \" b\"=1");
}

static void etch_md_flags(struct kunit *test)
{
	struct etch_md_test *t = test->priv;

	EXPECT_LABELS("\"\", __print_flags(REC->x, \"|\", { 1UL << 3, \"a\" }, { 0x3, \"b\" })", 4,
		      false, "0x \"a\"=8 \"b\"=3");
	/* Bits that are not looked at have no name. */
	EXPECT_LABELS("\"\", __print_flags(REC->x & 0x0f, \"|\", { 8, \"a\" }, { 16, \"b\" })", 4,
		      false, "0x \"a\"=8");
	EXPECT_LABELS("(REC->x) ? __print_flags(REC->x, \", \", { 1 << 31, \"a\" }) : \"\"", 4,
		      true, "0x \"a\"=-2147483648");
	EXPECT_LABELS("\"\", __print_flags_u64(REC->x, \"|\", { 1ULL << 63, \"a\" })", 8, false,
		      "0x \"a\"=-9223372036854775808");
	/* Of an index, not of a number in the table. */
	EXPECT_LABELS("__print_flags((1 << REC->x), \"|\", { 1 << 0, \"a\" }, { 1 << 1, \"b\" })",
		      4, false, "0x");
	/* Flags without names that are certain: a number is not known; or values are named, too. */
	EXPECT_LABELS("\"\", __print_flags(REC->x, \"|\", { 1, \"a\" }, { NO_SUCH, \"b\" })", 4,
		      false, "0x");
	EXPECT_LABELS("\"\", __print_symbolic(REC->x & 0xff, { 1, \"a\" }),"
		      " __print_flags(REC->x & ~0xff, \"|\", { 256, \"b\" })", 4, false, "0x");
	EXPECT_LABELS("\"\", __print_flags(REC->x & ~0xff, \"|\", { 256, \"b\" }),"
		      " __print_symbolic(REC->x & 0xff, { 1, \"a\" })", 4, false, "0x");
	EXPECT_LABELS("\"\", __print_flags(REC->y, \"|\", { 1, \"a\" })", 4, false, "");
}

#define ETCH_MD_TABLE(name)	"__print_symbolic(REC->x, { 1, \"" name "\" })"

/* Rather none than one that may be wrong. */
static void etch_md_no_labels(struct kunit *test)
{
	struct etch_md_test *t = test->priv;

	EXPECT_LABELS("\"\", __print_symbolic(REC->y, { 1, \"a\" })", 4, true, "");
	EXPECT_LABELS("\"\", __print_symbolic(REC->xy, { 1, \"a\" })", 4, true, "");
	EXPECT_LABELS("\"\", __print_symbolic(REC->x[0], { 1, \"a\" })", 4, true, "");
	EXPECT_LABELS("\"\", __print_symbolic(REC->x + REC->y, { 1, \"a\" })", 4, true, "");
	EXPECT_LABELS("__print_symbolic(REC->x, { 1, \"a\" }, { NO_SUCH, \"b\" })", 4, true, "");
	EXPECT_LABELS("\"\", __print_symbolic(REC->x, { 1, \"a\" }, { 2, name })", 4, true, "");
	EXPECT_LABELS("\"\", __print_symbolic(REC->x, { 1, \"a\" }", 4, true, "");
	EXPECT_LABELS("\"\", __print_symbolic(REC->x, { 1, \"a", 4, true, "");
	EXPECT_LABELS("\"\", __print_symbolic(REC->x)", 4, true, "");
	EXPECT_LABELS("\"\", __print_symbolic(REC->x, table)", 4, true, "");
	/* Two tables: one of them is right. The same one twice is. */
	EXPECT_LABELS("REC->y ? " ETCH_MD_TABLE("a") " : " ETCH_MD_TABLE("b"), 4, true, "");
	EXPECT_LABELS(ETCH_MD_TABLE("a") ", " ETCH_MD_TABLE("a"), 4, true, " \"a\"=1");
}

#define ETCH_MD_SYMBOLS	"__print_symbolic(REC->x, { -1, \"a\" \"b\" }, { 2, \"c\\\"d\" })"

static void etch_md_enumerations(struct kunit *test)
{
	struct etch_md_test *t = test->priv;
	struct etch_field fields[] = {
		ETCH_MD_FIELD("int", "x", FIXED, 12, 4, 4, 4, .is_signed = 1),
		ETCH_MD_FIELD("u64", "y", FIXED, 16, 8, 8, 4),
	};
	DEFINE_ETCH_MD_EVENT(enums, fields, 24, ETCH_MD_SYMBOLS);

	KUNIT_EXPECT_STREQ(test, etch_md_fields(t, &enums),
			   "\t\tenum : int32_t {\n\t\t\t\"ab\" = -1,\n\t\t\t\"c\\\"d\" = 2\n\t\t} _x;\n"
			   "\t\tuint64_t _y;\n");
}

#define ETCH_MD_X_FLAGS	"__print_flags(REC->x, \"|\", { 1 << 31, \"top\" }, { 3, \"t\" \"wo\" })"
#define ETCH_MD_Y_FLAGS	"__print_flags(REC->y, \"|\", { 1UL << 63, \"a*/b\" }, { 1, \"*\" \"/\" })"
#define ETCH_MD_Z_FLAGS	"__print_flags(REC->z, \"|\", { NO_SUCH, \"none\" })"

/*
 * No value of flags is without a name, because none has one. A text that would end a comment is
 * left out.
 */
static void etch_md_flag_fields(struct kunit *test)
{
	struct etch_md_test *t = test->priv;
	struct etch_field fields[] = {
		ETCH_MD_FIELD("int", "x", FIXED, 12, 4, 4, 4, .is_signed = 1),
		ETCH_MD_FIELD("u64", "y", FIXED, 16, 8, 8, 4),
		ETCH_MD_FIELD("u8", "z", FIXED, 24, 1, 1, 1),
	};
	DEFINE_ETCH_MD_EVENT(flags, fields, 25,
			     ETCH_MD_X_FLAGS ", " ETCH_MD_Y_FLAGS ", " ETCH_MD_Z_FLAGS);

	KUNIT_EXPECT_STREQ(test, etch_md_fields(t, &flags),
			   "\t\t/* \"top\" = 0x80000000; \"two\" = 0x3; */\n"
			   "\t\tinteger { size = 32; align = 32; signed = true; base = 16; } _x;\n"
			   "\t\t/* */\n"
			   "\t\txint64_t _y;\n"
			   "\t\txint8_t _z;\n");
}

/* ---- Expressions ---- */

/* As many as there is room for, and the text adds one. */
#define ETCH_MD_OPEN	"(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
#define ETCH_MD_CLOSE	"))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))"

static const struct {
	const char *text;
	u64 value;
} etch_md_expressions[] = {
	{ "0", 0 },
	{ "017", 15 },
	{ "0xfFUL", 255 },
	{ "1 << 31", (u64)(s64)S32_MIN },
	{ "1U << 31", 0x80000000 },
	{ "0x80000000", 0x80000000 },
	{ "2147483648", 0x80000000 },
	{ "-1", U64_MAX },
	{ "-1U", U32_MAX },
	{ "~0", U64_MAX },
	{ "~0U", U32_MAX },
	{ "~0U + 1", 0 },
	{ "~0U + 1L", 0x100000000 },
	{ "((((1UL))) << (40))", 1UL << 40 },
	{ "1 + 2 * 3 - 4", 3 },
	{ "(1 + 2) * 3", 9 },
	{ "10 - 3 - 2", 5 },
	{ "7 / 2 % 2", 1 },
	{ "-7 / 2", (u64)-3 },
	{ "-1 >> 1", U64_MAX },
	{ "-1U >> 31", 1 },
	{ "1 | 2 ^ 3 & 1", 3 },
	{ "1 == 1 && 2 != 2 || 3 < 4", 1 },
	{ "-1 < 0U", 0 },
	{ "-1 < 0", 1 },
	{ "3 >= 3", 1 },
	{ "!5 + !0", 1 },
	{ "1 ? 2 : 3", 2 },
	{ "0 ? 2 : 0 ? 3 : 4", 4 },
	{ "1 ? 0 ? 5 : 6 : 7", 6 },
	{ "(0 ? -1 : 2) + 1", 3 },
	{ "(u8)-1", 255 },
	{ "(signed char)255", U64_MAX },
	{ "(unsigned long)(( gfp_t)(1U << 31))", 0x80000000 },
	{ "(unsigned long long)-1", U64_MAX },
	{ "(int)0xffffffffUL", U64_MAX },
	{ "sizeof(long)", sizeof(long) },
	{ "sizeof(u16) * 8", 16 },
	{ "true", 1 },
	{ ETCH_MD_OPEN "1" ETCH_MD_CLOSE, 1 },
};

static const char * const etch_md_no_expressions[] = {
	"", "(", "(1", "1 +", "+", "name", "REC->x", "f(1)", "1 ? 2", "1 / 0", "1 % 0",
	"1 << 32", "1UL << 64", "1 << -1", "99999999999999999999", "08", "1x", "'a'", "\"a\"",
	"(struct x)1", "(void *)0", "({ 1; })", "sizeof(struct x)", "2 : 3",
	"(-9223372036854775807L - 1) / -1",
	ETCH_MD_OPEN "(1)" ETCH_MD_CLOSE,
};

static void etch_md_expression(struct kunit *test)
{
	struct etch_field fields[] = { ETCH_MD_FIELD("u8", "x", FIXED, 12, 1, 1, 1) };
	DEFINE_ETCH_MD_EVENT(expr, fields, 13, "");
	const struct etch_enums enums = etch_enums_of(&expr);
	const char *end;
	unsigned int i;
	u64 value;

	for (i = 0; i < ARRAY_SIZE(etch_md_expressions); i++) {
		end = etch_expr_eval(etch_md_expressions[i].text, &enums, NULL, 0, &value);
		KUNIT_EXPECT_TRUE_MSG(test, end && !*end, "%s", etch_md_expressions[i].text);
		KUNIT_EXPECT_EQ_MSG(test, value, etch_md_expressions[i].value, "%s",
				    etch_md_expressions[i].text);
	}
	for (i = 0; i < ARRAY_SIZE(etch_md_no_expressions); i++) {
		end = etch_expr_eval(etch_md_no_expressions[i], &enums, NULL, 0, &value);
		KUNIT_EXPECT_TRUE_MSG(test, !end || *end, "%s", etch_md_no_expressions[i]);
	}
	/* Where it ends it leaves the rest, and a field has the value that it is given. */
	end = etch_expr_eval(" (REC->x & 6) | 1 } rest", &enums, &fields[0], 4, &value);
	KUNIT_EXPECT_STREQ(test, end, "} rest");
	KUNIT_EXPECT_EQ(test, value, 5);
	end = etch_expr_eval("1) + 2", &enums, NULL, 0, &value);
	KUNIT_EXPECT_STREQ(test, end, ") + 2");
}

/* ---- Events that go ---- */

static struct etch_field etch_md_gone_fields[] = {
	ETCH_MD_FIELD("u32", "x", FIXED, 12, 4, 4, 4),
};

/* What it says while it is there it says when it is gone. */
static void etch_md_retired(struct kunit *test)
{
	DEFINE_ETCH_MD_EVENT(gone, etch_md_gone_fields, 16,
		      "\"%s\", __print_symbolic(REC->x, { 1, \"one\" })");
	struct etch_md_test *t = test->priv;
	const struct etch_event *event;
	unsigned int generation, id;
	char *before;

	gone.hidden = true;
	mutex_lock(&etch_mutex);
	generation = etch_generation;
	KUNIT_EXPECT_EQ(test, etch_event_register(&gone), 0);
	KUNIT_EXPECT_EQ(test, etch_generation, generation + 1);
	id = gone.id;
	etch_metadata_event(&t->m, &gone, &t->labels);
	before = kunit_kstrdup(test, etch_md_text(t), GFP_KERNEL);
	etch_event_unregister(&gone);
	KUNIT_EXPECT_EQ(test, etch_generation, generation + 2);
	mutex_unlock(&etch_mutex);

	down_read(&etch_event_sem);
	event = etch_event_next(id);
	if (event)
		etch_metadata_event(&t->m, event, &t->labels);
	up_read(&etch_event_sem);
	KUNIT_ASSERT_NOT_NULL(test, before);
	KUNIT_EXPECT_STREQ(test, etch_md_text(t), before);
	KUNIT_EXPECT_NOT_NULL(test, strstr(before, "\"one\" = 1"));
}

/* ---- The clock ---- */

static void etch_md_clock(struct kunit *test)
{
	struct etch_origin origin = { .ns = -1, .hz = NSEC_PER_SEC, .known = true };
	struct etch_md_test *t = test->priv;
	const char *text;

	etch_metadata_clock(&t->m, ETCH_CLOCK_MONO, &origin);
	text = etch_md_text(t);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "\tname = mono;\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "\tfreq = 1000000000;\n\toffset_s = -1;\n"
					   "\toffset = 999999999;\n\tabsolute = true;\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "map = clock.mono.value; } := ts48_t;"));

	origin.ns = 5 * NSEC_PER_SEC + 7;
	etch_metadata_clock(&t->m, ETCH_CLOCK_SEQ, &origin);
	KUNIT_EXPECT_NOT_NULL(test, strstr(etch_md_text(t), "\toffset_s = 5;\n\toffset = 7;\n"
					   "\tabsolute = false;\n"));
}

/* By its own rate alone, as a reader of traces computes it. */
static u64 etch_md_ns(enum etch_clock clock)
{
	u64 time = etch_clock_read(clock);

	if (clock == ETCH_CLOCK_COUNTER)
		return mul_u64_u64_div_u64(time, NSEC_PER_SEC, etch_clock_hz());
	return time;
}

/* Every clock's times become the wall clock's; how far off that may be is generous. */
static void etch_md_zero(struct kunit *test)
{
	s64 before, told, after;
	int clock;

	for (clock = 0; clock < ETCH_CLOCK_SEQ; clock++) {
		if (clock == ETCH_CLOCK_COUNTER && !etch_clock_counter_usable())
			continue;
		before = ktime_get_real_ns();
		told = etch_clock_zero(clock) + etch_md_ns(clock);
		after = ktime_get_real_ns();
		KUNIT_EXPECT_GT_MSG(test, told, before - (s64)NSEC_PER_SEC / 2, "%s",
				    etch_clock_names[clock]);
		KUNIT_EXPECT_LT_MSG(test, told, after + (s64)NSEC_PER_SEC / 2, "%s",
				    etch_clock_names[clock]);
	}
	KUNIT_EXPECT_EQ(test, etch_clock_zero(ETCH_CLOCK_SEQ), 0);
}

/* A second call gives the same origin, though some clocks have moved on. */
static void etch_md_origin(struct kunit *test)
{
	struct etch_origin a, b;
	int clock;

	for (clock = 0; clock < ETCH_CLOCK_NR; clock++) {
		if (clock == ETCH_CLOCK_COUNTER && !etch_clock_counter_usable())
			continue;
		etch_origin_get(clock, &a);
		etch_origin_get(clock, &b);
		KUNIT_EXPECT_TRUE(test, a.known);
		KUNIT_EXPECT_EQ(test, a.ns, b.ns);
		KUNIT_EXPECT_TRUE(test, uuid_equal(&a.uuid, &b.uuid));
	}
	etch_origin_get(ETCH_CLOCK_MONO, &b);
	KUNIT_EXPECT_FALSE(test, uuid_equal(&a.uuid, &b.uuid));
}

static struct kunit_case etch_md_cases[] = {
	KUNIT_CASE(etch_md_frame),
	KUNIT_CASE(etch_md_numbers),
	KUNIT_CASE(etch_md_arrays),
	KUNIT_CASE(etch_md_dynamic),
	KUNIT_CASE(etch_md_names),
	KUNIT_CASE(etch_md_misplaced),
	KUNIT_CASE(etch_md_symbols),
	KUNIT_CASE(etch_md_flags),
	KUNIT_CASE(etch_md_no_labels),
	KUNIT_CASE(etch_md_enumerations),
	KUNIT_CASE(etch_md_flag_fields),
	KUNIT_CASE(etch_md_expression),
	KUNIT_CASE(etch_md_retired),
	KUNIT_CASE(etch_md_clock),
	KUNIT_CASE(etch_md_zero),
	KUNIT_CASE(etch_md_origin),
	{}
};

static struct kunit_suite etch_md_suite = {
	.name = "etch_metadata",
	.init = etch_md_init,
	.test_cases = etch_md_cases,
};

kunit_test_suite(etch_md_suite);
