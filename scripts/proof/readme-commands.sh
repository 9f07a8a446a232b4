#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# readme-commands.sh [LANE...]: run the commands of the README as they are written there,
# and in that order: the indented lines that begin with "$ ", each once. make check is
# limited to LANE... if there are any. This is no Python: it is the first of the commands
# that installs it.
set -euo pipefail
. "$(dirname "$0")/../lib/common.sh"

cd "$ETCH_TOP"
mapfile -t commands < <(sed -n 's/^[[:space:]]\{1,\}\$ //p' README | awk '!seen[$0]++')
[ ${#commands[@]} -gt 0 ] || die "README has no commands"
for command in "${commands[@]}"; do
	[ "$command" != "make check" ] || [ $# -eq 0 ] || command+=" CHECK='$*'"
	say "README: $command"
	step "README: $command" bash -c "$command"
done
