// SPDX-License-Identifier: Apache-2.0
/// Which core Lauberhorn gives to whom: the rules of arrival, drain and preemption, one by one and against the
/// invariants that random traffic must not break.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "models/base/parameters/random.h"
#include "models/nic/lauberhorn/scheduler.h"

using sluice::nic::lauberhorn::EndPointId;
using sluice::nic::lauberhorn::Scheduler;
using sluice::nic::lauberhorn::Work;

namespace {

constexpr unsigned kKernel = Scheduler::kKernel;

/// Writes down what the scheduler decides: "give k0 7", "yield p2.1", "want 3".
struct Log : Scheduler::Client {
  std::vector<std::string> said;
  static std::string name(EndPointId e) {
    return e.process == kKernel ? "k" + std::to_string(e.number)
                                : "p" + std::to_string(e.process) + "." + std::to_string(e.number);
  }
  void give(EndPointId e, Work w) override { said.push_back("give " + name(e) + " " + std::to_string(w)); }
  void yield(EndPointId e) override { said.push_back("yield " + name(e)); }
  void retire(EndPointId e) override { said.push_back("retire " + name(e)); }
  void want(unsigned core) override { said.push_back("want " + std::to_string(core)); }
  void stop_waiting(unsigned core) override { said.push_back("stop " + std::to_string(core)); }
  /// What has been said since the last call.
  std::vector<std::string> take() { return std::exchange(said, {}); }
};

using Said = std::vector<std::string>;

struct Bench {
  Log log;
  Scheduler scheduler;
  explicit Bench(Scheduler::Shape shape = {2, 3, 2, 4}, unsigned threads = 2) : scheduler(shape, log) {
    for (unsigned p = 1; p <= shape.processes; ++p) scheduler.set_process(p, true, threads);
  }
  Said arrive(unsigned process, Work w) {
    REQUIRE(scheduler.arrive(process, w));
    return log.take();
  }
  Said kernel(unsigned core) { return poll({kKernel, core}, core); }
  Said poll(EndPointId e, unsigned core) {
    scheduler.poll(e, core);
    return log.take();
  }
};

}  // namespace

TEST_CASE("a request goes to the core that waits in its process", "[lauberhorn]") {
  Bench b;
  CHECK(b.kernel(0).empty());
  CHECK(b.poll({2, 1}, 1).empty());
  CHECK(b.arrive(2, 7) == Said{"give p2.1 7"});
  CHECK(b.scheduler.core_counters(1).given == 1);
  CHECK(b.scheduler.core_counters(1).dispatched == 0);
  CHECK(b.scheduler.counters(2).pushed == 0);
}

TEST_CASE("without a core in the process, one that waits in the kernel gets the request", "[lauberhorn]") {
  Bench b;
  CHECK(b.kernel(1).empty());
  CHECK(b.arrive(2, 7) == Said{"give k1 7"});
  CHECK(b.scheduler.running(1) == 2);
  CHECK(b.scheduler.core_counters(1).dispatched == 1);
  // It is on its way: the next request waits for it, as half of the queue is not full.
  CHECK(b.kernel(0).empty());
  CHECK(b.arrive(2, 8).empty());
  CHECK(b.scheduler.counters(2).pushed == 1);
  CHECK(b.poll({2, 0}, 1) == Said{"give p2.0 8"});
  CHECK(b.scheduler.core_counters(1).popped == 1);
}

TEST_CASE("a process whose queue is half full gets one more core, and no more than it may have", "[lauberhorn]") {
  Bench b;
  b.kernel(0);
  b.kernel(1);
  CHECK(b.arrive(2, 1) == Said{"give k0 1"});
  CHECK(b.arrive(2, 2).empty());
  CHECK(b.arrive(2, 3) == Said{"give k1 2"});  // two of four wait
  CHECK(b.scheduler.cores_of(2) == 2);
  Bench one({2, 3, 2, 4}, 1);
  one.kernel(0);
  one.kernel(1);
  CHECK(one.arrive(2, 1) == Said{"give k0 1"});
  for (Work w = 2; w <= 5; ++w) CHECK(one.arrive(2, w).empty());
  CHECK_FALSE(one.scheduler.arrive(2, 6));
  CHECK(one.scheduler.counters(2).dropped == 1);
  CHECK(one.scheduler.queued(2) == 4);
}

