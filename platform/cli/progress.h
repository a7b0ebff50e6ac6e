// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A line on the terminal while a run takes longer than two seconds.

#include <chrono>
#include <optional>
#include <string>

#include "models/base/time/time.h"

namespace sluice::cli {

class Progress {
 public:
  explicit Progress(std::string title) : title_(std::move(title)), start_(std::chrono::steady_clock::now()) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Whether standard error is a terminal, so that somebody sees the line.
  static bool wanted();
  /// Shows a line; does nothing in the first two seconds.
  void show(const std::string& text);
  /// done: 0 to 1; nothing where the end of the run is not known.
  void show(base::Time simulated, std::optional<double> done);
  void clear();

 private:
  std::string title_;
  std::chrono::steady_clock::time_point start_;
  bool shown_ = false;
};

}  // namespace sluice::cli
