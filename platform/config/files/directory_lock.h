// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A directory that one process of this machine at a time writes to.

#include <string>

namespace sluice::config {

/// Locks the directory while it lives; the directory exists. A file system without locks is accepted.
class DirectoryLock {
 public:
  explicit DirectoryLock(const std::string& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

  bool is_held() const { return held_; }
  /// Whether another process holds it.
  bool is_elsewhere() const { return elsewhere_; }

 private:
  int file_ = -1;
  bool held_ = false;
  bool elsewhere_ = false;
};

}  // namespace sluice::config
