/* SPDX-License-Identifier: Apache-2.0 */
/* A checksum per integer instruction over chosen and drawn operands. The operand of ctzw never has a low word of zero,
 * which QEMU 7.2 gets wrong; tests/unit/riscv/test_iss_decode.cpp tests that case. */
#include "guest.h"

typedef unsigned long u64;
#define COUNT 40
static u64 operand[COUNT] = {0,
                             1,
                             2,
                             31,
                             32,
                             63,
                             64,
                             0x7f,
                             0x80,
                             0xffff,
                             0x7fffffff,
                             0x80000000,
                             0xffffffff,
                             0x7fffffffffffffff,
                             0x8000000000000000,
                             ~0ul,
                             ~1ul,
                             0xffffffff80000000,
                             0xff00ff0000ff00ff,
                             0x8000000000000001};

#define TWO(name)                                                                            \
  do {                                                                                       \
    u64 sum_ = 0;                                                                            \
    for (int i = 0; i < COUNT; ++i)                                                          \
      for (int j = 0; j < COUNT; ++j) {                                                      \
        u64 r_;                                                                              \
        __asm__ volatile(#name " %0, %1, %2" : "=r"(r_) : "r"(operand[i]), "r"(operand[j])); \
        sum_ = (sum_ ^ r_) * 0x9e3779b97f4a7c15ul + (sum_ >> 31);                            \
      }                                                                                      \
    put_text(#name " ");                                                                     \
    put_hex(sum_);                                                                           \
  } while (0)
#define ONE(text)                                               \
  do {                                                          \
    u64 sum_ = 0;                                               \
    for (int i = 0; i < COUNT; ++i) {                           \
      u64 r_ = i;                                               \
      __asm__ volatile(text : "+r"(r_) : "r"(operand[i]));      \
      sum_ = (sum_ ^ r_) * 0x9e3779b97f4a7c15ul + (sum_ >> 31); \
    }                                                           \
    put_text(text " ");                                         \
    put_hex(sum_);                                              \
  } while (0)
#define SHIFTS(name)          \
  do {                        \
    ONE(#name " %0, %1, 0");  \
    ONE(#name " %0, %1, 1");  \
    ONE(#name " %0, %1, 17"); \
    ONE(#name " %0, %1, 31"); \
  } while (0)
#define LONG_SHIFTS(name)     \
  do {                        \
    SHIFTS(name);             \
    ONE(#name " %0, %1, 32"); \
    ONE(#name " %0, %1, 63"); \
  } while (0)
#define IMMEDIATES(name)         \
  do {                           \
    ONE(#name " %0, %1, 0");     \
    ONE(#name " %0, %1, 1");     \
    ONE(#name " %0, %1, -1");    \
    ONE(#name " %0, %1, 2047");  \
    ONE(#name " %0, %1, -2048"); \
  } while (0)
#define BRANCH(name)                                                                                        \
  do {                                                                                                      \
    u64 sum_ = 0;                                                                                           \
    for (int i = 0; i < COUNT; ++i)                                                                         \
      for (int j = 0; j < COUNT; ++j) {                                                                     \
        u64 r_ = 1;                                                                                         \
        __asm__ volatile(#name " %1, %2, 1f\n li %0, 2\n1:" : "+r"(r_) : "r"(operand[i]), "r"(operand[j])); \
        sum_ = sum_ * 3 + r_;                                                                               \
      }                                                                                                     \
    put_text(#name " ");                                                                                    \
    put_hex(sum_);                                                                                          \
  } while (0)
#define AMO(name)                                                                                     \
  do {                                                                                                \
    u64 sum_ = 0, cell_ __attribute__((aligned(8)));                                                  \
    for (int i = 0; i < COUNT; ++i)                                                                   \
      for (int j = 0; j < COUNT; ++j) {                                                               \
        u64 r_;                                                                                       \
        cell_ = operand[i];                                                                           \
        __asm__ volatile(#name " %0, %1, (%2)" : "=r"(r_) : "r"(operand[j]), "r"(&cell_) : "memory"); \
        sum_ = (sum_ ^ r_ ^ cell_ << 1) * 0x9e3779b97f4a7c15ul + (sum_ >> 31);                        \
      }                                                                                               \
    put_text(#name " ");                                                                              \
    put_hex(sum_);                                                                                    \
  } while (0)
#define LOAD(name)                                                                          \
  do {                                                                                      \
    u64 sum_ = 0;                                                                           \
    for (unsigned i = 0; i + 8 < sizeof operand; ++i) {                                     \
      u64 r_;                                                                               \
      __asm__ volatile(#name " %0, 1(%1)" : "=r"(r_) : "r"((char*)operand + i) : "memory"); \
      sum_ = (sum_ ^ r_) * 0x9e3779b97f4a7c15ul + (sum_ >> 31);                             \
    }                                                                                       \
    put_text(#name " ");                                                                    \
    put_hex(sum_);                                                                          \
  } while (0)
#define STORE(name)                                                                                   \
  do {                                                                                                \
    u64 sum_ = 0, cell_[3] = {0, 0, 0};                                                               \
    for (unsigned i = 0; i < COUNT; ++i) {                                                            \
      __asm__ volatile(#name " %0, 3(%1)" : : "r"(operand[i]), "r"((char*)cell_ + i % 9) : "memory"); \
      sum_ = (sum_ ^ cell_[0] ^ cell_[1] * 3 ^ cell_[2]) * 0x9e3779b97f4a7c15ul + (sum_ >> 31);       \
    }                                                                                                 \
    put_text(#name " ");                                                                              \
    put_hex(sum_);                                                                                    \
  } while (0)

int main(void) {
  u64 seed = 88172645463325252ul;
  for (int i = 20; i < COUNT; ++i) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    operand[i] = seed;
  }
  TWO(add);
  TWO(sub);
  TWO(sll);
  TWO(slt);
  TWO(sltu);
  TWO(xor);
  TWO(srl);
  TWO(sra);
  TWO(or);
  TWO(and);
  TWO(addw);
  TWO(subw);
  TWO(sllw);
  TWO(srlw);
  TWO(sraw);
  TWO(mul);
  TWO(mulh);
  TWO(mulhsu);
  TWO(mulhu);
  TWO(mulw);
  TWO(div);
  TWO(divu);
  TWO(rem);
  TWO(remu);
  TWO(divw);
  TWO(divuw);
  TWO(remw);
  TWO(remuw);
  TWO(add.uw);
  TWO(sh1add);
  TWO(sh2add);
  TWO(sh3add);
  TWO(sh1add.uw);
  TWO(sh2add.uw);
  TWO(sh3add.uw);
  TWO(andn);
  TWO(orn);
  TWO(xnor);
  TWO(max);
  TWO(maxu);
  TWO(min);
  TWO(minu);
  TWO(rol);
  TWO(ror);
  TWO(rolw);
  TWO(rorw);
  TWO(bclr);
  TWO(bext);
  TWO(binv);
  TWO(bset);
  IMMEDIATES(addi);
  IMMEDIATES(slti);
  IMMEDIATES(sltiu);
  IMMEDIATES(xori);
  IMMEDIATES(ori);
  IMMEDIATES(andi);
  IMMEDIATES(addiw);
  LONG_SHIFTS(slli);
  LONG_SHIFTS(srli);
  LONG_SHIFTS(srai);
  LONG_SHIFTS(rori);
  LONG_SHIFTS(slli.uw);
  LONG_SHIFTS(bclri);
  LONG_SHIFTS(bexti);
  LONG_SHIFTS(binvi);
  LONG_SHIFTS(bseti);
  SHIFTS(slliw);
  SHIFTS(srliw);
  SHIFTS(sraiw);
  SHIFTS(roriw);
  ONE("clz %0, %1");
  ONE("ctz %0, %1");
  ONE("cpop %0, %1");
  ONE("clzw %0, %1");
  ONE("lui %0, 0x80000\n or %0, %0, %1\n ctzw %0, %0");
  ONE("cpopw %0, %1");
  ONE("sext.b %0, %1");
  ONE("sext.h %0, %1");
  ONE("zext.h %0, %1");
  ONE("orc.b %0, %1");
  ONE("rev8 %0, %1");
  ONE("lui %0, 0xfffff\n add %0, %0, %1");
  ONE("auipc %0, 0x80000\n xor %0, %0, %1");
  BRANCH(beq);
  BRANCH(bne);
  BRANCH(blt);
  BRANCH(bge);
  BRANCH(bltu);
  BRANCH(bgeu);
  AMO(amoswap.d);
  AMO(amoadd.d);
  AMO(amoxor.d);
  AMO(amoand.d);
  AMO(amoor.d);
  AMO(amomin.d);
  AMO(amomax.d);
  AMO(amominu.d);
  AMO(amomaxu.d);
  AMO(amoswap.w);
  AMO(amoadd.w);
  AMO(amoxor.w);
  AMO(amoand.w);
  AMO(amoor.w);
  AMO(amomin.w);
  AMO(amomax.w);
  AMO(amominu.w);
  AMO(amomaxu.w);
  LOAD(lb);
  LOAD(lh);
  LOAD(lw);
  LOAD(ld);
  LOAD(lbu);
  LOAD(lhu);
  LOAD(lwu);
  STORE(sb);
  STORE(sh);
  STORE(sw);
  STORE(sd);
  return 0;
}
