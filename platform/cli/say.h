// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Messages on standard error. A standard error that cannot be written is no error: the exit status still says what
/// happened.

#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace sluice::cli {

template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace sluice::cli