TEST_CASE("a core that waits in another process is told to go back, and gets the request in the kernel",
          "[lauberhorn]") {
  Bench b;
  b.poll({1, 0}, 0);
  b.poll({3, 1}, 1);
  CHECK(b.arrive(2, 7) == Said{"yield p1.0", "want 0"});
  CHECK(b.scheduler.core_counters(0).preempted == 1);
  // No second core goes for the same.
  CHECK(b.arrive(2, 8).empty());
  CHECK(b.kernel(0) == Said{"stop 0", "give k0 7"});
}

TEST_CASE("a busy core is wanted, and goes back at its next load instead of draining its queue", "[lauberhorn]") {
  Bench b;
  b.kernel(0);
  b.kernel(1);
  b.arrive(1, 1);
  b.arrive(3, 2);
  b.arrive(1, 3);
  CHECK(b.arrive(2, 7) == Said{"want 0"});
  CHECK(b.arrive(2, 8).empty());
  CHECK(b.poll({1, 0}, 0) == Said{"yield p1.0"});
  CHECK(b.kernel(0) ==
        Said{"stop 0", "give k0 3", "want 0"});  // what has waited longest, now that no core is in process 1
  CHECK(b.scheduler.running(0) == 1);
}

TEST_CASE("a core that is wanted no more goes on", "[lauberhorn]") {
  Bench b;
  b.kernel(0);
  b.kernel(1);
  b.arrive(1, 1);
  b.arrive(3, 2);
  CHECK(b.arrive(2, 7) == Said{"want 0"});
  CHECK(b.kernel(1) == Said{"stop 0", "give k1 7"});
  CHECK(b.poll({1, 0}, 0).empty());
  CHECK(b.arrive(1, 9) == Said{"give p1.0 9"});
}

TEST_CASE("of the cores that come with nothing to do, one goes to a process that has none", "[lauberhorn]") {
  Bench b;
  b.scheduler.runs(0, kKernel);  // nobody can be taken from there
  CHECK(b.arrive(2, 7).empty());
  CHECK(b.poll({1, 0}, 0) == Said{"yield p1.0", "want 0"});
  CHECK(b.poll({1, 0}, 0) == Said{"yield p1.0"});  // it did not go
  CHECK(b.poll({1, 1}, 1).empty());
  CHECK(b.kernel(0) == Said{"stop 0", "give k0 7"});
}

TEST_CASE("a core that was wanted is wanted again when the kernel has said that it runs something", "[lauberhorn]") {
  Bench b;
  b.scheduler.runs(0, 1);
  b.scheduler.runs(1, Scheduler::kOther);  // nobody can be taken from there
  CHECK(b.arrive(1, 1).empty());
  CHECK(b.arrive(2, 2) == Said{"want 0"});
  b.scheduler.runs(0, 1);
  CHECK(b.log.take() == Said{"stop 0", "want 0"});
  CHECK(b.poll({1, 0}, 0) == Said{"yield p1.0"});
  CHECK(b.kernel(0) == Said{"stop 0", "give k0 1", "want 0"});
}

TEST_CASE("frames for the kernel take a core from a process, and are as old as requests", "[lauberhorn]") {
  Bench b;
  b.poll({1, 0}, 0);
  b.scheduler.runs(1, Scheduler::kOther);
  CHECK(b.arrive(kKernel, 1) == Said{"yield p1.0", "want 0"});
  CHECK(b.arrive(2, 2).empty());
  CHECK(b.arrive(kKernel, 3).empty());
  CHECK(b.kernel(0) == Said{"stop 0", "give k0 1"});
  CHECK(b.kernel(0) == Said{"give k0 2", "want 0"});
  CHECK(b.poll({2, 0}, 0) == Said{"yield p2.0"});
  CHECK(b.kernel(0) == Said{"stop 0", "give k0 3"});
  CHECK(b.scheduler.counters(kKernel).pushed == 2);
}

