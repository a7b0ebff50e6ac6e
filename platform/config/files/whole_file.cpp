// SPDX-License-Identifier: Apache-2.0
#include "platform/config/files/whole_file.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "platform/config/user_error.h"

namespace sluice::config {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const char* what, int error) {
  throw UserError(fmt::format("{}: cannot be {}: {}", path, what, std::strerror(error)));
}

/// Other machines may write a file of the same name in the same directory.
std::string name_of_host() {
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) != 0) host[0] = 0;
  return host;
}

/// errno of the first call that failed; 0: none.
int write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(file, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) return errno;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  return ::fsync(file) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
}

/// Makes sure that a renamed file is found after a loss of power. A file system that cannot is not better for an error.
void sync_directory(const fs::path& directory) {
  const int file = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

}  // namespace

void write_whole(const fs::path& path, const std::string& text, const std::string& before) {
  const fs::path aside = fmt::format("{}.{}.{}.partial", path.string(), name_of_host(), getpid());
  const int file = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) refuse(before + path.string(), "written", errno);
  int error = write_all(file, text);
  if (::close(file) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(aside.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(aside.c_str());
    refuse(before + path.string(), "written", error);
  }
  sync_directory(path.parent_path());
}

bool is_left_over(const fs::path& path) {
  const std::string name = path.filename(), host = "." + name_of_host() + ".";
  const std::size_t at = name.find(host);
  if (!name.ends_with(".partial") || at == std::string::npos) return false;
  const char* const digits = name.c_str() + at + host.size();
  pid_t process = 0;
  const auto [end, error] = std::from_chars(digits, name.c_str() + name.size(), process);
  if (error != std::errc() || std::string_view(end) != ".partial") return false;
  // A process that has ended and is not yet reaped has no program.
  std::error_code gone;
  (void)fs::read_symlink(fmt::format("/proc/{}/exe", process), gone);
  return gone == std::errc::no_such_file_or_directory;
}

std::string read_whole(const fs::path& path) {
  // A FIFO may have no end, and a directory no bytes.
  std::error_code failed;
  const auto type = fs::status(path, failed).type();
  if (type != fs::file_type::regular && type != fs::file_type::not_found)
    throw UserError(path.string() + ": is not a regular file");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in.is_open() || in.bad()) refuse(path.string(), "read", errno ? errno : EIO);
  return text;
}

}  // namespace sluice::config
