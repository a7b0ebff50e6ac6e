# SPDX-License-Identifier: Apache-2.0
"""What lies in guest memory when the harts start: several images, an initial RAM disk, device trees and their changes.
test_images.py SLUICE BUILD."""

import hashlib
import json
import os
import subprocess
import unittest

from assembler import FAIL, PASS, assemble, assemble_raw
from command import SLUICE, CommandTest, sluice

# Fails with the number of the check that fails, or jumps to the next address in fw_dynamic's data at a2.
FIRST = """
  li t0, 0x100000
  li t1, 0x13333
  li t2, 0x4942534f
  ld t3, 0(a2)
  bne t2, t3, fail
  li t1, 0x23333
  li t2, 2
  ld t3, 8(a2)
  bne t2, t3, fail
  li t1, 0x33333
  li t2, 1
  ld t3, 24(a2)
  bne t2, t3, fail
  li t1, 0x43333
  ld t3, 32(a2)
  bnez t3, fail
  li t1, 0x53333
  ld t3, 40(a2)
  bnez t3, fail
  li t1, 0x63333
  csrr t2, mhartid
  bne t2, a0, fail
  li t1, 0x73333
  lw t3, 0(a1)
  li t2, 0xedfe0dd0
  slli t2, t2, 32
  srli t2, t2, 32
  slli t3, t3, 32
  srli t3, t3, 32
  bne t2, t3, fail
  ld t3, 16(a2)
  jr t3
fail:
  sw t1, 0(t0)
  j .
"""

# Passes when the 8 bytes at an address are these.
LOOK = """
  li t0, 0x100000
  li t1, 0x13333
  li t2, {address}
  ld t2, 0(t2)
  li t3, {value}
  bne t2, t3, 1f
  li t1, 0x5555
1:
  sw t1, 0(t0)
  j .
"""

BOARD = """summary = "a hart and its images"
[cluster.host]
firmware = "first.elf"
{cluster}
[memory.dram]
base = 0x8000_0000
size = "16 MiB"
[caches]
timing = "functional"
"""

TREE = """/dts-v1/;
/ {
	#address-cells = <2>;
	#size-cells = <2>;
	compatible = "my,board";
	memory@80000000 { device_type = "memory"; reg = <0 0x80000000 0 0x1000000>; };
};
"""

OVERLAY = """/dts-v1/;
/plugin/;
/ {
	fragment@0 {
		target-path = "/soc";
		__overlay__ { gadget@5000000 { compatible = "my,gadget"; reg = <0 0x5000000 0 0x1000>; }; };
	};
};
"""


