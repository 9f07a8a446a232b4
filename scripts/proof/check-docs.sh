#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The documentation is well formed and complete: kernel-doc and Sphinx have
# nothing to say about it, and what there is in the sources is on the pages.
# Prints TAP, works on build/linux.
set -euo pipefail
. "$(dirname "$0")/../lib/common.sh"

TREE=$ETCH_LINUX
PAGES=$TREE/Documentation/trace/etch
ABI=$TREE/Documentation/ABI/testing/debugfs-etch
OUT=$ETCH_BUILD/docs

# What Sphinx says about the machine, not about the pages.
OF_THE_MACHINE='^Using .* theme$|dot\(1\) not found'

tests=0 failed=0

# result NAME COMPLAINTS: one line of TAP; the test failed if there are any.
result()
{
	tests=$((tests + 1))
	if [ -z "$2" ]; then
		echo "ok $tests - $1"
	else
		failed=$((failed + 1))
		echo "not ok $tests - $1"
		echo "$2" | sed 's/^/# /'
	fi
}

# kernel-doc exits with 0 when it only warns: what it prints counts.
kernel_doc()
{
	local file

	for file in "$@"; do
		[ -e "$file" ] || echo "$file is missing"
		perl "$TREE/scripts/kernel-doc" -none -Wall "$file" 2>&1 ||
			echo "kernel-doc failed on $file"
	done
}

# As the kernel's own makefile calls it for one folder, but for what that
# first generates for other folders.
sphinx()
{
	local rc=0 said

	rm -rf "$OUT"
	mkdir -p "$OUT" "$ETCH_BUILD/log"
	said=$(srctree=$TREE BUILDDIR=$OUT SPHINX_CONF=$PAGES/conf.py \
		PYTHONDONTWRITEBYTECODE=1 \
		sphinx-build -q -b html -c "$TREE/Documentation" \
		-d "$OUT/doctrees" -D version="$ETCH_BASE" -D release="$ETCH_BASE" \
		-D kerneldoc_srctree="$TREE" \
		-D kerneldoc_bin="$TREE/scripts/kernel-doc" \
		"$PAGES" "$OUT/html" 2>&1 > "$ETCH_BUILD/log/docs.log") || rc=$?
	grep -vE "$OF_THE_MACHINE" <<< "$said" | grep . || true
	[ $rc -eq 0 ] || echo "sphinx-build: status $rc"
	[ -s "$OUT/html/index.html" ] || echo "there is no index.html"
}

# The man pages, as rst2man and groff see them. Docutils comes with Sphinx.
man_page()
{
	local name page

	for name in etch.1 etch_user.3; do
		page=$OUT/$name
		rst2man --report=2 "$PAGES/${name%.*}.rst" "$page" 2>&1 ||
			echo "rst2man: status $?"
		! command -v groff >/dev/null || groff -man -Tutf8 -ww -z "$page" 2>&1 || true
		grep -q '^\.SH SYNOPSIS' "$page" || echo "$name has no synopsis"
	done
}

