// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A board as a debugger sees it: harts as threads, their registers, memory, and what `monitor` tells.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/board/board.h"
#include "platform/debug/change.h"
#include "platform/debug/protocol/target.h"
#include "platform/debug/watchpoints.h"

namespace sluice::debug {

class BoardTarget final : public Target {
 public:
  /// make: makes and logs a change; returns why it cannot, or an empty string. hit: as for Watchpoints.
  BoardTarget(platform::Board&, std::function<std::string(const Change&)> make, Watchpoints::Hit hit);
  ~BoardTarget() override;

  riscv::Core& core(unsigned thread) { return *cores_[thread - 1]; }
  unsigned thread_of(const riscv::Core&) const;
  const platform::Firmware& firmware(unsigned thread) const;
  /// Whether a breakpoint that a thread has come to is for it: the debugger may want those in user mode for one process
  /// only.
  bool breakpoint_concerns(unsigned thread);
  /// Whether this board has the memory, register or device that a change is about. A CSR may still refuse the value.
  bool has(const Change&) const;
  /// Makes a change. False: this board cannot make it.
  bool apply(const Change&);
  /// Removes the breakpoints that the debugger has cleared. Until then they stay in force.
  void settle_breakpoints();
  /// Called when the machine continues: later writes do not belong to a program that the debugger loaded before.
  void forget_writes() { written_.clear(); }

  unsigned threads() const override { return static_cast<unsigned>(cores_.size()); }
  std::string thread_name(unsigned thread) override;
  std::string thread_state(unsigned thread) override;
  const std::string& description() override { return description_; }
  bool read_register(unsigned thread, unsigned number, std::uint64_t& value) override;
  std::string write_register(unsigned thread, unsigned number, std::uint64_t value) override;
  std::size_t read_memory(unsigned thread, std::uint64_t address, std::span<std::uint8_t> bytes) override;
  std::string write_memory(unsigned thread, std::uint64_t address, std::span<const std::uint8_t> bytes) override;
  bool physical_memory() const override { return physical_; }
  void set_physical_memory(bool physical) override { physical_ = physical; }
  void set_breakpoint(std::uint64_t address) override;
  void clear_breakpoint(std::uint64_t address) override;
  bool set_watchpoint(unsigned thread, WatchKind, std::uint64_t address, std::uint64_t length) override;
  void clear_watchpoint(WatchKind, std::uint64_t address, std::uint64_t length) override;
  void clear_all() override;
  std::string monitor(unsigned thread, std::string_view command) override;
  std::string restart() override;

 private:
  using Part = Watchpoint::Part;
  struct Written {
    std::uint64_t end;
    bool program;  ///< one write to it was too long for a single value
  };
  /// Finds the RAM of the bytes that a thread sees from `address` on, up to the end of the page.
  bool locate(unsigned thread, std::uint64_t address, std::uint64_t length, Part& part);
  /// Finds the RAM of a whole range; false: part of it is not RAM.
  bool locate_all(unsigned thread, std::uint64_t address, std::uint64_t length, std::vector<Part>& parts);

  void note_written(unsigned thread, std::uint64_t start, std::uint64_t end);
  bool is_loaded_program(unsigned thread, std::uint64_t entry) const;
  std::string load_program(unsigned thread, std::uint64_t entry);
  void reset(const Change&);
  platform::SystemOnChip& system(unsigned thread) const;
  std::uint32_t hart_of_system(unsigned thread) const;
  static const memory::SocBus::Region* device_at(platform::SystemOnChip&, std::uint64_t physical, std::uint64_t length);
  std::string write_register_of(const std::string& device, std::uint64_t offset, std::uint64_t value, unsigned width);
  std::string write_device(unsigned thread, std::uint64_t address, std::span<const std::uint8_t> bytes);

  // monitor.cpp
  std::string write_named(std::string_view name, std::string_view value);
  std::string show_time();
  std::string show_harts();
  std::string show_registers(std::string_view device, std::string_view name);
  std::string show_statistics(std::string_view prefix);
  std::string choose_memory(std::string_view which);
  std::string show_symbol(unsigned thread, std::string_view address);
  std::string show_processes();
  std::string choose_process(std::string_view which);
  bool is_chosen(const std::string& name, unsigned asid) const;
  std::string activity(unsigned thread);

  platform::Board& board_;
  std::function<std::string(const Change&)> make_;
  std::vector<riscv::Core*> cores_;
  std::vector<platform::Cluster*> clusters_;  ///< cluster of each core
  std::string description_;
  Watchpoints watchpoints_;
  std::map<std::uint64_t, bool> breakpoints_;                   ///< by address: whether the debugger still wants it
  using Stretches = std::map<std::uint64_t, Written>;           ///< by their start
  std::map<const platform::SystemOnChip*, Stretches> written_;  ///< ranges written since the machine last stopped
  bool physical_ = false;
  std::string only_process_;  ///< name or number of the one whose breakpoints count; empty: all of them do
  bool loaded_ = false;       ///< the debugger's last reset was for a loaded program
};

}  // namespace sluice::debug
