# SPDX-License-Identifier: GPL-2.0
TEST_GEN_PROGS += instance/control instance/accounting instance/instances instance/budget
TEST_PROGS += instance/hotplug.sh
