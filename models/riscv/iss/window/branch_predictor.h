// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The branch predictor of timing = "interval": gshare (McFarling 1993) for the direction of conditional branches, a
/// table of last targets for indirect jumps, and a stack of return addresses. It learns at once, so it knows outcomes
/// that a real one would learn some cycles later.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::riscv {

class BranchPredictor {
 public:
  /// history: branches in the global history, 1 to 20. return_stack: return addresses, at least 1.
  BranchPredictor(unsigned history, unsigned return_stack)
      : counters_(std::size_t{1} << history, kWeaklyTaken),
        targets_(std::size_t{1} << history, 0),
        mask_((std::uint64_t{1} << history) - 1),
        returns_(return_stack, 0) {}

  /// Each returns whether the prediction was right, and learns the outcome. pc: of the branch or jump.
  bool conditional(std::uint64_t pc, bool taken) { return conditional(pc, taken ? 1u : 0u) != 0; }
  /// As before, by numbers: the host could not predict a branch of its own by the guest's.
  unsigned conditional(std::uint64_t pc, unsigned taken) {
    std::uint8_t& counter = counters_[index(pc, path_)];
    const unsigned was = counter;
    counter = kLearnt[was + 4 * taken];
    note_taken(path_, taken);
    return was / kWeaklyTaken ^ taken ^ 1;
  }
  bool indirect(std::uint64_t pc, std::uint64_t target) {
    std::uint64_t& last = targets_[index(pc, path_)];
    const bool right = last == target;
    last = target;
    note_target(path_, target);
    return right;
  }
  /// A return. An empty stack, and one that was overwritten, predicts wrongly.
  bool returns(std::uint64_t target) { return knows_return(path_, target); }
  /// A call that will return to an address.
  void calls(std::uint64_t back) {
    returns_[path_.top] = back;
    push(path_);
  }
  void reset();

  /// What predictions depend on beside the tables. Following a path changes nothing: each function moves it as the one
  /// above does, and returns whether the prediction would be right and would teach nothing.
  struct Path {
    std::uint64_t history = 0;
    std::size_t top = 0;  ///< of the return addresses: where the next one goes
    bool operator==(const Path&) const = default;
  };
  const Path& path() const { return path_; }
  /// Goes to where a path has led.
  void follow(const Path& path) { path_ = path; }
  bool knows_conditional(Path& path, std::uint64_t pc, bool taken) const {
    const std::uint8_t counter = counters_[index(pc, path)];
    note_taken(path, taken ? 1 : 0);
    return kLearnt[counter + (taken ? 4u : 0u)] == counter;
  }
  bool knows_indirect(Path& path, std::uint64_t pc, std::uint64_t target) const {
    const bool right = targets_[index(pc, path)] == target;
    note_target(path, target);
    return right;
  }
  bool knows_return(Path& path, std::uint64_t target) const {
    path.top = (path.top == 0 ? returns_.size() : path.top) - 1;
    return returns_[path.top] == target;
  }
  bool knows_call(Path& path, std::uint64_t back) const {
    const bool same = returns_[path.top] == back;
    push(path);
    return same;
  }

 private:
  static constexpr std::uint8_t kWeaklyTaken = 2;
  /// What a counter becomes by a branch that is not taken, and by one that is.
  static constexpr std::array<std::uint8_t, 8> kLearnt = {0, 0, 1, 2, 1, 2, 3, 3};
  std::size_t index(std::uint64_t pc, const Path& path) const { return ((pc >> 1) ^ path.history) & mask_; }
  void note_taken(Path& path, unsigned taken) const { path.history = (path.history << 1 | taken) & mask_; }
  void note_target(Path& path, std::uint64_t target) const { path.history = (path.history << 2 ^ target >> 2) & mask_; }
  void push(Path& path) const { path.top = path.top + 1 == returns_.size() ? 0 : path.top + 1; }

  std::vector<std::uint8_t> counters_;
  std::vector<std::uint64_t> targets_;
  std::uint64_t mask_;
  Path path_;
  std::vector<std::uint64_t> returns_;
};

}  // namespace sluice::riscv
