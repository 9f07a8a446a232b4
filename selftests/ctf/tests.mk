# SPDX-License-Identifier: GPL-2.0
TEST_GEN_PROGS += ctf/metadata ctf/raw ctf/cleared ctf/spliced ctf/snapshot ctf/window
LIB += ctf/tsdl.c

# Built where libtraceevent is there to be linked statically.
HAVE_TEP := $(shell echo '\#include <traceevent/event-parse.h>' | \
		    $(CC) -E -x c - > /dev/null 2>&1 && echo yes)
ifeq ($(HAVE_TEP),yes)
TEST_GEN_PROGS += ctf/tep
endif

$(OUTPUT)/ctf/tep: LDLIBS += -ltraceevent -ldl
