// SPDX-License-Identifier: GPL-2.0
/*
 * A module with sites of immediate values, in its code and in its init code, for
 * immediate_test.c: it comes and goes while the values are set.
 */
#include <linux/delay.h>
#include <linux/init.h>
#include <linux/module.h>

#include "hook/immediate_test.h"

/* The module's own, with sites in code that is freed and in code that stays. */
DEFINE_STATIC_IMV(u32, imv_test_own);

static noinline u32 imv_test_own_read(void)
{
	return imv_branch(imv_test_own) ? imv_read(imv_test_own) : 0;
}

static noinline u32 __init imv_test_own_read_init(void)
{
	return imv_branch(imv_test_own) ? imv_read(imv_test_own) : 0;
}

/* After the module has been loaded, its init code is gone: writing sets. */
static int imv_test_own_set(const char *text, const struct kernel_param *kp)
{
	u32 value;
	int ret = kstrtou32(text, 0, &value);

	return ret ?: imv_set(imv_test_own, value);
}

static int imv_test_own_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%#x\n", imv_test_own_read());
}

static const struct kernel_param_ops imv_test_own_ops = {
	.set = imv_test_own_set,
	.get = imv_test_own_get,
};
module_param_cb(own, &imv_test_own_ops, NULL, 0644);

static unsigned int imv_test_read_for(unsigned int times)
{
	unsigned int bad = 0;

	while (times--) {
		bad += imv_test_read();
		if (!(times % 64))
			usleep_range(50, 100);
	}
	return bad;
}

static int __init imv_test_mod_init(void)
{
	unsigned int bad = imv_test_read();

	if (imv_set(imv_test_own, 0xabcd1234))
		return -EIO;
	bad += imv_test_own_read() != 0xabcd1234;
	bad += imv_test_own_read_init() != 0xabcd1234;
	bad += imv_test_read_for(512);
	if (bad)
		pr_err("imv_test: %u bad values\n", bad);
	return bad ? -EILSEQ : 0;
}

static void __exit imv_test_mod_exit(void)
{
	if (imv_test_read_for(512))
		pr_err("imv_test: bad values at exit\n");
}

module_init(imv_test_mod_init);
module_exit(imv_test_mod_exit);
MODULE_DESCRIPTION("Sites of immediate values that come and go");
MODULE_LICENSE("GPL");
