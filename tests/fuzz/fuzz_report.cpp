// SPDX-License-Identifier: Apache-2.0
/// Result files, comparisons, studies and claims, of which `sluice report` makes pages.

#include <cstdio>

#include "platform/config/files/schemas.h"
#include "platform/config/user_error.h"
#include "platform/page/pages.h"
#include "tests/fuzz/fuzz.h"

namespace sluice::fuzz {
namespace {

constexpr const char* kResult =
    R"({"schema": "sluice-result-1", "board": {"name": "a", "summary": "s", "files": ["a.toml"],
 "plugins": [{"name": "p", "sha256": "00"}], "instances": {"root": {"kind": "root", "model": "m", "parameters": {}},
 "pcie.s": {"kind": "pcie", "model": "link", "parameters": {"attach": {"value": "", "text": "", "unit": "", "kind":
 "assumed", "source": "x", "set_by": "--set"}, "port": {"value": 0, "text": "0", "uncertainty": 0.25, "points": ["y"]}}},
 "nic.n": {"kind": "nic", "model": "d", "parameters": {"slot": {"text": "pcie.s"}, "wire": {"text": "net.w"}}},
 "net.w": {"kind": "net", "model": "wire", "parameters": {}}}}, "program": {"version": "1", "sources": "ab"}, "seed": 1,
 "replication": 0, "firmware": [{"cluster": "host", "name": "f", "sha256": "11"}], "outcome": "finished", "failure": "",
 "diagnosis": "", "simulated_ns": 5.5, "measured_ns": 4, "requests": {"sent": 2, "completed": 1, "dropped": {"x": 1}},
 "latency_ns": {"value": 2, "p50": 2, "max": 300, "histogram": {"count": 2, "first_fs": [1, 20], "counts": [1, 1]}},
 "load": {"offered_per_s": 1}, "throughput_per_s": 7, "stages": [{"name": "wire", "component": "net.w", "mean_ns": 2}],
 "phases": [{"rate_per_s": 1, "load": {"achieved_per_s": 1}, "latency_ns": {"mean": 1, "p99": 2}, "sent": 1}],
 "dma": [{"bytes": 8, "cache": "warm", "read_p50_ns": 5, "read_gbps": 1}], "packets": {"trials": [{"frame_bytes": 64,
 "offered_per_s": 1, "returned_per_s": 1}]}, "links": [{"name": "pcie.s", "direction": "up", "utilisation": 0.5}],
 "cores": [{"name": "h", "time": {"polling": 1.0}}], "resources": [{"name": "h", "busy": 0.5}], "without_effect":
 [{"path": "a.b", "set_by": "x", "why": "y"}], "mistakes": {"list": [{"what": "z", "times": 3}]}})";

constexpr const char* kStudy = R"({"schema": "sluice-study-1", "name": "s", "summary": "", "program": {"version": "1"},
 "axes": [{"path": "w.n", "unit": "", "values": ["1", "2"]}, {"path": "w.k", "unit": "B", "values": ["x", "y"]}],
 "measure": [{"quantity": "latency_ns.p99", "unit": "ns"}, {"quantity": "throughput_per_s", "unit": "1/s"}],
 "cases": [{"case": 0, "board": "a", "settings": {"w.n": "1", "w.k": "x"}, "numbers": {"w.n": 1}, "points": [0],
 "quantities": {"latency_ns.p99": {"value": 1.5, "interval_95": [1.4, 1.6], "runs": 2}}}, {"case": 1, "board": "b", "settings":
 {"w.n": "2", "w.k": "y"}, "numbers": {"w.n": 2}, "points": [], "quantities": {"latency_ns.p99": {"value": 1000,
 "interval_95": null, "runs": 1}, "throughput_per_s": {"value": 3, "interval_95": [3, 3], "runs": 1}}}, {"case": 2, "board": "b",
 "settings": {"w.n": "1", "w.k": "x"}, "numbers": {"w.n": 1}, "points": [], "quantities": {"latency_ns.p99": {"value": 2,
 "interval_95": [1.8, 2.2], "runs": 2}}}], "points": [{"point": 0, "id": "00112233445566778899", "case": 0, "seed": 1,
 "replication": 0, "state": "failed", "failure": "why", "quantities": {"latency_ns.p99": 1.5}}]})";

