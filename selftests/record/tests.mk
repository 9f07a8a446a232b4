# SPDX-License-Identifier: GPL-2.0
TEST_GEN_PROGS += record/recorder record/recorder_ends
LIB += record/run.c

# The recorder itself, which these tests run.
TEST_GEN_PROGS_EXTENDED += record/etch-record

RECORD := ../../../../tools/tracing/etch/record

$(OUTPUT)/record/etch-record: $(wildcard $(RECORD)/*.c) $(RECORD)/record.h
	$(CC) $(CFLAGS) -idirafter $(top_srcdir)/include/uapi -o $@ $(filter %.c,$^) \
		$(LDFLAGS) $(LDLIBS)
