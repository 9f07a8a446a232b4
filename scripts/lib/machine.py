# SPDX-License-Identifier: GPL-2.0
"""How the kernel of a lane is started: the command of each machine.

Both kinds write the console and the guest's report to two file descriptors
that they are given.
"""

import fnmatch
import os
import subprocess

import layout

MEMORY = "1G"
# With a thread for each processor QEMU discards translations of code before it stores to
# that code, and holds no lock in between: another processor may translate the old bytes
# again, and keep that translation. Then it executes a breakpoint that the kernel has
# removed: "Oops: int3". Mainline's jump labels have this, too; Documentation/design-hook.rst,
# "Under QEMU", has figures, scripts/proof/stale.py repeats them. With one thread QEMU does not
# do so.
#
# Each event that is switched on or off changes code. So x86-64 has one thread for both
# processors, unless the kernel's words have this one, which the kernel ignores. Lanes that look
# for races have it; arm64 has a thread for each processor, and no breakpoints.
THREADS = "etch_test.threads"
# KUnit's suite of immediate values changes code while both processors execute it: on a loaded
# machine 13 of 53 boots with a thread for each processor ended so, and none of 18 with one
# thread. So x86-64 never runs that suite at boot with more.
PATCHING_SUITE = "imv"
# More processors change what races there are; two is what CI has.
PROCESSORS = 2


class MachineError(Exception):
    """Why a machine cannot be started, as a sentence."""


def lane(name):
    """The settings in scripts/lab/lanes/NAME."""
    path = layout.TOP / "scripts/lab/lanes" / name
    if not path.is_file():
        raise MachineError(f"there is no lane {name}")
    settings = {}
    for line in path.read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            settings[key] = value.strip('"')
    return settings


def um_environment():
    """um's memory is a file in /dev/shm, mapped with PROT_EXEC in part.

    Containers keep that small, or do not let it be executed; then a folder
    of ours takes its place.
    """
    env = dict(os.environ)
    try:
        room = os.statvfs("/dev/shm")
        enough = (room.f_bavail * room.f_frsize > 1100 << 20
                  and not room.f_flag & os.ST_NOEXEC)
    except OSError:
        enough = False
    if not enough:
        env["TMPDIR"] = str(layout.BUILD / "tmp")
        os.makedirs(env["TMPDIR"], exist_ok=True)
    return env


def um(kernel, initrd, append, console, report, output=None):
    """User-mode Linux: con0 is the console, con1 the report.

    output: a file of the host, which the guest reaches through hostfs.
    """
    words = [f"con0={console}", f"con1={report}", "panic_on_warn=1", *append]
    if output:
        words.append(f"output={output}")
    return [str(kernel), f"mem={MEMORY}", f"initrd={initrd}", "con=null",
            *words], um_environment()


def qemu(arch="x86_64"):
    """(environment, program and options) of a usable QEMU."""
    script = layout.TOP / "scripts/lab/qemu.sh"
    result = subprocess.run([str(script), arch], text=True, check=False,
                            stdout=subprocess.PIPE)
    if result.returncode:
        raise MachineError("there is no usable QEMU")
    libraries, *command = result.stdout.splitlines()
    env = dict(os.environ)
    if libraries:
        env["LD_LIBRARY_PATH"] = libraries
    return env, command


def _patches_at_boot(append):
    """Whether the kernel's words have KUnit run PATCHING_SUITE at boot."""
    words = dict(word.partition("=")[::2] for word in append)
    suites = words.get("kunit.filter_glob", "*").partition(".")[0]
    off = ("0", "n", "off")
    return ("kunit.enable" in words and words["kunit.enable"].lower() not in off
            and words.get("kunit.autorun", "1").lower() not in off
            and fnmatch.fnmatchcase(PATCHING_SUITE, suites))


def one_thread(command):
    """QEMU's words with one thread for all processors, in turn."""
    return [word.replace("thread=multi", "thread=single") for word in command]


def counting(command):
    """QEMU's words with one processor whose counter counts instructions.

    One instruction is one nanosecond is one tick of the TSC. An instruction
    of the rep family counts once for each time it repeats.
    """
    return [*one_thread(command), "-icount", "shift=0,sleep=off"]


# QEMU's name of a machine's architecture, its board and processor, the console.
# On arm64 that is the newest processor that QEMU knows, with its atomic operations.
# By the architecture's own algorithm signed pointers are slow to emulate; kernel and
# programs of ours sign none, but those that do shall not wait.
BOARDS = {
    "x86-64": ("x86_64", ["-M", "q35", "-cpu", "max"], "ttyS0"),
    "arm64": ("aarch64", ["-M", "virt", "-cpu", "max,pauth-impdef=on"], "ttyAMA0"),
}


def emulated(machine, kernel, initrd, append, serial, report, icount=False,
             output=None, reboots=False):
    """QEMU: the serial line is the console, a virtio port the report.

    x86-64 has one thread of QEMU for all processors, or with THREADS among the
    kernel's words, and without PATCHING_SUITE at boot, one for each. output: a
    file of the host, one more virtio port. reboots: a guest that reboots does so,
    its memory as it was, instead of ending QEMU.
    """
    arch, board, console = BOARDS[machine]
    env, command = qemu(arch)
    processors = 1 if icount else PROCESSORS
    if icount:
        command = counting(command)
    elif machine == "x86-64" and (THREADS not in append or _patches_at_boot(append)):
        command = one_thread(command)
    words = [f"console={console}", "panic=-1", "panic_on_warn=1", *append]
    more = [] if output is None else [
        "-chardev", f"file,id=output,path={output}",
        "-device", "virtserialport,chardev=output,name=etch.output"]
    return [*command, *board, "-smp", str(processors),
            "-m", MEMORY, "-nodefaults", "-no-user-config",
            "-display", "none", *([] if reboots else ["-no-reboot"]),
            "-chardev", serial, "-serial", "chardev:console",
            "-device", "virtio-serial-pci", "-chardev", report,
            "-device", "virtserialport,chardev=report,name=etch.report",
            *more, "-kernel", str(kernel), "-initrd", str(initrd),
            "-append", " ".join(words)], env


def command(name, initrd, append, console=None, report=None, *,
            folder=None, icount=False, output=None, reboots=False):
    """(argv, environment). console, report: descriptors; None: a terminal.

    folder: where the kernel was built, if not in build/LANE.
    icount: count instructions; for those who want to, QEMU alone can.
    output: a file of the host, where the guest can leave what is no text.
    reboots: as x86_64() has it.
    """
    settings = lane(name)
    kernel = (folder or layout.BUILD / name) / settings["IMAGE"]
    if not kernel.is_file():
        raise MachineError(f"{kernel} is missing: make build LANE={name}")
    if settings["MACHINE"] == "um":
        if icount:
            raise MachineError(f"lane {name} cannot count instructions")
        if console is None:
            return um(kernel, initrd, append, "fd:0,fd:1", "null")
        return um(kernel, initrd, append, f"null,fd:{console}",
                  f"null,fd:{report}", output)
    if console is None:
        return emulated(settings["MACHINE"], kernel, initrd, append,
                        "stdio,id=console,signal=off",
                        "file,id=report,path=/dev/null", icount)
    return emulated(settings["MACHINE"], kernel, initrd, append,
                    f"file,id=console,path=/dev/fd/{console}",
                    f"file,id=report,path=/dev/fd/{report}", icount,
                    output, reboots)
