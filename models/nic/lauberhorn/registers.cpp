// SPDX-License-Identifier: Apache-2.0
/// Lauberhorn's registers and statistics.
#include <utility>

#include "models/base/measure/mistakes.h"
#include "models/nic/lauberhorn/lauberhorn_nic.h"
#include "models/nic/rpc_decoder/device_registers.h"
#include "models/nic/rpc_encoder/device_registers.h"

namespace sluice::nic {

using base::Access;
using lauberhorn::Scheduler;

void Lauberhorn::declare_registers() {
  declare_shape();
  declare_cores();
  declare_core_counters();
  declare_processes();
  declare_services();
  error_ = bank_.add({.name = "error", .offset = LAUB_ERROR, .width = 8, .access = Access::w1c});
  rpc::declare_registers(*decoder_, bank_, LAUB_DECODER);
  rpc::declare_registers(*encoder_, bank_, LAUB_ENCODER);
}

void Lauberhorn::declare_shape() {
  const auto constant = [this](const char* name, std::uint64_t offset, std::uint64_t value) {
    bank_.add({.name = name, .offset = offset, .width = 8, .access = Access::ro, .reset = value});
  };
  constant("identity", LAUB_IDENTITY, LAUB_IDENTITY_VALUE);
  bank_.add(
      {.name = "line_bytes", .offset = LAUB_LINE_BYTES, .width = 8, .access = Access::ro, .on_read = [this](unsigned) {
         return std::uint64_t{shape_.line};
       }});
  constant("cores", LAUB_CORES, parameters_.cores);
  constant("processes", LAUB_PROCESSES, parameters_.processes);
  constant("workers", LAUB_WORKERS, parameters_.workers);
  constant("services", LAUB_SERVICES, parameters_.services);
  constant("sessions", LAUB_SESSIONS, parameters_.sessions);
  constant("mac", LAUB_MAC, mac_address_);
  bank_.add({.name = "control",
             .offset = LAUB_CONTROL,
             .width = 8,
             .write_mask = LAUB_CONTROL_TURN_AROUND,
             .on_write = [this](const base::RegisterWrite& w) {
               using enum net::Mac::Loopback;
               mac_.set_loopback(w.value & LAUB_CONTROL_TURN_AROUND ? interface : none);
             }});
  ipv4_ = bank_.add({.name = "ipv4", .offset = LAUB_IPV4, .width = 8, .write_mask = 0xffff'ffff});
  const auto time = [this](const char* name, std::uint64_t offset, base::Time value) {
    return bank_.add({.name = name,
                      .offset = offset,
                      .width = 8,
                      .reset = clock_.cycles_at(value),
                      .write_mask = 0xffff'ffff,
                      .on_write = [this](const base::RegisterWrite&) { ++counters_.times_set; }});
  };
  block_ = time("block", LAUB_BLOCK, parameters_.block);
  preempt_ = time("preempt", LAUB_PREEMPT, parameters_.preempt);
  give_back_ = time("give_back", LAUB_GIVE_BACK, parameters_.give_back);
  call_timeout_ = time("call_timeout", LAUB_CALL_TIMEOUT, parameters_.call_timeout);
}

void Lauberhorn::declare_cores() {
  retire_ = bank_.add(
      {.name = "retire",
       .offset = LAUB_RETIRE,
       .width = 8,
       .write_mask = 0xffff,
       .on_read = [this](unsigned) { return std::uint64_t{scheduler_.to_retire()}; },
       .on_write = [this](const base::RegisterWrite& w) { scheduler_.set_retire(static_cast<unsigned>(w.value)); }});
  bank_.add({.name = "lost",
             .offset = LAUB_LOST,
             .width = 8,
             .access = Access::wo,
             .on_write = [this](const base::RegisterWrite& w) { lose_at(static_cast<std::uint32_t>(w.value)); }});
  bank_.add({.name = "kernel_line",
             .offset = LAUB_KERNEL_LINE(0),
             .width = 8,
             .write_mask = LAUB_KERNEL_NO_WAIT | LAUB_KERNEL_HAS_WORK,
             .count = parameters_.cores,
             .on_write = [this](const base::RegisterWrite& w) {
               kernel_line(w.index, static_cast<std::uint32_t>(w.written));
             }});
  bank_.add({.name = "runs",
             .offset = LAUB_RUNS(0),
             .width = 8,
             .write_mask = 0xffff,
             .count = parameters_.cores,
             .on_read = [this](unsigned core) { return std::uint64_t{scheduler_.running(core)}; },
             .on_write =
                 [this](const base::RegisterWrite& w) {
                   // A process that cannot be is one that the NIC knows nothing of.
                   const auto process = static_cast<unsigned>(w.value);
                   const bool is_known = process < process_ids_.size() || process == LAUB_RUNS_BATCH;
                   scheduler_.runs(w.index, is_known ? process : Scheduler::kOther);
                 }});
  bank_.add({.name = "interrupt_address",
             .offset = LAUB_INTERRUPT(0),
             .width = 8,
             .write_mask = ~std::uint64_t{3},
             .count = parameters_.cores,
             .stride = 16,
             .on_write = [this](const base::RegisterWrite& w) { cores_[w.index].address = w.value; }});
  bank_.add({.name = "interrupt_value",
             .offset = LAUB_INTERRUPT(0) + 8,
             .width = 8,
             .write_mask = 0xffff'ffff,
             .count = parameters_.cores,
             .stride = 16,
             .on_write = [this](const base::RegisterWrite& w) {
               cores_[w.index].value = static_cast<std::uint32_t>(w.value);
             }});
}

void Lauberhorn::declare_core_counters() {
  const auto counter = [this](const char* name, std::uint64_t offset, std::uint64_t Scheduler::CoreCounters::*which) {
    bank_.add({.name = name,
               .offset = offset,
               .width = 8,
               .access = Access::ro,
               .count = parameters_.cores,
               .on_read = [this, which](unsigned core) { return scheduler_.core_counters(core).*which; }});
  };
  counter("core_given", LAUB_CORE_GIVEN(0), &Scheduler::CoreCounters::given);
  counter("core_dispatched", LAUB_CORE_DISPATCHED(0), &Scheduler::CoreCounters::dispatched);
  counter("core_popped", LAUB_CORE_POPPED(0), &Scheduler::CoreCounters::popped);
  counter("core_preempted", LAUB_CORE_PREEMPTED(0), &Scheduler::CoreCounters::preempted);
}

void Lauberhorn::declare_processes() {
  const auto field = [this](const char* name, std::uint64_t offset) {
    return bank_.add({.name = name, .offset = offset, .width = 8, .access = Access::wo, .write_mask = 0xffff});
  };
  process_id_ = field("process_id", LAUB_PROCESS_ID);
  process_threads_ = field("process_threads", LAUB_PROCESS_THREADS);
  bank_.add(
      {.name = "process_commit",
       .offset = LAUB_PROCESS_COMMIT,
       .width = 8,
       .access = Access::wo,
       .on_write = [this](const base::RegisterWrite& w) { commit_process(static_cast<std::uint32_t>(w.value)); }});
  select_ = bank_.add({.name = "process_select", .offset = LAUB_PROCESS_SELECT, .width = 8, .write_mask = 0xffff});
  const auto figure = [this](const char* name, std::uint64_t offset, std::uint64_t (*of)(const Scheduler&, unsigned)) {
    bank_.add({.name = name, .offset = offset, .width = 8, .access = Access::ro, .on_read = [this, of](unsigned) {
                 const std::uint64_t process = bank_.value(select_);
                 return process < process_ids_.size() ? of(scheduler_, static_cast<unsigned>(process)) : 0;
               }});
  };
  figure("process_queued", LAUB_PROCESS_QUEUED,
         [](const Scheduler& s, unsigned p) { return std::uint64_t{s.queued(p)}; });
  figure("process_cores", LAUB_PROCESS_CORES,
         [](const Scheduler& s, unsigned p) { return std::uint64_t{s.cores_of(p)}; });
  figure("process_pushed", LAUB_PROCESS_PUSHED, [](const Scheduler& s, unsigned p) { return s.counters(p).pushed; });
  figure("process_dropped", LAUB_PROCESS_DROPPED, [](const Scheduler& s, unsigned p) { return s.counters(p).dropped; });
}

void Lauberhorn::declare_services() {
  const auto field = [this](const char* name, std::uint64_t offset, std::uint64_t mask) {
    return bank_.add({.name = name, .offset = offset, .width = 8, .access = Access::wo, .write_mask = mask});
  };
  service_data_ = field("service_data", LAUB_SERVICE_DATA, ~std::uint64_t{0});
  service_process_ = field("service_process", LAUB_SERVICE_PROCESS, 0xffff);
  service_result_ = field("service_result", LAUB_SERVICE_RESULT, 0xff);
  service_port_ = field("service_port", LAUB_SERVICE_PORT, 0xffff);
  service_arguments_ = bank_.add({.name = "service_arguments",
                                  .offset = LAUB_SERVICE_ARGUMENTS,
                                  .width = 8,
                                  .access = Access::wo,
                                  .reset = LAUB_NO_SCHEMA,
                                  .write_mask = 0xff});
  bank_.add(
      {.name = "service_commit",
       .offset = LAUB_SERVICE_COMMIT,
       .width = 8,
       .access = Access::wo,
       .on_write = [this](const base::RegisterWrite& w) { commit_service(static_cast<std::uint32_t>(w.value)); }});
}

void Lauberhorn::lose_at(std::uint32_t value) {
  const EndPointId id{value >> 16, value & 0xffff};
  if (id.number == LAUB_LOST_KEPT && id.process < process_ids_.size()) return lose_kept(id.process);
  const unsigned numbers = id.process == Scheduler::kKernel ? parameters_.cores : parameters_.workers;
  if (id.process >= process_ids_.size() || id.number >= numbers) {
    bank_.value(error_) |= LAUB_ERROR_ENTRY;
    return;
  }
  EndPoint& e = at(id);
  e.is_lost = e.current.has_value();
  e.rx.finish();
  if (id.process == Scheduler::kKernel) return;
  e.tx.forget();
  if (const auto caller = std::exchange(e.caller, std::nullopt)) resume(*caller, {RPCE_SYSTEM_ERR, {}});
}

void Lauberhorn::kernel_line(unsigned core, std::uint32_t value) {
  EndPoint& e = at(EndPointId{Scheduler::kKernel, core});
  e.never_waits = (value & LAUB_KERNEL_NO_WAIT) != 0;
  cores_[core].has_work = (value & LAUB_KERNEL_HAS_WORK) != 0;
  if (value & LAUB_KERNEL_DONE) e.rx.finish();
}

void Lauberhorn::commit_process(std::uint32_t value) {
  const std::uint32_t number = value & 0xffff;
  if (number == Scheduler::kKernel || number >= process_ids_.size()) {
    bank_.value(error_) |= LAUB_ERROR_ENTRY;
    return;
  }
  const bool exists = (value & LAUB_COMMIT_VALID) != 0;
  process_ids_[number] = exists ? static_cast<std::uint16_t>(bank_.value(process_id_)) : std::uint16_t{0};
  const auto threads = static_cast<unsigned>(bank_.value(process_threads_));
  for (const Work work : scheduler_.set_process(number, exists, threads))
    discard(work, counters_.dropped_process, "process ended");
  if (exists) return;
  for (Work work = 0; work < jobs_.size(); ++work)
    if (jobs_[work].exists && jobs_[work].is_kept() && jobs_[work].process == number)
      discard(work, counters_.dropped_process, "process ended");
}

void Lauberhorn::commit_service(std::uint32_t value) {
  const std::uint32_t number = value & 0xffff;
  const auto process = static_cast<unsigned>(bank_.value(service_process_));
  if (number >= services_.size()) {
    bank_.value(error_) |= LAUB_ERROR_ENTRY;
  } else if ((value & LAUB_COMMIT_VALID) == 0) {
    services_[number] = {};
  } else if (process == Scheduler::kKernel || process >= process_ids_.size()) {
    bank_.value(error_) |= LAUB_ERROR_PROCESS;
  } else {
    services_[number] = {true,
                         bank_.value(service_data_),
                         process,
                         static_cast<std::uint8_t>(bank_.value(service_result_)),
                         static_cast<std::uint16_t>(bank_.value(service_port_)),
                         static_cast<std::uint8_t>(bank_.value(service_arguments_))};
  }
}

void Lauberhorn::register_statistics(base::StatisticsGroup& group) {
  const Counters& c = counters_;
  group.counter("rx_frames", "frames", "received", c.rx_frames);
  group.counter("filtered", "frames", "to the address of another NIC", c.filtered);
  group.counter("frames", "frames", "for the kernel: no calls of services", c.frames);
  group.counter("calls", "calls", "of services", c.calls);
  group.counter("unknown_calls", "calls", "to a port of services, of no service or with wrong arguments",
                c.unknown_calls);
  group.counter("queued", "calls", "that waited for a core of their process", scheduler_.pushed());
  group.counter("dropped_buffer", "frames", "for which the packet buffer had no room", c.dropped_buffer);
  group.counter("dropped_sessions", "calls", "for which the session table had no room", c.dropped_sessions);
  group.counter("dropped_queue", "calls", "for which the queue of their process had no room", c.dropped_queue);
  group.counter("dropped_process", "calls", "of a process that is not there or has ended", c.dropped_process);
  group.counter("tryagain", "answers", "TRYAGAIN: nothing came in time", c.tryagain);
  group.counter("yields", "answers", "YIELDNOW", c.yields);
  group.counter("retires", "answers", "RETIRE", c.retires);
  group.counter("given_back", "cores", "that waited for nothing and went to other work", c.given_back);
  group.counter("interrupts", "interrupts", "of handlers whose core was wanted elsewhere", c.interrupts);
  group.counter("replies", "replies", "to calls, errors included", c.replies);
  group.counter("error_replies", "replies", "SYSTEM_ERR for a handler that gave no result", c.error_replies);
  group.counter("kept", "calls", "that the kernel has kept to answer later", c.kept);
  group.counter("lost", "calls", "whose process ended before it answered", c.lost);
  group.counter("nested_calls", "calls", "that handlers have made to services of this NIC", c.nested_calls);
  group.counter("nested_refused", "calls", "of handlers for which there was no room", c.nested_refused);
  group.counter("nested_timeouts", "calls", "of handlers that had no result in time", c.nested_timeouts);
  group.counter("late_results", "results", "of handlers' calls whose request was answered before", c.late_results);
  group.counter("unanswered", "calls", "to which the handler wanted no reply", c.unanswered);
  group.counter("tx_frames", "frames", "sent", c.tx_frames);
  group.counter("message_errors", "messages", "of software that were none", c.message_errors);
  group.counter("times_set", "writes", "of software to registers that have times", c.times_set);
  rpc::register_statistics(*decoder_, group);
  bank_.register_statistics(group);
}

}  // namespace sluice::nic
