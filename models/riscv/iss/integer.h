// SPDX-License-Identifier: Apache-2.0
#pragma once
/// RV64 integer arithmetic on register values, where C++ has no operator for it.

#include <cstdint>

namespace sluice::riscv::integer {

using U = std::uint64_t;
using S = std::int64_t;

/// The low 32 bits, sign-extended.
constexpr U word(U v) { return static_cast<U>(S{static_cast<std::int32_t>(v)}); }
constexpr U sra(U v, U by) { return static_cast<U>(static_cast<S>(v) >> by); }
constexpr U sraw(U v, U by) { return static_cast<U>(S{static_cast<std::int32_t>(v) >> by}); }

constexpr U mulh(U a, U b) {
  return static_cast<U>((static_cast<__int128>(static_cast<S>(a)) * static_cast<S>(b)) >> 64);
}
constexpr U mulhu(U a, U b) { return static_cast<U>((static_cast<unsigned __int128>(a) * b) >> 64); }
constexpr U mulhsu(U a, U b) { return mulhu(a, b) - (static_cast<S>(a) < 0 ? b : 0); }

// Division by zero gives quotient all ones and remainder = dividend. Overflow gives quotient = dividend and remainder
// 0.
constexpr U divu(U a, U b) { return b == 0 ? ~U{0} : a / b; }
constexpr U remu(U a, U b) { return b == 0 ? a : a % b; }
constexpr U div(U a, U b) {
  if (b == 0) return ~U{0};
  if (b == ~U{0}) return U{0} - a;
  return static_cast<U>(static_cast<S>(a) / static_cast<S>(b));
}
constexpr U rem(U a, U b) {
  if (b == 0) return a;
  if (b == ~U{0}) return 0;
  return static_cast<U>(static_cast<S>(a) % static_cast<S>(b));
}
constexpr U divw(U a, U b) { return word(div(word(a), word(b))); }
constexpr U remw(U a, U b) { return word(rem(word(a), word(b))); }
constexpr U divuw(U a, U b) {
  const auto d = static_cast<std::uint32_t>(b);
  return d == 0 ? ~U{0} : word(static_cast<std::uint32_t>(a) / d);
}
constexpr U remuw(U a, U b) {
  const auto d = static_cast<std::uint32_t>(b);
  return d == 0 ? word(a) : word(static_cast<std::uint32_t>(a) % d);
}

/// Each byte that is not zero becomes all ones.
constexpr U orc_b(U v) {
  constexpr U low = 0x0101'0101'0101'0101;
  U any = v | v >> 4;
  any |= any >> 2;
  any |= any >> 1;
  return (any & low) * 0xff;
}

}  // namespace sluice::riscv::integer
