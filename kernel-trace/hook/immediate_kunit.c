// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of immediate values: widths and signs, both forms of the read, the
 * order of the steps, and sets that fail. A short run of immediate_test.c is here,
 * too: it changes values while other CPUs read them.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/immediate.h>
#include <linux/init.h>
#include <linux/limits.h>
#include <linux/math.h>

#include <asm/sections.h>

#include "hook/immediate_internal.h"
#include "hook/immediate_test.h"

DEFINE_STATIC_IMV(u8, test_u8);
DEFINE_STATIC_IMV(s8, test_s8);
DEFINE_STATIC_IMV(u16, test_u16);
DEFINE_STATIC_IMV(s16, test_s16);
DEFINE_STATIC_IMV(u32, test_u32);
DEFINE_STATIC_IMV(s32, test_s32);
DEFINE_STATIC_IMV(u64, test_u64);
DEFINE_STATIC_IMV(s64, test_s64);

/* Of a width that is patched wherever anything is. */
DEFINE_STATIC_IMV(u16, test_other);
DEFINE_STATIC_IMV(u16, test_init);

/* Set and read, in the code and in memory, at two sites; and is the branch right? */
#define EXPECT_SET(test, name, val) do {					\
	__imv_type_##name __val = (val);					\
										\
	KUNIT_ASSERT_EQ(test, 0, imv_set(name, __val));				\
	KUNIT_EXPECT_EQ(test, __val, imv_read(name));				\
	KUNIT_EXPECT_EQ(test, __val, imv_read(name));				\
	KUNIT_EXPECT_EQ(test, __val, __imv_load(__imv_type_##name, &name));	\
	KUNIT_EXPECT_EQ(test, __val != 0, imv_branch(name));			\
} while (0)

/* The least, the greatest, both sides of zero, and a pattern of bits. */
#define EXPECT_VALUES(test, name, min, max) do {				\
	KUNIT_EXPECT_EQ(test, 0, imv_read(name));				\
	KUNIT_EXPECT_FALSE(test, imv_branch(name));				\
	EXPECT_SET(test, name, 1);						\
	EXPECT_SET(test, name, max);						\
	EXPECT_SET(test, name, min);						\
	EXPECT_SET(test, name, (__imv_type_##name)-1);				\
	EXPECT_SET(test, name, imv_test_part(name, 0xa5c396e178d24b0fULL));	\
	EXPECT_SET(test, name, 0);						\
} while (0)

static void widths(struct kunit *test)
{
	EXPECT_VALUES(test, test_u8, 0, U8_MAX);
	EXPECT_VALUES(test, test_u16, 0, U16_MAX);
	EXPECT_VALUES(test, test_u32, 0, U32_MAX);
	EXPECT_VALUES(test, test_u64, 0, U64_MAX);
}

static void signs(struct kunit *test)
{
	EXPECT_VALUES(test, test_s8, S8_MIN, S8_MAX);
	EXPECT_VALUES(test, test_s16, S16_MIN, S16_MAX);
	EXPECT_VALUES(test, test_s32, S32_MIN, S32_MAX);
	EXPECT_VALUES(test, test_s64, S64_MIN, S64_MAX);
}

/* More than one batch of changes takes, most of them of one value's neighbours. */
static void many_at_once(struct kunit *test)
{
	struct imv_change changes[] = {
		{ &test_u8, 8 }, { &test_u16, 16 }, { &test_u32, 32 }, { &test_u64, 64 },
		{ &test_s8, -8 }, { &test_s16, -16 }, { &test_s32, -32 }, { &test_s64, -64 },
	};
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 0, imv_set_many(changes, ARRAY_SIZE(changes)));
	KUNIT_EXPECT_EQ(test, 8, imv_read(test_u8));
	KUNIT_EXPECT_EQ(test, 16, imv_read(test_u16));
	KUNIT_EXPECT_EQ(test, 32, imv_read(test_u32));
	KUNIT_EXPECT_EQ(test, 64, imv_read(test_u64));
	KUNIT_EXPECT_EQ(test, -8, imv_read(test_s8));
	KUNIT_EXPECT_EQ(test, -16, imv_read(test_s16));
	KUNIT_EXPECT_EQ(test, -32, imv_read(test_s32));
	KUNIT_EXPECT_EQ(test, -64, imv_read(test_s64));
	KUNIT_EXPECT_TRUE(test, imv_branch(test_s64));

	for (i = 0; i < ARRAY_SIZE(changes); i++)
		changes[i].value = 0;
	KUNIT_ASSERT_EQ(test, 0, imv_set_many(changes, ARRAY_SIZE(changes)));
	KUNIT_EXPECT_EQ(test, 0, imv_read(test_u32));
	KUNIT_EXPECT_FALSE(test, imv_branch(test_u8));
	KUNIT_EXPECT_FALSE(test, imv_branch(test_s64));
}

#ifdef CONFIG_IMV_PATCHED

DEFINE_STATIC_IMV(u16, test_patched);

/* ---- The order of the steps, looked at while the operands are being patched ---- */

static struct {
	unsigned int calls;
	u16 read;
	bool branch;
} during;

static int poke_and_look(const struct imv_poke *pokes, unsigned int nr)
{
	int ret = arch_imv_poke(pokes, nr);

	during.calls++;
	during.read = imv_read(test_patched);
	during.branch = imv_branch(test_patched);
	return ret;
}

static void value_before_branch(struct kunit *test)
{
	kunit_activate_static_stub(test, imv_poke_batch, poke_and_look);

	during.calls = 0;
	KUNIT_ASSERT_EQ(test, 0, imv_set(test_patched, 7));
	KUNIT_EXPECT_EQ(test, 1, during.calls);
	KUNIT_EXPECT_EQ(test, 7, during.read);
	KUNIT_EXPECT_FALSE_MSG(test, during.branch, "the branch opened before the value was there");

	KUNIT_ASSERT_EQ(test, 0, imv_set(test_patched, 9));
	KUNIT_EXPECT_EQ(test, 9, during.read);
	KUNIT_EXPECT_TRUE_MSG(test, during.branch, "the branch closed between two values");

	KUNIT_ASSERT_EQ(test, 0, imv_set(test_patched, 0));
	KUNIT_EXPECT_EQ(test, 0, during.read);
	KUNIT_EXPECT_FALSE_MSG(test, during.branch, "the branch was open when the value had gone");
	KUNIT_EXPECT_EQ(test, 3, during.calls);
}

/* ---- Sets that fail ---- */

static unsigned int fail_after;

/* Patches some of the sites, and then finds that it cannot. */
static int poke_half(const struct imv_poke *pokes, unsigned int nr)
{
	if (fail_after--)
		return arch_imv_poke(pokes, nr);
	if (nr > 1 && arch_imv_poke(pokes, nr / 2))
		return -EIO;
	fail_after = UINT_MAX;
	return -ENXIO;
}

static void fails_half_way(struct kunit *test)
{
	struct imv_change changes[] = { { &test_patched, 0 }, { &test_other, 5 } };

	KUNIT_ASSERT_EQ(test, 0, imv_set(test_patched, 3));
	KUNIT_ASSERT_EQ(test, 0, imv_set(test_other, 0));

	kunit_activate_static_stub(test, imv_poke_batch, poke_half);
	fail_after = 0;
	KUNIT_EXPECT_EQ(test, -ENXIO, imv_set_many(changes, ARRAY_SIZE(changes)));
	KUNIT_EXPECT_EQ(test, UINT_MAX - 1, fail_after);

	/* All as it was, at every site. */
	KUNIT_EXPECT_EQ(test, 3, imv_read(test_patched));
	KUNIT_EXPECT_EQ(test, 3, imv_read(test_patched));
	KUNIT_EXPECT_EQ(test, 3, __imv_load(u16, &test_patched));
	KUNIT_EXPECT_TRUE(test, imv_branch(test_patched));
	KUNIT_EXPECT_EQ(test, 0, imv_read(test_other));
	KUNIT_EXPECT_FALSE(test, imv_branch(test_other));

	fail_after = 0;
	KUNIT_EXPECT_EQ(test, -ENXIO, imv_set(test_other, 5));
	KUNIT_EXPECT_EQ(test, 0, imv_read(test_other));
	KUNIT_EXPECT_FALSE(test, imv_branch(test_other));

	kunit_deactivate_static_stub(test, imv_poke_batch);
	KUNIT_EXPECT_EQ(test, 0, imv_set(test_other, 5));
	KUNIT_EXPECT_EQ(test, 5, imv_read(test_other));
	KUNIT_EXPECT_EQ(test, 0, imv_set(test_other, 0));
	KUNIT_EXPECT_EQ(test, 0, imv_set(test_patched, 0));
}

/* ---- Sites in init code, before and after that is freed ---- */

static bool poked_init;

static int poke_and_tell(const struct imv_poke *pokes, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		poked_init |= init_section_contains(pokes[i].addr, 1);
	return arch_imv_poke(pokes, nr);
}

/* Built-in suites run before that at boot, and after it when asked to run again. */
static void freed_init_code(struct kunit *test)
{
	kunit_activate_static_stub(test, imv_poke_batch, poke_and_tell);
	poked_init = false;
	KUNIT_ASSERT_EQ(test, 0, imv_set(test_init, 0x1122));
	KUNIT_EXPECT_EQ(test, 0x1122, imv_read(test_init));
	KUNIT_ASSERT_EQ(test, 0, imv_set(test_init, 0));
	KUNIT_EXPECT_EQ(test, system_state < SYSTEM_FREEING_INITMEM, poked_init);
}

#endif /* CONFIG_IMV_PATCHED */

/* ---- Early ---- */

/* As before jump labels: noted, read from memory only, and then put in place. */
static void set_early(struct kunit *test)
{
	struct imv_change twice[] = { { &test_other, 1 }, { &test_u64, 2 } };
	struct imv_change later = { &test_other, 11 };
	struct imv_change lots[9] = {};

	KUNIT_ASSERT_EQ(test, 0, imv_note_early(twice, 2));
	KUNIT_ASSERT_EQ(test, 0, imv_note_early(&later, 1));
	KUNIT_EXPECT_FALSE(test, imv_branch(test_other));
	KUNIT_EXPECT_EQ(test, 11, __imv_load(u16, &test_other));

	KUNIT_EXPECT_EQ(test, -EAGAIN, imv_note_early(lots, ARRAY_SIZE(lots)));

	KUNIT_ASSERT_EQ(test, 0, imv_set_noted());
	KUNIT_EXPECT_EQ(test, 11, imv_read(test_other));
	KUNIT_EXPECT_TRUE(test, imv_branch(test_other));
	KUNIT_EXPECT_EQ(test, 2, imv_read(test_u64));

	KUNIT_EXPECT_EQ(test, 0, imv_set(test_other, 0));
	KUNIT_EXPECT_EQ(test, 0, imv_set(test_u64, 0));
}

/* ---- While everybody reads ---- */

#ifdef CONFIG_IMV_TEST
static void under_fire(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, 0, imv_test_run(200));
	KUNIT_EXPECT_EQ(test, 0, imv_test_bad());
}
#endif

