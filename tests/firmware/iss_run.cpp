// SPDX-License-Identifier: Apache-2.0
// iss_run GUEST.bin [slots]: runs a bare guest on the ISS and prints its console; exits with its code.

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "tests/unit/riscv/iss_machine.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  auto machine = std::make_unique<sluice::riscv::IssMachine>();
  machine->load_binary(argv[1]);
  machine->limit = argc > 2 ? std::strtoull(argv[2], nullptr, 0) : 10'000'000'000;
  auto reason = sluice::riscv::StopReason::wait_on_reservation;
  while (reason == sluice::riscv::StopReason::wait_on_reservation) reason = machine->hart.run();
  std::fputs(machine->console.c_str(), stdout);
  if (machine->finished) return static_cast<int>(machine->exit_code);
  std::fprintf(stderr, "stopped (%d) at pc %#llx after %llu instructions\n", static_cast<int>(reason),
               static_cast<unsigned long long>(machine->hart.state().pc),
               static_cast<unsigned long long>(machine->hart.state().instret));
  return 1;
}
