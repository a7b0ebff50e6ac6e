// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a debugger's session asks of the machine it debugs. Plain C++: tests implement it with a few lines.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::debug {

/// Numbers of registers, as the target description gives them.
namespace register_number {
constexpr unsigned kPc = 32, kF0 = 33, kCsr0 = 65, kPrivilege = kCsr0 + 4096;
constexpr unsigned kGeneral = 33;  ///< x0 to x31 and pc: what a `g` packet holds
}  // namespace register_number

enum class WatchKind : std::uint8_t { write, read, access };

/// Threads are numbered from 1. Everything is called only while the machine stands still.
class Target {
 public:
  virtual ~Target() = default;

  virtual unsigned threads() const = 0;
  virtual std::string thread_name(unsigned thread) = 0;
  /// What it does now, for people: "waits for an interrupt (wfi)".
  virtual std::string thread_state(unsigned thread) = 0;
  /// The target description, XML.
  virtual const std::string& description() = 0;

  /// False: there is no such register, or it has no value now (an indirect one that nothing is selected for).
  virtual bool read_register(unsigned thread, unsigned number, std::uint64_t& value) = 0;
  /// Empty when it is done; else the reason why not.
  virtual std::string write_register(unsigned thread, unsigned number, std::uint64_t value) = 0;
  /// Memory as the thread sees it or, if physical_memory() is set, by physical address. Returns how many bytes could be
  /// read.
  virtual std::size_t read_memory(unsigned thread, std::uint64_t address, std::span<std::uint8_t> bytes) = 0;
  /// Empty when it is done; else the reason why not.
  virtual std::string write_memory(unsigned thread, std::uint64_t address, std::span<const std::uint8_t> bytes) = 0;
  virtual bool physical_memory() const = 0;
  virtual void set_physical_memory(bool) = 0;

  /// Virtual address, for every thread.
  virtual void set_breakpoint(std::uint64_t address) = 0;
  virtual void clear_breakpoint(std::uint64_t address) = 0;
  /// Addresses as `thread` sees them now. False: some of them are no memory.
  virtual bool set_watchpoint(unsigned thread, WatchKind, std::uint64_t address, std::uint64_t length) = 0;
  virtual void clear_watchpoint(WatchKind, std::uint64_t address, std::uint64_t length) = 0;
  /// Removes all breakpoints and watchpoints, because the debugger is gone.
  virtual void clear_all() = 0;

  /// Resets the machine, as its reset button does. Empty when it is done; else the reason why not.
  virtual std::string restart() = 0;

  /// A `monitor` command; returns what it prints.
  virtual std::string monitor(unsigned thread, std::string_view command) = 0;
};

/// What a thread does when the machine goes on.
struct Action {
  enum class Kind : std::uint8_t { go, step, hold };
  Kind kind = Kind::go;
  /// step: until pc leaves [from, to); both 0: one instruction.
  std::uint64_t from = 0, to = 0;
  /// The debugger has named this thread. GDB does so to step it, which it may do by a breakpoint of its own.
  bool named = false;
};

}  // namespace sluice::debug
