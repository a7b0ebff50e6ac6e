// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/tlb_parameters.h"

#include <string>

#include <fmt/format.h>

namespace sluice::riscv {

namespace {
constexpr const char* kFirst = "Intel 248966 (optimization manual), Skylake: first-level data TLB, 4 KiB pages";
constexpr const char* kCode = "Intel 248966 (optimization manual), Skylake: first-level instruction TLB, 4 KiB pages";
constexpr const char* kSecond = "Intel 248966 (optimization manual), Skylake: second-level TLB";
constexpr const char* kNoRoom = "no page has made room for another";

std::string rule_for(unsigned entries, const char* name, unsigned ways) {
  return entries % ways == 0 ? std::string() : fmt::format("must be a multiple of {}, which is {}", name, ways);
}
}  // namespace

void TlbParameters::describe(base::Schema<TlbParameters>& s) {
  using P = TlbParameters;
  s.summary("TLBs of a hart, used with caches.timing = \"cached\" and \"interval\"");
  const auto add = [&s](const char* key, unsigned P::*member, const char* meaning, unsigned least, unsigned most,
                        const char* unit) -> auto& {
    return s.add(key, member, meaning).range(least, most).unit(unit);
  };
  add("entries", &P::entries, "pages of the first level for data, of any size; 0: their translations take no time", 0,
      65'536, "pages")
      .acts_with({"tlb_displaced"}, kNoRoom)
      .stated(kFirst);
  add("ways", &P::ways, "of a set of these", 1, 1024, "ways").acts_with({"tlb_displaced"}, kNoRoom).stated(kFirst);
  add("code_entries", &P::code_entries, "as `entries`, of the first level for instruction fetches", 0, 65'536, "pages")
      .acts_with({"tlb_code_displaced"}, kNoRoom)
      .stated(kCode);
  add("code_ways", &P::code_ways, "of a set of these; an instruction may need two pages of one", 2, 1024, "ways")
      .acts_with({"tlb_code_displaced"}, kNoRoom)
      .stated(kCode);
  add("second_entries", &P::second_entries, "pages of the second level, for both; 0: there is none", 0, 1u << 20,
      "pages")
      .acts_with({"tlb_second_displaced"}, kNoRoom)
      .stated(kSecond);
  add("second_ways", &P::second_ways, "of a set of these", 1, 1024, "ways")
      .acts_with({"tlb_second_displaced"}, kNoRoom)
      .stated(kSecond);
  add("second_latency", &P::second_latency, "of a look-up in the second level, and before a walk", 0, 1000, "cycles")
      .acts_with({"tlb_misses", "tlb_code_misses"}, "no hart has missed the first TLB")
      .assumed("Intel 248966 says so of Sandy Bridge");
  add("walk_entries", &P::walk_entries, "page-table entries that point to tables, which walks need not read", 0, 65'536,
      "entries")
      .acts_with({"tlb_walks_displaced"}, "no page-table entry has made room for another")
      .assumed("Intel does not state the size of its paging-structure caches");
  s.rule("entries", [](const P& p) { return rule_for(p.entries, "ways", p.ways); });
  s.rule("code_entries", [](const P& p) { return rule_for(p.code_entries, "code_ways", p.code_ways); });
  s.rule("second_entries", [](const P& p) { return rule_for(p.second_entries, "second_ways", p.second_ways); });
}

}  // namespace sluice::riscv