class Images(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("first.elf", assemble(FIRST))
        self.write("second.bin", assemble_raw(PASS))
        self.write("Image", assemble_raw(PASS))
        self.board("")

    def board(self, cluster):
        return self.write("my.toml", BOARD.format(cluster=cluster))

    def run_board(self, *arguments, status=0):
        result = sluice("run", "my.toml", "--until=1 ms", "--json", *arguments, cwd=self.directory)
        self.assertEqual(result.returncode, status, result.stderr)
        return json.loads(result.stdout)

    def tree(self, *arguments):
        return self.succeed("describe", "my.toml", "--device-tree", *arguments, cwd=self.directory)

    def refuse(self, cluster, sentence):
        self.board(cluster)
        self.assert_mistake(["run", "my.toml"], sentence)

    def digest(self, name):
        with open(os.path.join(self.directory, name), "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()

    def compile(self, name, source):
        compiled = subprocess.run(["dtc", "-I", "dts", "-O", "dtb", "-q"], input=source.encode(), capture_output=True,
                                  check=True).stdout
        self.write(name, compiled)


class Loading(Images):
    def test_the_firmware_goes_on_to_raw_bytes(self):
        self.board('images = ["second.bin@0x8020_0000"]')
        r = self.run_board()
        self.assertEqual(r["outcome"], "finished")
        self.assertEqual(r["firmware"][0]["images"], [{"what": "image", "name": "second.bin", "sha256": self.digest("second.bin"),
                                                       "address": "0x8020_0000"}])

    def test_a_name_with_an_address_is_a_path(self):
        self.board('images = ["Image@0x8020_0000"]')
        self.assertEqual(self.run_board()["firmware"][0]["images"][0]["name"], "Image")

    def test_the_firmware_goes_on_to_an_elf_file_and_has_its_symbols(self):
        self.write("second.elf", assemble("li t0, 0x100000\nli t1, 0x93333\nfails:\nsw t1, 0(t0)\nj .\n", 0x8030_0000))
        r = self.run_board("--set", "cluster.host.images=second.elf,second.bin@0x80400000", status=1)
        self.assertRegex(r["failure"], "^the firmware failed with code 9; cluster.host.hart0 at pc 0x8030000[0-9a-f] fails")
        self.assertEqual([i["name"] for i in r["firmware"][0]["images"]], ["second.elf", "second.bin"])

    def test_what_fw_dynamic_is_told_lies_in_front_of_the_tree(self):
        # Passes where a2 is 64 below a1, and fails without images.
        self.write("look.elf", assemble("sub a1, a1, a2\nli a2, 64\nbne a1, a2, 1f\n" + PASS + "1:\n" + FAIL.format(code=8)))
        self.run_board("--firmware=look.elf", "--set", "cluster.host.images=second.bin@0x80200000")
        self.run_board("--firmware=look.elf", status=1)

    def test_the_tree_has_room_to_grow(self):
        # Fails with code 8 where fewer than 16 KiB lie between the end of the tree and the end of the memory.
        look = ("lw a2, 4(a1)\nrev8 a2, a2\nsrli a2, a2, 32\nadd a1, a1, a2\nneg a1, a1\nli a2, 0x1000000\nremu a1, a1, a2\n"
                "li a2, 0x4000\nbltu a1, a2, 1f\n" + PASS + "1:\n" + FAIL.format(code=8))
        self.write("look.elf", assemble(look.replace("rev8", ".option arch, +zbb\nrev8")))
        for characters in (1000, 40_000, 45_000, 50_000, 62_878, 64_000, 200_000):
            with self.subTest(characters):
                self.board(f'bootargs = "{"a" * characters}"')
                self.run_board("--firmware=look.elf")

    def test_firmware_may_be_raw_bytes(self):
        self.run_board("--firmware", "second.bin@0x8010_0000")
        self.board('images = ["second.bin@0x8020_0000"]')
        self.write("first.bin", assemble_raw(FIRST))
        self.run_board("--firmware", "first.bin@0x80000000")

    def test_an_at_sign_in_the_name_of_a_folder(self):
        self.write("a@0x1/first.elf", assemble(PASS))
        self.run_board("--firmware", "a@0x1/first.elf")

    def test_an_initial_ram_disk(self):
        self.write("disk.cpio", b"12345678" + bytes(5000))
        look = LOOK.format(address="0x80800000", value=hex(int.from_bytes(b"12345678", "little")))
        self.write("look.elf", assemble(look))
        self.board('initrd = "disk.cpio"\nbootargs = "console=ttyS0 root=/dev/ram"')
        r = self.run_board("--firmware=look.elf")
        self.assertEqual(r["firmware"][0]["images"], [{"what": "initrd", "name": "disk.cpio", "sha256": self.digest("disk.cpio"),
                                                       "address": "0x8080_0000"}])
        tree = self.tree()
        self.assertIn('\t\tbootargs = "console=ttyS0 root=/dev/ram";\n', tree)
        self.assertIn("\t\tlinux,initrd-start = <0x0 0x80800000>;\n", tree)
        self.assertIn("\t\tlinux,initrd-end = <0x0 0x80801390>;\n", tree)
        self.assertIn("\t\tstdout-path = ", tree)
        tree = self.tree("--set", "cluster.host.initrd=disk.cpio@0x80900000")
        self.assertIn("\t\tlinux,initrd-start = <0x0 0x80900000>;\n", tree)
        # An image in the middle of the memory pushes the initial RAM disk up.
        tree = self.tree("--set", "cluster.host.images=second.bin@0x80800000")
        self.assertIn("\t\tlinux,initrd-start = <0x0 0x80801000>;\n", tree)

    def test_a_replay_knows_images_by_what_is_in_them(self):
        self.write("disk.cpio", b"disk")
        self.compile("own.dtb", TREE)
        self.write("endless.elf", assemble("j .\n"))
        self.board('images = ["second.bin@0x8020_0000"]\ninitrd = "disk.cpio"\ndevice_tree = "own.dtb"')
        arguments = ("run", "my.toml", "--firmware=endless.elf")
        subprocess.run([SLUICE, *arguments, "--console", "--out=first", "--until=1 us"], input=b"", capture_output=True,
                       cwd=self.directory, check=True)
        with open(os.path.join(self.directory, "first/input.log"), encoding="ascii") as file:
            log = file.read()
        self.assertIn(f"with cluster.host.images[0] {self.digest('second.bin')} at 0x80200000\n", log)
        self.assertIn(f"with cluster.host.initrd {self.digest('disk.cpio')}\n", log)
        self.assertIn(f"with cluster.host.device_tree {self.digest('own.dtb')}\n", log)


class DeviceTrees(Images):
    def test_a_tree_in_the_place_of_the_board_s(self):
        self.compile("own.dtb", TREE)
        self.board('device_tree = "own.dtb"\nbootargs = "quiet"')
        tree = self.tree()
        self.assertIn('\tcompatible = "my,board";\n', tree)
        self.assertIn('\tchosen {\n\t\tbootargs = "quiet";\n\t};\n', tree)
        self.assertNotIn("soc", tree)
        r = self.run_board("--set", "cluster.host.images=second.bin@0x80200000")
        self.assertEqual(r["firmware"][0]["images"][1], {"what": "device tree", "name": "own.dtb",
                                                         "sha256": self.digest("own.dtb")})

    def test_an_overlay_changes_the_board_s(self):
        self.compile("more.dtbo", OVERLAY)
        self.board('device_tree = "more.dtbo"')
        tree = self.tree()
        self.assertRegex(tree, r'\n\t\tgadget@5000000 \{\n(\t\t\t.*\n)*\t\t\tcompatible = "my,gadget";\n')
        self.assertIn("\t\tserial@10000000 {\n", tree)

    def test_a_tree_larger_than_what_is_usual(self):
        large = TREE.replace('compatible = "my,board";', 'compatible = "my,board"; large = [' + "11 " * 200_000 + "];")
        self.compile("large.dtb", large)
        self.board('device_tree = "large.dtb"\nimages = ["second.bin@0x8020_0000"]')
        self.assertEqual(self.run_board()["outcome"], "finished")
        self.assert_mistake(["run", "my.toml", "--set", "cluster.host.images=second.bin@0x80fd0000"],
                            "--set cluster.host.images=second.bin@0x80fd0000: image second.bin leaves no room for the device "
                            "tree in its memory: it ends at 0x80fd...")

    def test_files_that_are_no_tree(self):
        self.write("x.dtb", b"no tree")
        self.refuse('device_tree = "x.dtb"', "my.toml:4: device tree x.dtb is no compiled device tree (dtc -O dtb makes "
                    "one): ...")
        self.write("x.dtb", TREE)
        self.refuse('device_tree = "x.dtb"', "my.toml:4: device tree x.dtb is source text; compile it: dtc -I dts -O dtb")
        self.compile("x.dtb", OVERLAY.replace("/soc", "/none"))
        self.refuse('device_tree = "x.dtb"', "my.toml:4: device tree x.dtb is an overlay that does not go with the board's "
                    "tree, which has no labels (use target-path): FDT_ERR_NOTFOUND")


class Mistakes(Images):
    def test_images_over_each_other(self):
        end = 0x8020_0000 + os.path.getsize(os.path.join(self.directory, "second.bin")) - 1
        self.refuse('images = ["second.bin@0x8020_0000", "second.bin@0x8020_0008"]',
                    f"my.toml:4: image second.bin lies at 0x8020_0008 to 0x8020_{(end + 8) % 65536:04x}, over image second.bin "
                    f"at 0x8020_0000 to 0x8020_{end % 65536:04x}")
        self.write("disk.cpio", b"disk")
        self.refuse('initrd = "disk.cpio@0x80000000"', "my.toml:4: initrd disk.cpio lies at 0x8000_0000 to 0x8000_0003, over "
                    "firmware first.elf at 0x8000_0000 to 0x8000_...")
        self.refuse('initrd = "disk.cpio@0x80fffff0"', "my.toml:4: initrd disk.cpio leaves no room for the device tree in its "
                    "memory: it ends at 0x80fffff4 and must end at 0x80ff0000 or below")

    def test_images_outside_of_memory(self):
        self.refuse('images = ["second.bin@0x1000"]', "my.toml:4: image second.bin lies at 0x1000, outside every "
                    "memory of the board (0x8000_0000 to 0x80ff_ffff)")
        self.write("disk.cpio", bytes(9 << 20))
        self.refuse('initrd = "disk.cpio"', "my.toml:4: initrd disk.cpio is too large: its 9437184 B begin at 0x8080_0000, and "
                    "their memory ends at 0x80ff_ffff")
        self.refuse('images = ["second.bin@0xffff_ffff_ffff_ffff"]', "my.toml:4: image second.bin does not end within 64 bits "
                    "of address")

    def test_an_entry_without_an_instruction(self):
        self.write("tiny.bin", b"abc")
        self.refuse('images = ["tiny.bin@0x80fffffd"]', "my.toml:4: image tiny.bin starts at 0x80fffffd, 3 B before the end of "
                    "its memory: there is no room for an instruction")
        self.board("")
        self.assert_mistake(["run", "my.toml", "--firmware=tiny.bin@0x80fffffd"], "--firmware tiny.bin@0x80fffffd: firmware "
                            "tiny.bin starts at 0x80fffffd, 3 B before the end of its memory: there is no room for an "
                            "instruction")
        # A further image may be that short: no hart starts in it.
        more = BOARD + '[memory.more]\nbase = 0x9000_0000\nsize = "1 MiB"\n'
        self.write("my.toml", more.format(cluster='images = ["second.bin@0x8020_0000", "tiny.bin@0x900f_fffd"]'))
        self.run_board()

    def test_an_odd_entry(self):
        self.refuse('images = ["second.bin@0x8020_0001"]', "my.toml:4: image second.bin starts at 0x80200001, and instructions "
                    "lie at even addresses")

    def test_an_initrd_over_another_cluster_s_tree(self):
        board = BOARD + """[cluster.other]
firmware = "other.elf"
{other}
[memory.other]
base = 0x9000_0000
size = "1 MiB"
"""
        self.write("other.elf", assemble(PASS, base=0x9000_0000))
        self.write("disk.cpio", b"disk")
        text = board.format(cluster="", other='initrd = "disk.cpio@0x80ffff00"')
        self.write("my.toml", text)
        line = text[:text.index("initrd")].count("\n") + 1
        self.assert_mistake(["run", "my.toml"], f"my.toml:{line}: initrd disk.cpio leaves no room for the device tree in its "
                            "memory: it ends at 0x80ffff04 and must end at 0x80ff0000 or below")

    def test_a_file_that_no_machine_holds(self):
        with open(os.path.join(self.directory, "huge"), "wb") as file:
            file.truncate(1 << 43)
        for key, what in (('images = ["huge@0x8020_0000"]', "image"), ('initrd = "huge"', "initrd")):
            self.refuse(key, f"my.toml:4: {what} huge is larger than this machine's memory")

    def test_bytes_in_a_command_line_that_no_tree_can_have(self):
        for text in (r'"a\u0000b"', r'"a\tb"', r'"\u00e9"'):
            self.refuse(f"bootargs = {text}", "my.toml:4: cluster.host.bootargs must be of printable ASCII characters")

    def test_a_command_line_that_the_memory_has_no_room_for(self):
        small = BOARD.replace("16 MiB", "1 MiB")
        self.write("my.toml", small.format(cluster='bootargs = "' + 1_046_000 * "a" + '"'))
        self.assert_mistake(["run", "my.toml"], "my.toml:4: cluster.host.bootargs must be shorter: with its 1046000 characters, "
                            "the device tree has ...")

    def test_files_that_are_none(self):
        self.refuse('images = ["none.bin@0x80200000"]', "my.toml:4: there is no image none.bin; give its path")
        self.refuse('initrd = "none"', "my.toml:4: there is no initrd none; give its path")
        self.refuse('device_tree = "none.dtb"', "my.toml:4: there is no device tree none.dtb; give its path")
        self.refuse('images = ["."]', "my.toml:4: . is a directory; give its path")
        self.refuse('images = [""]', "my.toml:4: the image has no name; give its path")
        self.write("empty", b"")
        self.refuse('initrd = "empty"', "my.toml:4: initrd empty is empty")
        self.refuse('images = ["second.bin"]', "my.toml:4: image second.bin is not an ELF file; an RV64 executable is needed, "
                    "or raw bytes with their address: FILE@0x8000_0000")
        self.refuse('images = ["second.bin@0x8g"]', "my.toml:4: image second.bin@0x8g has an address that is none behind its "
                    "@, which must be hexadecimal: 0x8020_0000")
        self.refuse('images = ["first.elf@0x80200000"]', "my.toml:4: image first.elf is an ELF file, which has addresses of "
                    "its own: leave out what is behind the @")
        elf = assemble(PASS)
        self.write("other.elf", elf[:18] + b"\x3e" + elf[19:])
        self.refuse('images = ["other.elf"]', "my.toml:4: image other.elf is an ELF file for another machine; an RV64 "
                    "executable is needed")


if __name__ == "__main__":
    unittest.main()
