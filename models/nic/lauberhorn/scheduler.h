// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Which core serves which process: what Lauberhorn decides without asking the kernel. Plain C++, without time.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

namespace sluice::nic::lauberhorn {

/// A request, or a frame for the kernel, by its number in whoever keeps them.
using Work = std::uint32_t;

/// An end-point: the kernel's of a core, or one of a process's.
struct EndPointId {
  unsigned process = 0;  ///< 0: the kernel's
  unsigned number = 0;   ///< the core, or the process's worker
  bool operator==(const EndPointId&) const = default;
};

class Scheduler {
 public:
  static constexpr unsigned kKernel = 0;      ///< as a process
  static constexpr unsigned kOther = 0xffff;  ///< runs on a core, and the NIC does not know it
  static constexpr unsigned kBatch = 0xfffe;  ///< likewise, and gives the core up to whoever waits for one

  struct Shape {
    unsigned cores;      ///< at least 1
    unsigned processes;  ///< besides the kernel
    unsigned workers;    ///< end-points of each
    unsigned queue;      ///< requests that wait for a process, at least 1
  };

  /// Where decisions go, at once. An end-point that is given something is not parked any more.
  class Client {
   public:
    virtual ~Client() = default;
    virtual void give(EndPointId, Work) = 0;
    virtual void yield(EndPointId) = 0;   ///< YIELDNOW
    virtual void retire(EndPointId) = 0;  ///< RETIRE
    /// A core is wanted that is in a process, which should not go on for long, whether it has been told to yield or
    /// will be when it asks next; or one that does batch work, which should stop now. It is wanted until
    /// stop_waiting().
    virtual void want(unsigned core) = 0;
    virtual void stop_waiting(unsigned core) = 0;
  };

  Scheduler(const Shape& shape, Client& client);

  const Shape& shape() const { return shape_; }
  /// The process exists from now on, and at most so many cores serve it at a time: with 0, its cores are sent back to
  /// the kernel, and what comes for it waits. Or it does not exist: what waits for it is returned.
  std::vector<Work> set_process(unsigned process, bool exists, unsigned threads);
  bool has_process(unsigned process) const { return processes_[process].exists; }

  /// Work for an existing process has come. False: it is bounded, the queue is full, and the work is dropped.
  bool arrive(unsigned process, Work, bool is_bounded = true);
  /// Takes work out of the queue of a process, all of which `is_it` is true.
  std::vector<Work> withdraw(unsigned process, const std::function<bool(Work)>& is_it);
  /// A load at an end-point, by a core, may be answered. It parks there if nothing is to be said.
  void poll(EndPointId, unsigned core);
  /// The load at an end-point has been answered without the scheduler: it is no longer parked.
  void unpark(EndPointId);
  /// A load has been held back for as long as its core's kernel, which has other work for it, wants to wait.
  void give_back(EndPointId, unsigned core);
  /// The kernel says what a core runs: a process, kKernel, kOther or kBatch.
  void runs(unsigned core, unsigned process);
  unsigned running(unsigned core) const { return cores_[core].process; }

  /// Kernel threads that are to be given back.
  void set_retire(unsigned threads);
  unsigned to_retire() const { return retire_; }

  unsigned queued(unsigned process) const;
  unsigned cores_of(unsigned process) const;
  struct Counters {
    std::uint64_t pushed = 0;   ///< had to wait in the queue
    std::uint64_t dropped = 0;  ///< found no room in it
  };
  const Counters& counters(unsigned process) const { return counters_[process]; }
  const std::uint64_t& pushed() const { return pushed_; }  ///< of all processes but the kernel
  struct CoreCounters {
    std::uint64_t given = 0;       ///< by any end-point
    std::uint64_t dispatched = 0;  ///< of these, on the core's kernel line
    std::uint64_t popped = 0;      ///< of these, on a process's line, when the core asked for it
    std::uint64_t preempted = 0;   ///< told to leave a process for another
  };
  const CoreCounters& core_counters(unsigned core) const { return core_counters_[core]; }
  /// Everything is as at first.
  void reset();

 private:
  struct Waiting {
    Work work;
    std::uint64_t since;  ///< the smaller, the earlier
  };
  struct Process {
    bool exists = false;
    unsigned threads = 0;
    std::deque<Waiting> queue;
    std::vector<std::optional<unsigned>> parked;  ///< by worker: the core whose load is held back
  };
  struct Core {
    unsigned process = kOther;
    bool is_parked = false;              ///< at its kernel end-point
    std::optional<unsigned> wanted_for;  ///< the process, or the kernel, for which it is to leave another process
  };

  bool is_half_full(const Process& p) const { return 2 * p.queue.size() >= shape_.queue; }
  bool deserves_core(unsigned process) const;
  bool is_wanted_for(unsigned process) const;
  unsigned next_for_kernel() const;
  std::optional<unsigned> without_core(unsigned process) const;
  std::optional<EndPointId> parked_outside(unsigned process) const;
  std::optional<unsigned> busy_outside(unsigned process) const;
  void find_core(unsigned process);
  void find_cores();
  void stop_wanting(unsigned process);
  void give_front(EndPointId, unsigned core, unsigned process);
  void give_kernel(unsigned core);
  void retire(unsigned core);
  void leave(EndPointId);
  void clear_want(unsigned core);
  void kernel_polls(unsigned core);
  void process_polls(EndPointId, unsigned core);

  const Shape shape_;
  Client& client_;
  std::vector<Process> processes_;  ///< the first is the kernel, and what waits for it are frames
  std::vector<Core> cores_;
  std::vector<Counters> counters_;
  std::vector<CoreCounters> core_counters_;
  unsigned retire_ = 0;
  std::size_t waiting_ = 0;  ///< work in queues
  std::uint64_t arrivals_ = 0, pushed_ = 0;
};

}  // namespace sluice::nic::lauberhorn
