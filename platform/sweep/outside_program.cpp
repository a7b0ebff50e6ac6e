// SPDX-License-Identifier: Apache-2.0
#include "platform/sweep/outside_program.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/base/files/input_file.h"

namespace sluice::sweep {
namespace {

[[noreturn]] void fail(int error) {
  throw std::runtime_error(std::string("a program cannot be called: ") + std::strerror(error));
}

/// A file without a name for what a program prints: no pipe that could fill up.
base::InputFile scratch() {
  base::InputFile file(std::tmpfile());
  if (!file) fail(errno);
  return file;
}

std::string text_of(std::FILE* file) {
  std::rewind(file);
  std::string text;
  char part[4096];
  for (std::size_t n; (n = std::fread(part, 1, sizeof part, file)) > 0;) text.append(part, n);
  return text;
}

}  // namespace

Called call(const std::vector<std::string>& arguments) {
  const base::InputFile out = scratch(), err = scratch();
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(out.get()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(err.get()), STDERR_FILENO);
  // The terminal's Ctrl-C is not for a program that is about to submit something.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT || error == EACCES) return {127, {}, std::strerror(error)};
  if (error != 0) fail(error);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  Called called{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text_of(out.get()),
                text_of(err.get())};
  while (called.errors.ends_with('\n')) called.errors.pop_back();
  std::replace(called.errors.begin(), called.errors.end(), '\n', ' ');
  return called;
}

}  // namespace sluice::sweep
