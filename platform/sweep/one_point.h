// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One run of a study.

#include <string>

#include "platform/config/board_config.h"
#include "platform/sweep/directory.h"

namespace sluice::sweep {

/// How an attempt to run a point ended.
enum class Ended {
  done,         ///< its result is in place
  failed,       ///< likewise; the run failed
  mistake,      ///< the board cannot be built or run, and the directory says why
  elsewhere,    ///< another process runs it
  interrupted,  ///< by a signal, before its end
  changed,      ///< a file that it reads has changed since its identity was taken
  unwritable,   ///< the result cannot be written
  killed        ///< the process ended by a signal, or without a word
};
struct Attempt {
  Ended ended = Ended::killed;
  std::string why;  ///< a sentence where it is neither done nor elsewhere
};

/// Runs a board in this process, which can do so once, and puts its result in place, unless there is one. id: its
/// identity. again: the mark of a failed outcome that the new one is to replace; empty: none is.
Attempt run_here(const config::BoardConfig&, const std::string& id, const Directory&, const std::string& again = {});

}  // namespace sluice::sweep
