// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Points as job arrays of a Slurm that exists. What has run is known by the results alone: nothing is asked of
/// accounting, and jobs whose records are gone have ended.

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "platform/study/points.h"
#include "platform/sweep/directory.h"

namespace sluice::sweep {

struct SlurmOptions {
  std::vector<std::string> sbatch;    ///< further options of sbatch, as its command line has them
  std::uint64_t points_per_task = 0;  ///< 0: as few as the cluster's MaxArraySize allows in one array
  bool page = false;                  ///< jobs behind others write the page, too
};

/// Numbers of the points that a task is to run.
using Task = std::vector<std::uint64_t>;

class Slurm {
 public:
  /// Throws config::UserError where there is no Slurm that answers.
  Slurm(const Directory&, const study::Study&);

  /// The points that jobs of this directory have still to run, or run now.
  std::set<std::uint64_t> queued() const;

  /// Called with points that Slurm has taken, before any of them runs.
  using OnSubmitted = std::function<void(const Task&)>;
  /// Submits the points; returns the numbers of the jobs. Throws config::UserError when Slurm refuses them.
  std::vector<std::string> submit(const std::vector<std::uint64_t>& points, const SlurmOptions&, const OnSubmitted&);

  /// Submits the sweep itself as a job behind the jobs of this directory that wait or run, unless there are none, or
  /// such a job waits: it submits what results make the study need. Throws config::UserError when Slurm refuses it.
  void submit_next(const SlurmOptions&);
  /// The points that these jobs, "17,18", were to run. Throws config::UserError for what is no list of jobs.
  Task points_of(const std::string& jobs) const;

  /// The points of a task of one of the arrays that submit() has made. file: the list of its tasks. Throws
  /// config::UserError where there is no such task, or the study is not the one that was submitted.
  static Task task(const std::filesystem::path& file, const std::string& index, const study::Study&);

 private:
  std::string submit_array(const std::vector<Task>&, const SlurmOptions&, const OnSubmitted&);
  std::filesystem::path place() const;
  std::string command() const;
  nlohmann::ordered_json tasks_in(const std::filesystem::path& file) const;

  const Directory& directory_;
  const study::Study& study_;
  std::uint64_t most_tasks_ = 0;  ///< of an array
};

}  // namespace sluice::sweep
