// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The directory of a study's results. Every run has a directory of its own in it, points/XX/ID, named by its identity;
/// what is complete there stays. Several sweeps may share the directory, on one machine or on many.

#include <filesystem>
#include <memory>
#include <string>

#include "platform/config/files/directory_lock.h"
#include "platform/study/points.h"

namespace sluice::sweep {

/// What a directory has of a point.
enum class State {
  missing,  ///< nothing
  done,     ///< a result
  failed,   ///< a result of a run that failed, or why there can be none
  unneeded  ///< nothing is looked for: the study does not need it
};
struct Found {
  State state = State::missing;
  std::string result;  ///< text of the result file; empty: there is no whole one
  std::string why;     ///< of `failed`: a sentence
  std::string broken;  ///< why a result file was left out, as the end of a sentence about it; empty: none was
};

class Directory {
 public:
  /// Throws config::UserError for a directory that holds another study's results, or cannot be made or written.
  static Directory create(const std::filesystem::path&, const study::Study&);
  /// Of a study that may never have run. Throws likewise for another study's results.
  static Directory open(const std::filesystem::path&, const study::Study&);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path of_point(const std::string& id) const { return path_ / "points" / id.substr(0, 2) / id; }
  std::filesystem::path result_of(const std::string& id) const { return of_point(id) / "result.json"; }

  Found find(const std::string& id) const;
  /// What tells the outcome that a point has from each other one that it may get; empty: it has none.
  std::string mark_of(const std::string& id) const;
  /// The time that a file written now would have: by the clock of whoever keeps the files.
  std::filesystem::file_time_type time() const;
  /// Whether a point has got its outcome at or after a time.
  bool is_newer(const std::string& id, std::filesystem::file_time_type) const;
  /// Renames a result file that is none.
  void set_aside(const std::string& id) const;
  /// Forgets what a point has, whatever it is.
  void forget(const std::string& id) const;

 private:
  explicit Directory(std::filesystem::path path) : path_(std::move(path)) {}
  void check_owner(const study::Study&) const;
  /// The result file, or the file that says why there is none; it need not be there.
  std::filesystem::path outcome_of(const std::string& id) const;
  std::filesystem::path path_;
};

/// Held by each sweep of a directory, so that a study that is changed, or whose boards are, is not swept beside the
/// study that it was: each would write the tables.
class StudyLock {
 public:
  /// Throws config::UserError where a sweep of this machine runs there and has read other texts of these files.
  StudyLock(const Directory&, const study::Points&);
  ~StudyLock();
  StudyLock(const StudyLock&) = delete;
  StudyLock& operator=(const StudyLock&) = delete;

 private:
  int file_ = -1;
};

/// The directory of one point, which one process at a time fills.
class PointDirectory {
 public:
  /// Creates it. Throws config::UserError when it cannot be made.
  PointDirectory(const Directory&, const std::string& id);
  /// Whether no other process of this machine fills it. Where the file system has no locks, always.
  bool is_mine() const { return !lock_->is_elsewhere(); }
  /// Puts the result in place, whole and on the disk. Throws config::UserError when it cannot be written.
  void put_result(const std::string& text) const;
  /// Says why there can be no result.
  void put_mistake(const std::string& sentence) const;

 private:
  std::filesystem::path path_;
  std::unique_ptr<config::DirectoryLock> lock_;
};

}  // namespace sluice::sweep
