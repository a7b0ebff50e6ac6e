// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A run of a random program, with something beside it that must not change its result.

#include <memory>
#include <string>

#include "tests/multihart/recorder.h"
#include "tests/multihart/target.h"

namespace sluice::multihart {

enum class Disturbance {
  recorded,  ///< every access to shared memory is watched, by single steps
  none,
  entries,  ///< calendar entries that do nothing
  steps,    ///< an observer that takes single steps, as a trace does
  slices,   ///< the run is cut into many calls of run_until()
  foreign,  ///< a SystemC module with events of its own
};
constexpr Disturbance kDisturbances[] = {Disturbance::none, Disturbance::entries, Disturbance::steps,
                                         Disturbance::slices, Disturbance::foreign};
const char* name_of(Disturbance);

class Run {
 public:
  Run(const RandomProgram&, Disturbance);
  ~Run();
  /// Registers, times and counters of all harts and the memory, a line each.
  const std::string& result() const { return result_; }
  /// What the run did that none may do: not end, make entries for the past, or access devices against time; else empty.
  const std::string& trouble() const { return trouble_; }
  const Recorder* recorder() const { return recorder_.get(); }

 private:
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<Target> own_, foreign_;
  std::unique_ptr<Recorder> recorder_;
  std::string result_;
  std::string trouble_;
};

/// The first line in which two results differ, from both; empty where they are the same.
std::string first_difference(const std::string& expected, const std::string& other);

}  // namespace sluice::multihart
