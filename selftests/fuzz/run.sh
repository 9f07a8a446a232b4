#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run the targets given, for so many seconds each, on a corpus made from event headers.
#
#	run.sh SECONDS HEADERS TARGET...
#
# A target that has had fewer than 1000 inputs besides those that were there goes on until it has had
# them: other programs may have kept it from the processors. With FUZZ_LEAST, the target "trace",
# whose input strangers send, goes on until it has had that many, however long that takes.

seconds=${FUZZ_SECONDS:-$1}
headers=$2
shift 2
seed=${FUZZ_SEED:-1}
out=out
n=0
failed=0

# Inputs that the fuzzer finds stay in out/corpus: the next run goes on from there.
run() { # target limit
	"$out/$1" -seed="$seed" "$2" -timeout=20 -max_len=8192 \
		-rss_limit_mb=2048 -print_final_stats=1 -dict=words \
		-artifact_prefix="$out/$1-" "$out/corpus/$1" "$out/seeds/$1" \
		> "$out/$1.log" 2>&1
}

fuzz() { # target
	least=$(($(find "$out/corpus/$1" "$out/seeds/$1" -type f | wc -l) + 1000))
	if [ "$1" = trace ] && [ -n "$FUZZ_LEAST" ]; then
		run "$1" -runs="$FUZZ_LEAST"
	else
		run "$1" -max_total_time="$seconds" &&
			{ [ "$(figure "$1" number_of_executed_units)" -gt $least ] ||
				run "$1" -runs=$((least + 1)); }
	fi
}

figure() { # target name
	sed -n "s/^stat::$2: *//p" "$out/$1.log"
}

for target in "$@"; do
	n=$((n + 1))
	mkdir -p "$out/corpus/$target"
	began=$(date +%s)
	seeds=$(python3 seeds.py "$target" "$out/seeds/$target" "$headers") || seeds=0
	if [ "$seeds" -gt 0 ] && fuzz "$target"; then
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
