// SPDX-License-Identifier: Apache-2.0
// bench_iss [cached|interval]: speed of the ISS on the guests bench_*.c, in millions of guest instructions per second
// of processor time.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>

#include "tests/unit/riscv/iss_machine.h"

namespace {

using namespace sluice;

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// Runs a guest and returns the seconds it took. The machine is kept for its results.
double run(const std::string& guest, bool cached, const riscv::CoreShape* shape,
           std::unique_ptr<riscv::IssMachine>& machine) {
  base::LineState l1d(32 << 10, 8, 64), l1i(32 << 10, 8, 64);
  riscv::HartConfig config;
  if (cached) config.l1d = &l1d, config.l1i = &l1i;
  config.shape = shape;
  machine = std::make_unique<riscv::IssMachine>(config);
  machine->load_binary(std::string(SLUICE_GUESTS) + "/" + guest + ".bin");
  const double start = processor_seconds();
  machine->limit = 0;
  // On a board, too, run() returns after some 10,000 instructions.
  while (!machine->finished) {
    machine->limit += 20000;
    machine->hart.run();
  }
  return processor_seconds() - start;
}

}  // namespace

int main(int argc, char** argv) {
  const bool interval = argc > 1 && std::strcmp(argv[1], "interval") == 0;
  const bool cached = interval || (argc > 1 && std::strcmp(argv[1], "cached") == 0);
  const riscv::CoreShape shapes;
  const riscv::CoreShape* shape = interval ? &shapes : nullptr;
  for (const char* name : {"bench_coremark_like", "bench_dhrystone_like", "bench_memory", "bench_float"}) {
    std::unique_ptr<riscv::IssMachine> machine;
    double best = run(name, cached, shape, machine);
    for (int i = 0; i < 6; ++i) best = std::min(best, run(name, cached, shape, machine));
    const double instructions = static_cast<double>(machine->hart.state().instret) / 1e6;
    std::printf("%-20s %8.1f MIPS, best of 7; %.0f M instructions, exit %u, %s", name, instructions / best,
                instructions, machine->exit_code, machine->console.c_str());
  }
}
