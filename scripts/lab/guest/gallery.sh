# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The recording that the gallery of the documentation shows: some seconds of load that has to do
# with one processor, so that its tasks wait. The folder goes to the host.
. /guest/load.sh
. /guest/output.sh

mkdir -p /tmp/gallery
taskset -p 1 $$ > /dev/null || exit 1
load_start
taskset -p 3 $$ > /dev/null
etch record -p sched,irq -d 2 -o /tmp/gallery/trace < /dev/null || exit 1
load_stop
output_write /tmp/gallery
