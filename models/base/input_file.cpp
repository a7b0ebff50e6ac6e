#include "models/base/input_file.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice::base {

std::FILE* open_input_file(const std::string& path) {
  // Without O_NONBLOCK, opening a FIFO waits for whoever writes to it.
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  std::string why;
  struct stat status {};
  if (file < 0 || ::fstat(file, &status) != 0)
    why = std::string("cannot be read: ") + std::strerror(errno);
  else if (S_ISDIR(status.st_mode))
    why = std::string("cannot be read: ") + std::strerror(EISDIR);
  else if (!S_ISREG(status.st_mode))
    why = "is not a regular file";
  else if (std::FILE* stream = ::fdopen(file, "rb"))
    return stream;
  else
    why = std::string("cannot be read: ") + std::strerror(errno);
  if (file >= 0) ::close(file);
  throw std::runtime_error(path + ": " + why);
}

}  // namespace sluice::base
