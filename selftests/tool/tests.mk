# SPDX-License-Identifier: GPL-2.0
TEST_PROGS += tool/live.sh

# The tool itself, which the test runs.
TEST_GEN_PROGS_EXTENDED += tool/etch

TOOL := ../../../../tools/tracing/etch

$(OUTPUT)/tool/etch: $(wildcard $(TOOL)/*/*.[ch]) $(TOOL)/Makefile
	mkdir -p $(OUTPUT)/tool/built
	$(MAKE) -C $(TOOL) OUTPUT=$(abspath $(OUTPUT)/tool/built)/ CC="$(CC)" CFLAGS="-O2 -g" \
		LDFLAGS=-static LIBRARIES=
	cp $(OUTPUT)/tool/built/etch $@
