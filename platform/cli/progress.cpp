// SPDX-License-Identifier: Apache-2.0
#include "platform/cli/progress.h"

#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "platform/cli/say.h"

namespace sluice::cli {

bool Progress::wanted() { return isatty(STDERR_FILENO) == 1; }

void Progress::show(const std::string& text) {
  if (std::chrono::steady_clock::now() - start_ < std::chrono::seconds(2)) return;
  shown_ = true;
  say("\r\033[K{}: {}", title_, text);
  std::fflush(stderr);
}

void Progress::show(base::Time simulated, std::optional<double> done) {
  const std::string share = done ? fmt::format("{:.0f} %, ", *done * 100) : "";
  show(fmt::format("{}{:.3f} ms simulated", share, static_cast<double>(simulated.femtoseconds()) / 1e12));
}

void Progress::clear() {
  if (!shown_) return;
  shown_ = false;
  say("\r\033[K");
  std::fflush(stderr);
}

}  // namespace sluice::cli
