// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of programs that are machine code: they say of each record what the flat ones say.
 *
 * Programs and records are random, from fixed seeds. Their numbers and texts come from a few
 * values, so that tests are often true, and at the ends of ranges.
 */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/etch.h>
#include <linux/filter.h>
#include <linux/preempt.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "event/program.h"
#include "filter/jit.h"

#define ETCH_JIT_PROGRAMS	500
#define ETCH_JIT_RECORDS	100	/* for each program */

#define ETCH_JIT_TEXT_AT	64	/* a field with characters */
#define ETCH_JIT_LOC_AT		112	/* where others are, and how many */
#define ETCH_JIT_DYNAMIC_AT	120	/* and these are they */
#define ETCH_JIT_RECORD		176

/* ---- Records ---- */

static const u64 etch_jit_values[] = {
	0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe,
	0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffffffe,
	U64_MAX, 0xffffffff80000000, 0xffffffff7fffffff, 0x123456789abcdef0,
};

/* Texts that are each other's beginnings, and as long as the words that are compared. */
static const char * const etch_jit_texts[] = {
	"", "a", "ab", "abc", "abcd", "abcdefg", "abcdefgh", "abcdefghi", "abcdefghijklmno",
	"abcdefghijklmnop", "abcdefghijklmnopqrs", "abcdefgX", "Xbcdefgh",
	"abcdefghijklmnopqrstuvwxyzabcdef", "abcdefghijklmnopqrstuvwxyzabcdefghijklmn",
};

static u32 etch_jit_below(struct rnd_state *rnd, u32 bound)
{
	return prandom_u32_state(rnd) % bound;
}

static u64 etch_jit_value(struct rnd_state *rnd)
{
	return etch_jit_values[etch_jit_below(rnd, ARRAY_SIZE(etch_jit_values))];
}

static const char *etch_jit_text(struct rnd_state *rnd)
{
	return etch_jit_texts[etch_jit_below(rnd, ARRAY_SIZE(etch_jit_texts))];
}

/*
 * A text that need not end with a zero where its field ends, and may go on behind it. Returns the
 * bytes that the field has.
 */
static unsigned int etch_jit_put_text(struct rnd_state *rnd, u8 *to, unsigned int most)
{
	const char *text = etch_jit_text(rnd);
	unsigned int len = min_t(unsigned int, strlen(text), most);

	memcpy(to, text, len);
	if (len < most && etch_jit_below(rnd, 4)) {
		to[len] = '\0';
		len += etch_jit_below(rnd, 4) > 0;
	}
	if (len && !etch_jit_below(rnd, 4))
		len--;
	return len;
}

/* Numbers that lie at an end of a range that is tested, or beside it. */
static void etch_jit_put_ends(struct rnd_state *rnd, const struct etch_program *program,
			      u8 *record)
{
	unsigned int i;

	for (i = 0; i < program->nr; i++) {
		const struct etch_test_of *t = &program->tests[i];
		u64 value;

		if (!t->plain || etch_jit_below(rnd, 2))
			continue;
		value = t->low + etch_jit_below(rnd, 3) - 1;
		if (etch_jit_below(rnd, 2))
			value += t->span;
		memcpy(record + t->offset, &value, t->size);
	}
}

static void etch_jit_fill(struct rnd_state *rnd, const struct etch_program *program, u8 *record)
{
	unsigned int at;
	u32 loc;

	memset(record, 'b', ETCH_JIT_RECORD);
	for (at = 0; at < ETCH_JIT_TEXT_AT; at += sizeof(u64)) {
		u64 value = etch_jit_value(rnd) + etch_jit_below(rnd, 3) - 1;

		memcpy(record + at, &value, sizeof(value));
	}
	etch_jit_put_ends(rnd, program, record);
	etch_jit_put_text(rnd, record + ETCH_JIT_TEXT_AT, ETCH_JIT_LOC_AT - ETCH_JIT_TEXT_AT);
	loc = etch_jit_put_text(rnd, record + ETCH_JIT_DYNAMIC_AT, 48) << 16;
	/* Two words lead to the same text: one from the record's start, one from its own end. */
	loc |= ETCH_JIT_DYNAMIC_AT;
	memcpy(record + ETCH_JIT_LOC_AT, &loc, sizeof(loc));
	loc -= ETCH_JIT_LOC_AT + 2 * sizeof(loc);
	memcpy(record + ETCH_JIT_LOC_AT + sizeof(loc), &loc, sizeof(loc));
}

/* ---- Programs ---- */

