// bench_iss [cached]: speed of the ISS on the guests bench_*.c, in millions of guest instructions per wall second.

#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "tests/unit/iss_machine.h"

int main(int argc, char** argv) {
  using namespace sluice;
  const bool cached = argc > 1 && std::strcmp(argv[1], "cached") == 0;
  for (const char* name : {"bench_integer", "bench_memory", "bench_float"}) {
    base::LineState l1d(32 << 10, 8, 64), l1i(32 << 10, 8, 64);
    riscv::HartConfig config;
    if (cached) config.l1d = &l1d, config.l1i = &l1i;
    auto machine = std::make_unique<riscv::IssMachine>(config);
    machine->load_binary(std::string(SLUICE_GUESTS) + "/" + name + ".bin");
    const auto start = std::chrono::steady_clock::now();
    machine->limit = 0;
    // A core on a board comes back after some 10,000 instructions.
    while (!machine->finished) {
      machine->limit += 20000;
      machine->hart.run();
    }
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    const double instructions = static_cast<double>(machine->hart.state().instret);
    std::printf("%-14s %8.1f MIPS  %6.2f s  %.0f M instructions, exit %u, %s", name, instructions / wall.count() / 1e6,
                wall.count(), instructions / 1e6, machine->exit_code, machine->console.c_str());
  }
}
