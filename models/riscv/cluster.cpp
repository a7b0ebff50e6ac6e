// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/cluster.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>

#include <fmt/format.h>

#include "models/base/parameters/spread.h"

namespace sluice::riscv {
CostTable InstructionCosts::table() const {
  CostTable t;
  const auto set = [&t](CostClass c, unsigned slots) { t.of(c) = static_cast<std::uint16_t>(slots); };
  set(CostClass::alu, alu);
  set(CostClass::branch, branch);
  set(CostClass::jump, jump);
  set(CostClass::jump_indirect, jump_indirect);
  set(CostClass::load, load);
  set(CostClass::store, store);
  set(CostClass::mul, mul);
  set(CostClass::div32, div32);
  set(CostClass::div64, div64);
  set(CostClass::fp_move, fp_move);
  set(CostClass::fp_add, fp_add);
  set(CostClass::fp_mul, fp_mul);
  set(CostClass::fp_div32, fp_div32);
  set(CostClass::fp_div64, fp_div64);
  set(CostClass::fp_sqrt32, fp_sqrt32);
  set(CostClass::fp_sqrt64, fp_sqrt64);
  set(CostClass::atomic, atomic);
  set(CostClass::fence, fence);
  set(CostClass::csr, csr);
  set(CostClass::system, system);
  set(CostClass::pause, pause);
  t.branch_taken = static_cast<std::uint16_t>(branch_taken);
  t.exception = exception;
  t.interrupt = interrupt;
  t.trap_return = trap_return;
  return t;
}

void InstructionCosts::describe(base::Schema<InstructionCosts>& s) {
  using C = InstructionCosts;
  s.summary("issue slots per instruction class; a cycle has issue_width slots");
  const auto meaning_of = [](std::string_view key, const char* meaning) {
    const bool in_window = std::find(kWithoutWindow.begin(), kWithoutWindow.end(), key) == kWithoutWindow.end();
    return std::string(meaning) + (in_window ? "" : "; with timing \"interval\" see core.*");
  };
  const auto cost = [&](const char* key, unsigned C::*member, const char* meaning) -> auto& {
    return s.add(key, member, meaning_of(key, meaning))
        .range(1, 1023)
        .unit("slots")
        .assumed("throughput of an out-of-order core of width 4");
  };
  cost("alu", &C::alu, "integer and bit manipulation");
  cost("branch", &C::branch, "conditional branch");
  s.add("branch_taken", &C::branch_taken, meaning_of("branch_taken", "added to a branch that is taken"))
      .range(0, 1023)
      .unit("slots")
      .assumed("throughput of an out-of-order core of width 4; no misprediction model");
  cost("jump", &C::jump, "jal");
  cost("jump_indirect", &C::jump_indirect, "jalr");
  cost("load", &C::load, "load that hits L1; with timing \"interval\": one from a device")
      .acts_with({"drained_loads"}, "no hart has read a device");
  cost("store", &C::store, "store that hits L1; with timing \"interval\": one to a device, unless PCIe posts it")
      .acts_with({"drained_stores"}, "no hart has written to a device but by posted writes");
  cost("mul", &C::mul, "integer multiply").acts_with({decoded_counter(CostClass::mul)}, kNotExecuted);
  cost("div32", &C::div32, "32-bit divide").acts_with({decoded_counter(CostClass::div32)}, kNotExecuted);
  cost("div64", &C::div64, "64-bit divide").acts_with({decoded_counter(CostClass::div64)}, kNotExecuted);
  cost("fp_move", &C::fp_move, "sign injection, moves, comparisons, classification")
      .acts_with({decoded_counter(CostClass::fp_move)}, kNotExecuted);
  cost("fp_add", &C::fp_add, "add, subtract, conversions")
      .acts_with({decoded_counter(CostClass::fp_add)}, kNotExecuted);
  cost("fp_mul", &C::fp_mul, "multiply and fused multiply-add")
      .acts_with({decoded_counter(CostClass::fp_mul)}, kNotExecuted);
  cost("fp_div32", &C::fp_div32, "single-precision divide")
      .acts_with({decoded_counter(CostClass::fp_div32)}, kNotExecuted);
  cost("fp_div64", &C::fp_div64, "double-precision divide")
      .acts_with({decoded_counter(CostClass::fp_div64)}, kNotExecuted);
  cost("fp_sqrt32", &C::fp_sqrt32, "single-precision square root")
      .acts_with({decoded_counter(CostClass::fp_sqrt32)}, kNotExecuted);
  cost("fp_sqrt64", &C::fp_sqrt64, "double-precision square root")
      .acts_with({decoded_counter(CostClass::fp_sqrt64)}, kNotExecuted);
  cost("atomic", &C::atomic, "AMO, LR, SC").acts_with({"atomics"}, kNotExecuted);
  cost("fence", &C::fence, "fence.i, sfence.vma; without timing \"interval\" fence, too")
      .acts_with({"fences"}, kNotExecuted);
  cost("csr", &C::csr, "CSR access").acts_with({"csr_accesses"}, kNotExecuted);
  cost("system", &C::system, "wfi, wrs").acts_with({"waits"}, kNotExecuted);
  cost("pause", &C::pause, "pause").acts_with({decoded_counter(CostClass::pause)}, kNotExecuted);
  const auto trap = [&s](const char* key, unsigned C::*member, const char* meaning) -> auto& {
    return s.add(key, member, meaning)
        .range(1, 1'000'000)
        .unit("slots")
        .assumed("a core that only drains its pipeline");
  };
  trap("exception", &C::exception, "from an instruction that traps to the handler's first instruction")
      .acts_with({"traps"}, "no instruction has trapped");
  trap("interrupt", &C::interrupt, "from the instruction before an interrupt to the handler's first instruction")
      .acts_with({"interrupts"}, "no hart has taken an interrupt");
  trap("trap_return", &C::trap_return, "mret, sret").acts_with({"trap_returns"}, kNotExecuted);
}

base::Clock ClusterParameters::slot_clock(std::string_view path) const {
  return base::Clock(
      base::spread().period(base::Clock(clock.hertz() * issue_width).period(), clock_tolerance, path, "clock"));
}

namespace {

/// What is wrong with the list of services, as the end of a sentence.
std::string wrong_services(const ClusterParameters& p) {
  constexpr unsigned kMostProcesses = 64;
  std::set<std::string> names;
  for (const std::string& service : p.services) {
    const std::size_t star = service.find('*');
    const std::string name = service.substr(0, star),
                      count = star == std::string::npos ? "1" : service.substr(star + 1);
    unsigned processes = 0;
    const char* end = count.data() + count.size();
    const bool is_number = std::from_chars(count.data(), end, processes).ptr == end;
    if (name.empty() || !is_number || processes == 0 || processes > kMostProcesses)
      return fmt::format("has {}, and must have the names of RPC programs, each alone or as NAME*1 to NAME*{}", service,
                         kMostProcesses);
    if (!names.insert(name).second) return fmt::format("has {} twice", name);
  }
  return {};
}

}  // namespace

void ClusterParameters::describe(base::Schema<ClusterParameters>& s) {
  using P = ClusterParameters;
  s.summary("harts with a clock and a firmware");
  s.add("harts", &P::harts, "number of harts").range(1, 64).unit("harts").setting();
  s.add("clock", &P::clock, "clock of the harts").range(1_MHz, 10_GHz).stated("Enso's host: i9-9960X at 3.1 GHz");
  s.add("clock_tolerance", &P::clock_tolerance, "how far that clock may deviate, where run.spread is drawn")
      .range(0, 1000)
      .unit("ppm")
      .assumed("an ideal clock");
  s.add("issue_width", &P::issue_width, "instructions issued per cycle; with an instruction window: dispatched")
      .range(1, 16)
      .unit("slots")
      .assumed("Skylake-X class");
  s.add("timebase", &P::timebase, "rate of mtime and of the time CSR").range(1_MHz, 1_GHz).assumed("as QEMU virt");
  s.add("quantum", &P::quantum,
        "how far one hart may run ahead of another, at most caches.snoop_latency; 0 ns: that latency, and with one "
        "hart, "
        "whose results do not depend on it, what is fastest")
      .range(0_ns, 1_s)
      .setting();
  s.add("bus_timeout", &P::bus_timeout,
        "how long an access to a line whose home is a device may wait; then it is an access fault")
      .range(1_us, 18'000_s)
      .acts_with({"lines_unanswered"}, "no access to such a line waited so long")
      .assumed("longer than any modelled device holds a load back");
  s.add("interrupts", &P::interrupts, "plic: INTx by PLIC; aia: MSI-X by APLIC and IMSIC")
      .choices({{"plic", Interrupts::plic}, {"aia", Interrupts::aia}})
      .setting();
  s.add("firmware", &P::firmware,
        "what the harts start in: a shipped firmware's name, the path of an ELF file, or raw bytes, FILE@ADDRESS")
      .required();
  s.add("images", &P::images,
        "files in memory beside it, ELF or FILE@ADDRESS; the firmware is told of the first one's entry")
      .setting();
  s.add("initrd", &P::initrd, "initial RAM disk, FILE or FILE@ADDRESS; empty: none").setting();
  s.add("device_tree", &P::device_tree,
        "compiled device tree in the place of the board's, or overlay of it; empty: the board's as it is")
      .names_file()
      .setting();
  s.add("bootargs", &P::bootargs, "bootargs of the device tree's /chosen; empty: as the tree has them").setting();
  s.rule("bootargs", [](const P& p) -> std::string {
    const bool plain = std::all_of(p.bootargs.begin(), p.bootargs.end(), [](char c) { return c >= ' ' && c <= '~'; });
    return plain ? "" : "must be of printable ASCII characters";
  });
  s.add("services", &P::services,
        "RPC programs that the firmware serves, NAME or NAME*COUNT: COUNT processes, each at a UDP port of its own, "
        "20049 and those behind it; empty: each of its programs once")
      .length(0, 64)
      .setting();
  s.rule("services", wrong_services);
  s.add("batch_threads", &P::batch_threads,
        "threads of the firmware's kernel that compute when no request needs a core")
      .range(0, 64)
      .unit("threads")
      .setting();
  s.add("time_slice", &P::time_slice,
        "how long a thread of the firmware's kernel keeps a hart that another thread waits for, in steps of 1 us")
      .range(10_us, 1_s)
      .setting();
  s.rule("time_slice", [](const P& p) { return p.time_slice % 1_us == 0_ns ? "" : "must be a multiple of 1 us"; });
  s.add("idle_polls", &P::idle_polls,
        "polls in a row that find nothing until a process that polls gives its turn up; 0: it keeps its time slice")
      .range(0, 1'000'000)
      .unit("polls")
      .setting();
  s.add("local_delivery", &P::local_delivery,
        "from the CLINT's messages and timers, and from the timer of stimecmp, to a hart's pipeline")
      .range(0_ns, 100_us)
      .acts_with({"local_interrupts"}, "no interrupt of the CLINT or of stimecmp came")
      .assumed("as imsic.delivery");
  s.include("idle", &P::idle);
  s.include("tlb", &P::tlb);
  s.include("uncached", &P::uncached);
  s.include("costs", &P::costs);
  s.include("core", &P::core);
}

}  // namespace sluice::riscv
