// SPDX-License-Identifier: Apache-2.0
/// ledger_tiles [--counters-at FS,FS,...] BOARD [PATH=VALUE...]: runs a board and prints its result file with one more
/// member, "ledger": every measured request's tiles, every frame on its first wire, and every write of a core on its
/// first PCIe link, in integer femtoseconds. The result file has means only; closed forms are checked
/// request by request.
///
/// --counters-at: adds the values of counters of bus, root complex and caches (docs/models/memory.md) at these times,
/// before the instructions that start then.

#include <cstring>
#include <sstream>

#include "tests/board/board_program.h"

namespace {

using namespace sluice;
using tests::Json;

void note_requests(Json& requests) {
  base::ledger().on_complete([&requests](const base::Ledger::Request& r, base::Time end) {
    if (!r.measured) return;
    Json tiles = Json::array();
    const base::Ledger::Tile* last = nullptr;
    for (const auto& t : r.tiles) {
      // Steps of receiving divide a stage; it is one tile here.
      if (!last || t.stage != last->stage || t.component != last->component)
        tiles.push_back({base::stage_title(t.stage), base::ledger().path(t.component), t.start.femtoseconds()});
      last = &t;
    }
    requests.push_back({{"id", r.id}, {"end", end.femtoseconds()}, {"tiles", std::move(tiles)}});
  });
}

/// Frames are noted at the board's end of the wire: requests when they have arrived, replies when they leave.
void note_frames(net::Wire& wire, Json& frames) {
  wire.add_tap(net::Wire::kB, [&frames](const net::Packet& p, net::Wire::Direction d, base::Time t) {
    if (p.request() == 0) return;
    frames.push_back({{"id", p.request()},
                      {"reply", d == net::Wire::Direction::kSent},
                      {"bytes", p.length},
                      {"at", t.femtoseconds()}});
  });
}

/// Writes are noted when their last bit leaves. value: of the first four bytes.
void note_writes(pcie::Link& link, Json& writes) {
  link.down().add_tap([&writes](const pcie::Tlp& t, base::Time, base::Time last) {
    if (t.type != pcie::TlpType::kMWr) return;
    std::uint32_t value = 0;
    std::memcpy(&value, t.payload(), sizeof value);
    writes.push_back(
        {{"address", t.first_byte()}, {"bytes", t.payload_bytes()}, {"value", value}, {"at", last.femtoseconds()}});
  });
}

/// The harts' counters are added up. Functional timing has no counters of the caches.
Json counters(platform::Board& board) {
  Json now;
  const auto add = [&now](const std::string& path, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      const std::uint64_t before = now.contains(name) ? now[name].get<std::uint64_t>() : 0;
      now[name] = before + base::statistics().value(path + "." + name);
    }
  };
  now["bus_accesses"] = base::statistics().value("bus.accesses");
  if (!board.slots().empty()) now["core_reads"] = base::statistics().value("root.core_reads");
  const auto& caches = board.config().parameters<coherence::MemorySystem::Parameters>("caches");
  if (caches.timing != coherence::MemorySystem::Timing::cached) return now;
  for (const platform::Cluster& c : board.clusters())
    for (const auto& core : c.cores)
      add(core->path(), {"l2_accesses", "l2_misses", "llc_misses", "l2_waits", "llc_waits", "snoop_waits", "dram_waits",
                         "prefetch_waits", "stall_slots"});
  add("caches", {"dma_read_hits", "dma_read_misses"});
  return now;
}

class LedgerTiles : public tests::Addition {
 public:
  std::size_t option(std::span<const std::string> words) override {
    if (words[0] != "--counters-at" || words.size() < 2) return 0;
    std::istringstream list(words[1]);
    for (std::string time; std::getline(list, time, ',');) times_.push_back(base::Time::fs(std::stoull(time)));
    return 2;
  }

  void prepare(platform::Board& board, platform::SimulationOptions&) override {
    note_requests(requests_);
    note_frames(*board.wires().front().wire, frames_);
    if (!board.slots().empty()) note_writes(*board.slots().front().link, writes_);
    for (const base::Time t : times_)
      base::calendar().at(t, base::path_key("counters"),
                          [this, &board, t] { counters_[std::to_string(t.femtoseconds())] = counters(board); });
  }

  void report(platform::Simulation&, Json& result) override {
    result["ledger"] = {{"error", base::ledger().error()},  {"clamped", base::ledger().clamped()},
                        {"requests", std::move(requests_)}, {"frames", std::move(frames_)},
                        {"writes", std::move(writes_)},     {"counters", std::move(counters_)}};
  }

 private:
  std::vector<base::Time> times_;
  Json requests_ = Json::array();
  Json frames_ = Json::array();
  Json writes_ = Json::array();
  Json counters_ = Json::object();
};

}  // namespace

std::unique_ptr<sluice::tests::Addition> sluice::tests::make_addition() { return std::make_unique<LedgerTiles>(); }
