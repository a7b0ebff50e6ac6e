// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/machines.h"

#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/riscv/iss_machine.h"

namespace sluice::differential {
namespace {

/// kMostSlots: a program that takes more is stuck; the longest one takes a sixth of them.
constexpr std::uint64_t kMostSlots = 400'000'000, kSlice = 1'000'000;

struct Board {
  static riscv::HartConfig config(bool windowed, riscv::TimingParts& parts) {
    riscv::HartConfig c;
    c.privileged.aia = true;
    if (windowed) parts.give_to(c, riscv::Timing::interval);
    return c;
  }
  explicit Board(const Image& image, bool windowed = false) : machine(config(windowed, parts)) {
    for (std::uint64_t at = 0; at < kRamSize; at += kPage)
      if (!empty(image.bytes().data() + at)) machine.ram.write(kRam + at, image.bytes().data() + at, kPage);
  }
  static bool empty(const std::uint8_t* page) { return page[0] == 0 && std::memcmp(page, page + 1, kPage - 1) == 0; }
  void take_back(Image& image) { std::memcpy(image.at(kRam), machine.ram.at(kRam), kRamSize); }
  std::uint64_t running() {
    std::uint64_t n;
    machine.ram.read(kRam + DIFF_CONTROL + CB_INDEX, &n, 8);
    return n;
  }
  riscv::TimingParts parts;
  riscv::IssMachine machine;
};

std::string stuck(const Board& board, const char* how) {
  char text[120];
  std::snprintf(text, sizeof text, "%s at pc %#llx", how,
                static_cast<unsigned long long>(board.machine.hart.state().pc));
  return text;
}

}  // namespace

RunEnd run_on_iss(Image& image, bool windowed) {
  static_assert(riscv::IssMachine::kRamSize == kRamSize);
  auto board = std::make_unique<Board>(image, windowed);
  riscv::Hart& hart = board->machine.hart;
  RunEnd end;
  std::uint64_t program = 0, since = 0;
  while (!board->machine.finished && end.trouble.empty()) {
    board->machine.limit = hart.state().slots + kSlice;
    const riscv::StopReason reason = hart.run();
    if (board->machine.finished) break;
    if (board->running() != program) program = board->running(), since = hart.state().slots;
    if (hart.state().slots - since > kMostSlots) end.trouble = stuck(*board, "it does not end: it is");
    if (reason == riscv::StopReason::wait_for_interrupt && !hart.privileged().interrupt_pending())
      end.trouble = stuck(*board, "it waits for an interrupt that never comes,");
  }
  end.instructions = hart.state().instret;
  board->take_back(image);
  return end;
}

RunEnd step_on_iss(Image& image, Observer& observer) {
  auto board = std::make_unique<Board>(image);
  riscv::Hart& hart = board->machine.hart;
  RunEnd end;
  while (!board->machine.finished && hart.state().slots < 100 * kMostSlots) {
    const std::uint64_t before = hart.state().instret;
    observer.before(hart);
    hart.step();
    observer.after(hart, hart.state().instret != before);
  }
  end.instructions = hart.state().instret;
  board->take_back(image);
  return end;
}

bool Qemu::installed() { return std::system("command -v qemu-system-riscv64 >/dev/null 2>&1") == 0; }

Qemu::Qemu(const std::string& ram_file) {
  // With AIA, because QEMU without it takes interrupts in the order of their numbers. Whatever the ISS lacks is off.
  // Two harts, because with one QEMU executes an AMO as a load and a store, which traps as a load.
  const std::string memory = "memory-backend-file,id=ram,share=on,size=64M,mem-path=" + ram_file;
  const char* const arguments[] = {
      "qemu-system-riscv64",
      "-M",
      "virt,aia=aplic-imsic,memory-backend=ram",
      "-object",
      memory.c_str(),
      "-m",
      "64M",
      "-smp",
      "2",
      "-cpu",
      "rv64,zba=true,zbb=true,zbc=false,zbs=true,h=false,debug=false,pmu-num=29,marchid=0,mimpid=0,mvendorid=0",
      "-bios",
      "none",
      "-display",
      "none",
      "-serial",
      "null",
      "-monitor",
      "none",
      "-nodefaults",
      nullptr};
  pid_ = fork();
  if (pid_ != 0) return;
  const int null = open("/dev/null", O_RDWR);
  dup2(null, 0);
  execvp(arguments[0], const_cast<char* const*>(arguments));
  _exit(127);
}

Qemu::~Qemu() {
  if (pid_ > 0) wait(0);
}

std::string Qemu::wait(unsigned seconds) {
  if (pid_ <= 0) return "QEMU was not started";
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  int status = 0;
  for (;;) {
    const pid_t done = waitpid(pid_, &status, WNOHANG);
    if (done == pid_) break;
    if (std::chrono::steady_clock::now() >= end) {
      kill(pid_, SIGKILL);
      waitpid(pid_, &status, 0);
      pid_ = -1;
      return "QEMU did not end";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  pid_ = -1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return "QEMU failed";
}

}  // namespace sluice::differential
