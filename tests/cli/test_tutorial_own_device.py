"""docs/tutorials/own-device.md does what it says: its files and commands are those of the text, run in an empty home
directory with nothing but Sluice's build tree, or an installation. Called as NAME.py SLUICE BUILD-DIRECTORY; with
UPDATE_TUTORIAL=1 it puts what is printed into the page, for a person to read."""

import os
import socket
import subprocess
import unittest

import tutorial
from command import BUILD, SOURCE, CommandTest

PAGE = os.path.join(SOURCE, "docs/tutorials/own-device.md")
PORT = "1234"  # of the debugger, in the text


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return str(s.getsockname()[1])


class OwnDevice(CommandTest):
    def follow(self, place):
        """place: where the text has Sluice, below the home directory."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("SLUICE", "CMAKE", "Sluice"))}
        environment["HOME"] = self.directory
        with open(PAGE, encoding="utf-8") as file:
            text = file.read()
        blocks = tutorial.blocks_of(text)
        self.assertGreater(sum(b.file is not None for b in blocks), 5)
        self.assertGreater(sum(b.output is not None for b in blocks), 5)
        printed, rest = tutorial.run(blocks, environment, 500, {PORT: free_port()})
        self.assertTrue(os.path.exists(os.path.join(self.directory, place)))
        if os.environ.get("UPDATE_TUTORIAL"):
            with open(PAGE, "w", encoding="utf-8") as file:
                file.write(tutorial.updated(text, blocks, printed))
            return
        for number, block in enumerate(blocks):
            if block.file:
                continue
            where = f"{PAGE}:{block.line}: "
            self.assertIn(number, printed, where + "failed:\n" + rest)
            if block.output is not None:
                self.assertEqual(printed[number], block.output,
                                 where + "where what is printed is right, run this with UPDATE_TUTORIAL=1")

    def test_with_the_build_tree(self):
        os.makedirs(os.path.join(self.directory, "sluice/build"))
        os.symlink(BUILD, os.path.join(self.directory, "sluice/build/release"))
        self.follow("sluice/build/release/platform/cli/sluice")

    def test_with_an_installation(self):
        prefix = os.path.join(self.directory, "sluice/build/release")
        subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        self.follow("sluice/build/release/bin/sluice")


if __name__ == "__main__":
    unittest.main()
