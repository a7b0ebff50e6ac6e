// SPDX-License-Identifier: Apache-2.0
/// Inputs from outside: their log, its replay, and the pace of wall time.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>
#include <sys/timerfd.h>
#include <unistd.h>

#include "models/base/outside/inputs.h"
#include "models/base/outside/pacer.h"
#include "tests/unit/fresh_kernel.h"

using namespace sluice;
using namespace sluice::base;
using namespace sluice::base::literals;

namespace {

class LogFile {
 public:
  LogFile() : path_(std::filesystem::temp_directory_path() / ("inputs-" + std::to_string(getpid()) + ".log")) {}
  explicit LogFile(const std::string& text) : LogFile() { std::ofstream(path_) << text; }
  ~LogFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_; }
  std::string text() const {
    std::stringstream all;
    all << std::ifstream(path_).rdbuf();
    return all.str();
  }

 private:
  std::filesystem::path path_;
};

/// A channel that remembers what came when.
struct Listener {
  Listener(Inputs& inputs, const std::string& name)
      : channel(inputs.open(name, [this](Inputs::Bytes b) {
          heard.push_back({now(), std::string(b.begin(), b.end())});
        })) {}
  std::vector<std::pair<Time, std::string>> heard;
  Inputs::Channel channel;
};

void arrive_at(Inputs& inputs, Time at, Inputs::Channel channel, const char* text) {
  calendar().at(at, kInputKey, [&inputs, channel, text] {
    const std::string s = text;
    inputs.arrive(channel, {reinterpret_cast<const std::uint8_t*>(s.data()), s.size()});
  });
}

void dispatch_all() {
  while (calendar().next() != Time::max()) calendar().dispatch();
}

std::string problem_of(const std::string& log) {
  const LogFile file(log);
  Inputs inputs;
  Listener tap(inputs, "tap");
  try {
    InputReplay replay(file.path(), inputs);
  } catch (const std::runtime_error& e) {
    return std::string(e.what()).substr(file.path().size());
  }
  return "none";
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A file that becomes readable after `ms` of wall time.
class Alarm {
 public:
  explicit Alarm(long ms) : file_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK)) {
    const itimerspec when{{0, 0}, {0, ms * 1'000'000}};
    timerfd_settime(file_, 0, &when, nullptr);
  }
  ~Alarm() { close(file_); }
  int file() const { return file_; }
  bool rung() const {
    std::uint64_t times = 0;
    return read(file_, &times, sizeof times) == sizeof times;
  }

 private:
  int file_;
};

/// A core that never waits: each of its instructions takes a microsecond.
class Spinner : public sc_core::sc_module {
 public:
  Spinner(sc_core::sc_module_name name, Scheduler& s) : sc_module(name), runner(s, this->name()) {
    SC_HAS_PROCESS(Spinner);
    SC_THREAD(run);
  }
  Runner runner;

 private:
  void run() {
    runner.begin();
    for (;;) {
      while (runner.time() >= runner.bound()) runner.yield();
      runner.advance_to(runner.time() + 1_us);
    }
  }
};

}  // namespace

