// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A walk through a tree of statistics that knows where it is.

#include <string>
#include <vector>

#include "models/base/measure/statistics.h"

namespace sluice::base {

class StatisticsPaths : public StatisticsVisitor {
 public:
  void enter(const StatisticsGroup& group) final {
    lengths_.push_back(path_.size());
    if (!group.name().empty()) path_ += (path_.empty() ? "" : ".") + group.name();
  }
  void leave(const StatisticsGroup&) final {
    path_.resize(lengths_.back());
    lengths_.pop_back();
  }

 protected:
  /// Of the group whose values come: "nic.eth0". Groups without a name, such as the tree itself, are not in it.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::vector<std::size_t> lengths_;
};

}  // namespace sluice::base
