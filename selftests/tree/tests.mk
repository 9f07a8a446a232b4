# SPDX-License-Identifier: GPL-2.0
TEST_GEN_PROGS += tree/available tree/format tree/badinput tree/access tree/fs tree/fuzz_files

# boot looks at records from before init, so it runs before any test empties the buffer.
TEST_GEN_PROGS := tree/boot $(TEST_GEN_PROGS)

# For kernels that are locked down, and for boots in which nothing was recorded yet; elsewhere
# these tests have nothing to do.
TEST_GEN_PROGS_EXTENDED += tree/lockdown tree/unused

LIB += tree/access_table.c tree/fuzz.c tree/fuzz_input.c tree/fuzz_oracle.c tree/fuzz_way.c