TEST_CASE("a log repeats every input at its time", "[inputs]") {
  fresh_kernel();
  const LogFile log;
  {
    Inputs inputs;
    inputs.log_to(
        log.path(),
        {{"nic.eth0.queues", "2"}, {"uart.expect", "a\nb c"}, {"workload.pcap", ""}, {"plugin.a b\n.so", "c"}});
    Listener tap(inputs, "tap"), uart(inputs, "uart0");
    arrive_at(inputs, 3_ns, tap.channel, "one");
    arrive_at(inputs, 5_ns, uart.channel, "two");
    arrive_at(inputs, 5_ns, tap.channel, "three");
    arrive_at(inputs, 5_ns, tap.channel, "");
    dispatch_all();
    inputs.close(9_ns, InputEnd::interrupted);
  }
  CHECK(log.text() ==
        "sluice-inputs 1\nwith nic.eth0.queues 2\nwith uart.expect a?b c\nwith workload.pcap \n"
        "with plugin.a_b_.so c\nchannel tap\nchannel uart0\n"
        "input 3000000 tap 6f6e65\ninput 5000000 uart0 74776f\ninput "
        "5000000 tap 7468726565\n"
        "input 5000000 tap \nend 9000000 interrupted\n");

  fresh_kernel();
  Inputs inputs;
  Listener tap(inputs, "tap"), uart(inputs, "uart0");
  InputReplay replay(log.path(), inputs);
  CHECK(!replay.until());
  CHECK(replay.conditions() == Conditions{{"nic.eth0.queues", "2"},
                                          {"uart.expect", "a?b c"},
                                          {"workload.pcap", ""},
                                          as_logged("plugin.a b\n.so", "c")});
  CHECK(replay.end() == 9_ns);
  Time interrupted;
  replay.start([&] { interrupted = now(); });
  dispatch_all();
  using Heard = decltype(tap.heard);
  CHECK(tap.heard == Heard{{3_ns, "one"}, {5_ns, "three"}, {5_ns, ""}});
  CHECK(uart.heard == Heard{{5_ns, "two"}});
  CHECK(interrupted == 9_ns);
}

TEST_CASE("a replay ends as the logged run did", "[inputs]") {
  struct Case {
    std::string end;
    std::optional<Time> until;
    Time interrupted;
  };
  for (const Case& c : {Case{"end 7000000 limit\n", 7_ns, {}}, Case{"end 7000000 ended\n", {}, {}},
                        Case{"end 7000000 interrupted\n", {}, 7_ns}, Case{"", {}, 5_ns}}) {
    INFO(c.end);
    fresh_kernel();
    const LogFile log("sluice-inputs 1\ninput 5000000 tap 00\n" + c.end);
    Inputs inputs;
    Listener tap(inputs, "tap");
    InputReplay replay(log.path(), inputs);
    Time interrupted;
    replay.start([&] { interrupted = now(); });
    dispatch_all();
    CHECK(replay.until() == c.until);
    CHECK(interrupted == c.interrupted);
  }
}

