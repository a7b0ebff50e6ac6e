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
    std::uint8_t& counter = counters_[index(pc)];
    const unsigned was = counter;
    counter = kLearnt[was + 4 * taken];
    history_ = (history_ << 1 | taken) & mask_;
    return was / kWeaklyTaken ^ taken ^ 1;
  }
  bool indirect(std::uint64_t pc, std::uint64_t target) {
    std::uint64_t& last = targets_[index(pc)];
    const bool right = last == target;
    last = target;
    history_ = (history_ << 2 ^ target >> 2) & mask_;
    return right;
  }
  /// A return. An empty stack, and one that was overwritten, predicts wrongly.
  bool returns(std::uint64_t target) {
    top_ = (top_ == 0 ? returns_.size() : top_) - 1;
    return returns_[top_] == target;
  }
  /// A call that will return to an address.
  void calls(std::uint64_t back) {
    returns_[top_] = back;
    top_ = top_ + 1 == returns_.size() ? 0 : top_ + 1;
  }
  void reset();

  /// What predictions depend on beside the tables. Following a path changes nothing: each function moves it as the one
  /// above does, and returns whether the prediction would be right and would teach nothing.
  struct Path {
    std::uint64_t history;
    std::size_t top;
    bool operator==(const Path&) const = default;
  };
  Path path() const { return {history_, top_}; }
  /// Goes to where a path has led.
  void follow(const Path& path) {
    history_ = path.history;
    top_ = path.top;
  }
  bool knows_conditional(Path& path, std::uint64_t pc, bool taken) const {
    const std::uint8_t counter = counters_[index(pc, path.history)];
    path.history = (path.history << 1 | (taken ? 1 : 0)) & mask_;
    return kLearnt[counter + (taken ? 4u : 0u)] == counter;
  }
  bool knows_indirect(Path& path, std::uint64_t pc, std::uint64_t target) const {
    const bool right = targets_[index(pc, path.history)] == target;
    path.history = (path.history << 2 ^ target >> 2) & mask_;
    return right;
  }
  bool knows_return(Path& path, std::uint64_t target) const {
    path.top = (path.top == 0 ? returns_.size() : path.top) - 1;
    return returns_[path.top] == target;
  }
  bool knows_call(Path& path, std::uint64_t back) const {
    const bool same = returns_[path.top] == back;
    path.top = path.top + 1 == returns_.size() ? 0 : path.top + 1;
    return same;
  }

 private:
  static constexpr std::uint8_t kWeaklyTaken = 2;
  /// What a counter becomes by a branch that is not taken, and by one that is.
  static constexpr std::array<std::uint8_t, 8> kLearnt = {0, 0, 1, 2, 1, 2, 3, 3};
  std::size_t index(std::uint64_t pc) const { return index(pc, history_); }
  std::size_t index(std::uint64_t pc, std::uint64_t history) const { return ((pc >> 1) ^ history) & mask_; }

  std::vector<std::uint8_t> counters_;
  std::vector<std::uint64_t> targets_;
  std::uint64_t mask_;
  std::uint64_t history_ = 0;
  std::vector<std::uint64_t> returns_;
  std::size_t top_ = 0;
};

}  // namespace sluice::riscv
