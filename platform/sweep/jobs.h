// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Runs points in processes of their own, several at a time.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "platform/run/interruption.h"
#include "platform/study/points.h"
#include "platform/sweep/identity.h"
#include "platform/sweep/one_point.h"

namespace sluice::sweep {

/// Processors that this process may use.
unsigned processors();

struct Progress {
  std::uint64_t points = 0;   ///< to run
  std::uint64_t ended = 0;    ///< with a result, or a mistake
  std::uint64_t failed = 0;   ///< of these, those that failed
  std::uint64_t running = 0;  ///< now
};

class Jobs {
 public:
  /// All must outlive this. jobs: at most so many at a time.
  Jobs(const study::Points& points, const Directory& directory, Identities& identities, unsigned jobs)
      : points_(points), directory_(directory), identities_(identities), most_(jobs) {}

  /// Called where a run has ended in another way than with a result.
  std::function<void(const study::Point&, const Attempt&)> on_trouble;
  /// Called at least five times a second.
  std::function<void(const Progress&)> on_progress;

  /// By number of the point: marks of failed outcomes that new ones are to replace.
  std::map<std::uint64_t, std::string> again;

  /// Runs the points in this order, of which none is in the directory but those to run again; waits for those that
  /// another process runs, and takes over what such a process leaves. SIGHUP, SIGINT and SIGTERM end it: what runs is
  /// told, and the signal's name returned; else null. A result that cannot be written ends it, too: throws
  /// config::UserError once nothing runs. Where the machine has no process for one more run, it goes on with those that
  /// it has; throws where it has none for a minute.
  const char* run(const std::vector<std::uint64_t>& numbers);

 private:
  struct Running;
  bool start(std::uint64_t number, std::vector<Running>& running, const platform::HeldSignals& held);
  void take_end(const Running&, int status);
  void reap(std::vector<Running>& running);

  const study::Points& points_;
  const Directory& directory_;
  Identities& identities_;
  const unsigned most_;
  Progress progress_;
  std::vector<std::uint64_t> elsewhere_;  ///< run by other processes when last looked at
  int signal_ = 0;                        ///< that ends it; 0: none has come
  std::string unwritable_;                ///< why nothing more is started; empty: no such reason
};

}  // namespace sluice::sweep
