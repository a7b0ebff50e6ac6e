// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the programs of the board tests have in common: PROGRAM [OPTION...] BOARD [PATH=VALUE...] runs a board with
/// something added to it and prints its result file with one more member. board_program.cpp has their main().

#include <memory>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "platform/run/simulation.h"

namespace sluice::tests {

using Json = nlohmann::ordered_json;

/// What a program adds. Calls come in the order of declaration.
class Addition {
 public:
  virtual ~Addition() = default;
  /// Takes an option from the front of the words, of which the first begins with "--". Returns how many words the
  /// option has; 0: the program has no such option.
  virtual std::size_t option(std::span<const std::string> words) {
    (void)words;
    return 0;
  }
  virtual void prepare(platform::Board&, platform::SimulationOptions&) {}
  virtual void ready(platform::Simulation&) {}
  /// Called when the run has ended and its result is made. Adds to the result.
  virtual void report(platform::Simulation&, Json& result) = 0;
};

/// Each program defines it.
std::unique_ptr<Addition> make_addition();

}  // namespace sluice::tests
