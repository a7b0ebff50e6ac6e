# SPDX-License-Identifier: Apache-2.0
"""Drawn bare guests whose harts wait for each other, in loops of many kinds, for the tests of the skip."""

import random

# A loop that waits until the word at s0 is s1. {a}, {b}: labels; s3: memory of this hart, s4: an account, s8: a word
# beside another hart's flag. Some of them are left to arithmetic, some hardly ever.
PAUSE, WRS = ".word 0x0100000f", ".word 0x00d00073"
LOOPS = (
    "{a}: lw t0, 0(s0)\n bne t0, s1, {a}",
    "{a}: lwu t0, 0(s0)\n fence\n beq t0, s1, {b}\n " + PAUSE + "\n j {a}\n{b}:",
    "{a}: ld t0, 0(s0)\n sw s2, 16(s3)\n bne t0, s1, {a}",                       # a store that changes nothing
    "{a}: ld t0, 0(s0)\n sd t0, 24(s3)\n ld t1, 24(s3)\n bne t1, s1, {a}",        # one that changes memory at the end
    "{a}: lhu t0, 0(s0)\n sw zero, 32(s3)\n sw s1, 32(s3)\n bne t0, s1, {a}",     # two values at one place
    "{a}: ld t0, 0(s0)\n sd s2, 40(s0)\n bne t0, s1, {a}",                        # a store beside the flag
    "{a}: call read\n call save\n bne t0, s1, {a}",
    "{a}: ld t0, 0(s0)\n rdtime t1\n bne t0, s1, {a}",
    "{a}: la t1, {a}\n ld t0, 0(s0)\n beq t0, s1, {b}\n jr t1\n{b}:",
    "{a}: amoadd.d t0, zero, (s0)\n bne t0, s1, {a}",
    "{a}: lr.d t0, (s0)\n beq t0, s1, {b}\n " + WRS + "\n j {a}\n{b}:",
    "{a}: sltiu x0, s4, 0\n ld t0, 0(s0)\n sltiu x0, s4, 0\n bne t0, s1, {a}",    # the same account
    "{a}: sltiu x0, s4, 0\n ld t0, 0(s0)\n sltiu x0, s4, 1\n bne t0, s1, {a}",    # two accounts
    "{a}: ld t0, 0(s0)\n" + " add t3, t0, s1\n xor t4, t3, t0\n" * 60 + " bne t0, s1, {a}",
    "{a}: ld t0, 0(s0)\n" + " add t3, t0, s1\n xor t4, t3, t0\n" * 130 + " bne t0, s1, {a}",  # too long
    "{a}: lb t1, 0(s8)\n ld t0, 0(s0)\n mul t2, t1, t0\n divu t3, t2, t1\n bne t0, s1, {a}",
    "{a}: li s6, 5\n{b}: ld t0, 0(s0)\n addi s6, s6, -1\n bgtz s6, {b}\n bne t0, s1, {a}",     # two nested loops
    "{a}: ld t0, 0(s0)\n xori s6, s6, 1\n bne t0, s1, {a}",                       # every second turn alike
    "{a}: ld t0, 0(s0)\n" + "".join(f" lbu t1, {64 * n + 3}(s3)\n" for n in range(12)) + " bne t0, s1, {a}",
)
WORK = (
    "li t0, {n}\n{a}: addi t0, t0, -1\n bnez t0, {a}",
    "li t0, 40\n mv t1, s3\n{a}: ld t2, 1536(t1)\n sd t2, 1544(t1)\n addi t1, t1, 64\n addi t0, t0, -1\n bnez t0, {a}",
    "la t0, shared\n amoadd.d t1, s1, (t0)",
    "la t0, shared\n{a}: lr.d t1, (t0)\n addi t1, t1, 1\n sc.d t2, t1, (t0)\n bnez t2, {a}",
    "li t0, 7\n{a}: rdtime t1\n sd t1, 1600(s3)\n addi t0, t0, -1\n bnez t0, {a}",
    "fence.i",
    "li t0, 1\n li t1, {ipi}\n sw t0, 0(t1)",  # an interrupt for a hart
)
HANDOVER = ("sd t1, 0(t0)", "sw t1, 0(t0)", "amoswap.d t2, t1, (t0)")
CLINT = 0x200_0000
START = """
  csrr a0, mhartid
  la t0, handler
  csrw mtvec, t0
  la s3, memory
  slli t0, a0, 13
  add s3, s3, t0
  csrw mscratch, s3
  li sp, 8192
  add sp, sp, s3
  la s10, flags
"""
# The timer comes again after the interval at 2040(s3); an interrupt of another hart is taken back.
HANDLER = f"""
.balign 4
handler:
  csrrw s3, mscratch, s3
  sd t0, 1056(s3)
  sd t1, 1064(s3)
  sd t2, 1072(s3)
  csrr t0, mcause
  andi t0, t0, 63
  li t1, 7
  csrr t2, mhartid
  bne t0, t1, soft
  slli t2, t2, 3
  li t0, {CLINT + 0x4000}
  add t0, t0, t2
  ld t1, 0(t0)
  ld t2, 2040(s3)
  add t1, t1, t2
  sd t1, 0(t0)
  j done
soft:
  slli t2, t2, 2
  li t0, {CLINT}
  add t0, t0, t2
  sw zero, 0(t0)
done:
  ld t0, 1056(s3)
  ld t1, 1064(s3)
  ld t2, 1072(s3)
  csrrw s3, mscratch, s3
  mret
read:
  ld t0, 0(s0)
  ret
save:
  sd ra, -8(sp)
  sd s1, -16(sp)
  jal t5, leaf
  ld ra, -8(sp)
  ret
leaf:
  addi t3, s1, 1
  jr t5
"""


