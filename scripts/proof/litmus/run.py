# SPDX-License-Identifier: GPL-2.0
"""Litmus tests as C programs: two threads on arm64, under QEMU.

The accesses become what the kernel's are on arm64. Many places at once hold the
test's variables, so that one round is thousands of tries. The bad outcome must never
be seen; that it is not, proves little, as is said where it is said.
"""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import program

COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64-static"
WARNING = """\
### The programs above ran in QEMU, which turns arm64 code into this machine's. On a
### strongly ordered one, as x86-64, few outcomes are seen that arm64 allows: an outcome
### NOT seen here proves little. The checker's answers do not depend on that."""

FRAME = """\
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#define READ_ONCE(x) (*(volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define smp_mb() __asm__ volatile("dmb ish" ::: "memory")
#define smp_rmb() __asm__ volatile("dmb ishld" ::: "memory")
#define smp_wmb() __asm__ volatile("dmb ishst" ::: "memory")
#define smp_mb__before_atomic() smp_mb()
#define cmpxchg_relaxed(p, o, n) ({ __typeof__(*(p)) __o = (o); \\
	__atomic_compare_exchange_n(p, &__o, n, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \\
	__o; })
#define cmpxchg_acquire(p, o, n) ({ __typeof__(*(p)) __o = (o); \\
	__atomic_compare_exchange_n(p, &__o, n, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED); \\
	__o; })
#define cmpxchg(p, o, n) ({ __typeof__(*(p)) __o = (o); smp_mb(); \\
	__atomic_compare_exchange_n(p, &__o, n, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \\
	smp_mb(); __o; })
#define LINE __attribute__((aligned(64)))
enum { TRIES = 20000, ROUNDS = %(rounds)d };
struct place { %(places)s %(registers)s };
static struct place all[TRIES];
static pthread_barrier_t gate;
static volatile unsigned int steps[2];
%(threads)s
/* Both at the same place at about the same time, every few places. */
static void keep_step(int me, int round, int i)
{
	unsigned int mine = round * TRIES + i + 1;

	if (i %% 4)
		return;
	steps[me] = mine;
	for (int spin = 0; steps[!me] < mine && spin < 2000; spin++)
		;
}

static void *first(void *unused)
{
	for (int round = 0; round < ROUNDS; round++) {
		pthread_barrier_wait(&gate);
		for (int i = 0; i < TRIES; i++) {
			keep_step(0, round, i);
			P0(&all[i]);
		}
		pthread_barrier_wait(&gate);
	}
	return unused;
}

int main(void)
{
	unsigned long bad = 0;
	pthread_t thread;

	pthread_barrier_init(&gate, NULL, 2);
	pthread_create(&thread, NULL, first, NULL);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < TRIES; i++) {
			memset(&all[i], 0, sizeof(all[i]));
			%(init)s
		}
		pthread_barrier_wait(&gate);
		for (int i = 0; i < TRIES; i++) {
			keep_step(1, round, i);
			P1(&all[i]);
		}
		pthread_barrier_wait(&gate);
		for (int i = 0; i < TRIES; i++)
			bad += %(condition)s;
	}
	pthread_join(thread, NULL);
	printf("%%lu of %%lu\\n", bad, (unsigned long)ROUNDS * TRIES);
	return 0;
}
"""


def source(text, rounds):
    """The C program of a test with two threads."""
    body = program.LINE.sub("", text)
    pointers = set(re.findall(r"int \*\*(\w+)", body))
    test = program.Test(text)
    places, registers, threads = {}, {}, []
    for place in test.places():
        star = "*" if place[1:] in pointers else ""
        places[place[1:]] = f"int {star}LINE {place[1:]};"
    for number, (arguments, code) in enumerate(re.findall(
            r"^P\d+\((.*?)\)\s*\{(.*?)^\}", body, re.S | re.M)):
        names = [program.words(part)[-1] for part in arguments.split(",")]
        local = re.findall(r"^\s*int (\*?)(r\d+);", code, re.M)
        for star, name in local:
            registers[f"{number}:{name}"] = f"int {star}t{number}{name};"
        lines = "".join(f"\tint {'*' * (name in pointers)}*{name} = &p->{name};\n"
                        for name in names)
        lines += re.sub(r"^\s*int (\*?)(r\d+);", r"\tint \1\2 = 0;", code, flags=re.M)
        lines += "".join(f"\tp->t{number}{name} = {name};\n" for _, name in local)
        threads.append(f"static void P{number}(struct place *p)\n{{\n{lines}}}\n")
    init = "".join(f"all[i].{place[1:]} = " + (f"&all[i].{value[1:]}; " if isinstance(
        value, str) else f"{value}; ") for place, value in test.init.items() if value)
    condition = re.search(r"exists\s*(.*)", body, re.S).group(1).replace("/\\", "&&")
    condition = re.sub(r"(\d):(\w+)=(\w+)", lambda m: f"all[i].t{m[1]}{m[2]} == " + (
        m[3] if m[3].isdigit() else f"&all[i].{m[3]}"), condition)
    return FRAME % {"places": " ".join(places.values()), "rounds": rounds,
                    "registers": " ".join(registers.values()),
                    "threads": "\n".join(threads), "init": init,
                    "condition": condition.strip()}


def outcome(text, folder, rounds):
    """Build and run one: "BAD of TRIES"."""
    code, binary = Path(folder) / "test.c", Path(folder) / "test"
    code.write_text(source(text, rounds))
    subprocess.run([COMPILER, "-O1", "-static", "-pthread", "-o", binary, code],
                   check=True)
    return subprocess.run([EMULATOR, binary], text=True, check=False,
                          capture_output=True).stdout.strip() or "nothing"


def check(tap, paths, weak, rounds=50):
    """Build and run each that has no RCU in it; weak is a test that may be seen."""
    missing = [tool for tool in (COMPILER, EMULATOR) if not shutil.which(tool)]
    if missing:
        tap(False, f"programs on arm64: {' and '.join(missing)} not there "
                   "(scripts/lab/fetch.sh litmus installs it)")
        return
    left = []
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            text = path.read_text()
            if "rcu" in program.LINE.sub("", text):
                left.append(path.stem)
                continue
            seen = outcome(text, folder, rounds)
            tap(seen.startswith("0 of "), f"{path.stem}: on arm64, seen {seen}")
        print(f"# {weak.stem}, which has no barrier, was seen "
              f"{outcome(weak.read_text(), folder, rounds)}")
    print(WARNING)
    print(f"### NOT run as programs, for want of RCU: {', '.join(left)}")