static void etch_jit_number(struct rnd_state *rnd, struct etch_test_of *t)
{
	u64 field;

	t->how = ETCH_IN_RANGE;
	t->size = 1 << etch_jit_below(rnd, 4);
	t->offset = etch_jit_below(rnd, ETCH_JIT_TEXT_AT / t->size) * t->size;
	if (!etch_jit_below(rnd, 4))
		t->offset = etch_jit_below(rnd, ETCH_JIT_TEXT_AT - sizeof(u64));
	field = GENMASK_ULL(t->size * BITS_PER_BYTE - 1, 0);
	t->field = field;
	t->and = etch_jit_below(rnd, 3) ? U64_MAX : etch_jit_value(rnd);
	t->low = etch_jit_value(rnd) + etch_jit_below(rnd, 3) - 1;
	switch (etch_jit_below(rnd, 4)) {
	case 0:
		t->span = etch_jit_value(rnd) & field;
		break;
	case 1:			/* up to the highest number, or nearly so */
		t->span = (field - t->low - etch_jit_below(rnd, 2)) & field;
		break;
	default:		/* that number, and all others */
		t->span = etch_jit_below(rnd, 2) ? field - 1 : 0;
	}
}

static void etch_jit_characters(struct kunit *test, struct rnd_state *rnd,
				struct etch_test_of *t)
{
	t->how = etch_jit_below(rnd, 5) ? ETCH_EQUALS : ETCH_GLOBS;
	t->of = etch_jit_below(rnd, 2) ? ETCH_OF_STRING : ETCH_OF_DYNAMIC;
	t->pattern = kstrdup(etch_jit_text(rnd), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->pattern);
	t->len = strlen(t->pattern);
	if (t->of == ETCH_OF_STRING) {
		t->offset = ETCH_JIT_TEXT_AT;
		t->most = etch_jit_below(rnd, 2) ? ETCH_JIT_LOC_AT - ETCH_JIT_TEXT_AT :
						   1 + etch_jit_below(rnd, 20);
	} else {
		t->relative = etch_jit_below(rnd, 2);
		t->offset = ETCH_JIT_LOC_AT + t->relative * sizeof(u32);
	}
}

/* What the machine code leaves to a function. */
static void etch_jit_left(struct rnd_state *rnd, struct etch_test_of *t)
{
	etch_jit_number(rnd, t);
	switch (etch_jit_below(rnd, 3)) {
	case 0:
		t->of = ETCH_OF_PID;
		t->low = etch_jit_below(rnd, 2) ? 0 : current->pid;
		break;
	case 1:
		t->of = ETCH_OF_CONTEXT;
		break;
	default:
		t->of = ETCH_OF_ELEMENT;
		t->offset = ETCH_JIT_LOC_AT;
		t->index = etch_jit_below(rnd, 6);
	}
}

static u16 etch_jit_go(struct rnd_state *rnd, unsigned int at, unsigned int nr)
{
	if (at + 1 == nr || !etch_jit_below(rnd, 6))
		return etch_jit_below(rnd, 2) ? ETCH_PASS : ETCH_FAIL;
	if (etch_jit_below(rnd, 3))
		return ETCH_NEXT;
	return at + 1 + etch_jit_below(rnd, nr - at - 1);
}

static struct etch_program *etch_jit_random(struct kunit *test, struct rnd_state *rnd,
					    unsigned int nr)
{
	struct etch_program *program = kzalloc(struct_size(program, tests, nr), GFP_KERNEL);
	unsigned int i, kind;

	KUNIT_ASSERT_NOT_NULL(test, program);
	for (i = 0; i < nr; i++) {
		struct etch_test_of *t = &program->tests[i];

		kind = etch_jit_below(rnd, 8);
		if (kind < 5)
			etch_jit_number(rnd, t);
		else if (kind < 7)
			etch_jit_characters(test, rnd, t);
		else
			etch_jit_left(rnd, t);
		t->plain = t->of == ETCH_OF_FIELD && t->how == ETCH_IN_RANGE;
		t->yes = etch_jit_go(rnd, i, nr);
		t->no = etch_jit_go(rnd, i, nr);
		program->nr = i + 1;
	}
	return program;
}

/* ---- Tests ---- */

static int etch_jit_init(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_BPF_JIT) || !IS_ENABLED(CONFIG_HAVE_EBPF_JIT))
		kunit_skip(test, "this kernel has no JIT for BPF");
	if (!IS_ENABLED(CONFIG_HAVE_EFFICIENT_UNALIGNED_ACCESS))
		kunit_skip(test, "this machine reads words at their own addresses only");
	if (!ebpf_jit_enabled())
		kunit_skip(test, "BPF's JIT is off");
	return 0;
}

