// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One interrupt file of an IMSIC, as its hart sees it through CSRs. Plain C++.

#include <cstdint>

namespace sluice::base {

class InterruptFile {
 public:
  virtual ~InterruptFile() = default;
  /// Indirect registers (miselect/siselect 0x70 to 0xff): false where the AIA specification has none.
  virtual bool read(std::uint64_t select, std::uint64_t& value) = 0;
  virtual bool write(std::uint64_t select, std::uint64_t value) = 0;
  /// mtopei/stopei: identity << 16 | identity of the highest-priority pending and enabled interrupt, or 0.
  virtual std::uint64_t top() = 0;
  /// A write to mtopei/stopei: clears the pending bit of `identity`.
  virtual void claim(std::uint64_t identity) = 0;
};

}  // namespace sluice::base
