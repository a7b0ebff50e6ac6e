/// ledger_tiles BOARD [PATH=VALUE...]: runs a board and prints its result file with one more member, "ledger": every
/// measured request's tiles and every frame on its first wire, in integer femtoseconds. The result file has means only;
/// closed forms are checked request by request.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <systemc>

#include "platform/board/models.h"
#include "platform/board/simulation.h"
#include "platform/report/result.h"

namespace {

using namespace sluice;
using Json = nlohmann::ordered_json;

void note_requests(Json& requests) {
  base::ledger().on_complete([&requests](const base::Ledger::Request& r, base::Time end) {
    if (!r.measured) return;
    Json tiles = Json::array();
    for (const auto& t : r.tiles)
      tiles.push_back({base::stage_title(t.stage), base::ledger().path(t.component), t.start.femtoseconds()});
    requests.push_back({{"id", r.id}, {"end", end.femtoseconds()}, {"tiles", std::move(tiles)}});
  });
}

/// Seen at the board's end: requests when they have arrived, replies when they leave.
void note_frames(net::Wire& wire, Json& frames) {
  wire.add_tap(net::Wire::kB, [&frames](const net::Packet& p, net::Wire::Direction d, base::Time t) {
    if (p.request() == 0) return;
    frames.push_back({{"id", p.request()},
                      {"reply", d == net::Wire::Direction::kSent},
                      {"bytes", p.length},
                      {"at", t.femtoseconds()}});
  });
}

int run(const std::string& name, const std::vector<std::string>& overrides) {
  config::Registry registry;
  platform::register_models(registry);
  const config::BoardConfig config = config::load_board(name, overrides, registry, config::BoardDirectories{});
  platform::Board board(config);
  Json requests = Json::array();
  Json frames = Json::array();
  note_requests(requests);
  note_frames(*board.wires().front().wire, frames);
  platform::Simulation simulation(board, {});
  const platform::Outcome outcome = simulation.run();
  Json result = report::make_result(simulation, outcome);
  result["ledger"] = {{"error", base::ledger().error()},
                      {"clamped", base::ledger().clamped()},
                      {"requests", std::move(requests)},
                      {"frames", std::move(frames)}};
  fmt::print("{}\n", result.dump());
  return report::failure_of(result).empty() ? 0 : 1;
}

}  // namespace

int sc_main(int, char**) { return 0; }

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: ledger_tiles BOARD [PATH=VALUE...]\n");
    return 2;
  }
  try {
    return run(argv[1], {argv + 2, argv + argc});
  } catch (const config::UserError& e) {
    fmt::print(stderr, "ledger_tiles: {}\n", e.what());
    return 2;
  }
}
