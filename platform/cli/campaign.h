// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the commands that run points of studies share.

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "platform/cli/say.h"
#include "platform/study/points.h"
#include "platform/sweep/directory.h"
#include "platform/sweep/identity.h"
#include "platform/sweep/needs.h"
#include "platform/sweep/rows.h"

namespace sluice::cli {

/// The most runs at a time.
inline constexpr unsigned kMostJobs = 4096;
/// What --jobs says; as many as there are processors where it says nothing. Throws config::UserError.
unsigned runs_at_a_time(const std::string& jobs);

/// Says the first few of many like things, and how many more there are.
class Few {
 public:
  Few(const char* command, std::string what) : command_(command), what_(std::move(what)) {}
  ~Few();
  Few(const Few&) = delete;
  Few& operator=(const Few&) = delete;
  void tell(const std::string& sentence);

 private:
  const char* command_;
  std::string what_;
  std::uint64_t count_ = 0;
};

/// A study and its directory, as one command finds them.
class Campaign {
 public:
  /// command: for messages.
  Campaign(const char* command, const study::Points& of, sweep::Directory in)
      : points(of), directory(std::move(in)), command_(command) {}
  Campaign(const Campaign&) = delete;
  Campaign& operator=(const Campaign&) = delete;

  /// What the points have that the study needs, by the results that are there now. Both tell of result files that are
  /// none. so: what becomes of them.
  sweep::Rows states(const char* so);
  sweep::Rows rows();
  /// The numbers of the points that are needed and missing; with retry_failed, of those that have failed, too, whose
  /// outcomes stay until run() replaces them.
  std::vector<std::uint64_t> missing(bool retry_failed);
  /// Removes those of these points that missing() has found to be run again.
  void forget_failed(const std::vector<std::uint64_t>& numbers);
  /// Writes the tables of what is there, and returns it.
  sweep::Rows write_tables();
  /// Runs the points of these numbers, of which none has a result, and tells of those that fail. Returns the signal
  /// that has ended it, or null.
  const char* run(const std::vector<std::uint64_t>& numbers, unsigned at_a_time);
  /// Tells of the points that failed and of which run() has not told; returns whether there are any.
  bool say_failed(const sweep::Rows&) const;
  /// "point 3 (e810-poll, workload.outstanding = 4)"
  std::string text_of(const study::Point&) const;

  static constexpr const char* kLeftOut = ", so it is left out";
  static constexpr const char* kRunsAgain = ", so the point runs again";
  const study::Points& points;
  const sweep::Directory directory;
  sweep::Identities identities{points};
  sweep::Needs needs{points, directory, identities};

 private:
  const char* command_;
  std::map<std::uint64_t, std::string> again_;  ///< marks of failed outcomes, by point
  std::set<std::uint64_t> told_;                ///< points whose failures this command has told
};

}  // namespace sluice::cli
