# SPDX-License-Identifier: GPL-2.0
"""What make fetch does, above all when it cannot do it."""

import fcntl
import os
import subprocess
from pathlib import Path
from unittest import mock

import fakes
from checks import bases
from test_series import script

check_series = script("check-series")

MAKEFILE = "VERSION = 6\nPATCHLEVEL = {}\nSUBLEVEL = 1\nmrproper:\n\t@rm -f made.h\n"
FILES = {"Makefile": MAKEFILE.format(12), "kernel/fork.c": "fork\n", "kernel/exit.c": "exit\n"}


class Fetch(fakes.ScriptTest):
    """fetch.sh, which finds each package installed and the source in an archive of ours."""

    def setUp(self):
        super().setUp()
        for name in "apt-get", "sudo":
            self.fake(name, "exit 0")
        self.fake("df", "echo; echo fs 90000000 0 90000000 0% /")
        self.archive = self.top / "source.tar.xz"
        self.pack()

    def pack(self, **files):
        """The archive, with other files."""
        self.tree("linux", {**FILES, **files})
        subprocess.run(["tar", "-C", self.top, "--mtime=2020-01-01", "-cJf", self.archive,
                        "linux"], check=True)

    def environment(self, **env):
        return super().environment(**{"ETCH_ARCHIVE": self.archive, **env})

    def fork(self, tree="linux"):
        """A source's text."""
        return (self.build / tree / "kernel/fork.c").read_text()

    def time(self, path):
        """When a file of the tree was written."""
        return (self.build / "linux" / path).stat().st_mtime

    def test_unpacks_once(self):
        self.good("fetch.sh")
        self.assertEqual(self.fork("linux-pristine"), "fork\n")
        self.assertEqual(self.fork(), "fork\n")
        self.fake("tar", "exit 1")
        self.good("fetch.sh")

    def test_it_has_the_usual_priority_while_it_runs(self):
        session = Path("/proc/self/autogroup")
        if not session.exists() or not session.read_text():
            self.skipTest("this kernel shares the processors among processes alone")
        self.fake("df", "cat /proc/self/autogroup > $TOP/during; echo;"
                        " echo fs 90000000 0 90000000 0% /")
        # A session of its own, of less priority than that of the tests.
        self.fake("session", f"echo 7 > /proc/self/autogroup; nice -n 7 {fakes.SCRIPTS}/lab/fetch.sh;"
                             " cat /proc/self/autogroup > $TOP/after")
        subprocess.run([self.top / "bin/session"], check=True, start_new_session=True,
                       env=self.environment(), stdout=subprocess.DEVNULL)
        self.assertTrue((self.top / "during").read_text().endswith(" nice 0\n"))
        self.assertTrue((self.top / "after").read_text().endswith(" nice 7\n"))

    def test_another_source_is_newer_than_what_was_built(self):
        self.good("fetch.sh")
        built = self.tree("build/um", {"fork.o": ""}) / "fork.o"
        self.pack(**{"kernel/fork.c": "another\n"})
        self.good("fetch.sh")
        self.assertEqual(self.fork(), "another\n")
        self.assertGreater(self.time("kernel/fork.c"), built.stat().st_mtime)

    def test_what_cannot_be_unpacked_leaves_what_is_there(self):
        self.good("fetch.sh")
        self.pack(**{"kernel/fork.c": "another\n"})
        self.fake("tar", "exit 1")
        self.assertIn("failed", self.bad("fetch.sh"))
        self.assertEqual(self.fork("linux-pristine"), "fork\n")
        self.real("tar")
        self.good("fetch.sh")
        self.assertEqual(self.fork(), "another\n")

    def test_what_cannot_be_copied_leaves_what_is_there(self):
        self.good("fetch.sh")
        kdir = self.tree("mine", {**FILES, "kernel/fork.c": "mine\n"})
        self.fake("rsync", 'cp "$KDIR/Makefile" "${!#}"; exit 23')
        self.bad("fetch.sh", KDIR=kdir)
        self.assertEqual(self.fork("linux-pristine"), "fork\n")

    def test_a_tree_that_cannot_be_the_base_is_refused(self):
        self.good("fetch.sh")
        for name, files, why in (
                ("nothing", {}, "holds no Makefile"),
                ("old", {"Makefile": MAKEFILE.format(1)}, "is not Linux 6.12.y but 6.1"),
                ("other", {"Makefile": "all:\n"}, "is not Linux 6.12.y"),
                ("etch", {**FILES, "kernel/etch/ring.c": ""}, "already holds Etch")):
            self.tree(name, files)
            self.assertIn(why, self.bad("fetch.sh", KDIR=self.top / name))
        self.assertEqual(self.fork("linux-pristine"), "fork\n")

    def test_an_edit_in_the_users_tree_is_taken_and_it_alone(self):
        kdir = self.tree("mine", FILES)
        self.good("fetch.sh", KDIR=kdir)
        old = {path: self.time(path) for path in ("kernel/fork.c", "kernel/exit.c")}
        self.assertEqual(self.good("fetch.sh", KDIR=kdir), "")
        (kdir / "kernel/fork.c").write_text("edited\n")
        os.utime(kdir / "kernel/exit.c")
        self.good("fetch.sh", KDIR=kdir)
        self.assertEqual(self.fork(), "edited\n")
        self.assertGreater(self.time("kernel/fork.c"), old["kernel/fork.c"])
        self.assertEqual(self.time("kernel/exit.c"), old["kernel/exit.c"])

    def test_what_was_made_in_the_users_tree_stays_there(self):
        made = (".config", "include/config/auto.conf", "include/generated/autoconf.h",
                "arch/um/include/generated/asm/a.h", "kernel/fork.o", "made.h", ".git/HEAD")
        kdir = self.tree("mine", {**FILES, **dict.fromkeys(made, "")})
        self.good("fetch.sh", KDIR=kdir)
        for path in made:
            self.assertFalse((self.build / "linux" / path).exists(), path)
            self.assertTrue((kdir / path).exists(), path)

    def test_what_the_series_put_there_keeps_its_time(self):
        self.good("fetch.sh")
        linux = self.tree("build/linux", {"kernel/etch/ring.c": "ring\n",
                                          ".etch-overlay": "kernel/etch/ring.c\n"})
        os.utime(linux / "kernel/etch/ring.c", (1, 1))
        self.pack(**{"kernel/fork.c": "another\n"})
        self.good("fetch.sh")
        self.assertEqual(self.fork(), "another\n")
        self.assertEqual(self.time("kernel/etch/ring.c"), 1)
        self.assertTrue((linux / ".etch-overlay").exists())

    def test_copies_of_another_source(self):
        self.good("fetch.sh")
        for name in "linux-um", "bisect/linux", "linux-dev":
            self.tree(f"build/{name}", FILES)
        self.pack(**{"kernel/fork.c": "another\n"})
        self.assertIn("linux-dev still has the source before", self.good("fetch.sh"))
        self.assertFalse((self.build / "linux-um").exists())
        self.assertFalse((self.build / "bisect/linux").exists())
        self.assertEqual(self.fork("linux-dev"), "fork\n")

    def test_the_copy_to_edit_is_not_taken_for_one_of_another_source(self):
        self.fake("quilt", "exit 0")
        self.good("fetch.sh")
        self.good("dev.sh")
        self.assertIn("is kept as it is", self.good("dev.sh"))
        self.pack(**{"kernel/fork.c": "another\n"})
        self.good("fetch.sh")
        self.assertIn("another kernel source", self.bad("dev.sh"))
        self.assertEqual(self.fork("linux-dev"), "fork\n")
        self.good("dev.sh", FRESH=1)
        self.assertEqual(self.fork("linux-dev"), "another\n")

    def test_a_copy_to_edit_without_the_series_is_none(self):
        self.good("fetch.sh")
        self.fake("quilt", "exit 1")
        self.bad("dev.sh")
        self.assertFalse((self.build / "linux-dev").exists())

    def test_who_cannot_install_is_told_what_to_install(self):
        self.fake("id", "echo 1000")
        self.fake("sudo", "exit 1")
        said = self.bad("fetch.sh", ETCH_ARCHIVE=self.top / "none")
        self.assertRegex(said, "missing: .*linux-source-6.12.* As root: apt-get install")

    def test_no_source_is_told_from_other_failures(self):
        self.fake("apt-get", APT)
        (self.top / "does").write_text("exit 0")
        self.fake("apt-cache", "echo Version: 6.12.9-1")
        status, said = self.run_script("fetch.sh", ETCH_ARCHIVE="", ETCH_BASE="6.18")
        self.assertEqual(status, bases.NO_SOURCE, said)
        self.assertIn("### error: there is no tarball of linux 6.18.y in trixie-backports", said)
        self.assertIn("its lists name no such version", said)

    def test_too_little_room(self):
        self.fake("df", "echo; echo fs 4000000 2000000 2000000 50% /")
        self.assertIn("1 GB are free", self.bad("fetch.sh"))
        self.assertFalse((self.build / "linux-pristine").exists())

    def test_paths_that_nothing_can_be_built_in(self):
        self.assertIn("no space", self.bad("fetch.sh", ETCH_BUILD=self.top / "a b"))

    def test_one_at_a_time(self):
        with open(self.build / "lock", "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            process = subprocess.Popen(
                [str(fakes.SCRIPTS / "lab/fetch.sh")], env=self.environment(), text=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            self.assertIn("waiting for its end", process.stderr.readline())
            self.assertFalse((self.build / "linux-pristine").exists())
        _, said = process.communicate()
        self.assertEqual(process.returncode, 0, said)
        self.assertTrue((self.build / "linux").exists())


# apt-get, with Debian's archive; for other calls it runs $TOP/does.
APT = """case "$*" in
*indextargets*)	echo Debian http://deb.example/debian bookworm ;;
*)	. "$TOP/does" ;;
esac"""


class Private(fakes.ScriptTest):
    """apt-private.sh, and vanilla.sh, which gets upstream's source with it."""

    def setUp(self):
        super().setUp()
        self.fake("apt-get", APT)
        self.fake("apt-cache", "echo Version: 6.12.9-1")

    def does(self, text):
        """What apt-get shall do."""
        (self.top / "does").write_text(text)

    def test_lists_that_were_not_fetched_are_fetched_the_next_time(self):
        updated = self.build / "apt/updated"
        self.does("exit 100")
        self.bad("apt-private.sh", "policy", "linux")
        self.assertFalse(updated.exists())
        # As apt-get does when an archive cannot be reached.
        self.does('[[ "$*" != *--error-on=any* ]]')
        self.bad("apt-private.sh", "policy", "linux")
        self.assertFalse(updated.exists())
        self.does("exit 0")
        self.good("apt-private.sh", "policy", "linux")
        self.assertTrue(updated.exists())

    def upstream(self):
        """Upstream's tarball, packed; what apt-get gives is its copy here."""
        self.tree("linux-6.12.9", {"Makefile": MAKEFILE.format(12), "a.c": "a\n" * 4096,
                                   "z.c": os.urandom(8192).hex()})
        whole = self.top / "whole.tar.xz"
        subprocess.run(["tar", "-C", self.top, "--sort=name", "-cJf", whole,
                        "linux-6.12.9"], check=True)
        return whole

    def test_a_tarball_that_broke_off_is_not_kept(self):
        whole = self.upstream()
        self.does(f'[[ "$*" = *update* ]] || {{ head -c 3000 {whole} > '
                  'linux_6.12.9.orig.tar.xz; exit 100; }')
        self.bad("vanilla.sh", "a.c")
        self.does(f'[[ "$*" = *update* ]] || cp {whole} linux_6.12.9.orig.tar.xz')
        self.good("vanilla.sh", "a.c", "not-there.c")
        self.assertTrue((self.build / "vanilla/tree/a.c").exists())

    def test_the_last_error_says_what_was_not_there_and_where(self):
        refused = "E: Failed to fetch http://deb.example/x.xz  404  Not Found"
        for does, versions, said in (
                (f'echo "{refused}"; exit 100', "6.12.9-1", "no lists of packages"),
                (f'[[ "$*" = *update* ]] || {{ echo "{refused}"; exit 100; }}', "6.12.9-1",
                 "no tarball of linux 6.12.y"),
                ("exit 0", "6.13.1-1", "its lists name no such version")):
            self.does(does)
            self.fake("apt-cache", f"echo Version: {versions}")
            why = check_series.failure(self.bad("vanilla.sh", "a.c"))
            self.assertIn(said, why)
            self.assertIn("in trixie of http://deb.example/debian", why)
            if "404" in does:
                self.assertIn("x.xz  404  Not Found", why)

    def test_the_series_check_says_why_there_is_no_upstream_tree(self):
        self.does("echo 'E: refused'; exit 100")
        tap = mock.Mock()
        with mock.patch.dict(os.environ, self.environment(), clear=True), \
                mock.patch("sys.stderr"):
            check_series.vanilla(tap, None)
        self.assertIn("in trixie of http://deb.example/debian: refused",
                      tap.skip.call_args[0][1])

    def test_nor_is_one_that_was(self):
        whole = self.upstream()
        broken = self.build / "tarballs/linux_6.12.9.orig.tar.xz"
        broken.parent.mkdir()
        broken.write_bytes(whole.read_bytes()[:3000])
        self.bad("vanilla.sh", "a.c")
        self.assertFalse(broken.exists())
        self.does(f'[[ "$*" = *update* ]] || cp {whole} linux_6.12.9.orig.tar.xz')
        self.good("vanilla.sh", "a.c")
