// SPDX-License-Identifier: Apache-2.0
#include "platform/sweep/identity.h"

#include <fmt/format.h>

#include "platform/report/program.h"
#include "platform/run/conditions.h"

namespace sluice::sweep {

std::string identity_of(const config::BoardConfig& board, platform::FileDigests& digests) {
  constexpr std::size_t kDigits = 32;
  // Lengths keep apart what could run into each other.
  std::string text = fmt::format("{}\n{}\n", report::program_sources(), board.name());
  for (const auto& [name, value] : platform::conditions_of(board, digests))
    text += fmt::format("{} {}:{}\n", name, value.size(), value);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  return platform::sha256_of({bytes, text.size()}).substr(0, kDigits);
}

}  // namespace sluice::sweep