# Folders and files of the kernel tree that the pages name, in ``...``.
missing_paths()
{
	local path

	grep -ohE '``(Documentation|include|kernel|samples|tools|linux|trace)/[^` ]+``' \
		"$PAGES"/*.rst | tr -d '`' | sort -u |
	while read -r path; do
		[ -e "$TREE/$path" ] || [ -e "$TREE/include/$path" ] ||
			echo "$path is on the pages, but not in the tree"
	done
}

# unnamed PAGES WORD...: those that no page of this pattern has in ``...``.
unnamed()
{
	local pages=$1 word
	shift

	[ $# -gt 0 ] || echo "nothing was found in the sources to look for"
	for word in "$@"; do
		compgen -G "$PAGES/$pages" | xargs grep -qF -- "\`\`$word" ||
			echo "$word is not in $pages"
	done
}

# The files of the tree, from the rooms' tables; those with ETCH_OF_EVENT are below SYSTEM/EVENT/.
tree_files()
{
	sed -n '/ETCH_OF_EVENT/s/^\t{ "\([a-z_]*\)", 0[0-7]*,.*/SYSTEM\/EVENT\/\1/p; t
		s/^\t{ "\([A-Za-z_]*\)", 0[0-7]*,.*/\1/p' "$TREE"/kernel/etch/*/*.c
}

parameters()
{
	sed -n 's/^__setup("\([a-z_]*=*\)".*/\1/p' "$TREE"/kernel/etch/*/*.c
}

# unlisted WORD...: those that the list of all kernel parameters does not have.
unlisted()
{
	local word

	for word in "$@"; do
		grep -q "^	$word" "$TREE/Documentation/admin-guide/kernel-parameters.txt" ||
			echo "$word is not in kernel-parameters.txt"
	done
}

source_files()
{
	find "$TREE/kernel/etch" -name '*.c' ! -name '*kunit*' -printf '%P\n'
}

# The table of access rights: "file mode", as the page has it ...
access_page()
{
	sed -n 's/^``\([^`]*\)`` *\(0[0-7]*\)  .*/\1 \2/p' "$PAGES/access.rst"
}

# ... and as its test has it.
access_test()
{
	sed -n 's/^\t{ "\([^"]*\)", \(0[0-7]*\)\(, true\)\? },$/\1 \2/p' \
		"$TREE/tools/testing/selftests/etch/tree/access_table.c"
}

# Row by row the same, in the same order; and there are some.
access_rows()
{
	diff <(access_page) <(access_test) || true
	[ "$(access_page | wc -l)" -gt 30 ] || echo "access.rst has no table"
}

# The files of the tree as Documentation/ABI names them, with a star for CPUs, systems and events.
abi_files()
{
	sed -n 's|^What:\t*/sys/kernel/debug/etch/||p' "$ABI" |
		sed 's|/cpuN|/cpu*|; s|/SYSTEM|/*|; s|/EVENT|/*|'
}

# Each file of the table of access has an entry there, each entry is a file of that table, and
# the kernel's own tool can read them.
abi_entries()
{
	diff <(access_page | sed -n 's/ 0[0-6]*$//p' | sort) <(abi_files | grep -vx instances | sort) ||
		true
	perl "$TREE/scripts/get_abi.pl" validate --dir "$TREE/Documentation/ABI" 2>&1 |
		grep -F debugfs-etch || true
}

"$ETCH_TOP/scripts/series/tree.py" build >&2

echo "TAP version 13"
result "kernel-doc of the headers" "$(kernel_doc "$TREE"/include/linux/etch*.h \
	"$TREE/include/linux/immediate.h" "$TREE"/include/trace/etch/*.h)"
result "kernel-doc of kernel/etch" "$(kernel_doc "$TREE"/kernel/etch/*.[ch] \
	"$TREE"/kernel/etch/*/*.[ch])"
result "kernel-doc of samples/etch" "$(kernel_doc "$TREE"/samples/etch/*.[ch])"
result "kernel-doc of tools/tracing/etch" "$(kernel_doc \
	"$TREE"/tools/tracing/etch/*/*.[ch])"
result "Sphinx has no warning" "$(sphinx)"
result "the man page has no warning" "$(man_page)"
result "what the pages name is in the tree" "$(missing_paths)"
mapfile -t words < <(tree_files | sort -u)
result "every file of the tree is on the users' page" \
	"$(unnamed users.rst "${words[@]}")"
result "every row of the table of access has its test" "$(access_rows)"
result "every file of the tree is in Documentation/ABI" "$(abi_entries)"
mapfile -t words < <(parameters)
result "every kernel parameter is on the users' page" \
	"$(unnamed users.rst "${words[@]}")"
result "every kernel parameter is in kernel-parameters.txt" "$(unlisted "${words[@]}")"
mapfile -t words < <(source_files | sort)
result "every source file is on a design page" \
	"$(unnamed "design*.rst" "${words[@]}")"
echo "1..$tests"
[ "$failed" -eq 0 ]
