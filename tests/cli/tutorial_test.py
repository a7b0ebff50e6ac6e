# SPDX-License-Identifier: Apache-2.0
"""What the tests of the tutorials share: a page whose blocks are followed in an empty home directory with nothing but
Sluice's build tree, or an installation, as ~/sluice/build/release. A test is called as NAME.py SLUICE BUILD-DIRECTORY;
with UPDATE_TUTORIAL=1 it puts what is printed into the page, for a person to read."""

import os
import socket
import subprocess

import tutorial
from command import BUILD, SOURCE, CommandTest

PORT = "1234"  # of the debugger, in the pages


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return str(s.getsockname()[1])


class TutorialTest(CommandTest):
    def in_build_tree(self):
        os.makedirs(os.path.join(self.directory, "sluice/build"))
        os.symlink(BUILD, os.path.join(self.directory, "sluice/build/release"))
        return "sluice/build/release/platform/cli/sluice"

    def in_installation(self):
        prefix = os.path.join(self.directory, "sluice/build/release")
        subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        return "sluice/build/release/bin/sluice"

    def follow(self, page, place, files, outputs):
        """page: name in docs/tutorials. place: path of the program, below the home directory. files, outputs:
        least numbers of files on the page, and of blocks of commands with what they print."""
        page = os.path.join(SOURCE, "docs/tutorials", page)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("SLUICE", "CMAKE", "Sluice"))}
        environment["HOME"] = self.directory
        with open(page, encoding="utf-8") as file:
            text = file.read()
        blocks = tutorial.blocks_of(text)
        self.assertGreaterEqual(sum(b.file is not None for b in blocks), files)
        self.assertGreaterEqual(sum(b.output is not None for b in blocks), outputs)
        printed, rest = tutorial.run(blocks, environment, 500, {PORT: free_port()})
        self.assertTrue(os.path.exists(os.path.join(self.directory, place)))
        if os.environ.get("UPDATE_TUTORIAL"):
            with open(page, "w", encoding="utf-8") as file:
                file.write(tutorial.updated(text, blocks, printed))
            print(rest)
            return
        for number, block in enumerate(blocks):
            if block.file:
                continue
            where = f"{page}:{block.line}: "
            self.assertIn(number, printed, where + "failed:\n" + rest)
            if block.output is not None:
                self.assertEqual(printed[number], block.output,
                                 where + "where what is printed is right, run this with UPDATE_TUTORIAL=1")
