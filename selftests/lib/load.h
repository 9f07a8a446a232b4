/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_LOAD_H
#define _ETCH_LOAD_H

/*
 * Something to trace: ordinary work that passes through many subsystems.
 *
 * A round does each kind of work once. No step is checked: a step that this kernel
 * cannot do (no network, no loop device) has no effect, and a test that needs its
 * events notices that they are missing. Steps leave nothing behind.
 */

#include "etch.h"

/* A small file system on a loop device, if the means for one are here. */
struct load_disk {
	char dir[64], loop[32];
	bool attached, mounted;
};

void load_pin(int cpu);
void load_exec(void);
void load_disk_open(struct load_disk *disk);
void load_disk_close(struct load_disk *disk);
bool loopback(bool up);
void load_cgroup(void);
void load_rare(void);
void load_round(const struct load_disk *disk);
pid_t load_start(int cpu, unsigned int rounds, const struct load_disk *disk);
void load_wait(pid_t pid);
void load_stop(pid_t pid);

#endif /* _ETCH_LOAD_H */
