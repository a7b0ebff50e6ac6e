// SPDX-License-Identifier: Apache-2.0
#include "platform/cli/result_file.h"

#include <filesystem>

#include <fmt/format.h>

#include "platform/config/files/result_directory.h"
#include "platform/config/files/whole_file.h"
#include "platform/config/user_error.h"

namespace sluice::cli {

namespace fs = std::filesystem;

ResultFile::ResultFile(const std::string& directory, std::string option, const std::string& name)
    : option_(std::move(option)), path_(directory + "/" + name) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (!error && !fs::is_directory(directory, error)) error = std::make_error_code(std::errc::not_a_directory);
  if (error) refuse(error.message());
  config::refuse_results_of_others(directory, option_, {"result.json", "compare.json"});
  if (fs::is_directory(path_, error)) refuse("its " + name + " is a directory");
  // Two runs would write the same traces.
  lock_ = std::make_unique<config::DirectoryLock>(directory);
  if (lock_->is_elsewhere()) throw config::UserError(option_ + ": another run writes there; name another directory");
  set_old_aside(directory, name);
  // A file that is only a test: what is written later must be possible before anything is simulated.
  if (const std::string why = config::try_write_whole(path_, ""); !why.empty()) refuse(why);
  fs::remove(path_, error);
}

void ResultFile::set_old_aside(const std::string& directory, const std::string& name) {
  std::error_code ignored;
  const fs::path result = fs::path(directory) / name;
  if (fs::is_regular_file(result, ignored)) fs::rename(result, result.string() + ".old", ignored);
}

void ResultFile::commit(const std::string& text) {
  if (const std::string why = config::try_write_whole(path_, text); !why.empty()) refuse(why);
  std::error_code error;
  fs::remove(path_ + ".old", error);
}

void ResultFile::refuse(const std::string& why) const {
  throw config::UserError(
      fmt::format("{}: cannot be written ({}); name a directory that can be created", option_, why));
}

}  // namespace sluice::cli