TEST_CASE("a broken log is refused before the run", "[inputs]") {
  const std::string head = "sluice-inputs 1\n";
  CHECK(problem_of(head + "input 1 tap 00\n") == "none");
  CHECK(problem_of(head + "channel tap\ninput 1 tap 00\n") == "none");
  CHECK(problem_of(head + "with a\nwith a b c\ninput 1 tap 00\n") == "none");
  CHECK(problem_of(head + "with \n") == ":2: is no record of an input");
  CHECK(problem_of(head + "channel tap uart\n") == ":2: is no record of an input");
  CHECK(problem_of(head + "channel \n") == ":2: is no record of an input");
  CHECK(problem_of(head) == ":2: has no input and no end of a run, so there is nothing to repeat");
  CHECK(problem_of("") == ": is not a log of inputs, whose first line is \"sluice-inputs 1\"");
  CHECK(problem_of("sluice-inputs 2\n") == ": is not a log of inputs, whose first line is \"sluice-inputs 1\"");
  CHECK(problem_of(head + "input 1 tap 0\n") == ":2: is no record of an input");
  CHECK(problem_of(head + "input 1 tap 0G\n") == ":2: is no record of an input");
  CHECK(problem_of(head + "input x tap 00\n") == ":2: is no record of an input");
  CHECK(problem_of(head + "input -1 tap 00\n") == ":2: is no record of an input");
  CHECK(problem_of(head + "input 99999999999999999999 tap 00\n") == ":2: is no record of an input");
  CHECK(problem_of(head + "output 1 tap 00\n") == ":2: is no record of an input");
  CHECK(problem_of(head + "\n") == ":2: is no record of an input");
  CHECK(problem_of(head + "input 2 tap 00\ninput 1 tap 00\n") == ":3: is earlier than the record before");
  CHECK(problem_of(head + "end 1 ended\ninput 1 tap 00\n") == ":3: is behind the end of the run");
  CHECK(problem_of(head + "end 1 exploded\n") == ":2: is no end of a run");
  CHECK(problem_of(head + "input 1 tap 0") == ":2: the record is cut off");
  CHECK(problem_of(head + "input 18000000000000000000 tap 00\nend 18000000000000000000 limit\n") == "none");
  CHECK(problem_of(head + "input 18000000000000000001 tap 00\n") == ":2: is later than a run can be");
  CHECK(problem_of(head + "end 18446744073709551615 limit\n") == ":2: is later than a run can be");
  // Zero bytes: a line of nothing else, and one within a line.
  CHECK(problem_of(head + std::string(5000, '\0') + "\ninput 1 tap 00\n") == ":2: is no record of an input");
  CHECK(problem_of(head + std::string("input 1 tap 0\0\n", 16)) == ":2: is no record of an input");
  CHECK(problem_of(head + "input 1 uart7 00\n") == ":2: nothing here takes inputs of channel uart7");

  const LogFile both(head + "channel a\nchannel b\ninput 1 a 00\ninput 1 c 00\nend 1 ended\n");
  CHECK(channels_of_log(both.path()) == std::vector<std::string>{"a", "b", "c"});

  Inputs inputs;
  CHECK_THROWS_WITH(InputReplay("/nowhere/x.log", inputs), "/nowhere/x.log: cannot be read: No such file or directory");
  CHECK_THROWS_WITH(inputs.log_to("/nowhere/x.log"), "/nowhere/x.log: cannot be written: No such file or directory");
}

TEST_CASE("an idle simulation sleeps until its next entry or an input", "[pacer]") {
  fresh_kernel();
  Scheduler scheduler("scheduler", 10_us);
  Pacer pacer(scheduler);
  const Alarm alarm(20);
  Time input, timer;
  pacer.watch(alarm.file(), [&] {
    input = now();
    return !alarm.rung();
  });
  calendar().at(40_ms, 1, [&] { timer = now(); });
  const auto start = std::chrono::steady_clock::now();
  pacer.start();
  CHECK(scheduler.run_until(60_ms) == Scheduler::End::limit);
  CHECK(seconds_since(start) >= 0.060);
  CHECK(timer == 40_ms);
  // On a loaded machine the input comes later, at the latest with the next entry, but never before it happened.
  CHECK(input >= 19_ms);
  CHECK(input <= 40_ms);
  // The pacer looks at an idle simulation when something happens, not all the time.
  CHECK(calendar().dispatched() < 20);
}

TEST_CASE("a busy simulation does not run ahead of wall time", "[pacer]") {
  fresh_kernel();
  Scheduler scheduler("scheduler", 10_us);
  Spinner spinner("spinner", scheduler);
  Pacer pacer(scheduler);
  const Alarm alarm(20);
  Time input;
  pacer.watch(alarm.file(), [&] {
    input = now();
    return !alarm.rung();
  });
  const auto start = std::chrono::steady_clock::now();
  pacer.start();
  scheduler.run_until(60_ms);
  CHECK(seconds_since(start) >= 0.059);
  // Simulated time may lag behind wall time, but not run ahead.
  CHECK(input > 0_ns);
  CHECK(input <= 60_ms);
}

TEST_CASE("a file that has ended is not looked at again", "[pacer]") {
  fresh_kernel();
  Scheduler scheduler("scheduler", 10_us);
  Pacer pacer(scheduler);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  close(ends[1]);  // readable for ever
  unsigned looks = 0;
  pacer.watch(ends[0], [&] { return ++looks < 3; });
  pacer.start();
  scheduler.run_until(5_ms);
  CHECK(looks == 3);
  close(ends[0]);
}
