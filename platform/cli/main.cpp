#include <csignal>

#include <systemc>

#include "platform/cli/command.h"

// Debian's libsystemc refers to sc_main; the commands start the kernel themselves.
int sc_main(int, char**) { return 0; }

int main(int argc, char** argv) {
  using namespace sluice::cli;
  // A file that may grow no further (ulimit -f) is a write that fails, which is said, and no death by signal.
  std::signal(SIGXFSZ, SIG_IGN);
  return run(argc, argv, {add_boards, add_describe, add_run, add_compare});
}
