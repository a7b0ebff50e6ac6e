// SPDX-License-Identifier: Apache-2.0
#include "models/base/files/input_file.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice::base {

InputFile open_input_file(const std::string& path) {
  // Without O_NONBLOCK, opening a FIFO waits for whoever writes to it.
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status {};
  int error = file < 0 || ::fstat(file, &status) != 0 ? errno : 0;
  if (error == 0 && S_ISDIR(status.st_mode)) error = EISDIR;
  const bool regular = error == 0 && S_ISREG(status.st_mode);
  if (regular) {
    if (std::FILE* stream = ::fdopen(file, "rb")) return InputFile(stream);
    error = errno;
  }
  if (file >= 0) ::close(file);
  const std::string why = std::string("cannot be read: ") + std::strerror(error);
  throw std::runtime_error(path + ": " + (error == 0 ? "is not a regular file" : why));
}

}  // namespace sluice::base
