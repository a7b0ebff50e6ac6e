// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "models/base/measure/perfetto.h"
#include "models/base/time/key.h"

using namespace sluice::base;
using namespace sluice::base::literals;

namespace {

std::string temporary_file() { return "/tmp/sluice_test_perfetto." + std::to_string(getpid()); }

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Writes a trace by `body` and returns its bytes.
template <class Body>
std::string written(Body&& body) {
  const std::string path = temporary_file();
  {
    Trace trace;
    PerfettoWriter writer(path, "test board");
    trace.attach(&writer);
    body(trace);
    trace.attach(nullptr);
    writer.close();
  }
  const std::string bytes = read_file(path);
  std::remove(path.c_str());
  return bytes;
}

/// The trace as protoc prints it; empty when protoc is not installed.
std::string decoded(const std::string& bytes) {
  if (std::system("command -v protoc >/dev/null") != 0) {
    WARN("protoc is not installed: the encoding was not checked");
    return {};
  }
  const std::string path = temporary_file();
  std::ofstream(path, std::ios::binary) << bytes;
  const std::string command = "protoc --decode=Trace --proto_path=" SLUICE_TEST_FOLDER " perfetto_subset.proto <" +
                              path + " 2>&1; rm -f " + path;
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe);
  std::string text;
  std::array<char, 4096> part;
  for (std::size_t n; (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;) text.append(part.data(), n);
  REQUIRE(pclose(pipe) == 0);
  return text;
}

unsigned count_of(const std::string& text, const std::string& what) {
  unsigned n = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++n;
  return n;
}

/// Whether every line of protoc's output is a known field: unknown fields appear as numbers.
bool only_known_fields(const std::string& text) {
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::size_t first = text.find_first_not_of(' ', at);
    if (first != std::string::npos && text[first] >= '0' && text[first] <= '9') return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a trace that nobody listens to is off and keeps its tracks for later", "[trace]") {
  Trace trace;
  REQUIRE_FALSE(trace.enabled());
  const TrackId mac = trace.track("nic.eth0.mac");
  REQUIRE(trace.track("nic.eth0") != mac);
  REQUIRE(trace.track("nic.eth0.mac") == mac);
  trace.slice(mac, "frame", 1_ns, 2_ns);
}

TEST_CASE("slices decode with their track, request and exact time", "[perfetto]") {
  const std::string text = decoded(written([](Trace& t) {
    const TrackId mac = t.track("nic.eth0.mac");
    t.slice(mac, "wire", Time::fs(12'345'678), Time::fs(20'000'001), 77);
    t.instant(mac, "link up", 30_ns);
    t.counter(mac, "queue fill", 40_ns, 9);
  }));
  if (text.empty()) return;
  INFO(text);
  REQUIRE(only_known_fields(text));
  REQUIRE(text.find("process_name: \"test board\"") != std::string::npos);
  for (const char* name : {"name: \"nic\"", "name: \"eth0\"", "name: \"mac\"", "name: \"queue fill\""})
    REQUIRE(count_of(text, name) == 1);
  const std::string parent = "uuid: " + std::to_string(path_key("nic.eth0.mac")) +
                             "\n    name: \"mac\"\n    parent_uuid: " + std::to_string(path_key("nic.eth0")) + "\n";
  REQUIRE(text.find(parent) != std::string::npos);
  REQUIRE(text.find("timestamp: 12\n") != std::string::npos);
  REQUIRE(text.find("timestamp: 20\n") != std::string::npos);
  REQUIRE(text.find("flow_ids: 77\n") != std::string::npos);
  REQUIRE(text.find("uint_value: 77\n      name: \"request\"") != std::string::npos);
  REQUIRE(text.find("uint_value: 12345678\n      name: \"start_fs\"") != std::string::npos);
  REQUIRE(text.find("uint_value: 7654323\n      name: \"duration_fs\"") != std::string::npos);
  REQUIRE(text.find("type: TYPE_INSTANT") != std::string::npos);
  REQUIRE(text.find("counter_value: 9\n") != std::string::npos);
}

TEST_CASE("slices that overlap get rows of their own, slices that touch share one", "[perfetto]") {
  const std::string text = decoded(written([](Trace& t) {
    const TrackId queue = t.track("queue");
    t.slice(queue, "a", 10_ns, 20_ns, 1);
    t.slice(queue, "b", 20_ns, 30_ns, 2);  // row 1
    t.slice(queue, "c", 15_ns, 35_ns, 3);  // row 2
    t.slice(queue, "d", 33_ns, 36_ns, 4);  // row 1
    t.slice(queue, "e", 34_ns, 36_ns, 5);  // row 3
  }));
  if (text.empty()) return;
  INFO(text);
  REQUIRE(count_of(text, "name: \"queue\"") == 1);
  REQUIRE(count_of(text, "name: \"queue #2\"") == 1);
  REQUIRE(count_of(text, "name: \"queue #3\"") == 1);
  REQUIRE(count_of(text, "name: \"queue #4\"") == 0);
  REQUIRE(count_of(text, "track_uuid: " + std::to_string(path_key("queue")) + "\n") == 6);
}

TEST_CASE("a slice takes the row that became free last", "[perfetto]") {
  const std::string text = decoded(written([](Trace& t) {
    const TrackId queue = t.track("queue");
    t.slice(queue, "a", 10_ns, 20_ns, 1);
    t.slice(queue, "b", 15_ns, 22_ns, 2);
    t.slice(queue, "c", 30_ns, 40_ns, 3);  // row 2
    t.slice(queue, "d", 21_ns, 25_ns, 4);  // row 1, which c has left free
  }));
  if (text.empty()) return;
  INFO(text);
  REQUIRE(count_of(text, "name: \"queue #2\"") == 1);
  REQUIRE(count_of(text, "name: \"queue #3\"") == 0);
}

TEST_CASE("the same calls give the same bytes, whenever the sink is attached", "[perfetto]") {
  const auto body = [](Trace& t) {
    for (int i = 0; i < 10'000; ++i)
      t.slice(t.track("a.b" + std::to_string(i % 7)), "x", Time::ns(i), Time::ns(i + 9), i);
  };
  REQUIRE(written(body) == written(body));
}

TEST_CASE("completed requests show their stages", "[trace]") {
  const std::string text = decoded(written([](Trace& t) {
    Ledger ledger;
    trace_requests(ledger, t);
    const auto wire = ledger.component("wire");
    const auto core = ledger.component("host.core0");
    const RequestId id = ledger.open(SLUICE_STAGE_wire, wire, 1_ns);
    ledger.enter(id, SLUICE_STAGE_handler, core, 5_ns);
    ledger.enter(id, SLUICE_STAGE_wire, wire, 7_ns);
    ledger.complete(id, 9_ns);
    const RequestId dropped = ledger.open(SLUICE_STAGE_wire, wire, 10_ns);
    ledger.drop(dropped, "bad FCS", 12_ns);
  }));
  if (text.empty()) return;
  INFO(text);
  REQUIRE(count_of(text, "name: \"handler\"") == 1);
  REQUIRE(count_of(text, "type: TYPE_SLICE_BEGIN") == 4);
  REQUIRE(count_of(text, "name: \"dropped: bad FCS\"") == 1);
  REQUIRE(count_of(text, "flow_ids: 1\n") == 3);
  REQUIRE(count_of(text, "uint_value: 4000000\n") == 1);
}

TEST_CASE("a file that cannot be written is reported", "[perfetto]") {
  REQUIRE_THROWS_WITH(PerfettoWriter("/no/such/folder/t.perfetto", ""),
                      "/no/such/folder/t.perfetto: cannot be written: No such file or directory");
  PerfettoWriter full("/dev/full", "");
  REQUIRE_THROWS_WITH(full.close(), "/dev/full: cannot be written: No space left on device");
  REQUIRE_NOTHROW(full.close());
}

TEST_CASE("a track that there is none of is refused", "[perfetto]") {
  written([](Trace& trace) {
    const TrackId last = trace.track("nic.eth0");
    REQUIRE_THROWS_AS(trace.slice(last + 1, "x", 1_ns, 2_ns), std::invalid_argument);
    REQUIRE_THROWS_AS(trace.instant(1234567, "x", 1_ns), std::invalid_argument);
    REQUIRE_THROWS_AS(trace.counter(last + 1, "x", 1_ns, 5), std::invalid_argument);
    trace.slice(last, "x", 1_ns, 2_ns);
  });
}