/* ---- Init code ---- */

static u16 read_by_init __initdata;

static noinline int __init read_in_init(void)
{
	return imv_read(test_init);
}

/* Before the second CPU runs, and before the code is read-only. */
static int __init set_at_boot(void)
{
	if (imv_set(test_init, 0x1234))
		return -EINVAL;
	read_by_init = read_in_init();
	return 0;
}
early_initcall(set_at_boot);

/* KUnit itself runs before init code is freed. */
static void __init init_code(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0x1234, read_by_init);
	KUNIT_EXPECT_EQ(test, 0x1234, imv_read(test_init));
	KUNIT_EXPECT_EQ(test, 0x1234, read_in_init());
	KUNIT_ASSERT_EQ(test, 0, imv_set(test_init, 0x5432));
	KUNIT_EXPECT_EQ(test, 0x5432, read_in_init());
	KUNIT_EXPECT_EQ(test, 0, imv_set(test_init, 0));
}

/* Refers to init code, and is gone through before that is freed. */
static struct kunit_case __refdata imv_init_cases[] = {
	KUNIT_CASE(init_code),
	{}
};

static struct kunit_suite imv_init_suite = {
	.name = "imv_init",
	.test_cases = imv_init_cases,
};
kunit_test_init_section_suite(imv_init_suite);

static struct kunit_case imv_cases[] = {
	KUNIT_CASE(widths),
	KUNIT_CASE(signs),
	KUNIT_CASE(many_at_once),
#ifdef CONFIG_IMV_PATCHED
	KUNIT_CASE(value_before_branch),
	KUNIT_CASE(fails_half_way),
	KUNIT_CASE(freed_init_code),
#endif
	KUNIT_CASE(set_early),
#ifdef CONFIG_IMV_TEST
	KUNIT_CASE_SLOW(under_fire),
#endif
	{}
};

static struct kunit_suite imv_suite = {
	.name = "imv",
	.test_cases = imv_cases,
};
kunit_test_suite(imv_suite);
