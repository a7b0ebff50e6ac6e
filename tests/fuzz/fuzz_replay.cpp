// SPDX-License-Identifier: Apache-2.0
/// Logs of inputs, as --replay names them: read, and replayed at a wire in the place of a TAP.

#include <stdexcept>

#include "models/base/systemc/scheduler.h"
#include "models/net/tap.h"
#include "tests/fuzz/frames.h"

namespace sluice::fuzz {
namespace {

constexpr const char* kHeader = "sluice-inputs 1\n";

std::string input_line(std::uint64_t at, const std::string& channel, const Bytes& bytes) {
  std::string line = "input " + std::to_string(at) + " " + channel + " ";
  for (const std::uint8_t b : bytes) line += {"0123456789abcdef"[b >> 4], "0123456789abcdef"[b & 15]};
  return line + "\n";
}

std::vector<Bytes> corpus() {
  std::string log = kHeader;
  std::uint64_t at = 0;
  for (const Bytes& f : valid_frames()) log += input_line(at += 1'000'000'000, "tap", f);
  const std::string few = kHeader + input_line(0, "tap", valid_frames().front()) + input_line(7, "uart", {'x', 10});
  return {to_bytes(log + "end 99000000000000 limit\n"), to_bytes(few + "end 8 ended\n"), to_bytes(few)};
}

/// The far end of the wire.
struct Sink : net::Wire::Client {
  void frame_arrived(net::PacketPtr p) override { bytes += p->length; }
  std::uint64_t bytes = 0;
};

/// One for all inputs: SystemC's modules are made once in a process.
struct Bench {
  Bench() {
    base::set_time_resolution();
    wire.attach(net::Wire::kB, sink);
    inputs.open("uart", [this](base::Inputs::Bytes) { ++heard; });
  }
  net::Wire wire{"wire", {base::BitRate(100'000'000'000), base::Time::ns(10)}};
  Sink sink;
  base::Inputs inputs;
  net::TapEnd tap{"tap", wire, net::Wire::kA, inputs};
  std::uint64_t heard = 0;
};

void replay(Bench& bench, const std::string& path) {
  base::calendar().clear();
  bench.wire.set_up(false);  // so that the wire forgets how long it is busy
  bench.wire.set_up(true);
  std::uint64_t records = 0;
  {
    base::InputLogReader reader(path);
    for (base::InputRecord r; reader.next(r);) records += !r.channel.empty();
  }
  const auto counts = bench.tap.statistics();
  const std::uint64_t before = counts.received + counts.oversized + bench.heard;
  bool interrupted = false;
  base::InputReplay log(path, bench.inputs);
  log.start([&interrupted] { interrupted = true; });
  while (base::calendar().next() != base::Time::max()) base::calendar().dispatch();
  const auto now = bench.tap.statistics();
  require(now.received + now.oversized + bench.heard - before == records, "an input did not arrive once");
  require(!(interrupted && log.until()), "the log has two ends");
}

}  // namespace

const Target target{.name = "replay",
                    .corpus = corpus,
                    .words = {"input ", "end ", "channel tap\n", "with ", "channel ", " tap ", " uart ", "limit",
                              "interrupted", "ended", "sluice-inputs 1", "18446744073709551615", "00", "\n", " "},
                    .runs = 10'000,
                    .full_runs = 200'000};

}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  static fuzz::MemoryFile file("log");
  static fuzz::Bench bench;
  file.assign(data, size);
  try {
    fuzz::replay(bench, file.path());
  } catch (const std::runtime_error& e) {
    fuzz::require(std::string(e.what()).starts_with(file.path() + ":"), e.what());
  }
  return 0;
}
