/* SPDX-License-Identifier: Apache-2.0 */
/* A checksum of results and one of flags per floating-point instruction, over chosen and drawn operands, in every
 * rounding mode. */
#include "guest.h"

typedef unsigned long u64;
#define COUNT 36
static u64 operand[COUNT] = {
    0,
    0x8000000000000000,
    0x3ff0000000000000,
    0xbff0000000000000,
    0x7ff0000000000000,
    0xfff0000000000000,
    0x7ff8000000000000,
    0x7ff0000000000001,
    1,
    0x000fffffffffffff,
    0x0010000000000000,
    0x7fefffffffffffff,
    0x43e0000000000000,
    0x41e0000000000000,
    0xffffffff3f800000,
    0xffffffff80000000,
    0xffffffff7f800000,
    0xffffffff7fc00000,
    0xffffffff7f800001,
    0xffffffff00000001,
    0xffffffff7f7fffff,
    0xffffffff4f000000,
    0xffffffff5f000000,
    0xffffffffbf000000,
};

#define MODES(loop)                                \
  for (u64 rm_ = 0; rm_ < 5; ++rm_) {              \
    __asm__ volatile("csrw frm, %0" : : "r"(rm_)); \
    loop                                           \
  }
#define FLAGS                                              \
  ({                                                       \
    u64 v_;                                                \
    __asm__ volatile("csrrw %0, fflags, zero" : "=r"(v_)); \
    v_;                                                    \
  })
#define NOTE(r)                                                \
  do {                                                         \
    sum_ = (sum_ ^ (r)) * 0x9e3779b97f4a7c15ul + (sum_ >> 31); \
    flags_ = flags_ * 0x9e3779b97f4a7c15ul + FLAGS;            \
  } while (0)
#define REPORT(name)  \
  put_text(name " "); \
  put_hex(sum_);      \
  put_hex(flags_)
#define THREE(text)                                                                          \
  do {                                                                                       \
    u64 sum_ = 0, flags_ = 0;                                                                \
    MODES(for (int i = 0; i < COUNT; ++i) for (int j = 0; j < COUNT; ++j) {                  \
      u64 r_;                                                                                \
      __asm__ volatile("fmv.d.x fa0, %1\n fmv.d.x fa1, %2\n fmv.d.x fa2, %3\n" text          \
                       " fa3, fa0, fa1, fa2\n"                                               \
                       "fmv.x.d %0, fa3"                                                     \
                       : "=r"(r_)                                                            \
                       : "r"(operand[i]), "r"(operand[j]), "r"(operand[(i * 7 + j) % COUNT]) \
                       : "fa0", "fa1", "fa2", "fa3");                                        \
      NOTE(r_);                                                                              \
    })                                                                                       \
    REPORT(text);                                                                            \
  } while (0)
#define TWO(text)                                                                                    \
  do {                                                                                               \
    u64 sum_ = 0, flags_ = 0;                                                                        \
    MODES(for (int i = 0; i < COUNT; ++i) for (int j = 0; j < COUNT; ++j) {                          \
      u64 r_;                                                                                        \
      __asm__ volatile("fmv.d.x fa0, %1\n fmv.d.x fa1, %2\n" text " fa3, fa0, fa1\n fmv.x.d %0, fa3" \
                       : "=r"(r_)                                                                    \
                       : "r"(operand[i]), "r"(operand[j])                                            \
                       : "fa0", "fa1", "fa3");                                                       \
      NOTE(r_);                                                                                      \
    })                                                                                               \
    REPORT(text);                                                                                    \
  } while (0)
#define COMPARE(text)                                                               \
  do {                                                                              \
    u64 sum_ = 0, flags_ = 0;                                                       \
    for (int i = 0; i < COUNT; ++i)                                                 \
      for (int j = 0; j < COUNT; ++j) {                                             \
        u64 r_;                                                                     \
        __asm__ volatile("fmv.d.x fa0, %1\n fmv.d.x fa1, %2\n" text " %0, fa0, fa1" \
                         : "=r"(r_)                                                 \
                         : "r"(operand[i]), "r"(operand[j])                         \
                         : "fa0", "fa1");                                           \
        NOTE(r_);                                                                   \
      }                                                                             \
    REPORT(text);                                                                   \
  } while (0)
