# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Functions that tell ftrace's selftests how Etch's tree differs. This file is put behind
# the functions that the tests have in common, and takes the place of some.

# There are no tracers.
reset_tracer()
{
	:
}

# Two of the tests ask, with sed, for the layout of ftrace's binary buffers, to know how
# much text fills one. Our packets are described in the file metadata: they begin with
# 128 bytes, a record with 12, and in that of a mark 4 more stand before the text.
layout()
{
	case $1 in
	events/header_page)
		echo "data offset:128 size:$(($(cat buffer_subbuf_size_kb) * 1024 - 128))"
		;;
	events/header_event)
		printf '%s\n' "type_len: 96 bits" "time_delta: 0 bits" "array: 0 bits"
		;;
	events/ftrace/print/format)
		echo "buf offset:4"
		;;
	esac
}

# Tests ask ftrace's README for what definitions of probes can be. Those are parsed by the same
# code in Etch's tree, which has no README.
grep()
{
	case ${3-} in
	README)
		command grep "$1" "$2" /tmp/README
		;;
	*)
		command grep "$@"
		;;
	esac
}

sed()
{
	case ${3-} in
	events/header_page | events/header_event | events/ftrace/print/format)
		layout "$3" | command sed "$1" "$2"
		;;
	*)
		command sed "$@"
		;;
	esac
}