/* How many of some records pass. Both kinds of program must say the same of each. */
static unsigned int etch_jit_compare(struct kunit *test, struct rnd_state *rnd,
				     const struct etch_program *program, unsigned int number)
{
	u8 record[ETCH_JIT_RECORD];
	unsigned int i, passed = 0;
	bool flat, native;

	for (i = 0; i < ETCH_JIT_RECORDS; i++) {
		etch_jit_fill(rnd, program, record);
		preempt_disable();
		flat = etch_program_run(program, record, false);
		native = program->native(record, NULL);
		preempt_enable();
		KUNIT_ASSERT_EQ_MSG(test, flat, native, "program %u, record %u", number, i);
		passed += flat;
	}
	return passed;
}

static void etch_jit_says_the_same(struct kunit *test)
{
	unsigned int i, natives = 0, passed = 0, all;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 612);
	for (i = 0; i < ETCH_JIT_PROGRAMS; i++) {
		struct etch_program *program;

		program = etch_jit_random(test, &rnd, 1 + etch_jit_below(&rnd, 12));
		etch_jit_make(program);
		if (program->native) {
			passed += etch_jit_compare(test, &rnd, program, i);
			natives++;
		}
		etch_program_free(program);
	}
	all = natives * ETCH_JIT_RECORDS;
	KUNIT_EXPECT_GT(test, natives, ETCH_JIT_PROGRAMS / 2);
	KUNIT_EXPECT_GT(test, passed, all / 10);
	KUNIT_EXPECT_LT(test, passed, all - all / 10);
}

/* As many tests as there can be: jumps go far. */
static void etch_jit_long(struct kunit *test)
{
	struct etch_program *program;
	struct rnd_state rnd;
	unsigned int i;

	prandom_seed_state(&rnd, 613);
	program = etch_jit_random(test, &rnd, ETCH_PROGRAM_MAX);
	/* Most tests lead to the next one, and some to the last one. */
	for (i = 0; i < ETCH_PROGRAM_MAX - 8; i++) {
		program->tests[i].yes = ETCH_NEXT;
		program->tests[i].no = i % 100 ? ETCH_NEXT : ETCH_PROGRAM_MAX - 1;
	}
	etch_jit_make(program);
	KUNIT_EXPECT_NOT_NULL(test, program->native);
	if (program->native)
		etch_jit_compare(test, &rnd, program, 0);
	etch_program_free(program);
}

static struct etch_program *etch_jit_numbers(struct kunit *test, unsigned int nr)
{
	struct etch_program *program = kzalloc(struct_size(program, tests, nr), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, program);
	program->nr = nr;
	program->plain = true;
	for (i = 0; i < nr; i++)
		program->tests[i] = (struct etch_test_of) {
			.plain = true, .size = 4, .and = U64_MAX, .low = 7, .field = U32_MAX,
			.yes = i + 1 < nr ? ETCH_NEXT : ETCH_PASS, .no = ETCH_FAIL,
		};
	return program;
}

/* One test of a number gains nothing. */
static void etch_jit_one(struct kunit *test)
{
	struct etch_program *program = etch_jit_numbers(test, 1);

	etch_jit_make(program);
	KUNIT_EXPECT_NULL(test, program->native);
	KUNIT_EXPECT_TRUE(test, program->plain);
	etch_program_free(program);
}

/* The program stays flat, and is not interpreted, if the JIT is off. */
static void etch_jit_off(struct kunit *test)
{
#ifdef CONFIG_BPF_JIT
	struct etch_program *program = etch_jit_numbers(test, 2);
	int before = bpf_jit_enable;

	bpf_jit_enable = 0;
	etch_jit_make(program);
	bpf_jit_enable = before;
	KUNIT_EXPECT_NULL(test, program->native);
	KUNIT_EXPECT_TRUE(test, program->plain);
	etch_jit_make(program);
	KUNIT_EXPECT_NOT_NULL(test, program->native);
	KUNIT_EXPECT_FALSE(test, program->plain);
	etch_program_free(program);
#endif
}

static struct kunit_case etch_jit_cases[] = {
	KUNIT_CASE_SLOW(etch_jit_says_the_same),
	KUNIT_CASE(etch_jit_long),
	KUNIT_CASE(etch_jit_one),
	KUNIT_CASE(etch_jit_off),
	{}
};

static struct kunit_suite etch_jit_suite = {
	.name = "etch_jit",
	.init = etch_jit_init,
	.test_cases = etch_jit_cases,
};
kunit_test_suite(etch_jit_suite);
