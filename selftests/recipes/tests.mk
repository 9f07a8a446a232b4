# SPDX-License-Identifier: GPL-2.0
TEST_PROGS += recipes/recipes.sh
TEST_FILES += ../../../../Documentation/trace/etch/recipes.rst
