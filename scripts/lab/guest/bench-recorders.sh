# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# BENCH=recorders inside the guest. The module that hits events is BENCH=event's; ran
# counts a program's time.
# Words "bench.NAME=VALUE" on the kernel's command line: rounds, chunks, hits.
word()
{
	sed -n "s/.*bench\.$1=\([^ ]*\).*/\1/p" /proc/cmdline
}

insmod /bench/bench-event.ko trust_counter=1 || exit 1
insmod /bench/bench-ran.ko || exit 1
/bench/recorders "$(word rounds)" "$(word chunks)" "$(word hits)" || exit 1
rmmod bench-ran
rmmod bench-event
