# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What KUnit's suites said when they ran at boot, which "kunit.enable=1" on the
# kernel's command line asks for.
cd /sys/kernel/debug/kunit || exit 1
for suite in *; do
	grep -q '# Subtest:' "$suite/results" || {
		echo "suite $suite has not run"
		exit 1
	}
	cat "$suite/results"
done
