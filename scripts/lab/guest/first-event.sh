# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The commands of Documentation/authors.rst for its first event, as they stand there: the event
# is in the list, and its record in the trace.
cd /bench || exit 1
sh -e ./commands > /tmp/said 2>&1
status=$?
sed 's/^/# /' /tmp/said

# check NR TITLE PATTERN
check()
{
	if grep -q "$3" /tmp/said; then
		echo "ok $1 - $2"
	else
		echo "not ok $1 - $2"
	fi
}

echo "TAP version 13"
check 1 "the first event is in available_events" "^pond:pond_jump$"
check 2 "the first event is recorded" ": pond_jump: frog=sh cm=42$"
if [ $status -eq 0 ]; then
	echo "ok 3 - the commands succeed"
else
	echo "not ok 3 - the commands end with status $status"
fi
echo "1..3"
