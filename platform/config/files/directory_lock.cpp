// SPDX-License-Identifier: Apache-2.0
#include "platform/config/files/directory_lock.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace sluice::config {

DirectoryLock::DirectoryLock(const std::string& directory) {
  file_ = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  held_ = file_ >= 0 && ::flock(file_, LOCK_EX | LOCK_NB) == 0;
  elsewhere_ = file_ >= 0 && !held_ && errno == EWOULDBLOCK;
}

DirectoryLock::~DirectoryLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace sluice::config
