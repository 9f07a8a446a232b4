#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Would user_protocol notice? Take one rule at a time out of a copy of the library, or of what the
# reader does, and see that the test fails. Prints TAP. It needs no kernel of ours, but a C library
# that registers restartable sequences, and two CPUs.
#
#	mutants.sh LIBRARY HEADERS	(tools/lib/etch/include, include/uapi)
#
# With MUTANTS=look, see only that each rule is still in the source.

# The dollars are perl's:
# shellcheck disable=SC2016

src=$(realpath "$1")
inc=$(realpath "$2")
cd "$(dirname "$0")" || exit 1
. ../mutants.sh
slow=
sections=

copy() {
	rm -rf "$work/etch" "$work/linux"
	cp -r "$src/etch" "$work"
	# Of the kernel's headers this one alone: the others are made for user space.
	mkdir "$work/linux"
	cp "$inc/linux/etch_user.h" "$work/linux"
	cp user_protocol.c "$work"
	[ -z "$slow" ] || perl -0pi -e "$slow" "$work/$sections"
}

passes() {
	cc -w -O2 -D_GNU_SOURCE -I"$work" -I../lib -I../.. -static -o "$work/test" \
		"$work/user_protocol.c" ../lib/etch.c -lpthread || exit 1
	status=0
	ETCH_PROTOCOL_MS=1500 timeout 60 "$work/test" > /dev/null 2>&1 || status=$?
	end_children
	return $status
}

# The test harness puts each test into a process group of its own, which timeout does not end: a
# mutant that never gets out of its loop would go on for ever.
end_children() {
	for exe in /proc/[0-9]*/exe; do
		[ "$(readlink "$exe" 2> /dev/null)" != "$work/test" ] ||
			kill -KILL "$(basename "$(dirname "$exe")")" 2> /dev/null
	done
}

# mutant TITLE FILE EXPRESSION: the library's file, changed by an expression of perl's, must fail.
# A fault may need several attempts to show.
mutant() {
	change "$1" "$2" "$3" || return
	for _ in 1 2 3 4 5; do
		if ! passes; then
			say ok "$1: noticed"
			return
		fi
	done
	say "not ok" "$1: not noticed"
}

copy
if [ -z "$look" ]; then
	if passes && passes && passes; then
		say ok "the library as it is"
	else
		say "not ok" "the library as it is"
	fi
fi

x86_64_mutants()
{
	mutant "section pointer not stored" $sections \
		's/"movq %%rax, %%fs:8\(%\[area\]\)\\n"/"\\n"/'
	mutant "position before payload" $sections \
		's/"rdtsc\\n/"movq %%r10, (%%rcx)\\n\\trdtsc\\n/'
	mutant "loss not counted by the last instruction" $sections \
		's/"incq %%r10\\n\\t"\s*"addq %\[lost\]/"incq %%r10; movq %%r10, %c[lost](%%rcx); movl \$99, %%edx; 9: decl %%edx; jnz 9b\\n\\t""addq %[lost]/'
	mutant "block not invalid before it is begun again" $sections \
		's/"movq \$0, \(%%rdx\)\\n\\t"//; s/"incq %%r10\\n\\t"(\s*"movq %%r10, \(%%rdx\))/"movl \$20000, %%r11d; 9: decl %%r11d; jnz 9b; incq %%r10\\n\\t"$1/'
	mutant "end of the next block before its position" $sections \
		's/"cmpq %c\[end\]\(%%rcx\), %%r10\\n\\t"\s*"ja 8f\\n\\t"//'
	slow='s/"7:\\tmovq/"7:\\tmovl \$500, %%edx; 9: decl %%edx; jnz 9b; movq/'
}

aarch64_mutants()
{
	mutant "section pointer not stored" $sections \
		's/"str x9, \[x10, 8\]\\n"/"\\n"/'
	mutant "position before payload" $sections \
		's/"isb\\n/"stlr x13, [x11]; isb\\n/'
	mutant "loss not counted by the last instruction" $sections \
		's/"add x13, x13, 1\\n\\t"/"add x13, x13, 1; str x13, [x11]; mov x14, 99; 9: subs x14, x14, 1; b.ne 9b\\n\\t"/'
	mutant "block not invalid before it is begun again" $sections \
		's/"str xzr, \[x16\]\\n\\t"//; s/("stlr x14, \[x16\])/"mov x17, 20000; 9: subs x17, x17, 1; b.ne 9b\\n\\t"\n$1/'
	mutant "end of the next block before its position" $sections \
		's/"cmp x13, x14\\n\\t"\s*"b.hi 8f\\n\\t"//'
	slow='s/"7:\\tstlr/"7:\\tmov x15, 500; 9: subs x15, x15, 1; b.ne 9b; stlr/'
}

for machine in x86_64 aarch64; do
	# This machine cannot run another one's sections. It can see that the rules are there.
	[ -n "$look" ] || [ "$(uname -m)" = $machine ] || continue
	case $machine in
	x86_64)		sections=etch/sections_x86_64.h ;;
	aarch64)	sections=etch/sections_arm64.h ;;
	esac
	${machine}_mutants
	# With a writer that takes its time between its clock and its store, which alone is no fault.
	mutant "settling without an interrupt" user_protocol.c \
		's/syscall\(SYS_membarrier, MEMBARRIER_CMD_PRIVATE.*?;/;/'
	slow=
done
finish
