// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What an instruction's address is called: by its function, and in user mode by its process.

#include <cstdint>
#include <string>

#include "models/base/measure/mistakes.h"
#include "platform/board/board.h"

namespace sluice::platform {

struct CodePlace {
  std::uint64_t pc;
  std::uint64_t user_space;  ///< as in base::Site
};

/// The hart's next instruction.
CodePlace place_of(riscv::Core&);

/// "serve+0x1c", of the firmware or of the process; empty: it is not known.
std::string function_at(const Cluster&, const CodePlace&);
/// "process kv (3)", or "asid 3" where the address space belongs to no known process; empty: it is the firmware's code.
std::string process_at(const Cluster&, const CodePlace&);
/// "pc 0x80001234 serve+0x1c", "pc 0x3fc0010234 kv_get+0x1c in process kv (3)".
std::string describe(const Cluster&, const CodePlace&);

/// Names what is in the list of mistakes, while it lives.
class BoardNames final : public base::SiteNames {
 public:
  explicit BoardNames(const Board&);
  ~BoardNames() override;
  BoardNames(const BoardNames&) = delete;
  BoardNames& operator=(const BoardNames&) = delete;

 private:
  std::string process_at(const base::Site&) override;
  std::string function_at(const base::Site&) override;
  const Cluster* cluster_of(const base::Site&) const;

  const Board& board_;
};

}  // namespace sluice::platform
