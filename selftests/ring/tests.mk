# SPDX-License-Identifier: GPL-2.0
TEST_GEN_PROGS += ring/ring_sample ring/ring_torture
