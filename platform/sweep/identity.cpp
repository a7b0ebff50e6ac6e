// SPDX-License-Identifier: Apache-2.0
#include "platform/sweep/identity.h"

#include <fmt/format.h>

#include "platform/board/instances.h"
#include "platform/report/program.h"
#include "platform/run/conditions.h"

namespace sluice::sweep {

std::string identity_of(const config::BoardConfig& board, platform::FileDigests& digests) {
  constexpr std::size_t kDigits = 32;
  // Lengths keep apart what could run into each other.
  std::string text = fmt::format("{}\n{}\n", report::program_sources(), board.name());
  for (const auto& [name, value] : platform::conditions_of(board, digests))
    text += fmt::format("{} {}:{}\n", name, value.size(), value);
  return platform::sha256_of(text).substr(0, kDigits);
}

const Identity& Identities::of(std::uint64_t number) {
  const auto [place, is_new] = known_.try_emplace(number);
  if (is_new) {
    const config::BoardConfig board = points_.board_of(points_.at(number));
    const auto& run = board.parameters<platform::RunParameters>("run");
    place->second = {identity_of(board, digests_), run.seed, run.replication};
  }
  return place->second;
}

}  // namespace sluice::sweep
