// SPDX-License-Identifier: Apache-2.0
#include "models/nic/lauberhorn/scheduler.h"

#include <algorithm>
#include <utility>

namespace sluice::nic::lauberhorn {

Scheduler::Scheduler(const Shape& shape, Client& client)
    : shape_(shape),
      client_(client),
      processes_(shape.processes + 1),
      counters_(shape.processes + 1),
      core_counters_(shape.cores) {
  reset();
}

void Scheduler::reset() {
  for (Process& p : processes_) {
    p.exists = false;
    p.threads = 0;
    p.queue.clear();
    p.parked.assign(shape_.workers, std::nullopt);
  }
  processes_[kKernel].exists = true;
  processes_[kKernel].threads = shape_.cores;
  waiting_ = 0;
  processes_[kKernel].parked.clear();
  cores_.assign(shape_.cores, {});
  retire_ = 0;
}

std::vector<Work> Scheduler::set_process(unsigned process, bool exists, unsigned threads) {
  Process& p = processes_[process];
  p.exists = exists;
  p.threads = exists ? threads : 0;
  std::vector<Work> left;
  if (p.threads > 0) {
    find_cores();
    return left;
  }
  if (!exists) {
    for (const Waiting& w : std::exchange(p.queue, {})) left.push_back(w.work);
    waiting_ -= left.size();
  }
  stop_wanting(process);
  for (unsigned worker = 0; worker < shape_.workers; ++worker)
    if (p.parked[worker]) leave({process, worker});
  return left;
}

unsigned Scheduler::queued(unsigned process) const { return static_cast<unsigned>(processes_[process].queue.size()); }

unsigned Scheduler::cores_of(unsigned process) const {
  return static_cast<unsigned>(
      std::count_if(cores_.begin(), cores_.end(), [&](const Core& c) { return c.process == process; }));
}

/// Whether a process whose requests wait should get a core, or one more.
bool Scheduler::deserves_core(unsigned process) const {
  const Process& p = processes_[process];
  if (p.queue.empty() || p.threads == 0) return false;
  const unsigned cores = cores_of(process);
  return cores == 0 || (process != kKernel && cores < p.threads && is_half_full(p));
}

bool Scheduler::is_wanted_for(unsigned process) const {
  return std::any_of(cores_.begin(), cores_.end(), [&](const Core& c) { return c.wanted_for == process; });
}

// --------------------------------------------------------------------------------------------------------------------
// Arrival

std::vector<Work> Scheduler::withdraw(unsigned process, const std::function<bool(Work)>& is_it) {
  std::deque<Waiting>& queue = processes_[process].queue;
  std::vector<Work> taken;
  std::deque<Waiting> left;
  for (const Waiting& w : queue) {
    if (is_it(w.work))
      taken.push_back(w.work);
    else
      left.push_back(w);
  }
  queue = std::move(left);
  waiting_ -= taken.size();
  if (!deserves_core(process)) stop_wanting(process);
  return taken;
}

bool Scheduler::arrive(unsigned process, Work work, bool is_bounded) {
  Process& p = processes_[process];
  for (unsigned worker = 0; worker < p.parked.size(); ++worker)
    if (const auto core = std::exchange(p.parked[worker], std::nullopt)) {
      // Whoever waits at its line has nothing in its queue.
      ++core_counters_[*core].given;
      client_.give({process, worker}, work);
      return true;
    }
  if (is_bounded && p.queue.size() >= shape_.queue) {
    ++counters_[process].dropped;
    return false;
  }
  p.queue.push_back({work, arrivals_++});
  ++waiting_;
  const std::size_t waiting = p.queue.size();
  if (process == kKernel || deserves_core(process)) find_core(process);
  if (p.queue.size() == waiting) {
    ++counters_[process].pushed;
    if (process != kKernel) ++pushed_;
  }
  return true;
}

/// The first end-point at which a core waits in another process.
std::optional<EndPointId> Scheduler::parked_outside(unsigned process) const {
  for (unsigned n = 1; n <= shape_.processes; ++n) {
    if (n == process) continue;
    for (unsigned worker = 0; worker < shape_.workers; ++worker)
      if (processes_[n].parked[worker]) return EndPointId{n, worker};
  }
  return {};
}

/// A core that is not wanted yet: one that does batch work, else one that is busy in another process.
std::optional<unsigned> Scheduler::busy_outside(unsigned process) const {
  std::optional<unsigned> busy;
  for (unsigned core = 0; core < shape_.cores; ++core) {
    const Core& c = cores_[core];
    if (c.wanted_for) continue;
    if (c.process == kBatch) return core;
    if (!busy && c.process != kKernel && c.process != kOther && c.process != process) busy = core;
  }
  return busy;
}

/// Takes a core for a process: one that waits in the kernel, else one that waits in another process, else one that does
/// batch work, else one that is busy in another process, at its next load.
void Scheduler::find_core(unsigned process) {
  for (unsigned core = 0; core < shape_.cores; ++core)
    if (cores_[core].is_parked) return give_kernel(core);
  if (!deserves_core(process) || is_wanted_for(process)) return;
  if (const auto e = parked_outside(process)) {
    const unsigned core = *processes_[e->process].parked[e->number];
    cores_[core].wanted_for = process;
    leave(*e);
    return client_.want(core);
  }
  if (const auto core = busy_outside(process)) {
    cores_[*core].wanted_for = process;
    client_.want(*core);
  }
}

/// Takes cores for all that wait and should have one, the oldest first: what was wanted for one may have gone to
/// another.
void Scheduler::find_cores() {
  if (waiting_ == 0) return;
  for (unsigned tries = 0; tries <= shape_.processes; ++tries) {
    unsigned oldest = kOther;
    for (unsigned n = 0; n <= shape_.processes; ++n) {
      if (!deserves_core(n) || is_wanted_for(n)) continue;
      if (oldest == kOther || processes_[n].queue.front().since < processes_[oldest].queue.front().since) oldest = n;
    }
    if (oldest == kOther) return;
    const std::size_t before = waiting_;
    find_core(oldest);
    if (waiting_ == before && !is_wanted_for(oldest)) return;  // there is no core to be had
  }
}

/// The core that waits in a process is told to go back to the kernel.
void Scheduler::leave(EndPointId e) {
  ++core_counters_[*std::exchange(processes_[e.process].parked[e.number], std::nullopt)].preempted;
  client_.yield(e);
}

void Scheduler::clear_want(unsigned core) {
  if (!std::exchange(cores_[core].wanted_for, std::nullopt)) return;
  client_.stop_waiting(core);
}

/// The process needs no core of others any more.
void Scheduler::stop_wanting(unsigned process) {
  for (unsigned core = 0; core < shape_.cores; ++core)
    if (cores_[core].wanted_for == process) clear_want(core);
}

// --------------------------------------------------------------------------------------------------------------------
// Loads

void Scheduler::poll(EndPointId e, unsigned core) {
  if (e.process == kKernel)
    kernel_polls(e.number);
  else
    process_polls(e, core);
  find_cores();
}

/// Whose work a core in the kernel is to take: what has waited longest, of frames and of processes that should get a
/// core. None: kOther.
unsigned Scheduler::next_for_kernel() const {
  unsigned best = kOther;
  for (unsigned n = 0; n <= shape_.processes; ++n) {
    if (n == kKernel ? processes_[n].queue.empty() : !deserves_core(n)) continue;
    if (best == kOther || processes_[n].queue.front().since < processes_[best].queue.front().since) best = n;
  }
  return best;
}

void Scheduler::kernel_polls(unsigned core) {
  cores_[core].process = kKernel;
  clear_want(core);
  cores_[core].is_parked = true;
  give_kernel(core);
}

/// Gives a core that waits at its kernel line what it is to do, if there is something.
void Scheduler::give_kernel(unsigned core) {
  const EndPointId e{kKernel, core};
  if (const unsigned process = next_for_kernel(); process != kOther) {
    cores_[core].is_parked = false;
    cores_[core].process = process;
    ++core_counters_[core].dispatched;
    return give_front(e, core, process);
  }
  if (retire_ == 0) return;
  --retire_;
  retire(core);
}

/// The core that waits at its kernel line is given back.
void Scheduler::retire(unsigned core) {
  cores_[core].is_parked = false;
  cores_[core].process = kOther;
  client_.retire({kKernel, core});
}

void Scheduler::give_front(EndPointId e, unsigned core, unsigned process) {
  Process& p = processes_[process];
  const Work work = p.queue.front().work;
  p.queue.pop_front();
  --waiting_;
  ++core_counters_[core].given;
  if (!deserves_core(process)) stop_wanting(process);
  client_.give(e, work);
}

/// The first one beside a process that waits for a core and has none, while none is on its way; the kernel may be it.
std::optional<unsigned> Scheduler::without_core(unsigned process) const {
  for (unsigned n = 0; n <= shape_.processes; ++n)
    if (n != process && deserves_core(n) && cores_of(n) == 0 && !is_wanted_for(n)) return n;
  return {};
}

void Scheduler::process_polls(EndPointId e, unsigned core) {
  Core& c = cores_[core];
  c.process = e.process;
  Process& p = processes_[e.process];
  if (c.wanted_for == e.process) clear_want(core);
  const bool was_wanted = c.wanted_for.has_value();
  if (!was_wanted && p.queue.empty()) c.wanted_for = without_core(e.process);
  if (p.threads == 0 || c.wanted_for) {
    ++core_counters_[core].preempted;
    client_.yield(e);
    if (c.wanted_for && !was_wanted) client_.want(core);
    return;
  }
  if (p.queue.empty()) {
    p.parked[e.number] = core;
    return;
  }
  ++core_counters_[core].popped;
  give_front(e, core, e.process);
}

void Scheduler::unpark(EndPointId e) {
  if (e.process == kKernel)
    cores_[e.number].is_parked = false;
  else
    processes_[e.process].parked[e.number].reset();
}

void Scheduler::give_back(EndPointId e, unsigned core) {
  if (e.process == kKernel) return retire(core);
  unpark(e);
  client_.yield(e);
}

void Scheduler::runs(unsigned core, unsigned process) {
  cores_[core].process = process;
  clear_want(core);
  find_cores();
}

void Scheduler::set_retire(unsigned threads) {
  retire_ = threads;
  for (unsigned core = 0; core < shape_.cores && retire_ > 0; ++core)
    if (cores_[core].is_parked) give_kernel(core);
}

}  // namespace sluice::nic::lauberhorn