TEST_CASE("RETIRE gives a core back when nothing waits", "[lauberhorn]") {
  Bench b;
  b.kernel(0);
  b.kernel(1);
  b.scheduler.set_retire(1);
  CHECK(b.log.take() == Said{"retire k0"});
  CHECK(b.scheduler.to_retire() == 0);
  CHECK(b.scheduler.running(0) == Scheduler::kOther);
  b.scheduler.unpark({kKernel, 1});
  b.scheduler.set_retire(1);
  CHECK(b.log.take().empty());
  b.arrive(2, 7);
  CHECK(b.kernel(1) == Said{"give k1 7"});
  CHECK(b.kernel(1) == Said{"retire k1"});
}

TEST_CASE("a core that waits for nothing goes back to other work, through the kernel", "[lauberhorn]") {
  Bench b;
  b.poll({2, 1}, 1);
  b.scheduler.give_back({2, 1}, 1);
  CHECK(b.log.take() == Said{"yield p2.1"});
  CHECK(b.kernel(1).empty());
  b.scheduler.give_back({kKernel, 1}, 1);
  CHECK(b.log.take() == Said{"retire k1"});
  CHECK(b.scheduler.running(1) == Scheduler::kOther);
  CHECK(b.arrive(2, 7).empty());  // nobody knows what it does
  CHECK(b.kernel(1) == Said{"give k1 7"});
}

TEST_CASE("a core that does batch work is taken before one that serves, and after one that waits", "[lauberhorn]") {
  Bench b;
  b.scheduler.runs(0, 1);
  b.scheduler.runs(1, Scheduler::kBatch);
  CHECK(b.arrive(2, 7) == Said{"want 1"});
  CHECK(b.arrive(3, 8) == Said{"want 0"});  // the other one is under way to process 2
  CHECK(b.kernel(1) == Said{"stop 1", "give k1 7"});
  CHECK(b.scheduler.running(1) == 2);
  Bench waiting;
  waiting.scheduler.runs(0, Scheduler::kBatch);
  waiting.poll({1, 0}, 1);
  CHECK(waiting.arrive(2, 7) == Said{"yield p1.0", "want 1"});
  waiting.kernel(1);
  CHECK(waiting.arrive(kKernel, 9) == Said{"want 0"});  // a frame for the kernel is worth as much
}

TEST_CASE("a load that was answered without the scheduler is given nothing", "[lauberhorn]") {
  Bench b;
  b.kernel(0);
  b.scheduler.unpark({kKernel, 0});
  CHECK(b.arrive(2, 7).empty());
  CHECK(b.kernel(0) == Said{"give k0 7"});
  CHECK(b.poll({2, 0}, 0).empty());
  b.scheduler.unpark({2, 0});
  CHECK(b.arrive(2, 8).empty());
  CHECK(b.poll({2, 0}, 0) == Said{"give p2.0 8"});
}

TEST_CASE("the end of a process gives back what waits for it and sends its cores to the kernel", "[lauberhorn]") {
  Bench b;
  b.poll({2, 1}, 1);
  CHECK(b.scheduler.set_process(2, false, 0).empty());
  CHECK(b.log.take() == Said{"yield p2.1"});
  CHECK_FALSE(b.scheduler.has_process(2));
  b.scheduler.runs(1, Scheduler::kOther);
  b.scheduler.runs(0, 3);
  CHECK(b.arrive(3, 5).empty());
  CHECK(b.arrive(3, 6).empty());
  CHECK(b.scheduler.set_process(3, false, 0) == std::vector<Work>{5, 6});
  // A core that asks all the same is sent away.
  CHECK(b.poll({3, 0}, 0) == Said{"yield p3.0"});
  // It may come again.
  b.scheduler.set_process(3, true, 1);
  CHECK(b.poll({3, 0}, 0).empty());
}

