// SPDX-License-Identifier: Apache-2.0
#include "platform/run/first_run.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <stdexcept>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/base/measure/ledger.h"
#include "platform/board/pcie_tree.h"
#include "platform/config/user_error.h"
#include "platform/run/simulation.h"
#include "platform/statistics/transient.h"

namespace sluice::platform {
namespace {

using Parameters = net::TrafficSource::Parameters;

const Parameters* traffic_of(const config::BoardConfig& config) {
  const config::Instance& workload = config.the("workload");
  return workload.model() == "traffic" ? &workload.parameters<Parameters>() : nullptr;
}

/// In the child: the first run itself.
WarmUp simulate(const config::BoardConfig& config, std::optional<base::Time> until) {
  Board board(config, Traffic::generated, WarmUp{});
  statistics::Transient transient;
  base::ledger().on_complete([&transient](const base::Ledger::Request& r, base::Time end) {
    if (r.measured) transient.add((end - r.start()).nanoseconds());
  });
  SimulationOptions options;
  options.until = until;
  Simulation simulation(board, std::move(options));
  const Outcome outcome = simulation.run();
  if (outcome != Outcome::finished && outcome != Outcome::limit) return {0, transient.batch(), true};
  const statistics::Transient::End end = transient.end();
  return {end.observations, transient.batch(), end.too_short};
}

/// Simulates and tells the parent; does not return. What goes wrong here goes wrong again in the run that follows,
/// which says so.
[[noreturn]] void run_child(int pipe, pid_t parent, const config::BoardConfig& config,
                            std::optional<base::Time> until) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, stream);
  WarmUp found{0, 0, true};
  try {
    found = simulate(config, until);
  } catch (const config::MachineError&) {
    ::_exit(1);
  } catch (const std::bad_alloc&) {
    ::_exit(1);
  } catch (...) {
  }
  const bool told = ::write(pipe, &found, sizeof(found)) == sizeof(found);
  ::_exit(told ? 0 : 1);
}

/// Reads what the child tells; nothing where it ends without a word, or a signal comes.
std::optional<WarmUp> listen(int pipe) {
  constexpr int kLookMs = 100;
  pollfd wait{pipe, POLLIN, 0};
  while (!Interruption::signal()) {
    const int ready = ::poll(&wait, 1, kLookMs);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    WarmUp found;
    if (::read(pipe, &found, sizeof(found)) == sizeof(found)) return found;
    break;
  }
  return {};
}

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(std::string("the first run cannot be started: ") + what + ": " + std::strerror(errno));
}

void check(const config::BoardConfig& config) {
  const config::Instance& workload = config.the("workload");
  for (const config::Instance* peer : config.of_kind("peer"))
    if (peer->model() == "traffic")
      throw config.error(workload, "find_warmup", "needs one source of calls, and " + peer->path() + " is another");
}

}  // namespace

bool finds_warm_up(const config::BoardConfig& config) {
  const Parameters* traffic = traffic_of(config);
  return traffic && traffic->find_warmup && makes_calls(config) && !config.of_kind("net").empty();
}

std::optional<WarmUp> find_warm_up(const config::BoardConfig& config, std::optional<base::Time> until) {
  check(config);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
  const Interruption interruption;
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    ::close(ends[0]);
    run_child(ends[1], parent, config, until);
  }
  ::close(ends[1]);
  const std::optional<WarmUp> found = listen(ends[0]);
  ::close(ends[0]);
  if (Interruption::signal()) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (Interruption::signal()) return {};
  if (!found && WIFSIGNALED(status))
    throw std::runtime_error(std::string("the first run was ended by a signal: ") + ::strsignal(WTERMSIG(status)));
  if (!found) throw std::runtime_error("the first run ended without a result");
  return found;
}

}  // namespace sluice::platform
