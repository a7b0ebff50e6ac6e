// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include <systemc>

#include "platform/cli/command.h"

// Debian's libsystemc refers to sc_main; the commands start the kernel themselves.
int sc_main(int, char**) { return 0; }

int main(int argc, char** argv) {
  using namespace sluice::cli;
  // A write beyond the file size limit (ulimit -f) must fail with an error that is reported, and not kill the process.
  std::signal(SIGXFSZ, SIG_IGN);
  return run(argc, argv,
             {add_boards, add_describe, add_run, add_compare, add_sweep, add_report, add_reproduce, add_sensitivity});
}
