// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A hart in S mode whose pages have memory types, beside a device that takes blocks.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/unit/riscv/iss_machine.h"

namespace sluice::riscv {

constexpr std::uint64_t kRam = IssMachine::kRam, kBuffer = 0x4000'0000;
/// Gigapages: the machine's first 4 GiB as they are, then as NC, then as IO.
constexpr std::uint64_t kNc = std::uint64_t{4} << 30, kIo = std::uint64_t{8} << 30;
constexpr std::uint64_t kRoot = kRam + 0x10'0000, kHandler = kRam + 0x8000, kData = kRam + 0x20'0000;
constexpr unsigned kA0 = 10, kA1 = 11, kA2 = 12;

constexpr std::uint32_t at(std::uint32_t word, int offset) {
  return (word & 0x7f) == 0x23
             ? word | (static_cast<std::uint32_t>(offset) & 0x1f) << 7 | static_cast<std::uint32_t>(offset >> 5) << 25
             : word | static_cast<std::uint32_t>(offset) << 20;
}
constexpr std::uint32_t ld(int offset) { return at(0x0005'3603, offset); }  // a2 from a0
constexpr std::uint32_t lw(int offset) { return at(0x0005'2603, offset); }
constexpr std::uint32_t sd(int offset) { return at(0x00b5'3023, offset); }  // a1 to a0
constexpr std::uint32_t sb(int offset) { return at(0x00b5'0023, offset); }
constexpr std::uint32_t kNop = 0x13, kFence = 0x0ff0'000f, kFenceReads = 0x0220'000f, kFenceOutput = 0x0410'000f,
                        kAmoAddD = 0x00b5'362f, kLrD = 0x1005'362f, kScD = 0x18b5'362f, kWfi = 0x1050'0073,
                        kLdDevice = 0x0006'b703, kSdDevice = 0x00b6'b023;  // a4 from a3, a1 to a3

struct Write {
  std::uint64_t address;
  std::vector<std::uint8_t> bytes;
  std::uint64_t slot;
};

/// In S mode. A device of 4 KiB at kBuffer takes blocks, and a write is taken `drain` slots later.
struct UncachedMachine : IssMachine {
  explicit UncachedMachine(HartConfig config = {}) : IssMachine(config) {
    for (std::uint64_t n = 0; n < 4; ++n) {
      put(kRoot + n * 8, n << 28 | 0xcf);
      put(kRoot + (n + 4) * 8, n << 28 | 0xcf | std::uint64_t{1} << 61);
      put(kRoot + (n + 8) * 8, n << 28 | 0xcf | std::uint64_t{2} << 61);
    }
    Privileged& p = hart.privileged();
    p.csr_poke(csr::kMtvec, kHandler);
    p.csr_poke(csr::kPmpaddr0, ~std::uint64_t{0});
    p.csr_poke(csr::kPmpcfg0, 0x1f);
    p.csr_poke(csr::kMenvcfg, kMenvcfgPbmte);
    p.csr_poke(csr::kSatp, std::uint64_t{8} << 60 | kRoot >> 12);
    p.set_privilege(Privilege::supervisor);
    for (unsigned i = 0; i < 4096; ++i) device[i] = static_cast<std::uint8_t>(i * 7 + (i >> 8));
  }
  static HartConfig shaped(unsigned buffers, unsigned bytes, unsigned block = 8) {
    HartConfig c;
    c.combining = {buffers, bytes};
    c.read_block = block;
    return c;
  }

  bool posts(std::uint64_t address) override { return address - kBuffer < 4096; }
  std::uint64_t post_combined(std::uint64_t address, const void* data, unsigned size, std::uint64_t slot) override {
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    writes.push_back({address, {bytes, bytes + size}, slot});
    hart.state().slots += blocked;
    std::copy_n(bytes, size, device.begin() + static_cast<std::ptrdiff_t>(address - kBuffer));
    return slot + drain;
  }
  std::optional<std::uint64_t> post(std::uint64_t address, const void* data, unsigned size,
                                    std::uint64_t slot) override {
    return post_combined(address, data, size, slot);
  }
  bool load(std::uint64_t address, void* data, unsigned size) override {
    if (address - kBuffer >= 4096) return IssMachine::load(address, data, size);
    reads.push_back({address, size});
    hart.state().slots += read_slots;
    std::copy_n(device.begin() + static_cast<std::ptrdiff_t>(address - kBuffer), size,
                static_cast<std::uint8_t*>(data));
    return !refuses;
  }
  bool store(std::uint64_t address, const void* data, unsigned size) override {
    if (address - kBuffer >= 4096) return IssMachine::store(address, data, size);
    post_combined(address, data, size, hart.state().slots);
    return true;
  }
  std::uint64_t uncached(std::uint64_t address, bool write, std::uint64_t slot) override {
    passes.push_back({address, write});
    return slot + (write ? drain : read_slots);
  }
  bool homed(std::uint64_t address) override { return address - 0x6000'0000 < 4096; }
  void refused(Refusal why, std::uint64_t, std::uint64_t, unsigned) override { refusals.push_back(why); }

  void put(std::uint64_t address, std::uint64_t value) { ram.write(address, &value, sizeof value); }
  std::uint64_t get(std::uint64_t address) {
    std::uint64_t value = 0;
    ram.read(address, &value, sizeof value);
    return value;
  }
  /// Runs these words, and whatever follows is not reached.
  void execute(std::vector<std::uint32_t> words) {
    const std::size_t count = words.size();
    load_words(words, code);
    hart.state().pc = code;
    for (std::size_t i = 0; i < count; ++i) hart.step();
    code += 0x1000;  // code that has been run is not changed
  }
  std::uint64_t csr(unsigned number) {
    std::uint64_t value = 0;
    hart.privileged().csr_peek(number, value);
    return value;
  }
  std::uint64_t slots() { return hart.state().slots; }

  std::uint64_t code = kRam;
  std::vector<std::uint8_t> device = std::vector<std::uint8_t>(4096);
  std::vector<Write> writes;
  std::vector<std::pair<std::uint64_t, unsigned>> reads;
  std::vector<std::pair<std::uint64_t, bool>> passes;
  std::vector<Refusal> refusals;
  std::uint64_t drain = 100, read_slots = 300;
  std::uint64_t blocked = 0;  ///< slots that the hart waits for each write
  bool refuses = false;
};

inline std::uint64_t eight(const std::vector<std::uint8_t>& bytes, std::size_t from) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + from, 8);
  return value;
}

}  // namespace sluice::riscv
