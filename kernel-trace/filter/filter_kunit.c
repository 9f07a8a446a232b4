// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of filters: the language, and what programs say of records.
 */
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "event/program.h"
#include "filter/parse.h"

/* Fields of every kind. */
struct etch_test_record {
	struct etch_head head;
	u8 tiny;
	s8 minus;
	u16 loc_pad;
	s32 number;
	u64 wide;
	u32 rows[3];
	char name[8];
	u32 loc_text;
	u32 loc_list;
	u32 loc_cpus;
	const char *pointer;
	unsigned long call;
	char text[12];
	u32 list[2];
	unsigned long cpus;
	u64 behind;
} __packed __aligned(4);

#define ETCH_TEST_FIELD(member, kind_of, elem, ...)			\
	{ .name = #member, .offset = offsetof(struct etch_test_record, member),	\
	  .size = sizeof_field(struct etch_test_record, member),	\
	  .elem_size = elem, .kind = kind_of, ##__VA_ARGS__ }

static const struct etch_field etch_test_fields[] = {
	ETCH_TEST_FIELD(tiny, ETCH_FIELD_FIXED, 1, .type = "u8"),
	ETCH_TEST_FIELD(minus, ETCH_FIELD_FIXED, 1, .type = "s8", .is_signed = 1),
	ETCH_TEST_FIELD(number, ETCH_FIELD_FIXED, 4, .type = "int", .is_signed = 1),
	ETCH_TEST_FIELD(wide, ETCH_FIELD_FIXED, 8, .type = "u64"),
	ETCH_TEST_FIELD(rows, ETCH_FIELD_ARRAY, 4, .type = "u32[3]"),
	ETCH_TEST_FIELD(name, ETCH_FIELD_ARRAY, 1, .type = "char[8]", .is_string = 1),
	ETCH_TEST_FIELD(loc_text, ETCH_FIELD_DATA_LOC, 1, .type = "__data_loc char[]",
			.is_string = 1),
	ETCH_TEST_FIELD(loc_list, ETCH_FIELD_REL_LOC, 4, .type = "__rel_loc u32[]"),
	ETCH_TEST_FIELD(loc_cpus, ETCH_FIELD_DATA_LOC, 8, .type = "__data_loc cpumask_t"),
	ETCH_TEST_FIELD(pointer, ETCH_FIELD_FIXED, 8, .type = "const char *", .is_string = 1,
			.is_pointer = 1),
	ETCH_TEST_FIELD(call, ETCH_FIELD_FIXED, 8, .type = "unsigned long"),
};

static const struct etch_class etch_test_class = {
	.system = "test",
	.fields = etch_test_fields,
	.nr_fields = ARRAY_SIZE(etch_test_fields),
	.size = sizeof(struct etch_test_record),
};

static const struct etch_event etch_test_event = { .name = "all", .class = &etch_test_class };

#define ETCH_TEST_LOC(member, from)						\
	((u32)sizeof_field(struct etch_test_record, member) << 16 |		\
	 ((u32)offsetof(struct etch_test_record, member) - (from)))

static void etch_test_fill(struct etch_test_record *r)
{
	*r = (struct etch_test_record) {
		.head = { .word = (u64)ETCH_SOFTIRQ << ETCH_CONTEXT_SHIFT, .pid = 7 },
		.tiny = 200, .minus = -3, .number = -70000, .wide = 1ULL << 40,
		.rows = { 10, 20, 30 }, .name = "exactly",
		.loc_text = ETCH_TEST_LOC(text, 0),
		.loc_list = ETCH_TEST_LOC(list, offsetofend(struct etch_test_record, loc_list)),
		.loc_cpus = ETCH_TEST_LOC(cpus, 0),
		.pointer = "somewhere", .call = (unsigned long)etch_test_fill + 1,
		.text = "hello there", .list = { 5, 6 }, .cpus = 0x1,
	};
}

static struct etch_program *etch_test_parse(struct kunit *test, const char *text)
{
	struct etch_program *program = etch_filter_parse(NULL, text, &etch_test_event, 0);

	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(program), "%s", text);
	return program;
}

static bool etch_test_passes(struct kunit *test, const char *text)
{
	struct etch_program *program = etch_test_parse(test, text);
	struct etch_test_record r;
	bool passes;

	etch_test_fill(&r);
	preempt_disable();
	passes = etch_program_passes(program, &r);
	KUNIT_EXPECT_FALSE_MSG(test, passes && etch_program_rejects_at_once(program, &r), "%s",
			       text);
	preempt_enable();
	etch_program_free(program);
	return passes;
}

