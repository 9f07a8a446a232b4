# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Modules of the kernel's own that do wrong: one goes beyond its memory and then
# refuses to stay, the other leaves memory behind that nobody points to.
modules=/lib/modules/$(uname -r)/kernel

insmod "$modules/mm/kasan/kasan_test_module.ko" 2> /dev/null
insmod "$modules/samples/kmemleak/kmemleak-test.ko" || exit 1

# shellcheck source=scripts/lab/guest/leaks.sh
. /guest/leaks.sh
leaks
