# SPDX-License-Identifier: GPL-2.0
TEST_GEN_PROGS += event/gates event/filter event/tasks event/trigger event/consumers event/module event/all_events
