# SPDX-License-Identifier: GPL-2.0
TEST_GEN_PROGS += user/user_rseq
# The library knows no other machine.
ifneq ($(filter x86 x86_64 arm64 aarch64,$(or $(ARCH),$(shell uname -m))),)
TEST_GEN_PROGS += user/user_events user/user_life user/user_hostile
TEST_GEN_PROGS += user/user_protocol user/user_stress user/user_packets user/user_mark user/user_write
TEST_GEN_PROGS += user/user_sdt user/user_emit user/user_quota
# A program to be recorded.
TEST_GEN_PROGS_EXTENDED += user/user_load
# A program in C++, for user_mark.
ifneq ($(shell command -v $(CROSS_COMPILE)g++),)
TEST_GEN_PROGS_EXTENDED += user/user_mark_cxx
endif
endif
LOCAL_HDRS += $(wildcard ../../../lib/etch/include/etch/*.h)
CFLAGS += -I../../../lib/etch/include

# Its <sys/sdt.h> is the library's.
$(OUTPUT)/user/user_sdt: CFLAGS += -I../../../lib/etch/include/etch/sdt

$(OUTPUT)/user/user_emit: ../../../lib/etch/src/libetch.c

$(OUTPUT)/user/user_mark_cxx: user/user_mark_cxx.cc $(LOCAL_HDRS)
	$(call msg,CXX,,$@)
	$(Q)$(CROSS_COMPILE)g++ -std=gnu++17 $(filter-out -std=% -D_GNU_SOURCE%,$(CFLAGS)) \
		$(LDFLAGS) -o $@ $<
