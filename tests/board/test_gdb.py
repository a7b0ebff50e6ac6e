"""A debugger at a board: test_gdb.py SLUICE FIRMWARE-DIRECTORY. The client is Debian's gdb-multiarch."""

import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest

FIRMWARE = os.path.abspath(sys.argv.pop(2))

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import board_runs  # noqa: E402  (takes SLUICE)
from board_runs import SLUICE, BoardTest, canonical, run  # noqa: E402
from caught_signals import wait_until_caught  # noqa: E402

ELF = os.path.join(FIRMWARE, "rpc-server.elf")
TWO_HARTS = ("e810-poll", "--set", "cluster.host.harts=2", "--set", "nic.eth0.queues=2", "--set", "workload.flows=64",
             "--requests", "200", "--warmup", "20")
ONE_HART = ("e810-poll", "--requests", "200", "--warmup", "20")
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GDB = shutil.which("gdb-multiarch")


def packet(payload):
    return b"$" + payload + b"#%02x" % (sum(payload) & 255)


class Session(BoardTest):
    def launch(self, *arguments):
        """A run that waits for a debugger; its process and its port."""
        process = subprocess.Popen([SLUICE, "run", *arguments, "--gdb", "0", "--json"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        port = re.search(r"localhost:(\d+)", process.stderr.readline())
        self.assertTrue(port)
        return process, port.group(1)

    def debug(self, arguments, commands, status=0):
        """What gdb prints, and the result of the run."""
        process, port = self.launch(*arguments)
        script = os.path.join(self.directory(), "script.gdb")
        with open(script, "w", encoding="utf-8") as file:
            file.write("set pagination off\nset confirm off\nset width 0\n")
            file.write(f"target remote localhost:{port}\n{commands}\n")
        gdb = subprocess.run([GDB, "-nx", "-batch", "-x", script, ELF], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        try:
            out, err = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            self.fail(f"the run does not end\n{gdb.stdout}")
        self.assertEqual(process.returncode, status, err + gdb.stdout)
        return gdb.stdout, out

    def value(self, text, name):
        found = re.search(rf"^{re.escape(name)} is (\S+)", text, re.MULTILINE)
        self.assertTrue(found, f"no {name} in\n{text}")
        return int(found.group(1), 0)


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
        length = int.from_bytes(self.value(text, "opaque length").to_bytes(4, "little"), "big")
        self.assertEqual(self.value(text, "argument bytes"), 4 + (length + 3) // 4 * 4)
        for hart in ("cluster.host.hart0", "cluster.host.hart1"):
            self.assertIn(f'"{hart}"', text)
        self.assertRegex(text, r'Thread \d "cluster.host.hart\d" hit Hardware watchpoint 2: \*\$reply')
        self.assertEqual(len(re.findall(r"^retired is \d{3,}", text, re.MULTILINE)), 2, text)
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
        self.assertRegex(text, r"pc 0x[0-9a-f]+ supervisor_main, kernel, \d+ instructions")
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

    def test_a_trap_stack_that_overflows(self):
        # Nothing in the report needs so much: the debugger takes the room away.
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
        # A call without arguments is refused, which the workload counts as an error.
        for arguments in (ONE_HART, TWO_HARTS):
            with self.subTest(arguments=arguments):
                text, log = self.replay(arguments, """
break echo
ignore 1 70
continue
set var $t0 = 0x1234
set var $ft1.double = 0.5
set var call->args_length = 0
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
        # The second entry runs the handler's first instruction again.
        self.replay(TWO_HARTS, """
break echo
ignore 1 31
continue
set $start = $pc
stepi
set var $pc = $start
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


@unittest.skipUnless(GDB, "no gdb-multiarch")
class Restarting(Session):
    """Resets, programs that are loaded, and registers of devices, on a host that runs `hello`."""

    HELLO = os.path.join(FIRMWARE, "hello.elf")
    IDLE = os.path.join(FIRMWARE, "interrupt-idle.elf")
    ARGUMENTS = (os.path.join(TESTS, "firmware", "bare.toml"), "--firmware", HELLO)

    def session(self, commands, target="remote", arguments=ARGUMENTS, elf=HELLO, status=0):
        """What gdb prints, what the firmware prints, and the result, which a replay gives too."""
        out = self.directory()
        process, port = self.launch(*arguments, "--console", "--out", out)
        script = os.path.join(out, "script.gdb")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"set pagination off\nset confirm off\nset width 0\nset remotetimeout 60\n"
                       f"target {target} localhost:{port}\n{commands}\n")
        gdb = subprocess.run([GDB, "-nx", "-batch", "-x", script, elf], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        result, console = process.communicate(timeout=120)
        self.assertEqual(process.returncode, status, gdb.stdout + console)
        self.assert_same(result, run(*arguments, "--replay", os.path.join(out, "input.log"), status=status))
        return gdb.stdout, console, json.loads(result)

    def test_a_reset_starts_the_board_again(self):
        plain = json.loads(run(*self.ARGUMENTS))
        text, console, result = self.session("""
break tick
continue
continue
monitor reset
maintenance flush register-cache
printf "start is 0x%lx\\n", $pc
printf "entry is 0x%lx\\n", (unsigned long)&_start
printf "privilege is %d\\n", $priv
printf "stack is 0x%lx\\n", $sp
printf "hart is %d\\n", $a0
printf "enabled is 0x%lx\\n", $mie
monitor reg uart lcr
continue
printf "ticks again is %u\\n", ticks
delete
continue
""")
        self.assertEqual(self.value(text, "start"), self.value(text, "entry"))
        self.assertEqual([self.value(text, v) for v in ("privilege", "stack", "hart", "enabled")], [3, 0, 0, 0])
        self.assertRegex(text, r"(?m)^0x0003  lcr +0x00$")
        self.assertEqual(self.value(text, "ticks again"), 0)
        self.assertEqual(text.count("Breakpoint 1, tick"), 3, text)
        self.assertEqual(console.count("hello from supervisor mode"), 2, console)
        self.assertEqual(console.count("timer interrupt 3 times"), 1, console)
        # Time goes on; what follows the reset takes as long as from the start.
        self.assertGreater(result["simulated_ns"], plain["simulated_ns"])

    def test_a_reset_before_anything_changes_nothing(self):
        _, _, result = self.session("monitor reset\ncontinue\n")
        plain = json.loads(run(*self.ARGUMENTS))
        for r in (result, plain):
            del r["host"]
        self.assertEqual(result, plain)

    def test_a_reset_of_several_harts(self):
        arguments = (*self.ARGUMENTS, "--set", "cluster.host.harts=3")
        text, console, _ = self.session("""
break secondary_main
continue
monitor reset
maintenance flush register-cache
thread apply all -q printf "at 0x%lx\\n", $pc
continue
continue
delete
continue
""", arguments=arguments)
        self.assertEqual(len(re.findall(r"(?m)^at 0x80000000$", text)), 3, text)
        self.assertEqual(console.count("all 3 harts in supervisor mode"), 1, console)

    def test_a_reset_under_traffic(self):
        for arguments in (ONE_HART, TWO_HARTS):
            with self.subTest(arguments=arguments):
                text, console, result = self.session("""
break echo
ignore 1 20
continue
monitor reset
delete
continue
""", arguments=arguments, elf=ELF, status=1)
                self.assertRegex(result["failure"], "dropped|lost")
                self.assertGreater(result["requests"]["completed"], 100)

    def test_run_starts_again(self):
        text, console, _ = self.session("""
break tick
continue
run
printf "ticks is %u\\n", ticks
delete
continue
""", target="extended-remote")
        self.assertEqual(text.count("Breakpoint 1, tick"), 2, text)
        self.assertEqual(self.value(text, "ticks"), 0)
        self.assertEqual(console.count("hello from supervisor mode"), 2, console)
        self.assertRegex(text, "exited normally")

    def test_a_loaded_program_starts_as_at_reset(self):
        text, console, _ = self.session(f"""
break tick
continue
continue
delete
file {self.IDLE}
load
maintenance flush register-cache
printf "start is 0x%lx\\n", $pc
printf "privilege is %d\\n", $priv
printf "table is 0x%lx\\n", $stvec
continue
""")
        self.assertEqual([self.value(text, v) for v in ("start", "privilege", "table")], [0x8000_0000, 3, 0])
        self.assertIn("interrupt_idle serves what is pending", console)
        self.assertEqual(console.count("hello from supervisor mode"), 1)

    def test_a_patch_is_no_program(self):
        text, _, _ = self.session("""
break tick
continue
delete
set $was = *(unsigned short*)$pc
set *(unsigned short*)$pc = $was
set var $pc = $pc
maintenance flush register-cache
printf "privilege is %d\\n", $priv
continue
""")
        self.assertEqual(self.value(text, "privilege"), 1)

    def test_registers_of_devices(self):
        text, console, result = self.session("""
break tick
continue
delete
set *(char*)0x10000000 = 0x41
set *(char*)0x10000000 = 0x42
monitor write uart.rbr 0x43
monitor write uart.scr 90
monitor reg uart scr
monitor write clint.msip[0] 1
maintenance flush register-cache
printf "pending is 0x%lx\\n", $mip & 8
monitor write clint.msip[0] 0
monitor write clint.mtimecmp[0] 0xffffffffffffff00
monitor reg clint mtimecmp
monitor write clint.msip[7] 1
monitor write uart.scr 256
monitor write uart.scr x1
monitor write imsic.hart0.machine.eidelivery 1
monitor write uart
python
for address in ("(long*)0x10000000", "(char*)0x10000009", "(int*)0x4000000000"):
  try:
    gdb.execute("set *" + address + " = 1")
  except gdb.error as e:
    print(e)
end
continue
""")
        self.assertEqual(console.count("ABC"), 1, console)
        self.assertRegex(text, r"(?m)^0x0007  scr +0x5a$")
        self.assertEqual(self.value(text, "pending"), 8)
        self.assertRegex(text, r"(?m)^0x4000  mtimecmp +0xffffffffffffff00$")
        self.assertIn("clint.msip[7] is no register", text)
        self.assertIn("256: uart.scr has 8 bits", text)
        self.assertIn("x1: must be a number", text)
        self.assertIn("imsic.hart0.machine has no registers that are reached by an address", text)
        self.assertIn("monitor write DEVICE.NAME VALUE", text)
        self.assertEqual(text.count("Cannot access memory at address 0x100000"), 2, text)
        self.assertEqual(text.count("Cannot access memory at address 0x4000000000"), 1, text)
        plain = json.loads(run(*self.ARGUMENTS))
        self.assertEqual(result["counters"]["uart"]["characters_sent"], plain["counters"]["uart"]["characters_sent"] + 3)

    def test_a_register_of_a_pcie_device(self):
        # From now on the NIC takes no frame as long as a call.
        out = self.directory()
        text, result = self.debug((*ONE_HART, "--out", out), """
break echo
ignore 1 20
continue
monitor write nic.eth0.tx_tail[0] 99999
monitor write nic.eth0.max_frame 100
monitor reg nic.eth0 max_frame
delete
continue
""", 1)
        self.assertRegex(text, r"(?m)^0x001c  max_frame +0x00000064$")
        self.assertGreater(json.loads(result)["requests"]["lost"], 0)
        self.assertEqual(json.loads(run(*ONE_HART))["requests"]["lost"], 0)
        self.assert_same(result, run(*ONE_HART, "--replay", os.path.join(out, "input.log"), status=1))

    def test_a_kill_in_extended_mode_ends_the_run_with_the_connection(self):
        process, port = self.launch(*self.ARGUMENTS)
        with socket.create_connection(("127.0.0.1", int(port)), timeout=60) as client:
            client.sendall(packet(b"QStartNoAckMode") + packet(b"!") + packet(b"vKill;1"))
            answer = b""
            while answer.count(b"OK#9a") < 3:
                answer += client.recv(100)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(json.loads(out)["outcome"], "interrupted")


class Client(Session):
    """Without GDB: what a client may do to the run."""

    def connect(self, port):
        client = socket.create_connection(("127.0.0.1", int(port)), timeout=60)
        self.addCleanup(client.close)
        return client

    def test_only_this_machine_can_connect(self):
        process, port = self.launch(*ONE_HART)
        with open("/proc/net/tcp", encoding="ascii") as file:
            listening = [line.split()[1] for line in file if line.split()[3] == "0A"]
        self.assertIn(f"0100007F:{int(port):04X}", listening)
        self.assertNotIn(f"00000000:{int(port):04X}", listening)
        process.kill()

    def test_a_client_that_goes_away_leaves_the_run_alone(self):
        process, port = self.launch(*ONE_HART)
        client = self.connect(port)
        client.sendall(packet(b"Z0,80000000,4") + b"\xff\x00$$$#zz" + packet(b"vCont;c"))
        client.recv(100)
        client.close()
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assert_same(run(*ONE_HART), out)

    def test_a_second_client_is_turned_away(self):
        process, port = self.launch(*ONE_HART)
        first = self.connect(port)
        first.sendall(packet(b"QStartNoAckMode"))
        answer = b""
        while b"OK#9a" not in answer:
            answer += first.recv(100)
        for packets in (b"", packet(b"qSupported") + packet(b"vMustReplyEmpty")):
            second = self.connect(port)
            second.sendall(packets)
            try:
                self.assertEqual(second.recv(100), b"")
            except ConnectionResetError:
                pass  # what it has sent was not read
        first.sendall(packet(b"qC"))
        self.assertEqual(first.recv(100), packet(b"QC1"))
        first.sendall(packet(b"vCont;c"))
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assert_same(run(*ONE_HART), out)

    def test_a_second_client_is_turned_away_from_a_run(self):
        process, port = self.launch("e810-poll", "--requests", "100000000")
        first = self.connect(port)
        first.sendall(packet(b"vCont;c"))
        second = self.connect(port)
        self.assertEqual(second.recv(100), b"")
        first.close()
        third = self.connect(port)
        third.sendall(packet(b"k"))
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0)

    def test_a_dead_board_ends_as_without_a_debugger(self):
        arguments = (os.path.join(TESTS, "firmware", "bare.toml"), "--firmware", self.dead_firmware())
        process, port = self.launch(*arguments)
        client = self.connect(port)
        client.sendall(packet(b"vCont;c"))
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, err)
        self.assertEqual(json.loads(out)["outcome"], "deadlocked")
        self.assert_same(run(*arguments, status=1), out)

    def dead_firmware(self):
        """Waits for an interrupt that nobody sends."""
        wfi, back = 0x1050_0073, 0xFFDF_F06F  # wfi; j -4
        code = struct.pack("<2I", wfi, back)
        header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 243, 1, 0x8000_0000, 64, 0, 0, 64, 56, 1, 0,
                             0, 0)
        segment = struct.pack("<IIQQQQQQ", 1, 5, 120, 0x8000_0000, 0x8000_0000, len(code), len(code), 4)
        path = os.path.join(self.directory(), "dead.elf")
        with open(path, "wb") as file:
            file.write(header + segment + code)
        return path

    def test_kill_ends_the_run(self):
        process, port = self.launch(*ONE_HART)
        client = self.connect(port)
        client.sendall(packet(b"k"))
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(json.loads(out)["requests"]["completed"], 0)

    def test_a_signal_ends_a_run_that_waits_for_a_debugger(self):
        process, _ = self.launch(*ONE_HART)
        wait_until_caught(process.pid, signal.SIGINT)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
        self.assertEqual((process.returncode, error), (0, ""))
        result = json.loads(out)
        self.assertEqual((result["outcome"], result["failure"], result["simulated_ns"]), ("interrupted", "", 0))
        self.assertEqual(result["counters"]["cluster.host.hart0"]["instructions"], 0)

    def test_interrupt_stops_a_run(self):
        process, port = self.launch("e810-poll", "--requests", "100000000")
        client = self.connect(port)
        client.sendall(packet(b"QStartNoAckMode") + packet(b"vCont;c"))
        answer = b""
        while b"OK#9a" not in answer:
            answer += client.recv(100)
        client.sendall(b"\x03")
        while b"T02thread:1;" not in answer:
            more = client.recv(100)
            self.assertTrue(more, answer)
            answer += more
        client.sendall(packet(b"k"))
        process.communicate(timeout=120)

    def test_a_port_in_use_is_a_mistake(self):
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        port = taken.getsockname()[1]
        process = subprocess.run([SLUICE, "run", *ONE_HART, "--gdb", str(port)], capture_output=True, text=True,
                                 timeout=60, check=False)
        self.assertEqual(process.returncode, 2)
        self.assertRegex(process.stderr, rf"^sluice: --gdb {port}: cannot listen on 127\.0\.0\.1: [^\n]+\n$")


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    unittest.main()
