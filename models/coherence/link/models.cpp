// SPDX-License-Identifier: Apache-2.0
#include "models/coherence/link/models.h"

#include "models/coherence/link/link_part.h"

namespace sluice::coherence {
namespace {

constexpr std::uint64_t kFrameWords = 8, kWordsLeft = 7;     // ECI
constexpr std::uint64_t kFlitBytes = 256, kSlotBytes = 240;  // CXL 3.0

const std::vector<std::string> kBytes{"down_bytes", "up_bytes"};
constexpr const char* kUnused = "the link carried nothing";

}  // namespace

base::Ratio EciParameters::femtoseconds_per_byte() const {
  const base::Ratio lane = lane_rate.femtoseconds_per_byte();
  return {lane.numerator() * kFrameWords, lane.denominator() * lanes * kWordsLeft};
}

void EciParameters::describe(base::Schema<EciParameters>& s) {
  using P = EciParameters;
  s.summary("ECI, the coherent link between Enzian's processor and FPGA");
  s.add("lanes", &P::lanes, "of the link; there are two links of 12, of which the published measurements use one")
      .range(1, 24)
      .unit("lanes")
      .acts_with(kBytes, kUnused)
      .stated("Enzian's documentation: 24 lanes in two links");
  s.add("lane_rate", &P::lane_rate, "of a lane, without its line code")
      .range(1_Gbps, 100_Gbps)
      .acts_with(kBytes, kUnused)
      .assumed("30 GB/s each way are published for 24 lanes");
  s.include("", &P::common);
}

base::Ratio CxlParameters::femtoseconds_per_byte() const {
  const std::uint64_t lane_rate = 32'000'000'000ull << (generation - 5);
  const base::Ratio lane = base::BitRate(lane_rate).femtoseconds_per_byte();
  return {lane.numerator() * kFlitBytes, lane.denominator() * lanes * kSlotBytes};
}

void CxlParameters::describe(base::Schema<CxlParameters>& s) {
  using P = CxlParameters;
  s.summary("CXL 3.0 link with back-invalidation, in flits of 256 B");
  s.add("generation", &P::generation, "PCIe generation of the signalling rate; 5: 32 GT/s, 6: 64 GT/s")
      .choices({5, 6})
      .acts_with(kBytes, kUnused)
      .setting();
  s.add("lanes", &P::lanes, "width").choices({4, 8, 16}).unit("lanes").acts_with(kBytes, kUnused).setting();
  s.include("", &P::common);
}

void OnDieParameters::describe(base::Schema<OnDieParameters>& s) {
  using P = OnDieParameters;
  s.summary("caches and homes of lines on one die");
  s.add("rate", &P::rate, "of a direction")
      .range(1_Gbps, 100'000_Gbps)
      .acts_with(kBytes, kUnused)
      .assumed("32 B in each cycle at 2 GHz");
  s.include("", &P::common);
}

}  // namespace sluice::coherence

namespace sluice::part {

void add_coherence(Catalogue& catalogue) {
  using namespace coherence;
  add_link<EciParameters>(catalogue, "eci", "ECI link", kEci);
  add_link<CxlParameters>(catalogue, "cxl", "CXL link", kCxl);
  add_link<OnDieParameters>(catalogue, "on-die", "on-die link", kOnDie);
}

}  // namespace sluice::part
