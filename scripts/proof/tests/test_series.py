# SPDX-License-Identifier: GPL-2.0
"""The series as it is sent: files that grow, Cc: lines, mails, prefixes."""

import fnmatch
import importlib.util
import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import layout
import mail
import maintainers
import manifest
import patchfile
import slices
import tree

SCRIPTS = Path(__file__).resolve().parents[2]


def script(name):
    """A script as a module."""
    file, = SCRIPTS.glob(f"*/{name}.py")
    spec = importlib.util.spec_from_file_location(f"script_{file.stem}", file)
    module = importlib.util.module_from_spec(spec)
    # A script imports the modules beside it.
    sys.path.insert(0, str(file.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(file.parent))
    return module


class Slices(unittest.TestCase):
    TEXT = ("# licence\n\n# Clocks\nobj-y += clock.o\n\n# Events\nobj-y += event.o\n\n"
            "# The tree\nobj-y += tree.o\n")
    ORDER = ["base", "clocks", "events", "other", "tree"]

    def stages(self, *lines):
        """What stages() makes of lines of the manifest."""
        return slices.stages("Makefile", self.TEXT, "base",
                             [slices.Slice(*line) for line in lines], self.ORDER)

    def test_paragraphs_come_with_their_patches(self):
        got = self.stages(("clocks", "Makefile | Clocks"),
                          ("events", "Makefile | Events"),
                          ("tree", "Makefile | The tree"))
        self.assertEqual(list(got), ["base", "clocks", "events", "tree"])
        self.assertEqual(got["base"], "# licence\n")
        self.assertEqual(got["clocks"], "# licence\n\n# Clocks\nobj-y += clock.o\n")
        self.assertTrue(got["events"].endswith("# Events\nobj-y += event.o\n"))
        self.assertEqual(got["tree"], self.TEXT)

    def test_a_paragraph_that_nobody_names_is_there_at_first(self):
        got = self.stages(("tree", "Makefile | The tree"))
        self.assertIn("clock.o", got["base"])

    def test_mistakes(self):
        for lines in ([("clocks", "Makefile | Clock")],
                      [("clocks", "Makefile | Clocks"), ("tree", "Makefile | Clocks")],
                      [("nowhere", "Makefile | Clocks")]):
            with self.assertRaises(manifest.ManifestError):
                self.stages(*lines)
        with self.assertRaises(manifest.ManifestError):
            slices.Slice("tree", "Makefile | Clocks | someday")

    def test_help_of_an_option_is_one_paragraph(self):
        text = "config A\n\thelp\n\t  One.\n\n\t  Two.\n\nconfig B\n\tbool\n"
        self.assertEqual([slices.title(part) for part in slices.paragraphs(text)],
                         ["config A", "config B"])

    def test_hunks_are_a_diff(self):
        old, new = "a\nb\n", "a\nb\n\nc\n"
        diff = patchfile.Diff("x", "edit", slices.hunks(old, new))
        self.assertEqual(diff.counts(), (2, 0))


class Objects(unittest.TestCase):
    check = script("check-series")

    def test_what_a_later_patch_adds(self):
        names = manifest.series()[:2]
        patches = [(name, patchfile.Patch("", [patchfile.new_file(f"k/{stem}.c", "x\n", False)]))
                   for name, stem in zip(names, "ab")]
        for text, wanted in (("obj-y += a.o\n", 0), ("obj-y += a.o b.o\n", 1)):
            grown = {"k/Makefile": {names[0]: text}}
            with mock.patch.object(self.check.slices, "grown", lambda *_, g=grown: g):
                self.assertEqual(len(self.check.objects(patches)), wanted)


class Common(unittest.TestCase):
    check = script("check-series")

    def problems(self, *changes):
        """common()'s of patches: (name, kind, path)."""
        return self.check.common([(name, patchfile.Patch("", [patchfile.Diff(path, kind, [])]))
                                  for name, kind, path in changes])

    def test_a_patch_for_every_base_edits_only_what_such_a_patch_adds(self):
        self.assertEqual(self.problems(("common/a", "new", "k/a"), ("6.12/x", "edit", "Makefile"),
                                       ("common/b", "edit", "k/a")), [])
        for changes in ([("common/a", "edit", "k/b")],
                        [("6.12/a", "new", "k/a"), ("common/a", "edit", "k/a")]):
            self.assertIn("which no patch of", self.problems(*changes)[0])

    @unittest.skipUnless(layout.PRISTINE.is_dir(), "there is no kernel source: make fetch")
    def test_nor_does_it_add_what_the_kernel_has(self):
        self.assertIn("has MAINTAINERS already",
                      self.problems(("common/a", "new", "MAINTAINERS"))[0])


class Includes(unittest.TestCase):
    check = script("check-series")

    def problems(self, line, header):
        """A patch whose k/a.c has the line, and one behind it that adds the header."""
        added = [("1", "k/a.c", line + "\n"), ("2", header, "x\n")]
        return self.check.includes([
            (name, patchfile.Patch("", [patchfile.new_file(path, text, False)]))
            for name, path, text in added])

    def test_what_a_later_patch_adds(self):
        for line, header in (('#include "b.h"', "k/b.h"),
                             ('#  include "../l/b.h"', "l/b.h"),
                             ("#include <linux/b.h>", "include/linux/b.h"),
                             ("#include <linux/b.h>", "include/uapi/linux/b.h"),
                             ("#include <uapi/linux/b.h>", "include/uapi/linux/b.h")):
            self.assertEqual(self.problems(line, header),
                             [f"k/a.c in 1: {header} is not there yet"])

    def test_what_is_there(self):
        for line in ('#include "c.h"', "#include <linux/slab.h>", '/* "b.h" */',
                     "#include TRACE_INCLUDE(b)"):
            self.assertEqual(self.problems(line, "k/b.h"), [])

    def test_its_own(self):
        patch = patchfile.Patch("", [patchfile.new_file("k/a.c", '#include "b.h"\n', False),
                                     patchfile.new_file("k/b.h", "x\n", False)])
        self.assertEqual(self.check.includes([("1", patch)]), [])


class Maintainers(unittest.TestCase):
    MESSAGE = "Subject: [PATCH] x\n\ntext\n\nCc: old <o@x>\nSigned-off-by: A <a@x>\n"

    def test_cc_lines_are_renewed(self):
        new = maintainers.with_cc(self.MESSAGE, ["B <b@x>", "list@x"])
        self.assertEqual(maintainers.named(new), ["B <b@x>", "list@x"])
        self.assertEqual(maintainers.with_cc(new, ["B <b@x>", "list@x"]), new)
        self.assertTrue(new.endswith("Cc: list@x\nSigned-off-by: A <a@x>\n"))

    def test_additions(self):
        text = "# why\n*/a* common/b*\n\tB <b@x>\n\tlist@x\n\n6.12/*\n\tC <c@x>\n"
        for name, wanted in (("common/a.patch", {"B <b@x>", "list@x"}), ("common/c", set()),
                             ("6.12/a.patch", {"B <b@x>", "list@x", "C <c@x>"})):
            self.assertEqual(maintainers.additions(name, text), wanted)

    def test_additions_that_no_patch_gets(self):
        names = {name for base in layout.carried()
                 for name in manifest.names((layout.TOP / layout.BASES[base]).read_text())}
        for line in maintainers.ADDITIONS.read_text().splitlines():
            for pattern in line.split() if line[:1] not in "#\t" else ():
                self.assertTrue(fnmatch.filter(names, pattern), pattern)

    def test_a_message_without_a_sign(self):
        with self.assertRaises(maintainers.MaintainersError):
            maintainers.with_cc("Subject: x\n\ntext\n", ["B <b@x>"])


class Mail(unittest.TestCase):
    MESSAGE = "From: A <a@x>\nSubject: [PATCH] x: y\n\ntext\n\nSigned-off-by: A <a@x>\n"

    def test_numbers_and_addresses(self):
        _, text = mail.mail(self.MESSAGE, 7, 12, ["B <b@x>", mail.TO], "<1@x>", "---\n")
        self.assertIn("\nSubject: [PATCH 07/12] x: y\n", text)
        self.assertIn("\nCc: B <b@x>\n", text)
        self.assertIn("\nIn-Reply-To: <1@x>\n", text)

    def test_a_line_that_git_would_take_for_a_new_mail(self):
        with self.assertRaises(mail.MailError):
            mail.mail(self.MESSAGE.replace("text", "From here"), 1, 1, [], None, "")

    def test_the_mailbox_has_all_patches(self):
        text = mail.mailbox()
        self.assertEqual(text.count(mail.ENVELOPE), len(manifest.series()) + 1)
        self.assertIn(f"\nThis series is for Linux {layout.BASE}.y", text)

    def test_a_person_signs(self):
        text = mail.mailbox("A. Person <a@x.org>")
        count = len(manifest.series()) + 1
        for what in "From", "Signed-off-by":
            self.assertEqual(text.count(f"\n{what}: A. Person <a@x.org>\n"), count)
        self.assertNotIn(f"Signed-off-by: {mail.PROJECT}", text)
        for none in "A. Person", "a@x.org", "A <a@x>\nBcc: b <b@x>", "<a@x>":
            with self.assertRaisesRegex(mail.MailError, "Name <address>"):
                mail.mailbox(none)

    @unittest.skipUnless(layout.PRISTINE.is_dir(), "there is no kernel source: make fetch")
    def test_the_commit_of_a_git_tree(self):
        with tempfile.TemporaryDirectory() as scratch:
            kdir = Path(scratch)
            tree.small(layout.PRISTINE, kdir)
            shutil.copy(layout.PRISTINE / "Makefile", kdir)
            for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
                tree.run(["git", *tree.WHO, *words], kdir)
            commit = tree.run(["git", "rev-parse", "HEAD"], kdir).strip()
            self.assertIn(f"\nbase-commit: {commit}\n", mail.base(kdir))
            (kdir / "MAINTAINERS").write_text("mine\n")
            with self.assertRaisesRegex(mail.MailError, "not as its commit has them.*MAINT"):
                mail.base(kdir)
            tree.run(["git", *tree.WHO, "commit", "-q", "-a", "-m", "y"], kdir)
            with self.assertRaisesRegex(tree.TreeError, "does not fit"):
                mail.base(kdir)
            (kdir / "Makefile").write_text("VERSION = 2\nPATCHLEVEL = 4\nSUBLEVEL = 1\n")
            with self.assertRaisesRegex(mail.MailError, "is not Linux"):
                mail.base(kdir)


class Cocci(unittest.TestCase):
    whole = script("lint/whole")

    def test_where_a_rule_might_match(self):
        for text, wanted in (("trace_x(a, b++);", True), ("trace_x(f(a),\n  c += 1);", True),
                             ("trace_x(a == b); i++;", False), ("trace(a++);", False),
                             ("trace_x(({ int i = 1; i; }));", True)):
            self.assertEqual(self.whole.has_effect(text), wanted, text)

    def test_where_work_might_be_found(self):
        for body, wanted in (("int n = f(d);\n\ttrace_x(d, n);", True),
                             ("int n = 0, m;\n\tn += f(d);\n\ttrace_x(d, n);", True),
                             ("struct n *n = f(d);\n\ttrace_x(n); /* n is */", True),
                             ("char n[9];\n\tsprintf(n, \"%d n\", d);\n\ttrace_x(n);", True),
                             ("char n[9];\n\tstrscpy(n, d, sizeof(n));\n\ttrace_x(n);", True),
                             ("trace_x(d, ktime_get());", True),
                             ("trace_x(d, f(d));", False),
                             ("int n = 1;\n\ttrace_x(d, n);", False),
                             ("int n = f(d);\n\ttrace_x(d, n);\n\treturn n;", False),
                             ("int n = f(d);\n\tif (n)\n\t\ttrace_x(d, n);", False),
                             ("int n = f(d);\n\tg(n);", False)):
            text = f"int h(struct d *d)\n{{\n\t{body}\n}}\nint n = f(d);\n"
            self.assertEqual(self.whole.has_work(text), wanted, body)

    def test_the_page(self):
        page = "trace_a\n=======\n``x/y.c``  2  true\n\ntrace_b\n=======\n``z.h``  1  odd\n"
        self.assertEqual(self.whole.listed(page), {"trace_a": {"x/y.c": 2},
                                                  "trace_b": {"z.h": 1}})
        self.assertEqual(len(self.whole.differences({"x/y.c": 1}, {"z.h": 1})), 2)
        self.assertEqual(self.whole.differences({"z.h": 1}, {"z.h": 1}), [])


class Prefixes(unittest.TestCase):
    prefixes = script("prefixes")

    def test_what_is_built(self):
        self.assertFalse(self.prefixes.is_built(["Documentation/x.rst", "MAINTAINERS"]))
        self.assertTrue(self.prefixes.is_built(["Documentation/x.rst", "kernel/fork.c"]))
        self.assertTrue(self.prefixes.is_built(None))

    def test_a_new_warning_is_told_from_one_that_moved(self):
        old = self.prefixes.warnings("../linux/a.c:3:5: warning: odd\n  CC      a.o\n")
        moved = self.prefixes.warnings("../linux/a.c:9:5: warning: odd\n")
        new = self.prefixes.warnings("/x/bisect/linux/b.c:9:5: warning: odd\n"
                                     "vmlinux.o: warning: objtool: f+0x12: odd\n"
                                     "WARNING: modpost: odd\n")
        self.assertEqual(old, moved)
        self.assertEqual(len(new), 3)


if __name__ == "__main__":
    unittest.main()
