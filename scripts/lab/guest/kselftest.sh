# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The kselftests of Etch under the kernel's own runner. It ends with status 0
# whatever they say: the host reads their results from the report.
cd /kselftest || exit 1

# The runner opens /dev/stdout for what tests print. The report's device can be
# opened only once, a pipe any number of times.
ln -sf /proc/self/fd/1 /dev/stdout
# On the kernel's command line, each kselftest=TEST names a test to run, and
# kselftest.timeout=SECONDS is the time that the runner gives each of them.
# shellcheck disable=SC2046
sh ./run_kselftest.sh $(tr ' ' '\n' < /proc/cmdline |
	sed -n -e 's/^kselftest=/-t /p' -e 's/^kselftest\.timeout=/-o /p') 2>&1 | cat

# What KUnit found at boot, if it was to: a level below the results above, and
# last, so that no result takes it for its own.
if grep -qw show=kunit /proc/cmdline; then
	sed -e '/^1\.\.1$/d' -e 's/^/# /' /sys/kernel/debug/kunit/*/results
fi

# shellcheck source=scripts/lab/guest/leaks.sh
. /guest/leaks.sh
leaks
