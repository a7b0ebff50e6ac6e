// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What harts and devices did to shared memory, in the order in which it took effect.

#include <cstdint>
#include <vector>

#include "tests/multihart/random_program.h"

namespace sluice::multihart {

struct Access {
  static constexpr unsigned kDevice = ~0u;
  unsigned by = kDevice;  ///< number of the hart
  bool write = false;
  bool atomic = false;       ///< by LR, SC or AMO
  bool reserves = false;     ///< by LR
  bool conditional = false;  ///< by an SC that succeeded
  std::uint64_t address = 0;
  unsigned length = 0;
  Time earliest, latest;  ///< its time; a range where the hart may have waited for a cache meanwhile
};

/// Watches a machine from its construction to its end.
class Recorder {
 public:
  explicit Recorder(Machine&);
  ~Recorder();
  const std::vector<Access>& accesses() const { return accesses_; }
  /// What was wrong with the bytes that harts loaded; empty: they were always those of the last write.
  const std::string& surprise() const { return surprise_; }
  /// With timing = "interval": the longest time that a hart has taken from one timing point to the next, and so may
  /// have been ahead of its window. Else 0.
  Time longest_batch() const;

 private:
  class Writes;
  class Steps;
  void accessed(std::uint64_t address, unsigned length, bool write);

  Machine& machine_;
  std::vector<std::uint8_t> bytes_;  ///< shared memory as the writes have left it
  std::vector<Access> accesses_;
  std::string surprise_;
  std::unique_ptr<Writes> writes_;
  std::vector<std::unique_ptr<Steps>> steps_;
};

}  // namespace sluice::multihart
