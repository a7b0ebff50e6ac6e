// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Registers of a NIC that are those of a block in it, which may be RTL.

#include <cstdint>
#include <string>
#include <utility>

#include "models/base/registers/register_bank.h"

namespace sluice::nic::rpc {

/// Adds registers of 32 bits to a bank that read(offset) and write(offset, value) of the block serve.
template <class Block>
class ForwardedRegisters {
 public:
  /// prefix: of their names. offset: of the block's registers in the bank. All of them must outlive the bank's use.
  ForwardedRegisters(Block& block, base::RegisterBank& bank, std::string prefix, std::uint64_t offset)
      : block_(block), bank_(bank), prefix_(std::move(prefix)), offset_(offset) {}

  /// at: of the first of `count`, among the block's registers.
  void add(const char* name, std::uint32_t at, base::Access access, unsigned count = 1, unsigned stride = 4) const {
    base::RegisterDeclaration d;
    d.name = prefix_ + name;
    d.offset = offset_ + at;
    d.access = access;
    d.count = count;
    d.stride = stride;
    if (access != base::Access::wo)
      d.on_read = [&block = block_, at, stride](unsigned i) { return block.read(at + stride * i); };
    if (access != base::Access::ro)
      d.on_write = [&block = block_, at, stride](const base::RegisterWrite& w) {
        block.write(at + stride * w.index, static_cast<std::uint32_t>(w.written));
      };
    bank_.add(std::move(d));
  }

 private:
  Block& block_;
  base::RegisterBank& bank_;
  const std::string prefix_;
  const std::uint64_t offset_;
};

}  // namespace sluice::nic::rpc
