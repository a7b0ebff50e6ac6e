// SPDX-License-Identifier: Apache-2.0
#pragma once
/// DIR/result.json, and compare.json: written to a temporary file and renamed when complete. So there is never half a
/// result, and never one of an earlier run that could be mistaken for this run's.

#include <memory>
#include <string>

#include "platform/config/files/directory_lock.h"

namespace sluice::cli {

class ResultFile {
 public:
  /// Renames the result of an earlier run to result.json.old; does nothing where there is none. A command calls this
  /// before it uses its directory, so that no error leaves the old result in place. name: of the file.
  static void set_old_aside(const std::string& directory, const std::string& name = "result.json");

  /// Creates the directory if necessary. Checks, before anything is simulated, that it can be written and that no other
  /// run writes there. Throws config::UserError, which names the option that gave the directory.
  ResultFile(const std::string& directory, std::string option, const std::string& name = "result.json");

  /// Puts the result in place, and removes the old one. Throws config::UserError when it cannot be written to its end.
  void commit(const std::string& text);

 private:
  [[noreturn]] void refuse(const std::string& why) const;

  std::string option_;
  std::string path_;
  std::unique_ptr<config::DirectoryLock> lock_;
};

}  // namespace sluice::cli
