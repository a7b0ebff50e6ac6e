// SPDX-License-Identifier: Apache-2.0
// The C extension: each 16-bit instruction as the 32-bit one it stands for.

#include "models/riscv/iss/decode/decode.h"

namespace sluice::riscv {
namespace {

constexpr std::uint32_t kLoad = 0x03, kLoadFp = 0x07, kOpImm = 0x13, kOpImm32 = 0x1b, kStore = 0x23, kStoreFp = 0x27;
constexpr std::uint32_t kOp = 0x33, kLui = 0x37, kOp32 = 0x3b, kBranch = 0x63, kJalr = 0x67, kJal = 0x6f;

std::uint32_t i_type(std::uint32_t op, std::uint32_t f3, std::uint32_t rd, std::uint32_t rs1, std::int32_t imm) {
  return op | rd << 7 | f3 << 12 | rs1 << 15 | static_cast<std::uint32_t>(imm) << 20;
}
std::uint32_t r_type(std::uint32_t op, std::uint32_t f3, std::uint32_t f7, std::uint32_t rd, std::uint32_t rs1,
                     std::uint32_t rs2) {
  return op | rd << 7 | f3 << 12 | rs1 << 15 | rs2 << 20 | f7 << 25;
}
std::uint32_t s_type(std::uint32_t op, std::uint32_t f3, std::uint32_t rs1, std::uint32_t rs2, std::uint32_t imm) {
  return op | (imm & 31) << 7 | f3 << 12 | rs1 << 15 | rs2 << 20 | (imm >> 5 & 0x7f) << 25;
}
std::uint32_t b_type(std::uint32_t f3, std::uint32_t rs1, std::int32_t offset) {
  const auto u = static_cast<std::uint32_t>(offset);
  return kBranch | (u >> 11 & 1) << 7 | (u >> 1 & 15) << 8 | f3 << 12 | rs1 << 15 | (u >> 5 & 63) << 25 |
         (u >> 12 & 1) << 31;
}
std::uint32_t jal_x0(std::int32_t offset) {
  const auto u = static_cast<std::uint32_t>(offset);
  return kJal | (u >> 12 & 0xff) << 12 | (u >> 11 & 1) << 20 | (u >> 1 & 0x3ff) << 21 | (u >> 20 & 1) << 31;
}

/// Gathers bits of the half word: gather(h, {{from, to}...}).
struct Bit {
  unsigned from, to;
};
template <unsigned N>
std::uint32_t gather(std::uint32_t h, const Bit (&map)[N]) {
  std::uint32_t v = 0;
  for (const Bit& b : map) v |= (h >> b.from & 1) << b.to;
  return v;
}
std::int32_t sign(std::uint32_t v, unsigned width) {
  return static_cast<std::int32_t>(v << (32 - width)) >> (32 - width);
}

std::int32_t imm6(std::uint32_t h) { return sign((h >> 2 & 31) | (h >> 12 & 1) << 5, 6); }
std::uint32_t shamt6(std::uint32_t h) { return (h >> 2 & 31) | (h >> 12 & 1) << 5; }
std::uint32_t offset_d(std::uint32_t h) { return (h >> 10 & 7) << 3 | (h >> 5 & 3) << 6; }
std::uint32_t offset_w(std::uint32_t h) { return (h >> 10 & 7) << 3 | (h >> 6 & 1) << 2 | (h >> 5 & 1) << 6; }

std::uint32_t quadrant0(std::uint32_t h) {
  const std::uint32_t rd = (h >> 2 & 7) + 8;
  const std::uint32_t rs1 = (h >> 7 & 7) + 8;
  switch (h >> 13) {
    case 0: {
      const std::uint32_t imm = gather(h, {{6, 2}, {5, 3}, {11, 4}, {12, 5}, {7, 6}, {8, 7}, {9, 8}, {10, 9}});
      return imm == 0 ? 0 : i_type(kOpImm, 0, rd, 2, static_cast<std::int32_t>(imm));
    }
    case 1:
      return i_type(kLoadFp, 3, rd, rs1, static_cast<std::int32_t>(offset_d(h)));
    case 2:
      return i_type(kLoad, 2, rd, rs1, static_cast<std::int32_t>(offset_w(h)));
    case 3:
      return i_type(kLoad, 3, rd, rs1, static_cast<std::int32_t>(offset_d(h)));
    case 5:
      return s_type(kStoreFp, 3, rs1, rd, offset_d(h));
    case 6:
      return s_type(kStore, 2, rs1, rd, offset_w(h));
    case 7:
      return s_type(kStore, 3, rs1, rd, offset_d(h));
    default:
      return 0;
  }
}

std::uint32_t arithmetic(std::uint32_t h) {
  const std::uint32_t rd = (h >> 7 & 7) + 8;
  const std::uint32_t rs2 = (h >> 2 & 7) + 8;
  const auto shift = static_cast<std::int32_t>(shamt6(h));
  switch (h >> 10 & 3) {
    case 0:
      return i_type(kOpImm, 5, rd, rd, shift);
    case 1:
      return i_type(kOpImm, 5, rd, rd, shift | 0x400);
    case 2:
      return i_type(kOpImm, 7, rd, rd, imm6(h));
    default:
      break;
  }
  const bool word = h >> 12 & 1;
  switch (h >> 5 & 3) {
    case 0:
      return r_type(word ? kOp32 : kOp, 0, 0x20, rd, rd, rs2);
    case 1:
      return r_type(word ? kOp32 : kOp, word ? 0 : 4, 0, rd, rd, rs2);
    case 2:
      return word ? 0 : r_type(kOp, 6, 0, rd, rd, rs2);
    default:
      return word ? 0 : r_type(kOp, 7, 0, rd, rd, rs2);
  }
}

std::uint32_t quadrant1(std::uint32_t h) {
  const std::uint32_t rd = h >> 7 & 31;
  switch (h >> 13) {
    case 0:
      return i_type(kOpImm, 0, rd, rd, imm6(h));
    case 1:
      return rd == 0 ? 0 : i_type(kOpImm32, 0, rd, rd, imm6(h));
    case 2:
      return i_type(kOpImm, 0, rd, 0, imm6(h));
    case 3: {
      if (imm6(h) == 0) return 0;
      if (rd != 2) return kLui | rd << 7 | static_cast<std::uint32_t>(imm6(h)) << 12;
      const std::uint32_t imm = gather(h, {{6, 4}, {2, 5}, {5, 6}, {3, 7}, {4, 8}, {12, 9}});
      return i_type(kOpImm, 0, 2, 2, sign(imm, 10));
    }
    case 4:
      return arithmetic(h);
    case 5: {
      const std::uint32_t offset =
          gather(h, {{3, 1}, {4, 2}, {5, 3}, {11, 4}, {2, 5}, {7, 6}, {6, 7}, {9, 8}, {10, 9}, {8, 10}, {12, 11}});
      return jal_x0(sign(offset, 12));
    }
    default: {
      const std::uint32_t offset = gather(h, {{3, 1}, {4, 2}, {10, 3}, {11, 4}, {2, 5}, {5, 6}, {6, 7}, {12, 8}});
      return b_type(h >> 13 & 1, (h >> 7 & 7) + 8, sign(offset, 9));
    }
  }
}

std::uint32_t quadrant2(std::uint32_t h) {
  const std::uint32_t rd = h >> 7 & 31;
  const std::uint32_t rs2 = h >> 2 & 31;
  const std::uint32_t load_d = (h >> 5 & 3) << 3 | (h >> 12 & 1) << 5 | (h >> 2 & 7) << 6;
  const std::uint32_t load_w = (h >> 4 & 7) << 2 | (h >> 12 & 1) << 5 | (h >> 2 & 3) << 6;
  const std::uint32_t store_d = (h >> 10 & 7) << 3 | (h >> 7 & 7) << 6;
  const std::uint32_t store_w = (h >> 9 & 15) << 2 | (h >> 7 & 3) << 6;
  switch (h >> 13) {
    case 0:
      return i_type(kOpImm, 1, rd, rd, static_cast<std::int32_t>(shamt6(h)));
    case 1:
      return i_type(kLoadFp, 3, rd, 2, static_cast<std::int32_t>(load_d));
    case 2:
      return rd == 0 ? 0 : i_type(kLoad, 2, rd, 2, static_cast<std::int32_t>(load_w));
    case 3:
      return rd == 0 ? 0 : i_type(kLoad, 3, rd, 2, static_cast<std::int32_t>(load_d));
    case 4:
      if (!(h >> 12 & 1)) {
        if (rs2 != 0) return r_type(kOp, 0, 0, rd, 0, rs2);
        return rd == 0 ? 0 : i_type(kJalr, 0, 0, rd, 0);
      }
      if (rs2 != 0) return r_type(kOp, 0, 0, rd, rd, rs2);
      return rd == 0 ? 0x0010'0073 : i_type(kJalr, 0, 1, rd, 0);
    case 5:
      return s_type(kStoreFp, 3, 2, rs2, store_d);
    case 6:
      return s_type(kStore, 2, 2, rs2, store_w);
    default:
      return s_type(kStore, 3, 2, rs2, store_d);
  }
}

}  // namespace

std::uint32_t expand_compressed(std::uint16_t half) {
  switch (half & 3) {
    case 0:
      return quadrant0(half);
    case 1:
      return quadrant1(half);
    case 2:
      return quadrant2(half);
    default:
      return 0;
  }
}

}  // namespace sluice::riscv
