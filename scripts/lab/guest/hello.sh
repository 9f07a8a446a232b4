# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The example of Documentation/design-tree.rst: each event's folder has a file hello, which
# greets the event, in the main tree and in an instance that is made later.
ETCH=/sys/kernel/debug/etch

# greets TREE: whether all its events have the file, and no other folder does.
greets()
{
	events=0
	for folder in "$1"/events/*/*/; do
		events=$((events + 1))
		name=$(basename "$folder")
		if [ "$(cat "$folder/hello")" != "hello, $name" ]; then
			echo "# $folder says: $(cat "$folder/hello")"
			return 1
		fi
	done
	echo "# $events events"
	[ $events -gt 0 ] && [ "$(find "$1/events" -name hello | wc -l)" -eq $events ]
}

# check NR TITLE TREE
check()
{
	if greets "$3"; then
		echo "ok $1 - $2"
	else
		echo "not ok $1 - $2"
	fi
}

echo "TAP version 13"
check 1 "the example: each event of the main tree has the file hello" $ETCH
mkdir $ETCH/instances/later
check 2 "the example: each event of an instance has it, too" $ETCH/instances/later
rmdir $ETCH/instances/later
echo "1..2"