#define ONE(text)                                                             \
  do {                                                                        \
    u64 sum_ = 0, flags_ = 0;                                                 \
    MODES(for (int i = 0; i < COUNT; ++i) {                                   \
      u64 r_;                                                                 \
      __asm__ volatile("fmv.d.x fa0, %1\n" text " fa3, fa0\n fmv.x.d %0, fa3" \
                       : "=r"(r_)                                             \
                       : "r"(operand[i])                                      \
                       : "fa0", "fa3");                                       \
      NOTE(r_);                                                               \
    })                                                                        \
    REPORT(text);                                                             \
  } while (0)
#define TO_INTEGER(text)                                                               \
  do {                                                                                 \
    u64 sum_ = 0, flags_ = 0;                                                          \
    MODES(for (int i = 0; i < COUNT; ++i) {                                            \
      u64 r_;                                                                          \
      __asm__ volatile("fmv.d.x fa0, %1\n" text : "=r"(r_) : "r"(operand[i]) : "fa0"); \
      NOTE(r_);                                                                        \
    })                                                                                 \
    REPORT(text);                                                                      \
  } while (0)
#define FROM_INTEGER(text)                                                                      \
  do {                                                                                          \
    u64 sum_ = 0, flags_ = 0;                                                                   \
    MODES(for (int i = 0; i < COUNT; ++i) {                                                     \
      u64 r_;                                                                                   \
      __asm__ volatile(text " fa0, %1\n fmv.x.d %0, fa0" : "=r"(r_) : "r"(operand[i]) : "fa0"); \
      NOTE(r_);                                                                                 \
    })                                                                                          \
    REPORT(text);                                                                               \
  } while (0)

int main(void) {
  u64 seed = 88172645463325252ul;
  for (int i = 24; i < COUNT; ++i) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    operand[i] = i & 1 ? seed : seed | 0xffffffff00000000ul;
  }
  TWO("fadd.d");
  TWO("fsub.d");
  TWO("fmul.d");
  TWO("fdiv.d");
  ONE("fsqrt.d");
  TWO("fadd.s");
  TWO("fsub.s");
  TWO("fmul.s");
  TWO("fdiv.s");
  ONE("fsqrt.s");
  THREE("fmadd.d");
  THREE("fmsub.d");
  THREE("fnmsub.d");
  THREE("fnmadd.d");
  THREE("fmadd.s");
  THREE("fmsub.s");
  THREE("fnmsub.s");
  THREE("fnmadd.s");
  TWO("fsgnj.d");
  TWO("fsgnjn.d");
  TWO("fsgnjx.d");
  TWO("fmin.d");
  TWO("fmax.d");
  TWO("fsgnj.s");
  TWO("fsgnjn.s");
  TWO("fsgnjx.s");
  TWO("fmin.s");
  TWO("fmax.s");
  COMPARE("feq.d");
  COMPARE("flt.d");
  COMPARE("fle.d");
  COMPARE("feq.s");
  COMPARE("flt.s");
  COMPARE("fle.s");
  TO_INTEGER("fclass.d %0, fa0");
  TO_INTEGER("fclass.s %0, fa0");
  TO_INTEGER("fmv.x.w %0, fa0");
  TO_INTEGER("fcvt.w.d %0, fa0");
  TO_INTEGER("fcvt.wu.d %0, fa0");
  TO_INTEGER("fcvt.l.d %0, fa0");
  TO_INTEGER("fcvt.lu.d %0, fa0");
  TO_INTEGER("fcvt.w.s %0, fa0");
  TO_INTEGER("fcvt.wu.s %0, fa0");
  TO_INTEGER("fcvt.l.s %0, fa0");
  TO_INTEGER("fcvt.lu.s %0, fa0");
  TO_INTEGER("fcvt.w.d %0, fa0, rtz");
  FROM_INTEGER("fmv.w.x");
  FROM_INTEGER("fcvt.d.w");
  FROM_INTEGER("fcvt.d.wu");
  FROM_INTEGER("fcvt.d.l");
  FROM_INTEGER("fcvt.d.lu");
  FROM_INTEGER("fcvt.s.w");
  FROM_INTEGER("fcvt.s.wu");
  FROM_INTEGER("fcvt.s.l");
  FROM_INTEGER("fcvt.s.lu");
  ONE("fcvt.s.d");
  ONE("fcvt.d.s");
  return 0;
}