class SpinningGuest:
    """Rounds in which each hart waits for its flag and hands over to the next hart."""

    def __init__(self, number):
        self.draw = random.Random(number)
        self.harts = self.draw.choice((1, 2, 2, 3, 4))
        self.stride = self.draw.choice((16, 64, 128))  # bytes from one hart's flag to the next hart's
        self.loops = self.draw.sample(LOOPS, self.draw.choice((1, 2, 4, 8)))
        self.labels = 0
        self.settings = self._settings()
        self.source = self._source()

    def _settings(self):
        draw = self.draw
        settings = [f"cluster.host.harts={self.harts}", f"caches.timing={draw.choice(('functional', 'cached', 'interval'))}",
                    f"cluster.host.issue_width={draw.choice((1, 2, 4))}", "run.reboot=restart"]
        if self.harts > 1 and draw.random() < 0.7:
            settings.append(f"cluster.host.quantum={draw.choice((1, 2, 5, 17, 32))} ns")
        if draw.random() < 0.5:
            settings += [f"caches.l1d_size={draw.choice((4, 8))} KiB", f"caches.l1d_ways={draw.choice((1, 2, 64))}",
                         "caches.l2_size=64 KiB", f"caches.l2_ways={draw.choice((1, 4))}"]
        if draw.random() < 0.4:
            settings.append(f"cluster.host.clock={draw.choice((1, 0.1, 3.3))} GHz")
        return settings

    def _label(self):
        self.labels += 1
        return f"L{self.labels}"

    def _expand(self, text):
        return text.format(a=self._label(), b=self._label(), n=self.draw.choice((1, 10, 100, 2000)),
                           ipi=CLINT + 4 * self.draw.randrange(self.harts))

    def _wait(self, hart, value):
        beside = self.stride * self.draw.randrange(self.harts) + 8
        return (f"li s1, {value}\n li s0, {self.stride * hart}\n add s0, s0, s10\n li s2, {self.draw.randrange(1000)}\n"
                f"li s8, {beside}\n add s8, s8, s10\n li s4, {self.draw.randrange(4)}\n"
                + self._expand(self.draw.choice(self.loops)))

    def _hand_over(self, hart, value):
        return (f"li t0, {self.stride * hart}\n add t0, t0, s10\n li t1, {value}\n fence\n"
                + self.draw.choice(HANDOVER))

    def _work(self):
        return "\n".join(self._expand(self.draw.choice(WORK)) for _ in range(self.draw.choice((0, 1, 3))))

    def _interrupts(self):
        if self.draw.random() < 0.4:
            return "li t0, 8\n csrw mie, t0\n" + ("csrsi mstatus, 8" if self.draw.random() < 0.5 else "")
        interval = self.draw.choice((20, 77, 300, 1000))
        return (f"li t0, {interval}\n sd t0, 2040(s3)\n slli t0, a0, 3\n li t1, {CLINT + 0x4000}\n add t0, t0, t1\n"
                f"rdtime t1\n addi t1, t1, {interval}\n sd t1, 0(t0)\n li t0, 0x88\n csrw mie, t0\n csrsi mstatus, 8")

    def _end(self):
        """Starts the board again once or twice, or ends."""
        again = self._label()
        boots = self.draw.choice((1, 1, 2, 3))
        return (f"la t0, boots\n ld t1, 0(t0)\n addi t1, t1, 1\n sd t1, 0(t0)\n li t2, {boots}\n li t0, 0x100000\n"
                f"li t3, 0x7777\n blt t1, t2, {again}\n li t3, 0x5555\n{again}: sw t3, 0(t0)\n j .")

    def _source(self):
        rounds = self.draw.choice((6, 15, 40))
        text = [START, self._interrupts()]
        text += [f"li t0, {h}\n bne a0, t0, not{h}\n tail hart{h}\nnot{h}:" for h in range(self.harts)]
        text.append("j .")
        text.append(HANDLER)
        for hart in range(self.harts):
            text.append(f".balign {self.draw.choice((4, 64, 4096))}\nhart{hart}:")
            for value in range(1, rounds + 1):
                following = (hart + 1) % self.harts
                parts = [self._wait(hart, value), self._work(), self._hand_over(following, value)]
                if hart == 0:  # begins each round
                    parts = parts[1:] + parts[:1]
                text += parts
            text.append(self._end() if hart == 0 else self.draw.choice(("j .", f"{PAUSE}\n j .-4", "wfi\n j .-4")))
        text.append(".data\n.balign 4096\nflags: .zero 4096\nshared: .zero 4096\nboots: .zero 4096\nmemory: .zero 8192 * 4")
        return "\n".join(text) + "\n"
