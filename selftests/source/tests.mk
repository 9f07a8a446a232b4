# SPDX-License-Identifier: GPL-2.0
TEST_GEN_PROGS += source/statedump source/statedump_tells
LIB += source/state.c

# Markers
TEST_GEN_PROGS += source/markers

# Probes
TEST_GEN_PROGS += source/probes source/uprobes
