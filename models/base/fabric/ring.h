// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A queue in one block of memory that doubles when it is full: no allocation in steady state. Plain C++.

#include <cstddef>
#include <utility>
#include <vector>

namespace sluice::base {

template <class T>
class Ring {
 public:
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  T& front() { return slots_[first_]; }
  const T& front() const { return slots_[first_]; }
  T& back() { return slots_[(first_ + count_ - 1) & (slots_.size() - 1)]; }
  /// The element behind n others.
  const T& at(std::size_t n) const { return slots_[(first_ + n) & (slots_.size() - 1)]; }
  void push(T value) {
    if (count_ == slots_.size()) grow();
    slots_[(first_ + count_++) & (slots_.size() - 1)] = std::move(value);
  }
  T pop() {
    T value = std::move(slots_[first_]);
    first_ = (first_ + 1) & (slots_.size() - 1);
    --count_;
    return value;
  }
  void clear() {
    while (!empty()) pop();
  }

 private:
  void grow() {
    std::vector<T> wider(slots_.empty() ? 8 : slots_.size() * 2);
    for (std::size_t i = 0; i < count_; ++i) wider[i] = std::move(slots_[(first_ + i) & (slots_.size() - 1)]);
    slots_ = std::move(wider);
    first_ = 0;
  }

  std::vector<T> slots_;  ///< a power of two of them
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace sluice::base
