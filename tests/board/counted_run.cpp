// SPDX-License-Identifier: Apache-2.0
/// counted_run BOARD [PATH=VALUE...]: runs a board, lets what is under way come to its end, and prints the result file
/// with one more member, "counted": what taps on wires and links have seen over the whole run beside the models' own
/// counters, and the credits and TLPs that must have been returned.

#include "models/nic/descriptor/descriptor_nic.h"
#include "tests/board/board_program.h"

namespace {

using namespace sluice;
using tests::Json;

/// Longer than a PCIe round trip, a write-back timeout and a frame's way through the board.
constexpr base::Time kDrain = base::Time::us(100);

struct Tally {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t payload = 0;
};

/// What crosses a wire, at both ends.
struct WireTaps {
  explicit WireTaps(platform::WireInstance& w) : instance(w) {
    for (const auto end : {net::Wire::kA, net::Wire::kB})
      w.wire->add_tap(end, [this, end](const net::Packet& p, net::Wire::Direction d, base::Time) {
        Tally& t = seen[end][d == net::Wire::Direction::kReceived];
        ++t.count;
        t.bytes += p.length;
      });
  }
  Json json() const {
    Json result;
    for (const auto from : {net::Wire::kA, net::Wire::kB}) {
      const Tally& sent = seen[from][0];
      const Tally& received = seen[net::Wire::other(from)][1];
      const net::Wire::Statistics& s = instance.wire->statistics(from);
      result[from == net::Wire::kA ? "a_to_b" : "b_to_a"] = {
          {"sent", sent.count},         {"sent_bytes", sent.bytes},
          {"received", received.count}, {"received_bytes", received.bytes},
          {"frames", s.frames},         {"bytes", s.bytes},
          {"delivered", s.delivered},   {"lost", s.lost}};
    }
    return result;
  }
  platform::WireInstance& instance;
  Tally seen[2][2];
};

/// What crosses one direction of a link, calculated from the TLPs' fields.
struct LinkTap {
  LinkTap(pcie::LinkDirection& d) : direction(d) {
    for (unsigned c = 0; c < pcie::kTlpClasses; ++c) advertised[c] = d.available(static_cast<pcie::TlpClass>(c));
    d.add_tap([this](const pcie::Tlp& t, base::Time first, base::Time last) {
      constexpr unsigned kStartSequenceLcrcEnd = 1 + 2 + 4 + 1;
      const bool request = t.type == pcie::TlpType::kMRd || t.type == pcie::TlpType::kMWr;
      const bool four_dw = t.type == pcie::TlpType::kMsg || (request && t.address > 0xffff'ffff);
      const unsigned data = t.has_data() ? 4u * t.length : 0;
      ++seen.count;
      seen.bytes += kStartSequenceLcrcEnd + (four_dw ? 16 : 12) + data;
      if (t.content == pcie::Content::kPayload) seen.payload += data;
      busy += last - first;
      overlaps += first < free_at;
      free_at = last;
    });
  }
  Json json() {
    const pcie::LinkStatistics& s = direction.statistics();
    std::uint64_t tlps = 0;
    for (const std::uint64_t n : s.tlps) tlps += n;
    Json credits = Json::array();
    for (unsigned c = 0; c < pcie::kTlpClasses; ++c) {
      const auto left = direction.available(static_cast<pcie::TlpClass>(c));
      credits.push_back({{"advertised", {advertised[c].messages, advertised[c].data}},
                         {"available", {left.messages, left.data}},
                         {"queued", direction.queued(static_cast<pcie::TlpClass>(c))}});
    }
    return {{"seen_tlps", seen.count},
            {"seen_bytes", seen.bytes},
            {"seen_payload", seen.payload},
            {"tlps", tlps},
            {"bytes", s.bytes},
            {"payload_bytes", s.payload_bytes},
            {"metadata_bytes", s.metadata_bytes},
            {"seen_busy_fs", busy.femtoseconds()},
            {"busy_fs", s.busy.femtoseconds()},
            {"overlaps", overlaps},
            {"credits", credits}};
  }
  pcie::LinkDirection& direction;
  base::Credits advertised[pcie::kTlpClasses];
  Tally seen;
  base::Time busy, free_at;
  std::uint64_t overlaps = 0;
};

Json nic_json(nic::DescriptorNic& n) {
  const net::Mac::Statistics& m = n.mac().statistics();
  const auto count = [&n](unsigned statistic) { return n.statistic(statistic); };
  return {{"mac_rx", m.rx_frames},
          {"mac_rx_dropped", m.rx_bad_fcs + m.rx_runts + m.rx_long},
          {"mac_tx", m.tx_frames},
          {"mac_tx_dropped", m.tx_link_down},
          {"rx_packets", count(DESC_STAT_RX_PACKETS)},
          {"rx_dropped", count(DESC_STAT_RX_DROP_FIFO) + count(DESC_STAT_RX_DROP_NO_QUEUE) +
                             count(DESC_STAT_RX_DROP_LENGTH) + count(DESC_STAT_RX_DROP_FCS) +
                             count(DESC_STAT_RX_DROP_ADDRESS) + count(DESC_STAT_RX_DROP_DISABLED) +
                             count(DESC_STAT_RX_DROP_DMA)},
          {"rx_drop_fifo", count(DESC_STAT_RX_DROP_FIFO)},
          {"tx_packets", count(DESC_STAT_TX_PACKETS)}};
}

class Counted : public tests::Addition {
 public:
  void ready(platform::Simulation& simulation) override {
    platform::Board& board = simulation.board();
    for (platform::WireInstance& w : board.wires()) wires_.push_back(std::make_unique<WireTaps>(w));
    for (platform::SlotInstance& s : board.slots())
      links_.emplace_back(std::make_unique<LinkTap>(s.link->up()), std::make_unique<LinkTap>(s.link->down()));
  }

  void report(platform::Simulation& simulation, Json& result) override {
    platform::Board& board = simulation.board();
    // With this entry, now() reaches the end of the drain, by which credits on their way have come back.
    base::calendar().after(kDrain, base::path_key("drained"), [] {});
    board.scheduler().run_until(base::now() + kDrain * 2);

    Json& counted = result["counted"];
    for (auto& w : wires_) counted["wires"][w->instance.path] = w->json();
    for (std::size_t i = 0; i < links_.size(); ++i)
      counted["links"][board.slots()[i].path] = {{"up", links_[i].first->json()}, {"down", links_[i].second->json()}};
    for (platform::NicInstance& n : board.nics())
      counted["nics"][n.path] = nic_json(dynamic_cast<nic::DescriptorNic&>(*n.nic));
    const base::Ledger& ledger = base::ledger();
    std::uint64_t ledger_drops = 0;
    for (const auto& [reason, n] : ledger.dropped()) ledger_drops += n;
    counted["ledger"] = {{"opened", ledger.opened()},
                         {"completed", ledger.completed()},
                         {"dropped", ledger_drops},
                         {"in_flight", ledger.in_flight()},
                         {"clamped", ledger.clamped()}};
    counted["tlps_held"] = pcie::TlpPool::instance().taken();
  }

 private:
  std::vector<std::unique_ptr<WireTaps>> wires_;
  std::vector<std::pair<std::unique_ptr<LinkTap>, std::unique_ptr<LinkTap>>> links_;
};

}  // namespace

std::unique_ptr<sluice::tests::Addition> sluice::tests::make_addition() { return std::make_unique<Counted>(); }
