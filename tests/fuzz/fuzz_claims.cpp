// SPDX-License-Identifier: Apache-2.0
/// Files of claims: values, ranges, tables, terms, orderings.

#include <cstdio>

#include "platform/claims/claims_file.h"
#include "platform/study/expression.h"
#include "tests/fuzz/fuzz.h"

namespace sluice::fuzz {
namespace {

constexpr const char* kFile = "file";

std::vector<Bytes> corpus() {
  return {to_bytes(R"T([[claim]]
name = "a.{}"
rows = ["V1"]
role = "fitted"
source = "s"
study = "t"
board = "b"
at = { workload.offset = "{} B", pcie.slot0.lanes = 8 }
value = "dma.{}.x / 1e6 + max(1, latency_ns.mean)"
unit = "ns"
published = { 8 = 586, 64 = [600, 601.5] }
within = "5 %"
)T"),
          to_bytes(R"T([[claim]]
name = "o"
role = "tested"
source = "s"
study = "t"
unit = "us"
ordering = "x < y < z"
terms.x = { board = "b", value = "q" }
terms.y = { board = "c", study = "u", at = { a.b = true }, value = "2 * q" }
terms.z.board = "d"
terms.z.value = "r"
[[claim]]
name = "l"
source = "s"
statement = "text"
lacks = "it"
)T")};
}

std::uint64_t count = 0;

void finish() {
  std::printf("%llu claims\n", static_cast<unsigned long long>(count));
  require(count > 0, "no input became a claim");
}

/// What every claim of a list has, and that its expressions can be read or are refused with its line.
void check(const claims::Claim& c) {
  ++count;
  require(!c.name.empty() && !c.source.empty(), "a claim without name or source");
  require(c.terms.empty() == !c.lacks.empty(), "a claim that is lacking and has a value, or neither");
  for (const claims::Term& t : c.terms) {
    try {
      const std::vector<std::string> names = study::names_in(t.value);
      study::Expression expression({"value", "?"}, t.value, names, t.where);
      for (std::size_t i = 0; i < names.size(); ++i) expression.set(i, 2.5);
      expression.number();
    } catch (const config::UserError& e) {
      require(std::string(e.what()).starts_with(kFile), "an error of a value that does not name the file");
    }
  }
}

}  // namespace

const Target target{.name = "claims",
                    .corpus = corpus,
                    .words = {"[[claim]]", "{}",     "ordering",   "published", "within",  "<",           "terms", "at",
                              "[1, 2]",    "nan",    "inf",        "1e308",     "\"5 %\"", "long = true", "lacks", "(",
                              ")",         "tested", "arithmetic", "reported",  "input",   "\"\"",        "[]"},
                    .runs = 20'000,
                    .full_runs = 500'000,
                    .longest = 1 << 12,
                    .finish = finish};

}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    for (const claims::Claim& c : claims::parse_claims(text, fuzz::kFile)) fuzz::check(c);
  } catch (const config::UserError& e) {
    fuzz::require(std::string(e.what()).starts_with(fuzz::kFile), "an error that does not name the file");
  }
  return 0;
}
