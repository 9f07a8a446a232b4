# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Steps of a script in the guest, the first of which that fails ends it.

fail()
{
	echo "not ok - $*"
	exit 1
}

# put FILE TEXT: a file of the kernel's takes it.
put()
{
	file=$1
	shift
	echo "$*" > "$file" || fail "$file does not take $*"
}
