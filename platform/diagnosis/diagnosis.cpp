// SPDX-License-Identifier: Apache-2.0
#include "platform/diagnosis/diagnosis.h"

#include <map>

#include <fmt/format.h>

#include "firmware/kernel/exit_codes.h"
#include "models/base/parameters/quantity.h"
#include "models/base/systemc/model.h"
#include "models/base/time/who_waits.h"
#include "models/riscv/iss/privileged/csr.h"
#include "platform/diagnosis/code_place.h"

namespace sluice::platform {
namespace {

struct TrapRegisters {
  unsigned epc, cause, value;
};
constexpr TrapRegisters kMachine{0x341, 0x342, 0x343};
constexpr TrapRegisters kSupervisor{0x141, 0x142, 0x143};
constexpr unsigned kMscratch = 0x340;
/// A symbol that every image of the firmware library has (firmware/boot/start.S) and no other image has.
constexpr const char* kLibraryMark = "sluice_exit_codes";

}  // namespace

const char* exception_name(std::uint64_t cause) {
  static constexpr const char* kNames[] = {
      "misaligned fetch",    "fetch access fault",        "illegal instruction", "breakpoint",
      "misaligned load",     "load access fault",         "misaligned store",    "store access fault",
      "call from user mode", "call from supervisor mode", "exception 10",        "call from machine mode",
      "fetch page fault",    "load page fault",           "exception 14",        "store page fault"};
  return cause < std::size(kNames) ? kNames[cause] : "interrupt that nothing handles";
}

namespace {

/// The end of a sentence about what a hart has asked for; nothing where none has.
std::string asked_at(Board& board, riscv::Core* hart) {
  const Cluster* cluster = board.cluster_of(hart);
  if (!cluster) return {};
  return fmt::format("; {} at {}", hart->path(), describe(*cluster, place_of(*hart)));
}

std::uint64_t csr_of(riscv::Core& hart, unsigned number) {
  std::uint64_t value = 0;
  hart.hart().privileged().csr_peek(number, value);
  return value;
}

}  // namespace

bool in_machine_trap(riscv::Core& hart) {
  const riscv::HartState& state = hart.hart().state();
  if (state.privilege == riscv::Privilege::machine) return true;
  return csr_of(hart, kMachine.epc) == state.pc && csr_of(hart, kSupervisor.epc) != state.pc;
}

namespace {

std::string place_of_trap(const Cluster& cluster, riscv::Core& hart, std::uint64_t epc) {
  auto user_space = hart.hart().privileged().user_space_of_trap(epc);
  // Where software has written another address, it is not known whose that is, unless nothing is translated.
  if (!user_space && csr_of(hart, riscv::csr::kSatp) >> 60 == 0) user_space = 0;
  return user_space ? describe(cluster, {epc, *user_space}) : fmt::format("pc {:#x}", epc);
}

}  // namespace

std::string describe_trap(const Cluster& cluster, riscv::Core& hart) {
  const TrapRegisters& registers = in_machine_trap(hart) ? kMachine : kSupervisor;
  const std::uint64_t epc = csr_of(hart, registers.epc), cause = csr_of(hart, registers.cause),
                      value = csr_of(hart, registers.value);
  return fmt::format("{} (cause {}) at {}, value {:#x}", exception_name(cause), cause & ~(std::uint64_t{1} << 63),
                     place_of_trap(cluster, hart, epc), value);
}

namespace {

/// One line for each hart: where it is, in which function, how far it has come.
std::string describe_harts(Board& board) {
  std::string text;
  for (Cluster& c : board.clusters()) {
    for (auto& core : c.cores) {
      const auto& state = core->hart().state();
      text += fmt::format("{}: {}, {} instructions, {} ns\n", core->path(), describe(c, place_of(*core)), state.instret,
                          core->local_time().nanoseconds());
    }
  }
  return text;
}

/// One line for each of the board's faults that has happened: what, when, and whether it lasts.
std::string describe_faults(Board& board) {
  struct Sum {
    FaultRecord first;
    std::uint64_t times = 0;
    base::Time last;
    bool over = false;
  };
  if (!board.faults()) return {};
  std::map<std::string, Sum> sums;
  for (FaultRecord& r : board.faults()->records(base::now())) {
    Sum& sum = sums[r.name];
    sum.last = r.at;
    sum.over = r.momentary || r.recovered != base::Time::max();
    if (sum.times++ == 0) sum.first = std::move(r);
  }
  std::string text;
  for (const auto& [name, sum] : sums) {
    const std::string when = sum.times == 1 ? "at " + base::to_text(sum.last)
                                            : fmt::format("{} times from {} to {}", sum.times,
                                                          base::to_text(sum.first.at), base::to_text(sum.last));
    text += fmt::format("{}: {} of {}, {}{}\n", name, sum.first.kind, sum.first.target, when,
                        sum.over ? "" : ", not recovered from");
  }
  return text;
}

/// What software has printed last, which may say what it waits for.
std::string describe_consoles(Board& board) {
  std::string text;
  for (const auto& system : board.systems())
    if (const std::string& line = system->uart().last_line(); !line.empty())
      text += fmt::format("{} printed last: {}\n", system->uart().path(), line);
  return text;
}

}  // namespace

std::string describe_state(Board& board) {
  return describe_faults(board) + base::describe_waits() + describe_harts(board) + describe_consoles(board);
}

namespace {

/// The explanation of an exit code by the workload that this firmware belongs to, even if the run has another workload.
/// A workload that throws does not take the place of what has happened.
std::string explain_exit(unsigned code, Board& board, const Firmware& firmware) {
  std::vector<pcie::Endpoint*> devices;
  for (DeviceInstance& d : board.devices()) devices.push_back(d.endpoint.get());
  for (const auto& model : board.config().the("workload").models()) {
    const auto* factory = dynamic_cast<const workload::WorkloadFactory*>(model.factory.get());
    if (!factory) continue;
    try {
      std::string why =
          base::name_what_is_thrown(model.title, [&] { return factory->explain_exit(firmware.name(), code, devices); });
      if (!why.empty()) return why;
    } catch (const base::ComponentError& e) {
      return fmt::format("the {} threw an exception when asked what that means: {}", e.component(),
                         config::UserError(e.what()).what());
    }
  }
  return {};
}

/// The firmware keeps the old value of sp in mscratch (firmware/kernel/exit_codes.h).
std::string describe_overflow(const Cluster& cluster, riscv::Core& hart) {
  return fmt::format("sp was {:#x}: {}", csr_of(hart, kMscratch), describe_trap(cluster, hart));
}

}  // namespace

std::string describe_failure(unsigned code, Board& board, riscv::Core* hart) {
  std::string failed = fmt::format("the firmware failed with code {}", code);
  const Cluster* cluster = board.cluster_of(hart);
  if (!cluster) return failed;
  const std::string where = asked_at(board, hart);
  // An image that is not of the firmware library has codes of its own.
  if (!cluster->firmware.symbols().variable(kLibraryMark)) return failed + where;
  switch (code) {
    case EXIT_TRAP:
      return fmt::format("{}, a trap that it does not handle: {}, on {}", failed, describe_trap(*cluster, *hart),
                         hart->path());
    case EXIT_STACK:
      return fmt::format("{}: a stack of {} has overflowed, {}", failed, hart->path(),
                         describe_overflow(*cluster, *hart));
    case EXIT_NO_NIC:
      return fmt::format("{}: it found no NIC that it has a driver for{}", failed, where);
    case EXIT_GAVE_UP:
      return fmt::format("{}: it gave up, and --console shows why{}", failed, where);
    default:
      break;
  }
  const std::string reason = explain_exit(code, board, cluster->firmware);
  return failed + (reason.empty() ? "" : ": " + reason) + where;
}

std::string describe_exit(const std::string& what, Board& board, riscv::Core* hart) {
  return "the firmware " + what + asked_at(board, hart);
}

std::string describe_reset(Board& board, riscv::Core* hart) {
  return "the firmware asked for a reset, which ends a run" + asked_at(board, hart);
}

std::string describe_reset_loop(Board& board, const SystemOnChip& system, riscv::Core* hart, std::uint64_t resets) {
  return fmt::format("the firmware has reset {} {} times, and no request has ended in between{}\n",
                     system.plan().is_host() ? "the board" : system.path(), resets, asked_at(board, hart));
}

std::string describe_time_limit(Board& board) {
  return fmt::format(
      "the run has not ended, and for {} of simulated time no request has either (run.time_limit; --until ends a run "
      "elsewhere)\n",
      base::to_text(board.run_parameters().time_limit));
}

std::string describe_stall(Board& board, base::Time stall_limit) {
  std::string text =
      fmt::format("no request has ended for {} of simulated time (run.stall_limit)", base::to_text(stall_limit));
  const workload::Workload* workload = board.workload();
  if (!workload) return text + "\n" + describe_state(board);
  if (const std::string reason = workload->stall_reason(); !reason.empty()) text += ": " + reason;
  text += "\n" + workload->stall_details();
  return text + describe_state(board);
}

}  // namespace sluice::platform
