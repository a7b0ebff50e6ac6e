// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/core_parameters.h"

#include <algorithm>

namespace sluice::riscv {
namespace {

constexpr const char* kIntel =
    "Intel 64 and IA-32 Architectures Optimization Reference Manual (248966): Skylake Client and Server "
    "microarchitecture";
constexpr const char* kFog = "Agner Fog, Instruction tables: Skylake-X";

}  // namespace

ExecutionClass PipelinedClass::shape() const {
  ExecutionClass c;
  c.latency = static_cast<std::uint8_t>(latency);
  c.ports = 0;
  for (const unsigned port : ports) c.ports = static_cast<std::uint16_t>(c.ports | 1u << port);
  return c;
}

void PipelinedClass::describe(base::Schema<PipelinedClass>& s) {
  s.summary("a class of instructions whose units take one in each cycle");
  s.add("latency", &PipelinedClass::latency,
        "cycles from issue to that of a dependent instruction; loads: when L1D hits")
      .range(1, 255)
      .unit("cycles")
      .measured(kFog)
      .uncertainty("0 %");  // whole cycles, counted
  s.add("ports", &PipelinedClass::ports, "ports that may issue it")
      .range(0, CoreShape::kPorts - 1)
      .length(1, CoreShape::kPorts)
      .identifier()
      .stated(kIntel);
}

ExecutionClass UnpipelinedClass::shape() const {
  ExecutionClass c;
  c.latency = static_cast<std::uint8_t>(latency);
  c.interval = static_cast<std::uint8_t>(interval);
  c.ports = static_cast<std::uint16_t>(1u << port);
  return c;
}

void UnpipelinedClass::describe(base::Schema<UnpipelinedClass>& s) {
  s.summary("a class of instructions with one unit, which is busy for some cycles");
  s.add("latency", &UnpipelinedClass::latency, "cycles from issue to that of a dependent instruction")
      .range(1, 255)
      .unit("cycles")
      .measured(kFog);
  s.add("interval", &UnpipelinedClass::interval, "cycles until the unit takes the next one")
      .range(1, 255)
      .unit("cycles")
      .measured(kFog);
  s.add("port", &UnpipelinedClass::port, "port that issues it")
      .range(0, CoreShape::kPorts - 1)
      .identifier()
      .stated(kIntel);
}

CoreShape CoreParameters::shape(unsigned dispatch_width) const {
  CoreShape s;
  s.fetch_width = fetch_width;
  s.fetch_queue = fetch_queue;
  s.dispatch_width = dispatch_width;
  s.retire_width = retire_width;
  s.reorder_buffer = reorder_buffer;
  s.scheduler = scheduler;
  s.load_queue = load_queue;
  s.store_buffer = store_buffer;
  s.refill = refill;
  s.l1d_prefetch = l1d_prefetch;
  s.history = history;
  s.return_stack = return_stack;
  // Fences, and what waits until the window is empty, take a place as integer operations do.
  s.classes.fill(alu.shape());
  s.of(CostClass::branch) = branch.shape();
  s.of(CostClass::jump) = s.of(CostClass::jump_indirect) = jump.shape();
  s.of(CostClass::load) = load.shape();
  s.of(CostClass::store) = store.shape();
  s.of(CostClass::mul) = mul.shape();
  s.of(CostClass::div32) = div32.shape();
  s.of(CostClass::div64) = div64.shape();
  s.of(CostClass::fp_move) = fp_move.shape();
  s.of(CostClass::fp_add) = fp_add.shape();
  s.of(CostClass::fp_mul) = fp_mul.shape();
  s.of(CostClass::fp_div32) = fp_div32.shape();
  s.of(CostClass::fp_div64) = fp_div64.shape();
  s.of(CostClass::fp_sqrt32) = fp_sqrt32.shape();
  s.of(CostClass::fp_sqrt64) = fp_sqrt64.shape();
  s.of(CostClass::pause).latency = static_cast<std::uint8_t>(pause);
  return s;
}

void CoreParameters::describe(base::Schema<CoreParameters>& s) {
  using P = CoreParameters;
  s.summary("out-of-order core: widths, queues, units");
  const auto size = [&s](const char* key, unsigned P::*member, const char* meaning, unsigned most) -> auto& {
    return s.add(key, member, meaning).range(1, most);
  };
  size("fetch_width", &P::fetch_width,
       "instructions that fetch delivers in a cycle, at most up to a taken branch; at least issue_width", 32)
      .unit("instructions")
      .stated(kIntel);
  size("fetch_queue", &P::fetch_queue, "instructions between fetch and dispatch; at least issue_width", 1024)
      .unit("instructions")
      .stated(kIntel);
  size("retire_width", &P::retire_width, "instructions that retire in a cycle", 16)
      .unit("instructions")
      .assumed("the width of rename; Intel's manual does not state it");
  size("reorder_buffer", &P::reorder_buffer, "instructions dispatched and not yet retired; at least issue_width",
       CoreShape::kMostInFlight)
      .unit("entries")
      .acts_with({"lost_reorder_buffer"}, "dispatch never waited for it")
      .stated(kIntel);
  size("scheduler", &P::scheduler, "instructions dispatched and not yet issued", 1024)
      .unit("entries")
      .acts_with({"lost_scheduler"}, "dispatch never waited for it")
      .stated(kIntel);
  size("load_queue", &P::load_queue, "loads dispatched and not yet retired", 1024)
      .unit("entries")
      .acts_with({"lost_load_queue"}, "dispatch never waited for it")
      .stated(kIntel);
  size("store_buffer", &P::store_buffer, "stores dispatched and not yet in L1D", 1024)
      .unit("entries")
      .acts_with({"lost_store_buffer"}, "dispatch never waited for it")
      .stated(kIntel);
  size("refill", &P::refill, "from the end of a mispredicted branch to the dispatch of the right path", 255)
      .unit("cycles")
      .acts_with({"mispredictions"}, "no branch was predicted wrongly")
      .assumed("length of the pipeline of such cores; Intel does not state it");
  s.add("l1d_prefetch", &P::l1d_prefetch, "whether two load misses in a row of lines bring the next line to L1D")
      .stated(kIntel);
  s.add("prefetch_hints", &P::prefetch_hints,
        "whether prefetch instructions start fills, also in timing \"cached\"; a core may ignore them")
      .stated("RISC-V Zicbop: they are hints");
  size("history", &P::history, "branches in the predictor's global history, of 2^history counters", 20)
      .unit("branches")
      .assumed("Intel does not describe its predictor");
  size("return_stack", &P::return_stack, "return addresses that are predicted", 256)
      .unit("addresses")
      .assumed("as earlier cores of Intel's");
  size("pause", &P::pause, "cycles for which a pause stops dispatch", 255)
      .unit("cycles")
      .acts_with({decoded_counter(CostClass::pause)}, kNotExecuted)
      .stated("Intel 248966, Skylake: PAUSE takes up to 140 cycles");
  s.add("posted_store", &P::posted_store,
        "beyond bus.latency, until a posted store to PCIe is accepted and the next store may be written")
      .range(base::Time::ns(0), base::Time::ns(10'000))
      .derived(
          "community.intel.com, thread 1186313: the kernel's uncached stores of 8 B reach PCIe 50 to 300 ns apart, one "
          "at a time; the least of these, less 10 ns of the bus")
      .uncertainty("100 %");
  s.include("alu", &P::alu);
  s.include("branch", &P::branch);
  s.include("jump", &P::jump);
  s.include("load", &P::load);
  s.include("store", &P::store);
  s.include("mul", &P::mul, {decoded_counter(CostClass::mul)}, kNotExecuted);
  s.include("fp_move", &P::fp_move, {decoded_counter(CostClass::fp_move)}, kNotExecuted);
  s.include("fp_add", &P::fp_add, {decoded_counter(CostClass::fp_add)}, kNotExecuted);
  s.include("fp_mul", &P::fp_mul, {decoded_counter(CostClass::fp_mul)}, kNotExecuted);
  s.include("div32", &P::div32, {decoded_counter(CostClass::div32)}, kNotExecuted);
  s.include("div64", &P::div64, {decoded_counter(CostClass::div64)}, kNotExecuted);
  s.include("fp_div32", &P::fp_div32, {decoded_counter(CostClass::fp_div32)}, kNotExecuted);
  s.include("fp_div64", &P::fp_div64, {decoded_counter(CostClass::fp_div64)}, kNotExecuted);
  s.include("fp_sqrt32", &P::fp_sqrt32, {decoded_counter(CostClass::fp_sqrt32)}, kNotExecuted);
  s.include("fp_sqrt64", &P::fp_sqrt64, {decoded_counter(CostClass::fp_sqrt64)}, kNotExecuted);
}

}  // namespace sluice::riscv
