# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What "make record" records: some seconds of load, with the recorder. The folder
# goes to the host.
. /guest/load.sh
. /guest/output.sh

echo "# etch-record -e sched,irq,timer,kmem -d 3 -o trace"
mkdir -p /tmp/record
load_start
etch-record -v -e sched,irq,timer,kmem -d 3 -o /tmp/record/trace 2>&1 < /dev/null || exit 1
load_stop
ls -l /tmp/record/trace
output_write /tmp/record
