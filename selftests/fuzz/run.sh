#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run the targets given, for so many seconds each, on a corpus made from event headers.
#
#	run.sh SECONDS HEADERS TARGET...
#
# With FUZZ_LEAST, the target "trace", whose input strangers send, goes on until it has had that many
# inputs, however long that takes.

seconds=${FUZZ_SECONDS:-$1}
headers=$2
shift 2
seed=${FUZZ_SEED:-1}
out=out
n=0
failed=0

# Inputs that the fuzzer finds stay in out/corpus: the next run goes on from there.
fuzz() { # target
	limit=-max_total_time=$seconds
	[ "$1" != trace ] || [ -z "$FUZZ_LEAST" ] || limit=-runs=$FUZZ_LEAST
	"$out/$1" -seed="$seed" "$limit" -timeout=20 -max_len=8192 \
		-rss_limit_mb=2048 -print_final_stats=1 -dict=words \
		-artifact_prefix="$out/$1-" "$out/corpus/$1" "$out/seeds/$1" \
		> "$out/$1.log" 2>&1
}

figure() { # target name
	sed -n "s/^stat::$2: *//p" "$out/$1.log"
}

for target in "$@"; do
	n=$((n + 1))
	mkdir -p "$out/corpus/$target"
	began=$(date +%s)
	seeds=$(python3 seeds.py "$target" "$out/seeds/$target" "$headers") || seeds=0
	if [ "$seeds" -gt 0 ] && fuzz "$target" &&
	   [ "$(figure "$target" number_of_executed_units)" -gt 1000 ]; then
		echo "ok $n - $target"
	else
		failed=$((failed + 1))
		echo "not ok $n - $target"
		tail -n 60 "$out/$target.log" | sed 's/^/# /'
	fi
	echo "# $target: $seeds seeds, $(figure "$target" number_of_executed_units) inputs" \
		"in $(($(date +%s) - began)) s, seed $seed, $(grep -c NEW "$out/$target.log") new"
done
echo "1..$n"
[ "$failed" -eq 0 ]
