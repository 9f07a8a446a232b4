# SPDX-License-Identifier: GPL-2.0
TEST_GEN_PROGS += source/statedump source/statedump_tells source/marks
LIB += source/state.c

# Markers
TEST_GEN_PROGS += source/markers

# Probes
TEST_GEN_PROGS += source/probes source/uprobes source/fprobes source/probe_names \
		  source/probe_lines source/probe_life
# Its variables are those that debug information tells of.
$(OUTPUT)/source/probe_lines: CFLAGS += -g
LIB += source/probing.c

# Events of user_events
TEST_GEN_PROGS += source/user_abi
