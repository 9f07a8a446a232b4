# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Errors on purpose, for the console: KASAN's by KUnit at boot, UBSAN's by a module.
insmod "/lib/modules/$(uname -r)/kernel/lib/test_ubsan.ko" || true
