// SPDX-License-Identifier: Apache-2.0
// bench_calendar: nanoseconds of processor time for one calendar entry that makes its successor, and for the kernel's
// way of doing the same: a thread that notifies an event and waits for it. `pending`: how many are under way at a time.

#include <cstdio>
#include <ctime>
#include <memory>
#include <vector>

#include <systemc>

#include "models/base/systemc/scheduler.h"

namespace {

using namespace sluice::base;

double processor_nanoseconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

/// Delays that interleave the entries, as those of a board's links and timers do.
Time delay(unsigned n) { return Time::ns(50 + n * 7919u % 400); }

struct Entry {
  unsigned number;
  void operator()() const { calendar().after(delay(number), number, Entry{number}); }
};

double calendar_cost(unsigned pending, unsigned count) {
  calendar().clear();
  for (unsigned n = 0; n < pending; ++n) calendar().at(delay(n), n, Entry{n});
  const double start = processor_nanoseconds();
  for (unsigned i = 0; i < count; ++i) calendar().dispatch();
  return (processor_nanoseconds() - start) / count;
}

class Notifier : public sc_core::sc_module {
 public:
  Notifier(sc_core::sc_module_name name, unsigned number) : sc_module(name), delay_(to_sc_time(delay(number))) {
    SC_HAS_PROCESS(Notifier);
    SC_THREAD(execute);
  }
  static inline std::uint64_t wakes = 0;

 private:
  void execute() {
    for (;;) {
      event_.notify(delay_);
      wait(event_);
      ++wakes;
    }
  }
  sc_core::sc_time delay_;
  sc_core::sc_event event_;
};

double kernel_cost(Time length) {
  const std::uint64_t before = Notifier::wakes;
  const double start = processor_nanoseconds();
  sc_core::sc_start(to_sc_time(length));
  return (processor_nanoseconds() - start) / static_cast<double>(Notifier::wakes - before);
}

}  // namespace

int sc_main(int, char**) { return 0; }

int main() {
  constexpr unsigned kPending = 16;
  set_time_resolution();
  std::vector<std::unique_ptr<Notifier>> notifiers;
  for (unsigned n = 0; n < kPending; ++n)
    notifiers.push_back(std::make_unique<Notifier>(("notifier" + std::to_string(n)).c_str(), n));
  kernel_cost(Time::us(1));
  const double kernel = kernel_cost(Time::ms(10));
  const double entry = calendar_cost(kPending, 2'000'000);
  std::printf("{\"pending\": %u, \"entry_ns\": %.2f, \"kernel_event_ns\": %.2f}\n", kPending, entry, kernel);
}
