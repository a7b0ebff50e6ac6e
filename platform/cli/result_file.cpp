// SPDX-License-Identifier: Apache-2.0
#include "platform/cli/result_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "platform/config/user_error.h"

namespace sluice::cli {

namespace fs = std::filesystem;

ResultFile::ResultFile(const std::string& directory, std::string option, const std::string& name)
    : option_(std::move(option)), path_(directory + "/" + name), partial_(path_ + ".partial") {
  std::error_code error;
  fs::create_directories(directory, error);
  if (!error && !fs::is_directory(directory, error)) error = std::make_error_code(std::errc::not_a_directory);
  if (error) refuse(error.message());
  if (fs::is_directory(path_, error)) refuse("its " + name + " is a directory");
  lock(directory);
  set_old_aside(directory, name);
  errno = 0;
  if (!std::ofstream(partial_, std::ios::trunc)) refuse(std::strerror(errno));
  // The file was only a test. It is removed so that a process that ends before commit() leaves nothing behind.
  fs::remove(partial_, error);
}

ResultFile::~ResultFile() {
  if (lock_ >= 0) ::close(lock_);
}

/// Locks the directory, because two runs would write the same traces. A file system without locks is accepted.
void ResultFile::lock(const std::string& directory) {
  lock_ = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0 || ::flock(lock_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  ::close(lock_);
  lock_ = -1;
  throw config::UserError(option_ + ": another run writes there; name another directory");
}

void ResultFile::set_old_aside(const std::string& directory, const std::string& name) {
  std::error_code ignored;
  const fs::path result = fs::path(directory) / name;
  if (fs::is_regular_file(result, ignored)) fs::rename(result, result.string() + ".old", ignored);
}

void ResultFile::commit(const std::string& text) {
  errno = 0;
  std::ofstream file(partial_, std::ios::trunc);
  file << text;
  file.close();
  const std::string why = file ? "" : std::strerror(errno);
  std::error_code error;
  if (!why.empty()) {
    fs::remove(partial_, error);
    refuse(why);
  }
  fs::rename(partial_, path_, error);
  if (error) refuse(error.message());
  fs::remove(path_ + ".old", error);
}

void ResultFile::refuse(const std::string& why) const {
  throw config::UserError(
      fmt::format("{}: cannot be written ({}); name a directory that can be created", option_, why));
}

}  // namespace sluice::cli