namespace {

/// Cores that do what software does: load a line, work on what they get, go back to the kernel when told.
struct Cores : Scheduler::Client {
  struct Core {
    unsigned process = kKernel;
    bool parked = false;
    std::optional<Work> work;
  };
  std::vector<Core> cores;
  std::vector<unsigned> owner;  ///< by work: its process
  std::vector<bool> done;
  std::vector<unsigned> came;  ///< step of its arrival
  unsigned step = 0, longest = 0;
  const unsigned workers;
  explicit Cores(const Scheduler::Shape& s) : cores(s.cores), workers(s.workers) {}

  unsigned core_at(EndPointId e) const {
    if (e.process == kKernel) return e.number;
    return e.number;  // worker n is used by core n
  }
  Core& woken(EndPointId e) {
    Core& c = cores[core_at(e)];
    REQUIRE(c.parked);
    REQUIRE(c.process == e.process);
    c.parked = false;
    return c;
  }
  void give(EndPointId e, Work w) override {
    Core& c = woken(e);
    REQUIRE_FALSE(done[w]);
    REQUIRE(!c.work);
    if (e.process != kKernel) REQUIRE(owner[w] == e.process);  // nobody gets what is another process's
    done[w] = true;
    longest = std::max(longest, step - came[w]);
    c.work = w;
    c.process = owner[w];
  }
  void yield(EndPointId e) override { woken(e).process = kKernel; }
  void retire(EndPointId) override { FAIL("nobody asked for it"); }
  void want(unsigned) override {}
  void stop_waiting(unsigned) override {}
};

}  // namespace

TEST_CASE("random traffic loses nothing, gives nothing to others, and starves nobody", "[lauberhorn]") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Scheduler::Shape shape{1 + static_cast<unsigned>(seed % 4), 1 + static_cast<unsigned>(seed % 5), 4, 4};
    Cores cores(shape);
    Scheduler scheduler(shape, cores);
    sluice::base::RandomStream random({seed}, "cores", "steps");
    for (unsigned p = 1; p <= shape.processes; ++p)
      scheduler.set_process(p, true, 1 + static_cast<unsigned>(random.below(shape.cores)));
    unsigned dropped = 0;
    const auto step = [&](unsigned core) {
      Cores::Core& c = cores.cores[core];
      if (c.parked) return;
      c.work.reset();
      c.parked = true;
      scheduler.poll({c.process, core}, core);
    };
    for (unsigned n = 0; n < 4000; ++n) {
      cores.step = n;
      if (random.below(3) == 0) {
        const auto process = static_cast<unsigned>(random.below(shape.processes + 1));
        const auto w = static_cast<Work>(cores.owner.size());
        cores.owner.push_back(process);
        cores.done.push_back(false);
        cores.came.push_back(n);
        if (!scheduler.arrive(process, w)) {
          cores.done[w] = true;
          ++dropped;
        }
      } else if (random.below(50) == 0) {
        // The kernel tells what is wrong.
        scheduler.runs(static_cast<unsigned>(random.below(shape.cores)),
                       static_cast<unsigned>(random.below(shape.processes + 1)));
      } else {
        step(static_cast<unsigned>(random.below(shape.cores)));
      }
    }
    // Nobody waits long while others are served: a core is stepped in one of two steps.
    INFO("the longest wait was " << cores.longest << " steps");
    CHECK(cores.longest < 700);
    // What waits is served when the cores go on; loads that are held back end with TRYAGAIN at last.
    for (unsigned n = 0; n < 400; ++n)
      for (unsigned core = 0; core < shape.cores; ++core) {
        Cores::Core& c = cores.cores[core];
        if (c.parked) {
          scheduler.unpark({c.process, core});
          c.parked = false;
        }
        step(core);
      }
    INFO("seed " << seed << ", dropped " << dropped);
    for (std::size_t w = 0; w < cores.done.size(); ++w) {
      INFO("work " << w << " of process " << cores.owner[w]);
      REQUIRE(cores.done[w]);
    }
  }
}