/* True of the record. With "!(" before them they are not. */
static const char * const etch_test_true[] = {
	"tiny == 200", "tiny != 201", "tiny > 199", "tiny >= 200", "tiny < 201", "tiny <= 200",
	"tiny & 0x48", "tiny == 456", "tiny > 256",
	"minus == -3", "minus < 0", "minus > -4", "minus == 0xfd", "minus & -4",
	"number == -70000", "number<-69999", "number >= -70000", "number & 0x10",
	"wide == 0x10000000000", "wide > 4294967296", "wide & 0x10000000000",
	"rows[0] == 10", "rows[2]==30", "loc_list[0] == 5", "loc_list[1] == 6",
	"name == \"exactly\"", "name ~ 'exact*'", "name ~ \"?xac[st]ly\"", "name != 'exact'",
	"loc_text == \"hello there\"", "loc_text ~ \"*lo th*\"", "pointer ~ 'some*'",
	"name ~ '!exactly?'", "pointer == 'somewhere'", "loc_text != 'hello ther'",
	"loc_cpus & CPUS{0}", "loc_cpus == CPUS{0}", "cpu & CPUS{all}", "CPU >= 0",
	"CPU > -1", "cpu != 4294967294 && CPU < 0x7fffffff", "common_context == 0",
	"call.function == etch_test_fill",
	"tiny == 1 || tiny == 200", "tiny == 200 && minus == -3",
	"tiny == 1 || tiny == 2 || (minus == -3 && (rows[0] == 1 || rows[1] == 20))",
	"tiny == 1 && tiny == 2 || minus == -3", "!(tiny == 1) && !!(minus == -3)",
	"!(tiny == 1 || minus == 4) && (((number < 0)))",
};

static void etch_filter_true(struct kunit *test)
{
	char not[200];
	int i;

	for (i = 0; i < ARRAY_SIZE(etch_test_true); i++) {
		KUNIT_EXPECT_TRUE_MSG(test, etch_test_passes(test, etch_test_true[i]), "%s",
				      etch_test_true[i]);
		snprintf(not, sizeof(not), "! (%s)", etch_test_true[i]);
		KUNIT_EXPECT_FALSE_MSG(test, etch_test_passes(test, not), "%s", not);
	}
}

/* An element that is not there is neither equal nor unequal to anything. */
static void etch_filter_nothing(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, etch_test_passes(test, "loc_list[2] == 0"));
	KUNIT_EXPECT_FALSE(test, etch_test_passes(test, "loc_list[2] > 0"));
}

static void etch_filter_comm(struct kunit *test)
{
	char text[TASK_COMM_LEN + 16];

	snprintf(text, sizeof(text), "comm == \"%s\"", current->comm);
	KUNIT_EXPECT_TRUE(test, etch_test_passes(test, text));
	KUNIT_EXPECT_TRUE(test, etch_test_passes(test, "COMM != \"nobody at all\""));
	snprintf(text, sizeof(text), "common_pid == %d", current->pid);
	KUNIT_EXPECT_TRUE(test, etch_test_passes(test, text));
}

/* The tests before the first one that needs the record. */
static void etch_filter_early(struct kunit *test)
{
	static const struct {
		const char *text;
		bool refuses;
		bool at_once;
	} cases[] = {
		{ "comm == '#nobody'", true, true },
		{ "comm != '#nobody'", false },
		{ "!(comm != '#nobody')", true, true },
		{ "comm == '#nobody' && tiny == 200", true, true },
		{ "comm == '#nobody' || tiny == 1", false },
		{ "tiny == 1 && comm == '#nobody'", true, true },
		{ "tiny == 1 && (CPU >= 0 || minus == 1) && comm == '#nobody'", true, true },
		{ "tiny == 1 || comm == '#nobody'", false },
		{ "(tiny == 1 || comm == '#nobody') && !(CPU >= 0)", true },
		{ "!(common_context == 0 && CPU >= 0)", true },
		{ "CPU < 0", true, true },
		{ "CPU >= 0", false },
		{ "common_pid == 4194304 && tiny == 200", true, true },
		{ "common_pid != 4194304 && tiny == 200", false },
		{ "common_pid == 4194304 || comm == '#nobody'", true },
		{ "comm ~ '#nobody*'", true },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct etch_program *program = etch_test_parse(test, cases[i].text);

		preempt_disable();
		KUNIT_EXPECT_EQ_MSG(test, cases[i].refuses, etch_program_refuses(program), "%s",
				    cases[i].text);
		KUNIT_EXPECT_EQ_MSG(test, cases[i].at_once, etch_program_refuses_at_once(program),
				    "%s", cases[i].text);
		preempt_enable();
		etch_program_free(program);
	}
}

