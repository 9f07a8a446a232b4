# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What benchmarks inside the guest have in common, for those to read in that have it.

# word NAME: the value of "bench.NAME=VALUE" on the kernel's command line.
word()
{
	sed -n "s/.*bench\.$1=\([^ ]*\).*/\1/p" /proc/cmdline
}

# write VALUE FILE; a write that fails ends the benchmark.
write()
{
	echo "$1" > "$2" || {
		echo "cannot write '$1' to $2"
		exit 1
	}
}

# stored FOLDER: records that came into the first processor's buffer there.
stored()
{
	sed -n -e 's/^entries: //p' -e 's/^overwritten: //p' -e 's/^overrun: //p' \
		"$1/per_cpu/cpu0/stats" | {
		sum=0
		while read -r number; do
			sum=$((sum + number))
		done
		echo "$sum"
	}
}
