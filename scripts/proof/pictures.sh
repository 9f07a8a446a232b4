#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# pictures.sh: run the lane "gallery", which records, has each viewer show the recording, and
# checks that all of them show the same; then take its pictures and texts into
# Documentation/gallery/, where the page includes them. Look at them before you commit them: a wait
# that this machine's other work caused is not worth a page.
set -euo pipefail
. "$(dirname "$0")/../lib/common.sh"

FROM=$ETCH_BUILD/gallery
TO=$ETCH_TOP/Documentation/gallery

"$ETCH_TOP/scripts/proof/check.py" gallery
rm -rf "$TO"
cp -r "$FROM" "$TO"
say "$(sed -n 's/^.. |answer| replace:: //p' "$TO/answers.txt"). Run make refresh."