/* A text that begins otherwise, or ends before the pattern does, rejects the record. */
static void etch_filter_rejects(struct kunit *test)
{
	static const struct {
		const char *text;
		bool rejects;
	} cases[] = {
		{ "loc_text == 'hello there'", false },
		{ "loc_text == 'hello there are more'", false },
		{ "loc_text == 'hello thank you'", false },
		{ "loc_text == 'hello to all'", true },
		{ "loc_text == 'hello'", false },
		{ "loc_text == 'help'", true },
		{ "loc_text == ''", false },
		{ "loc_text == 'help' && tiny == 200", true },
		{ "loc_text == 'help' || tiny == 200", false },
		{ "loc_text != 'help'", false },
		{ "!(loc_text != 'help')", true },
		{ "loc_text ~ 'help'", false },
		{ "name == 'exactly'", false },
		{ "name == 'exact'", false },
		{ "name == 'exactly1'", true },
		{ "name == 'exactly and more'", true },
		{ "pointer == 'nowhere'", false },
		{ "tiny == 1 && loc_text == 'help'", false },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct etch_program *program = etch_test_parse(test, cases[i].text);
		struct etch_test_record r;

		etch_test_fill(&r);
		KUNIT_EXPECT_EQ_MSG(test, cases[i].rejects,
				    etch_program_rejects_at_once(program, &r), "%s",
				    cases[i].text);
		etch_program_free(program);
	}
}

/* Of text that cannot be read it is not known whether it is another one. */
static void etch_filter_unreadable(struct kunit *test)
{
	static const struct {
		const char *text;
		bool passes;
	} cases[] = {
		{ "pointer == 'somewhere'", false }, { "pointer != 'somewhere'", false },
		{ "pointer ~ '!some*'", false }, { "!(pointer == 'somewhere')", true },
		{ "pointer.ustring != 'somewhere'", false },
	};
	int i;

	if (IS_ENABLED(CONFIG_UML))
		kunit_skip(test, "a User-mode Linux reads no address that may be wrong");
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct etch_program *program = etch_test_parse(test, cases[i].text);
		struct etch_test_record r;

		etch_test_fill(&r);
		r.pointer = NULL;
		preempt_disable();
		KUNIT_EXPECT_EQ_MSG(test, cases[i].passes, etch_program_passes(program, &r), "%s",
				    cases[i].text);
		preempt_enable();
		etch_program_free(program);
	}
}

static const char * const etch_test_refused[] = {
	"", "tiny", "tiny ==", "tiny == x", "tiny = 1", "nothing == 1", "tiny == -1",
	"(tiny == 1", "tiny == 1)", "tiny == 1 &&", "|| tiny == 1", "tiny == 1 tiny == 2",
	"tiny ~ 1", "tiny == \"200\"", "name == exactly", "name == \"exactly", "name > \"a\"",
	"rows == 1", "rows[3] == 1", "rows[] == 1", "tiny[0] == 1", "loc_list == 5",
	"loc_cpus == 1", "loc_cpus & CPUS{0", "loc_cpus & CPUS{a}", "cpu == CPUS{}",
	"cpu < CPUS{0}", "tiny == +5", "tiny == 5x",
	"tiny.ustring == 'a'", "call.function > 1", "call.function == no_such_function_here",
	"call.function == CPUS{0}", "name == CPUS{0}", "common_type == 1", "common_kstack == 0",
	"common_ustack == 0", "stacktrace == 0",
	"tiny.size == 1", "tiny == 0x1ffffffffffffffff",
	"((((((((((((((((((((((((((((((((((tiny == 1))))))))))))))))))))))))))))))))))",
};

static void etch_filter_refused(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(etch_test_refused); i++) {
		struct etch_program *program =
			etch_filter_parse(NULL, etch_test_refused[i], &etch_test_event, 0);

		KUNIT_EXPECT_EQ_MSG(test, -EINVAL, PTR_ERR_OR_ZERO(program), "%s",
				    etch_test_refused[i]);
		if (!IS_ERR(program))
			etch_program_free(program);
	}
}

/* As many tests as a program may have, and one more. */
static void etch_filter_long(struct kunit *test)
{
	char *text = kunit_kzalloc(test, 32 * (ETCH_PROGRAM_MAX + 1), GFP_KERNEL), *at = text;
	struct etch_program *program;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, text);
	for (i = 1; i < ETCH_PROGRAM_MAX; i++)
		at += sprintf(at, "tiny == %d || ", i - 1);
	at += sprintf(at, "tiny == 200");
	KUNIT_EXPECT_TRUE(test, etch_test_passes(test, text));
	sprintf(at, " || tiny == 201");
	program = etch_filter_parse(NULL, text, &etch_test_event, 0);
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR_OR_ZERO(program));
}

static struct kunit_case etch_filter_cases[] = {
	KUNIT_CASE(etch_filter_true),
	KUNIT_CASE(etch_filter_nothing),
	KUNIT_CASE(etch_filter_comm),
	KUNIT_CASE(etch_filter_early),
	KUNIT_CASE(etch_filter_rejects),
	KUNIT_CASE(etch_filter_unreadable),
	KUNIT_CASE(etch_filter_refused),
	KUNIT_CASE(etch_filter_long),
	{}
};

static struct kunit_suite etch_filter_suite = {
	.name = "etch_filter",
	.test_cases = etch_filter_cases,
};
kunit_test_suite(etch_filter_suite);
