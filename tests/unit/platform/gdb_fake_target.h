// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A machine of two threads and 256 bytes of memory at 0x1000 for tests of the debugger's protocol.

#include <array>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "platform/debug/protocol/session.h"

namespace sluice::debug {

struct FakeTarget : Target {
  static constexpr std::uint64_t kMemory = 0x1000;

  unsigned threads() const override { return 2; }
  std::string thread_name(unsigned thread) override { return "hart" + std::to_string(thread - 1); }
  std::string thread_state(unsigned) override { return "<idle> & well"; }
  const std::string& description() override { return xml; }
  bool read_register(unsigned thread, unsigned number, std::uint64_t& value) override {
    if (number > register_number::kPrivilege || number == without_value) return false;
    value = registers[{thread, number}];
    return true;
  }
  std::string write_register(unsigned thread, unsigned number, std::uint64_t value) override {
    if (read_only) return "nothing may be changed";
    registers[{thread, number}] = value;
    return {};
  }
  std::size_t read_memory(unsigned, std::uint64_t address, std::span<std::uint8_t> bytes) override {
    if (address < kMemory || address >= kMemory + memory.size()) return 0;
    const std::size_t count = std::min<std::size_t>(bytes.size(), kMemory + memory.size() - address);
    std::memcpy(bytes.data(), memory.data() + (address - kMemory), count);
    return count;
  }
  std::string write_memory(unsigned, std::uint64_t address, std::span<const std::uint8_t> bytes) override {
    if (read_only) return "nothing may be changed";
    if (address < kMemory || address - kMemory > memory.size() || bytes.size() > memory.size() - (address - kMemory))
      return "no memory";
    std::memcpy(memory.data() + (address - kMemory), bytes.data(), bytes.size());
    return {};
  }
  bool physical_memory() const override { return physical; }
  void set_physical_memory(bool on) override { physical = on; }
  void set_breakpoint(std::uint64_t address) override { breakpoints.insert(address); }
  void clear_breakpoint(std::uint64_t address) override { breakpoints.erase(address); }
  bool set_watchpoint(unsigned, WatchKind, std::uint64_t address, std::uint64_t) override {
    if (address < kMemory) return false;
    watchpoints.insert(address);
    return true;
  }
  void clear_watchpoint(WatchKind, std::uint64_t address, std::uint64_t) override { watchpoints.erase(address); }
  void clear_all() override { breakpoints.clear(), watchpoints.clear(); }
  std::string monitor(unsigned, std::string_view command) override { return "said " + std::string(command); }

  std::string restart() override {
    ++restarts;
    return {};
  }

  unsigned restarts = 0;
  std::string xml = "<target>}#$*</target>";
  std::map<std::pair<unsigned, unsigned>, std::uint64_t> registers;
  std::array<std::uint8_t, 256> memory{};
  bool physical = false, read_only = false;
  unsigned without_value = ~0u;  ///< number of a register that cannot be read now
  std::set<std::uint64_t> breakpoints, watchpoints;
};

}  // namespace sluice::debug
