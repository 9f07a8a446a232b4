# SPDX-License-Identifier: GPL-2.0
TEST_GEN_PROGS += user/user_rseq
# The library knows no other machine.
ifneq ($(filter x86 x86_64,$(or $(ARCH),$(shell uname -m))),)
TEST_GEN_PROGS += user/user_events user/user_life user/user_hostile
TEST_GEN_PROGS += user/user_protocol user/user_stress user/user_packets user/user_quota
# A program to be recorded.
TEST_GEN_PROGS_EXTENDED += user/user_load
endif
LOCAL_HDRS += $(wildcard ../../../lib/etch/include/etch/*.h)
CFLAGS += -I../../../lib/etch/include
