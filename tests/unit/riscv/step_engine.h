// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A second engine: it executes one instruction after the other, without blocks or shortcuts, and keeps only where code
/// was. It shares the slow path and the meaning of operations with the interpreter, and must give the same results.

#include <cstdint>
#include <memory>
#include <set>

#include "models/riscv/iss/run_control.h"
#include "models/riscv/iss/slow_path.h"

namespace sluice::riscv {

std::unique_ptr<Engine> make_step_engine(Hart& hart);

class StepEngine final : public Engine {
 public:
  explicit StepEngine(Hart& hart) : hart_(hart), state_(hart.state()), slow_(hart), control_(hart) {}

  StopReason run() override;
  StopReason step() override { return control_.step(*this); }
  StopReason run_one() override { return control_.run_one(*this); }
  bool between_timing_points() const override { return clock_ && !clock_->at_timing_point(); }
  void ask_limit_again() override {}  // it asks before every instruction
  void invalidate_code(std::uint64_t address, std::uint64_t length) override;
  bool has_code(std::uint64_t page) const override { return has_decoded(page, base::GuestRam::kPage); }
  bool has_decoded(std::uint64_t address, std::uint64_t length) const override;
  void note_own_store(std::uint64_t address, std::uint64_t length) override;
  void reset() override { slow_.reset(); }
  void drop_write_shortcuts(std::uint64_t page) override { slow_.drop_write_shortcuts(page); }
  void drop_read_shortcuts(std::uint64_t page) override { slow_.drop_read_shortcuts(page); }
  void set_breakpoint(std::uint64_t address) override { control_.set_breakpoint(address); }
  void clear_breakpoint(std::uint64_t address) override { control_.clear_breakpoint(address); }

 private:
  bool fetch(Instruction& instruction, std::uint64_t& last);
  void keep(base::GuestRam& ram, std::uint64_t physical, unsigned length);
  bool fetch_line(std::uint64_t last);
  bool goes_on();
  SlowPath::Outcome execute_timed(const Instruction&, std::uint64_t last);
  bool straight(const Instruction* op, std::uint64_t& next, unsigned& cost);

  Hart& hart_;
  HartState& state_;
  SlowPath slow_;
  IntervalClock* const clock_ = slow_.clock();
  RunControl control_;
  std::set<std::uint64_t> code_;  ///< physical addresses of two bytes each that have been executed
};

}  // namespace sluice::riscv
