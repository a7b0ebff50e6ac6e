// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What devices say of the load that a hart waits for: that they hold its answer back.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "models/base/time/time.h"

namespace sluice::base {

/// The load that a hart waits for now. It must outlive what can answer loads.
class HeldLoad {
 public:
  /// One load, for the device that is to answer it. Does nothing when that load has ended.
  class Handle {
   public:
    Handle() = default;
    void hold(Time at) const {
      if (is_waited_for() && !load_->held_) load_->held_ = true, load_->from_ = at, load_->to_ = Time::max();
    }
    void release(Time at) const {
      if (is_waited_for() && load_->to_ == Time::max()) load_->to_ = at;
    }

   private:
    friend class HeldLoad;
    Handle(HeldLoad* load, std::uint64_t number) : load_(load), number_(number) {}
    bool is_waited_for() const { return load_ && load_->number_ == number_; }
    HeldLoad* load_ = nullptr;
    std::uint64_t number_ = 0;
  };

  Handle begin() {
    end();
    return {this, number_};
  }
  void end() {
    ++number_;
    held_ = false;
    from_ = to_ = {};
  }
  /// From when until when the answer has been held back, up to `until`; an empty part if it has not.
  std::pair<Time, Time> held_back(Time until) const { return {std::min(from_, until), std::min(to_, until)}; }

 private:
  std::uint64_t number_ = 0;
  bool held_ = false;
  Time from_, to_;
};

}  // namespace sluice::base
