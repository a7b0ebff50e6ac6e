# SPDX-License-Identifier: Apache-2.0
"""A tutorial as a program: the files that its text gives, its commands, and what they print.

A fenced block is a file if a line of its own before the block names one (**`sum.cpp`**), and shell commands if its
language is sh. A block without a language directly after commands is all that they print. There may be no other blocks,
and a command that fails ends the program."""

import re
import subprocess
from dataclasses import dataclass

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NAME = re.compile(r"\*\*`([\w.-]+)`\*\*\s*\Z")
MARK = "-- end of block "


@dataclass
class Block:
    line: int
    text: str
    file: str = None  # the file's name; None: the block is commands
    output: str = None  # what the commands print; None: the text does not show it


def blocks_of(text):
    blocks = []
    end = 0
    for fence in FENCE.finditer(text):
        language, content = fence.groups()
        between, end = text[end:fence.start()], fence.end()
        line = text.count("\n", 0, fence.start()) + 1
        name = NAME.search(between)
        if name:
            blocks.append(Block(line, content, file=name[1]))
        elif language == "sh":
            blocks.append(Block(line, content))
        elif not language and not between.strip() and blocks and not blocks[-1].file and blocks[-1].output is None:
            blocks[-1].output = content
        else:
            raise ValueError(f"line {line}: a block that is no file, no command and no output")
    return blocks


def script_of(blocks, replaced):
    script = "set -eu\n"
    for number, block in enumerate(blocks):
        if block.file:
            script += f"cat > {block.file} << 'END OF FILE'\n{block.text}END OF FILE\n"
        else:
            commands = block.text
            for old, new in replaced.items():
                commands = commands.replace(old, new)
            script += f"{commands}\necho '{MARK}{number}'\n"
    return script


def run(blocks, environment, timeout, replaced):
    """What each block of commands printed, by the block's number, and what was printed after the last that succeeded.
    replaced: words of the commands and what this machine needs in their place, such as a free port."""
    ended = subprocess.run(["bash", "-c", script_of(blocks, replaced)], env=environment, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout, check=False)
    pieces = re.split(rf"^{MARK}(\d+)\n", ended.stdout, flags=re.MULTILINE)
    printed = {int(number): text for text, number in zip(pieces[0::2], pieces[1::2])}
    return printed, pieces[-1]


def updated(text, blocks, printed):
    """The text, with what was printed put in wherever the text shows something else."""
    for number, block in enumerate(blocks):
        if number in printed and block.output is not None and printed[number] != block.output:
            commands = f"```sh\n{block.text}```\n\n```\n"
            text = text.replace(commands + block.output, commands + printed[number], 1)
    return text
