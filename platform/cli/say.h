// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Messages on standard error. A standard error that cannot be written is no error: the exit status still says what
/// happened.

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace sluice::cli {

template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

/// Stands in what a run says before it starts. Who starts several runs passes that on at once, and not when they end.
constexpr std::string_view kAboutToRun = ": before the run: ";

}  // namespace sluice::cli
