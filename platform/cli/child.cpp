#include "platform/cli/child.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <thread>

#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::cli {
namespace {

struct Running {
  pid_t pid;
  int pipe;
  std::size_t index;
};

Running start(const std::vector<std::string>& arguments, std::size_t index) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("a run cannot be started: no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  std::vector<char*> argv;
  char name[] = "sluice";
  argv.push_back(name);
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) throw std::runtime_error(std::string("a run cannot be started: ") + std::strerror(error));
  return {pid, ends[0], index};
}

}  // namespace

void run_all(std::vector<Child>& children) {
  const std::size_t most = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Running> running;
  std::size_t next = 0;
  while (next < children.size() || !running.empty()) {
    for (; next < children.size() && running.size() < most; ++next)
      running.push_back(start(children[next].arguments_, next));
    std::vector<pollfd> waits;
    for (const Running& r : running) waits.push_back({r.pipe, POLLIN, 0});
    if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR)
      throw std::runtime_error("a run's end cannot be awaited");
    for (std::size_t i = running.size(); i-- > 0;) {
      if ((waits[i].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
      Child& child = children[running[i].index];
      char buffer[1 << 16];
      const ssize_t n = read(running[i].pipe, buffer, sizeof(buffer));
      if (n > 0) {
        child.output_.append(buffer, static_cast<std::size_t>(n));
        continue;
      }
      close(running[i].pipe);
      int status = 0;
      while (waitpid(running[i].pid, &status, 0) < 0 && errno == EINTR) {
      }
      child.status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

}  // namespace sluice::cli
