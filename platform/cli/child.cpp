// SPDX-License-Identifier: Apache-2.0
#include "platform/cli/child.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/cli/progress.h"
#include "platform/cli/say.h"
#include "platform/run/interruption.h"

namespace sluice::cli {
namespace {

constexpr int kProgressMs = 200;

struct Running {
  pid_t pid = 0;
  std::array<int, 2> pipes{-1, -1};  ///< standard output and error; -1: at its end
  std::size_t index = 0;
  bool open() const { return pipes[0] >= 0 || pipes[1] >= 0; }
};

volatile std::sig_atomic_t signal_came = 0;

void take_signal(int number) { signal_came = number; }

/// Records SIGHUP, SIGINT and SIGTERM while it lives; run_all() forwards them to the runs. Each run has its own process
/// group, so that the terminal's Ctrl-C does not reach it a second time.
class Signals {
 public:
  Signals() {
    signal_came = 0;
    set(take_signal);
  }
  ~Signals() { set(SIG_DFL); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  static void set(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    for (const int number : {SIGHUP, SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
  }
};

[[noreturn]] void fail(const char* what, int error) {
  throw std::runtime_error(std::string(what) + ": " + std::strerror(error));
}

Running start(const std::vector<std::string>& arguments, std::size_t index) {
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) fail("a run cannot be started", errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
  std::vector<char*> argv;
  char name[] = "sluice";
  argv.push_back(name);
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  Running running;
  running.index = index;
  running.pipes = {out[0], err[0]};
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int error = posix_spawn(&running.pid, "/proc/self/exe", &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  close(err[1]);
  if (error != 0) fail("a run cannot be started", error);
  return running;
}

/// Takes what has arrived; closes the pipe at its end.
void drain(int& pipe, std::string& to) {
  char buffer[1 << 16];
  const ssize_t n = read(pipe, buffer, sizeof(buffer));
  if (n > 0) {
    to.append(buffer, static_cast<std::size_t>(n));
  } else if (n == 0 || errno != EINTR) {
    close(pipe);
    pipe = -1;
  }
}

/// Exit status of a run; nothing where a signal has ended it.
std::optional<int> wait_for_end(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  if (signal_came == 0) say("sluice: a run ended by signal {} ({})\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return {};
}

}  // namespace

/// Takes a line that was said before the run started out of errors(); empty where there is none, or not all of it.
std::string Child::take_announcement() {
  const std::size_t mark = errors_.find(kAboutToRun);
  const std::size_t end = errors_.find('\n', mark == std::string::npos ? errors_.size() : mark);
  if (end == std::string::npos) return {};
  const std::size_t before = errors_.rfind('\n', mark);
  const std::size_t first = before == std::string::npos ? 0 : before + 1;
  std::string line = errors_.substr(first, end + 1 - first);
  errors_.erase(first, line.size());
  return line;
}

const char* run_all(std::vector<Child>& children, const char* command, const char* what) {
  static std::set<std::string> announced;  // by any of the command's lists of runs
  Progress progress(command);
  const std::size_t most = std::max(1u, std::thread::hardware_concurrency());
  const Signals signals;
  std::vector<Running> running;
  std::size_t next = 0;
  bool told = false;
  while ((next < children.size() && signal_came == 0) || !running.empty()) {
    for (; next < children.size() && running.size() < most && signal_came == 0; ++next)
      running.push_back(start(children[next].arguments_, next));
    if (signal_came != 0 && !std::exchange(told, true))
      for (const Running& r : running) kill(r.pid, signal_came == SIGINT ? SIGINT : SIGTERM);
    std::vector<pollfd> waits;
    for (const Running& r : running)
      for (const int pipe : r.pipes) waits.push_back({pipe, POLLIN, 0});  // poll ignores -1
    if (poll(waits.data(), waits.size(), kProgressMs) < 0 && errno != EINTR)
      fail("a run's end cannot be awaited", errno);
    for (std::size_t i = running.size(); i-- > 0;) {
      Child& child = children[running[i].index];
      if (waits[2 * i].revents != 0) drain(running[i].pipes[0], child.output_);
      if (waits[2 * i + 1].revents != 0) drain(running[i].pipes[1], child.errors_);
      if (const std::string line = child.take_announcement(); !line.empty() && announced.insert(line).second) {
        progress.clear();
        say("{}", line);
      }
      if (running[i].open()) continue;
      // The output of a run that a signal has ended is not a result.
      if (const auto status = wait_for_end(running[i].pid))
        child.status_ = *status;
      else
        child.output_.clear();
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (Progress::wanted())
      progress.show(fmt::format("{} of {} {} done", next - running.size(), children.size(), what));
  }
  return signal_came == 0 ? nullptr : platform::name_of_signal(signal_came);
}

}  // namespace sluice::cli
