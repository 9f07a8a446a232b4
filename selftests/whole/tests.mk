# SPDX-License-Identifier: GPL-2.0
TEST_GEN_PROGS += whole/order whole/faults whole/faulting whole/killed whole/storm
LIB += $(wildcard whole/faults_*.c whole/storm_*.c) whole/records.c
