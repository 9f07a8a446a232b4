# SPDX-License-Identifier: GPL-2.0
TEST_GEN_PROGS += event/gates event/filter event/filter_equal event/filter_fire event/tasks event/contexts
TEST_GEN_PROGS += event/trigger event/consumers event/frames event/module event/all_events
LIB += event/expression.c event/frame_names.c