constexpr const char* kClaims =
    R"({"schema": "sluice-claims-1", "program": {"version": "1", "sources": "ab"}, "changed":
 ["a.b=1"], "claims": [{"name": "c", "rows": ["V1"], "role": "tested", "source": "s", "note": "n", "unit": "ns",
 "published": 3, "published_range": null, "modelled": 4, "interval_95": [3, 5], "runs": 5, "error": 0.3, "within": 0.05,
 "verdict": "off", "why": "is off", "parameters": ["x.y"], "terms": [{"name": "", "study": "t", "case": 0, "board": "b",
 "settings": {"w.k": "1"}, "value": "q", "modelled": 4, "interval_95": null}]}, {"name": "o", "role": "tested", "source":
 "s", "ordering": ["x", "y"], "verdict": "holds", "terms": [{"name": "x", "study": "t", "board": "b", "value": "q",
 "modelled": 4}]}, {"name": "l", "source": "s", "statement": "st", "lacks": "it", "verdict": "lacking"}]})";

std::vector<Bytes> corpus() {
  const std::string result = kResult;
  const std::string comparison =
      R"({"schema": "sluice-compare-1", "results": [)" + result + "," + result +
      R"(], "same_as_reference": ["a"], "replications": 2, "curve": [{"rate_per_s": 5, "boards": [
 {"mean_ns": {"mean": 1, "half_width_95": 0.5}, "p99_ns": {"value": 2, "interval_95": [1, 4]}, "achieved_per_s": {"mean": 3}},
 {"mean_ns": {"mean": 1}, "p99_ns": {"mean": 2}, "achieved_per_s": {"mean": 3}}]}], "paired": [{"board": "a", "quantity":
 "q", "unit": "ns", "reference": 1, "difference": 2, "interval": [1, 3], "verdict": "more"}]})";
  return {to_bytes(result), to_bytes(kStudy), to_bytes(comparison), to_bytes(kClaims)};
}

page::Document page_of(const std::string& text, const std::string& schema, std::vector<std::string>& left_out) {
  const page::Json json = page::parse_json(text, "file", schema);
  const page::Node node(json, "file");
  if (schema == config::kStudySchema) return page::study_page(page::study_data(node), "/nowhere", left_out);
  if (schema == config::kClaimsSchema) return page::claims_page(node);
  if (schema == config::kComparisonSchema) return page::comparison_page(node);
  return page::run_page(page::result_data(node));
}

std::uint64_t pages = 0, plots = 0;

void finish() {
  std::printf("%llu pages with %llu plots\n", static_cast<unsigned long long>(pages),
              static_cast<unsigned long long>(plots));
  require(pages > 0 && plots > 0, "no input became a page with plots");
}

/// Each plot has a name that is a file's and as many cells as columns, and its specification is JSON that a script
/// holds.
void check(const page::Document& document) {
  ++pages;
  plots += document.plot_data().size();
  for (const auto& [name, data] : document.plot_data()) {
    require(!name.empty() && name.find_first_of("/\\ \n") == std::string::npos && name.front() != '.', "a plot's name");
    for (const auto& row : data.rows) require(row.size() == data.columns.size(), "a row's cells");
  }
}

}  // namespace

const Target target{.name = "report",
                    .corpus = corpus,
                    .words = {"null", "true", "[]", "{}", "[[", "\"", "-1", "1e308", "-1e308", "1e999", "0.0", ",", ":",
                              "18446744073709551616", "\"attach\"", "\"pcie.s\"", "\"done\"", "\\u0000", "</script>"},
                    .runs = 5'000,
                    .full_runs = 100'000,
                    .longest = 1 << 14,
                    .finish = finish};

}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const char* schema :
       {config::kStudySchema, config::kClaimsSchema, config::kComparisonSchema, config::kResultSchema}) {
    try {
      std::vector<std::string> left_out;
      const page::Document document = fuzz::page_of(text, schema, left_out);
      for (const std::string& sentence : left_out)
        fuzz::require(sentence.starts_with("points/"), "a file that is left out is not named");
      fuzz::check(document);
    } catch (const config::UserError& e) {
      fuzz::require(std::string(e.what()).starts_with("file: "), e.what());
    }
  }
  return 0;
}
