#include <systemc>

#include "platform/cli/command.h"

// Debian's libsystemc refers to sc_main; the commands start the kernel themselves.
int sc_main(int, char**) { return 0; }

int main(int argc, char** argv) {
  using namespace sluice::cli;
  return run(argc, argv, {add_boards, add_describe, add_run, add_compare});
}
