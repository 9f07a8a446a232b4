#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# readme-commands.sh [LANE...]: run the commands of the README as they are written there,
# and in that order: the indented lines that begin with "$ ", each once. make check is
# limited to LANE... if there are any. "make record" has to leave what the README says: an
# answer on the screen, and a page on the disk. This is no Python: it is the first of the
# commands that installs it.
set -euo pipefail
. "$(dirname "$0")/../lib/common.sh"

PAGE=$ETCH_BUILD/trace.html
SAID=$(mktemp)
trap 'rm -f "$SAID"' EXIT

# A row of etch top: a task, how long it ran, and its share of the CPUs.
answered()
{
	grep -q '^TASK  *RUN  *CPU' "$SAID" &&
		grep -Eq '^[^ ]+ +[0-9.]+ (us|ms|s) +[0-9.]+%' "$SAID"
}

# A page that ends, and that names the records of that trace.
pictured()
{
	[ -s "$PAGE" ] && grep -q '^</html>' "$PAGE" && grep -q "trace.html: [1-9][0-9]* records" "$SAID"
}

record()
{
	rm -f "$PAGE"
	bash -c "$1" 2>&1 | tee "$SAID" || return
	answered || { warn "$1: no answer of etch top is on the screen"; return 1; }
	pictured || { warn "$1: no page of etch view is in $PAGE"; return 1; }
}

cd "$ETCH_TOP"
mapfile -t commands < <(sed -n 's/^[[:space:]]\{1,\}\$ //p' README | awk '!seen[$0]++')
[ ${#commands[@]} -gt 0 ] || die "README has no commands"
for command in "${commands[@]}"; do
	[ "$command" != "make check" ] || [ $# -eq 0 ] || command+=" CHECK='$*'"
	say "README: $command"
	case $command in
	"make record"*)	step "README: $command" record "$command" ;;
	*)		step "README: $command" bash -c "$command" ;;
	esac
done
