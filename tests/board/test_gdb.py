# SPDX-License-Identifier: Apache-2.0
"""A debugger looks at a board and changes it: test_gdb.py SLUICE FIRMWARE-DIRECTORY."""

import json
import os
import re
import signal
import socket
import subprocess
import time
import unittest

from gdb_session import ELF, FIRMWARE, GDB, ONE_HART, TWO_HARTS, Session, packet
from board_runs import SLUICE, canonical, run


@unittest.skipUnless(GDB, "no gdb-multiarch")
class Looking(Session):
    """A session that only looks leaves the result as it is."""

    def test_a_handler_on_its_second_request(self):
        # The acceptance session: two harts, a breakpoint in a handler, arguments, steps, a watchpoint, and on.
        text, result = self.debug(TWO_HARTS, """
break echo
continue
printf "first frame is 0x%lx\\n", call->datagram.frame
continue
printf "second frame is 0x%lx\\n", call->datagram.frame
printf "argument bytes is %u\\n", call->args_length
printf "opaque length is 0x%x\\n", *(unsigned*)call->args
set $reply = (unsigned*)call->datagram.payload + 1
info threads
x/i $pc
stepi
printf "pc after is 0x%lx\\n", $pc
stepi
watch *$reply
delete 1
continue
info threads
thread apply all -q printf "retired is %lu\\n", $minstret
delete
continue
""")
        self.assertEqual(text.count("hit Breakpoint 1, echo (call="), 2, text)
        self.assertNotEqual(self.value(text, "first frame"), self.value(text, "second frame"))
        length = self.value(text, "opaque length")  # in the processor's byte order, as handlers get their arguments
        self.assertEqual(self.value(text, "argument bytes"), 4 + (length + 3) // 4 * 4)
        for hart in ("cluster.host.hart0", "cluster.host.hart1"):
            self.assertIn(f'"{hart}"', text)
        self.assertRegex(text, r'Thread \d "cluster.host.hart\d" hit Hardware watchpoint 2: \*\$reply')
        self.assertEqual(len(re.findall(r"^retired is \d{2,}", text, re.MULTILINE)), 2, text)
        echo = int(re.search(r"=> (0x[0-9a-f]+) <echo", text).group(1), 16)
        self.assertIn(self.value(text, "pc after") - echo, (2, 4))
        self.assertRegex(text, r"exited normally")
        self.assert_same(run(*TWO_HARTS), result)

    def test_a_watchpoint_sees_harts_and_devices(self):
        # A receive buffer: the firmware writes the reply into it, and the NIC the next call by DMA.
        arguments = (*ONE_HART, "--set", "nic.eth0.rx_ring=64")
        text, result = self.debug(arguments, """
break echo
continue
continue
set $word = (unsigned*)call->datagram.payload
delete
watch *$word
continue
printf "writer is 0x%lx\\n", $pc
continue
info watchpoints
delete
continue
""")
        self.assertGreaterEqual(text.count("Hardware watchpoint 2: *$word"), 3, text)
        self.assertIn("a device has written by DMA at", text)
        self.assertIn("already hit 2 times", text)
        self.assert_same(run(*arguments), result)

    def test_a_load_is_seen(self):
        text, result = self.debug(ONE_HART, """
break echo
continue
set $args = call->args
delete
rwatch *(unsigned*)$args
continue
printf "reader is 0x%lx\\n", $pc
delete
continue
""")
        self.assertIn("Hardware read watchpoint 2: *(unsigned*)$args", text)
        self.assert_same(run(*ONE_HART), result)

    def test_registers_and_memory(self):
        text, result = self.debug(ONE_HART, """
info registers pc priv misa
hbreak supervisor_main
continue
printf "privilege is %d\\n", $priv
printf "table is 0x%lx\\n", $satp
p $ft0
p $fcsr
printf "virtual is 0x%x\\n", *(unsigned*)$pc
monitor memory physical
printf "physical is 0x%x\\n", *(unsigned*)$pc
monitor memory virtual
maintenance packet Qqemu.PhyMemMode:1
maintenance packet qqemu.PhyMemMode
maintenance packet Qqemu.PhyMemMode:0
python
try:
  gdb.execute("x/4xb 0x10000000")
except gdb.error as e:
  print(e)
end
monitor time
monitor harts
monitor reg
monitor reg finisher
monitor reg clint mtimecmp
monitor reg nonsense
monitor stats cluster.host.hart0.instr
monitor where 0x80000000
monitor waits
monitor what
finish_it
""".replace("finish_it", "detach"))
        self.assertIn("prv:3", text)
        self.assertEqual(self.value(text, "privilege"), 1)
        self.assertEqual(self.value(text, "virtual"), self.value(text, "physical"))
        self.assertIn("Cannot access memory at address 0x10000000", text)
        self.assertRegex(text, r"(?m)^cluster\.host\.hart0: \d+\.\d{6} ns")
        self.assertRegex(text, r"pc 0x[0-9a-f]+ supervisor_main, kernel, supervisor mode, \d+ instructions")
        self.assertRegex(text, r"(?m)^nic\.eth0$")
        self.assertIn("nonsense is no device with registers", text)
        self.assertRegex(text, r"cluster\.host\.hart0\.instructions +\d+ instructions")
        self.assertRegex(text, r"(?m)^_start$")
        self.assertIn("what is not a monitor command", text)
        self.assert_same(run(*ONE_HART), result)

    def test_every_register(self):
        # siselect and miselect select nothing: sireg and mireg have no value.
        core = os.path.join(self.directory(), "core")
        text, result = self.debug(ONE_HART, f"""
break echo
continue
info all-registers
generate-core-file {core}
detach
""")
        self.assertNotRegex(text, "(?i)error|could not")
        self.assertRegex(text, r"(?m)^sireg +<unavailable>$")
        self.assertRegex(text, r"(?m)^mstatus +0x[0-9a-f]+")
        self.assertRegex(text, r"(?m)^priv +0x1\tprv:1")
        self.assertIn(f"Saved corefile {core}", text)
        self.assert_same(run(*ONE_HART), result)
        # The image's memory is in it: the kernel's variables have the values of that moment.
        said = subprocess.run([GDB, "-nx", "-batch", "-ex", "print board.harts", "-ex", "print/x board.imsic", ELF,
                               core], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=120, check=True).stdout
        self.assertIn("$1 = 1\n", said)
        self.assertIn("$2 = 0x28000000\n", said)

    def test_devices_and_functions(self):
        arguments = ("e810-irq", "--requests", "40", "--warmup", "5")
        text, result = self.debug(arguments, """
monitor pci
break echo
continue
echo booted\\n
monitor reg uart
monitor reg imsic.hart0
monitor reg imsic.hart0.machine eie
monitor reg aplic.machine sourcecfg
monitor pci
monitor pci nic.eth0
monitor pci 00:01.0
monitor pci nothing
monitor msix nic.eth0
monitor msix root.port0
monitor msix
monitor pci nic.eth0 more
monitor time now
detach
""")
        before, after = text.split("\nbooted\n")
        self.assertRegex(before, r"(?m)^no bus   nic\.eth0 .* command: -$")
        self.assertRegex(after, r"(?m)^01:00\.0  nic\.eth0 .*Ethernet controller, command: memory, bus master$")
        self.assertRegex(after, r"(?m)^ +buses 01 to 01, prefetchable 0x[0-9a-f]+ to 0x[0-9a-f]+$")
        self.assertRegex(after, r"(?m)^ +MSI-X: 2 vectors, on$")
        self.assertRegex(after, r"(?m)^0x0005  lsr +0x60$")
        self.assertRegex(after, r"(?m)^0x0070  eidelivery +0x0000000000000001$")
        self.assertRegex(after, r"(?m)^0x0004  sourcecfg\[1\.\.95\] +0x00000400$")
        self.assertRegex(after, r"(?m)^0x010  bar0 +0x0000000c  64-bit prefetchable, at 0x4000000000, 1 MiB$")
        self.assertRegex(after, r"(?m)^0x01a  subordinate_bus +0x01 +buses 01 to 01")
        self.assertRegex(after, r"(?m)^0 +0x000028000000  imsic\.hart0\.supervisor +0x00000001  - +-$")
        self.assertRegex(after, r"(?m)^1 +0x000000000000 +0x00000000  masked  -$")
        self.assertIn("nothing is no PCIe function; these are:\n00:00.0  root\n", after)
        self.assertIn("root.port0 has no MSI-X", after)
        self.assertIn("more is too much; the command is:\nmonitor pci  ", after)
        self.assertIn("now is too much; the command is:\nmonitor time  ", after)
        self.assert_same(run(*arguments), result)

    def test_a_claim_of_the_plic_is_not_taken(self):
        arguments = ("e810-irq", "--set", "cluster.host.interrupts=plic", "--requests", "40", "--warmup", "5")
        # At the entry of the trap handler, before the firmware claims: PCIe's interrupt is there, however often one looks.
        text, result = self.debug(arguments, """
break echo
continue
delete
break *($stvec & ~3)
continue
monitor reg plic claim_context1
monitor reg plic claim_context1
detach
""")
        self.assertEqual(re.findall(r"(?m)^0x201004  claim_context1 +(0x[0-9a-f]{8})$", text), ["0x00000021"] * 2)
        self.assert_same(run(*arguments), result)

    def test_steps_over_waits_and_through_functions(self):
        arguments = ("e810-irq", "--requests", "40", "--warmup", "5")
        text, result = self.debug(arguments, """
break supervisor_main
continue
delete
next
next
break serve
continue
delete
stepi 3000
printf "pc is 0x%lx\\n", $pc
detach
""")
        self.assertGreater(self.value(text, "pc"), 0x8000_0000)
        self.assert_same(run(*arguments), result)

    def test_with_an_instruction_trace(self):
        text, result = self.debug((*ONE_HART, "--trace", "insn", "--trace-from", "100 us", "--trace-until", "150 us",
                                   "--out", self.directory()), "break echo\ncontinue\ncontinue\nstepi\ndetach\n")
        self.assertEqual(text.count("Breakpoint 1, echo ("), 2, text)
        self.assert_same(run(*ONE_HART), result)


@unittest.skipUnless(GDB, "no gdb-multiarch")
class Backtraces(Session):
    """From a trap's handler through its frame into the function that was interrupted."""

    def test_from_an_interrupt(self):
        arguments = ("e810-irq", "--requests", "40", "--warmup", "5")
        text, result = self.debug(arguments, """
break supervisor_interrupt
continue
printf "interrupted at is 0x%lx\\n", $sepc
printf "scratch is 0x%lx\\n", $t0
backtrace
up 2
printf "function at is 0x%lx\\n", $pc
printf "stack is 0x%lx\\n", $sp
frame 0
finish
delete
stepi 40
backtrace 3
detach
""")
        frames = re.findall(r"(?m)^#(\d+) +(?:0x[0-9a-f]+ in )?(\S+)", text)
        first = [name for _, name in frames[:frames.index(("5", frames[5][1])) + 1]]
        self.assertEqual(first[:3], ["supervisor_interrupt", "<signal", "interrupt_idle"], text)
        self.assertIn(("0", "supervisor_interrupt"), frames)
        self.assertRegex(text, r"(?m)^#\d+ .*supervisor_main \(")
        self.assertNotRegex(text, "corrupt stack|Cannot access")
        self.assertEqual(self.value(text, "interrupted at"), self.value(text, "function at"))
        self.assert_same(run(*arguments), result)

    def test_from_machine_mode(self):
        # The handler has a stack of its own.
        arguments = ("e810-poll", "--firmware", "deep-recursion")
        text, result = self.debug(arguments, f"""
file {os.path.join(FIRMWARE, "deep-recursion.elf")}
break machine_trap
continue
printf "trapped at is 0x%lx\\n", $mepc
backtrace 4
up
up
printf "function at is 0x%lx\\n", $pc
printf "depth is %lu\\n", depth
up
printf "caller is %lu\\n", depth
detach
""", 1)
        self.assertRegex(text, r"(?s)#0 +machine_trap .*#1 +<signal handler called>.*#2 .*recurse \(.*#3 .*recurse \(")
        self.assertEqual(self.value(text, "trapped at"), self.value(text, "function at"))
        self.assertEqual(self.value(text, "depth"), self.value(text, "caller") + 1)
        self.assert_same(run(*arguments, status=1), result)

    def test_from_an_exception(self):
        # The handler's call never returns: its return address is the last one that the entry's unwind information
        # covers.
        arguments = ("virt", "--firmware", "bad-end", "--set", "cluster.host.bootargs=trap")
        text, result = self.debug(arguments, f"""
file {os.path.join(FIRMWARE, "bad-end.elf")}
break supervisor_exception
continue
printf "trapped at is 0x%lx\\n", $sepc
backtrace
up 2
printf "function at is 0x%lx\\n", $pc
detach
""", 1)
        self.assertRegex(text, r"(?s)#0 +supervisor_exception .*#1 +<signal handler called>.*"
                         r"#2 +(0x[0-9a-f]+ in )?trap_here .*#3 .*application_main ")
        self.assertNotRegex(text, "corrupt stack|Cannot access")
        self.assertEqual(self.value(text, "trapped at"), self.value(text, "function at"))
        self.assert_same(run(*arguments, status=1), result)

    def test_a_trap_stack_that_overflows(self):
        # The panic report alone does not fill the trap stack, so the debugger moves sp near the stack's end.
        process, port = self.launch("e810-poll", "--firmware", "deep-recursion", "--console")
        script = os.path.join(self.directory(), "script.gdb")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"""set confirm off
target remote localhost:{port}
break machine_trap
continue
delete
set $sp = ((unsigned long)$sp & ~0xfff) + 8
continue
""")
        gdb = subprocess.run([GDB, "-nx", "-batch", "-x", script, os.path.join(FIRMWARE, "deep-recursion.elf")],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             timeout=120, check=False)
        out, console = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, gdb.stdout)
        self.assertIn("Breakpoint 1, ", gdb.stdout)
        self.assertRegex(console, r"(?m)^panic: the trap stack of hart 0 has overflowed: sp [0-9a-f]+, cause 7, pc")
        self.assertIn("code 6: a stack of cluster.host.hart0 has overflowed, sp was 0x", json.loads(out)["failure"])


