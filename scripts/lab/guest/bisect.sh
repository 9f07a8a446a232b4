# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# "make bisect" boots this: the kernel came up. Where the tree is there already, one event
# is recorded, too.
ETCH=/sys/kernel/debug/etch

echo "up: $(uname -rm), $(nproc) processors"
[ -d $ETCH ] || exit 0
event=$ETCH/events/sched/sched_process_fork
[ -e $event/enable ] || { echo "the tree has no events"; exit 0; }
echo 1 > $event/enable
(true)
echo 0 > $event/enable
if [ -e $ETCH/trace ]; then
	grep -m 1 sched_process_fork: $ETCH/trace
else
	# No text yet: the account has the record.
	grep -h '^written: [1-9]' $ETCH/per_cpu/cpu*/stats
fi
