// SPDX-License-Identifier: Apache-2.0
#include "platform/config/files/whole_file.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "models/base/files/input_file.h"
#include "platform/config/user_error.h"

namespace sluice::config {
namespace {

namespace fs = std::filesystem;

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

/// Whether a process of this machine that no longer lives has left a file.
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

}  // namespace

std::string try_write_whole(const fs::path& path, const std::string& text) {
  const fs::path aside = fmt::format("{}.{}.{}.partial", path.string(), name_of_host(), getpid());
  const int file = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return std::strerror(errno);
  int error = write_all(file, text);
  if (::close(file) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(aside.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(aside.c_str());
    return std::strerror(error);
  }
  sync_directory(path.parent_path());
  return {};
}

void write_whole(const fs::path& path, const std::string& text, const std::string& before) {
  if (const std::string why = try_write_whole(path, text); !why.empty())
    throw UserError(fmt::format("{}{}: cannot be written: {}", before, path.string(), why));
}

void remove_left_overs(const fs::path& directory) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored))
    if (is_left_over(entry.path())) fs::remove(entry.path(), ignored);
}

std::string read_whole(const fs::path& path, const std::string& shown) {
  std::string text;
  try {
    const base::InputFile input = base::open_input_file(path.string());
    char part[1 << 16];
    for (std::size_t n = 0; (n = std::fread(part, 1, sizeof part, input.get())) > 0;) text.append(part, n);
    if (std::ferror(input.get())) throw std::runtime_error(path.string() + ": cannot be read to its end");
  } catch (const std::runtime_error& error) {
    // Such a sentence begins with the path.
    const std::string what = error.what();
    throw UserError(shown.empty() ? what : shown + what.substr(path.string().size()));
  }
  return text;
}

}  // namespace sluice::config