@unittest.skipUnless(GDB, "no gdb-multiarch")
class Changing(Session):
    """What a debugger changes is logged, and a replay repeats it."""

    def replay(self, arguments, commands, status):
        """What gdb prints and the log of a session that changes something; its replay must give the same."""
        out = self.directory()
        text, changed = self.debug((*arguments, "--out", out), commands, status)
        log = os.path.join(out, "input.log")
        self.assert_same(changed, run(*arguments, "--replay", log, status=status))
        if canonical(run(*arguments)) == canonical(changed):
            self.fail("the session has changed nothing\n" + text)
        return text, log

    def test_registers_and_memory(self):
        # An echo of no bytes is wrong, which the workload counts as an error.
        for arguments in (ONE_HART, TWO_HARTS):
            with self.subTest(arguments=arguments):
                text, log = self.replay(arguments, """
break echo
ignore 1 70
continue
set var $t0 = 0x1234
set var $ft1.double = 0.5
set var call->args[0] = 0
stepi
stepi
stepi
continue
set var $sscratch = $sscratch + 1
delete
continue
""", 1)
                self.assertNotIn("rror", text)
                with open(log, encoding="ascii") as file:
                    changes = re.findall(r"(?m)^input \d+ gdb 01", file.read())
                self.assertGreaterEqual(len(changes), 3)

    def test_a_program_counter(self):
        # Setting pc back makes the hart run the handler's first instruction again, which may change sp or its argument.
        self.replay(TWO_HARTS, """
break echo
ignore 1 31
continue
set $start = $pc
set $argument = $a0
set $stack = $sp
stepi
set var $pc = $start
set var $a0 = $argument
set var $sp = $stack
delete
continue
""", 0)

    def test_a_program_counter_at_a_breakpoint(self):
        # In cached timing, nothing has been fetched for an instruction in front of which the debugger stops.
        self.replay((*ONE_HART, "--set", "workload.outstanding=2"), """
break echo
ignore 1 40
continue
set $back = $ra
delete
tbreak *$back
continue
set var $pc = (unsigned long)echo
continue
""", 1)

    def test_a_kill_where_it_was(self):
        for arguments, at in ((ONE_HART, "continue"), (TWO_HARTS, "ignore 1 20\ncontinue\nset var $t0 = 1"), (ONE_HART, "")):
            with self.subTest(arguments=arguments, at=at):
                self.replay(arguments, f"break echo\n{at}\nkill\n", 0)

    def test_a_signal_where_it_came(self):
        """At a stop, and while the run goes on."""
        for goes_on in (False, True):
            with self.subTest(goes_on=goes_on):
                out = self.directory()
                arguments = ("e810-poll", "--requests", "100000000")
                process, port = self.launch(*arguments, "--out", out)
                with socket.create_connection(("127.0.0.1", int(port)), timeout=60) as client:
                    client.sendall(packet(b"QStartNoAckMode") + packet(b"vCont;s:1"))
                    answer = b""
                    while b"thread:1;" not in answer:
                        answer += client.recv(100)
                    if goes_on:
                        client.sendall(packet(b"vCont;c"))
                        time.sleep(0.2)
                    process.send_signal(signal.SIGINT)
                    live, error = process.communicate(timeout=60)
                self.assertEqual((process.returncode, error), (0, ""))
                self.assertEqual(json.loads(live)["outcome"], "interrupted")
                self.assert_same(live, run(*arguments, "--replay", os.path.join(out, "input.log")))

    def test_damaged_records_are_refused(self):
        out = self.directory()
        self.debug((*ONE_HART, "--out", out), "break echo\ncontinue\nset var $t0 = 1\ndetach\n")
        with open(os.path.join(out, "input.log"), encoding="ascii") as file:
            text = file.read()
        record = re.search(r"gdb (01[0-9a-f]+)", text).group(1)
        line = text[:text.index(record)].count("\n") + 1
        slots, change = record[10:26], record[26:]
        for damaged, what in (("01", "is no change by a debugger"), ("03" + record[2:], "is no change by a debugger"),
                              (record[:26] + "09" + change[2:], "is no change by a debugger"),
                              (record[:2] + "09" + record[4:], "is of a hart that this board has not"),
                              (record[:26] + change[:10] + "ff" + change[12:], "changes what this board has not")):
            log = os.path.join(out, "damaged.log")
            with open(log, "w", encoding="ascii") as file:
                file.write(text.replace(record, damaged))
            process = subprocess.run([SLUICE, "run", *ONE_HART, "--replay", log], capture_output=True, text=True, check=False)
            self.assertEqual((process.returncode, process.stderr),
                             (2, f"sluice: --replay {log}: {log}:{line}: {what}\n"))
        with open(log, "w", encoding="ascii") as file:
            file.write(text.replace(slots, "ffffffffffff0000"))
        process = subprocess.run([SLUICE, "run", *ONE_HART, "--replay", log], capture_output=True, text=True, check=False)
        self.assertEqual((process.returncode, process.stderr),
                         (0, f"sluice: --replay {log}: this run has not come to the last change of the log\n"))

    def test_a_replay_refuses_more(self):
        out = self.directory()
        self.debug((*ONE_HART, "--out", out), "break echo\ncontinue\nset var $t0 = 1\ndetach\n")
        text, _ = self.debug((*ONE_HART, "--replay", os.path.join(out, "input.log")),
                             "break echo\ncontinue\nset var $t0 = 2\nset var *(int*)$sp = 3\ndetach\n")
        self.assertIn("ould not write", text)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    unittest.main()
