// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The instructions that harts execute, one line each, in a file. docs/reference/insn-trace.md has the format.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/base/files/output_file.h"
#include "platform/board/board.h"

namespace sluice::debug {

/// Simulated time in which instructions are traced: those that start at `from` or later and before `until`.
struct TraceWindow {
  base::Time from;
  base::Time until = base::Time::max();
};

class InsnTrace : private riscv::CoreObserver {
 public:
  /// Creates the file and observes all harts of the board. Throws std::runtime_error when the file cannot be written.
  InsnTrace(platform::Board&, const std::string& path, const TraceWindow&);

  const TraceWindow& window() const { return window_; }
  bool empty() const { return empty_; }  ///< nothing has been executed in the window
  /// base::OutputFile::close().
  void close() { file_.close(); }

 private:
  /// The hart's state before an instruction.
  struct Before {
    bool valid = false;
    base::Time time;
    std::uint64_t x[32];
    std::uint64_t pc;
    riscv::Privilege privilege;
    std::uint64_t user_space;  ///< as in base::Site
    std::uint64_t instructions, traps, interrupts;
    std::uint32_t word;
    bool fetched;  ///< `word` holds the whole instruction
  };
  /// What is known of the code of the firmware, or of a process.
  struct Code {
    std::string privilege;                           ///< as the line has it; empty: the privilege's letter alone
    const platform::SymbolTable* symbols = nullptr;  ///< null: there are none
    std::shared_ptr<const platform::SymbolTable> own;
    /// The part of a line that depends only on the address and the instruction word. It is reused while the word at its
    /// address is unchanged.
    struct Text {
      std::uint32_t word = 0;
      std::string text;
    };
    std::unordered_map<std::uint64_t, Text> texts = {};  ///< by address; never iterated
  };
  struct Hart {
    riscv::Core* core;
    const platform::Cluster* cluster;
    std::uint64_t first_slot, end_slot;
    Before before;
    std::map<std::uint64_t, Code> codes;  ///< by user space; 0: the firmware's
    std::uint64_t last_space = 0;
    const Code& code() const { return codes.at(before.user_space); }
  };

  std::uint64_t before(riscv::Core&) override;
  void after(riscv::Core&, riscv::StopReason) override;
  Hart& hart_of(const riscv::Core&);
  static void take(Before&, riscv::Core&);
  static void enter(Hart&);
  const std::string& instruction_text(Hart&);
  std::string results(Hart&);
  std::string memory(Hart&);
  std::string trap(Hart&, bool interrupt);

  TraceWindow window_;
  bool empty_ = true;
  base::OutputFile file_;
  std::vector<Hart> harts_;
};

}  // namespace sluice::debug
