// SPDX-License-Identifier: Apache-2.0
#include "platform/sweep/jobs.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/config/user_error.h"
#include "platform/run/interruption.h"

namespace sluice::sweep {
namespace {

constexpr long kLookNs = 200'000'000;
/// A machine that has no process for a run may have one within a minute.
constexpr unsigned kMostTries = 300;

/// What a process tells the one that has started it: a letter for how it ended, and why. A pipe holds that much without
/// a reader.
constexpr std::size_t kLongestWhy = 4000;
constexpr char kFirst = 'a';

void tell(int pipe, const Attempt& attempt) {
  std::string message(1, static_cast<char>(kFirst + static_cast<int>(attempt.ended)));
  message += attempt.why.substr(0, kLongestWhy);
  for (std::size_t done = 0; done < message.size();) {
    const ssize_t n = ::write(pipe, message.data() + done, message.size() - done);
    if (n <= 0 && errno != EINTR) return;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

Attempt told(int pipe, int status) {
  std::string message;
  std::array<char, kLongestWhy + 1> buffer{};
  for (;;) {
    const ssize_t n = ::read(pipe, buffer.data(), buffer.size());
    if (n > 0)
      message.append(buffer.data(), static_cast<std::size_t>(n));
    else if (n == 0 || errno != EINTR)
      break;
  }
  if (!message.empty()) return {static_cast<Ended>(message[0] - kFirst), message.substr(1)};
  if (WIFSIGNALED(status))
    return {Ended::killed,
            fmt::format("its process was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))};
  return {Ended::killed, fmt::format("its process ended with status {} and said nothing", WEXITSTATUS(status))};
}

}  // namespace

unsigned processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

struct Jobs::Running {
  pid_t pid = 0;
  int pipe = -1;
  std::uint64_t number = 0;
};

/// False: the machine has no process or pipe for it, now.
bool Jobs::start(std::uint64_t number, std::vector<Running>& running, const platform::HeldSignals& held) {
  const config::BoardConfig board = points_.board_of(points_.at(number));
  const std::string& id = identities_.of(number).id;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) {
    const int why = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    errno = why;
    return false;
  }
  if (pid == 0) {
    // A sweep that is killed takes its runs with it. The terminal's Ctrl-C reaches only the sweep, which tells them.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    if (getppid() != parent) _exit(1);
    for (const Running& r : running) ::close(r.pipe);
    // A run must not do what the command does at a signal.
    for (const int number_of_signal : platform::ending_signals()) std::signal(number_of_signal, SIG_DFL);
    held.lift();
    const auto old = again.find(number);
    tell(ends[1], run_here(board, id, directory_, old == again.end() ? std::string() : old->second));
    _exit(0);
  }
  ::close(ends[1]);
  running.push_back({pid, ends[0], number});
  return true;
}

void Jobs::take_end(const Running& r, int status) {
  const Attempt attempt = told(r.pipe, status);
  ::close(r.pipe);
  switch (attempt.ended) {
    case Ended::elsewhere:
      elsewhere_.push_back(r.number);
      return;
    case Ended::interrupted:
      return;
    case Ended::unwritable:
      unwritable_ = attempt.why;
      return;
    case Ended::done:
      ++progress_.ended;
      return;
    case Ended::failed:
    case Ended::mistake:
      ++progress_.ended;
      [[fallthrough]];
    case Ended::changed:
    case Ended::killed:
      if (attempt.ended == Ended::killed && signal_ != 0) return;
      ++progress_.failed;
      if (on_trouble) on_trouble(points_.at(r.number), attempt);
  }
}

void Jobs::reap(std::vector<Running>& running) {
  for (std::size_t i = running.size(); i-- > 0;) {
    int status = 0;
    if (waitpid(running[i].pid, &status, WNOHANG) != running[i].pid) continue;
    const Running ended = running[i];
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    take_end(ended, status);
  }
}

const char* Jobs::run(const std::vector<std::uint64_t>& numbers) {
  std::signal(SIGCHLD, SIG_DFL);  // ignored, ends of children would be lost
  const platform::HeldSignals held({SIGCHLD});
  progress_ = {numbers.size(), 0, 0, 0};
  std::vector<std::uint64_t> queue(numbers.rbegin(), numbers.rend());
  std::vector<Running> running;
  unsigned tries = 0;  // since a run was started
  for (;;) {
    const bool more = signal_ == 0 && unwritable_.empty();
    while (more && running.size() < most_ && !queue.empty()) {
      if (!start(queue.back(), running, held)) {
        if (running.empty() && (errno == EMFILE || ++tries == kMostTries))
          throw config::UserError(fmt::format("a run cannot be started: {}", strerror(errno)));
        break;
      }
      tries = 0;
      queue.pop_back();
    }
    progress_.running = running.size();
    if (on_progress) on_progress(progress_);
    if (running.empty() && (!more || (queue.empty() && elsewhere_.empty()))) break;
    const timespec look{0, kLookNs};
    const int came = sigtimedwait(&held.set(), nullptr, &look);
    if (came == SIGHUP || came == SIGINT || came == SIGTERM) {
      // What does not end at the first signal does at the second.
      for (const Running& r : running) kill(r.pid, signal_ == 0 ? SIGTERM : SIGKILL);
      signal_ = came;
    }
    // One signal may stand for several ends. After a while in which nothing ended, look again at what others ran.
    reap(running);
    if (came < 0 && queue.empty()) queue.swap(elsewhere_);
  }
  if (!unwritable_.empty()) throw config::UserError(unwritable_);
  return signal_ == 0 ? nullptr : platform::name_of_signal(signal_);
}

}  // namespace sluice::sweep
