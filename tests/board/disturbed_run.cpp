/// disturbed_run [--entries NS] [--foreign] BOARD [PATH=VALUE...]: runs a board with things added to it that must not
/// change its result, and prints its result file with one more member, "disturbance": what the additions saw.
///
/// --entries NS: 100 calendar entries that do nothing, at odd times over that many nanoseconds. --foreign: a plain
/// TLM-2.0 device, mapped at 0x1100'0000.

#include <cstring>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_target_socket.h>

#include "platform/board/models.h"
#include "platform/board/simulation.h"
#include "platform/report/result.h"

namespace {

using namespace sluice;
using Json = nlohmann::ordered_json;

/// Knows nothing of Sluice: a thread with an event of its own, and a register file whose callers wait for the thread's
/// next tick. Registers: 0 holds what was written; 8 reads the number of ticks.
struct PlainDevice : sc_core::sc_module {
  tlm_utils::simple_target_socket<PlainDevice> socket{"socket"};
  std::uint64_t ticks = 0;
  std::uint64_t accesses = 0;
  std::uint64_t held = 0;
  sc_core::sc_time last_access;

  SC_HAS_PROCESS(PlainDevice);
  explicit PlainDevice(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_b_transport(this, &PlainDevice::b_transport);
    SC_THREAD(oscillate);
  }

 private:
  void oscillate() {
    for (;; ++ticks) {
      tick_.notify(sc_core::sc_time(133.7, sc_core::SC_NS));
      wait(tick_);
    }
  }
  void b_transport(tlm::tlm_generic_payload& trans, sc_core::sc_time&) {
    const std::uint64_t address = trans.get_address();
    if (trans.get_data_length() != 8 || address % 8 != 0 || address > 8) {
      trans.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    wait(tick_);
    wait(sc_core::sc_time(21.3, sc_core::SC_NS));
    ++accesses;
    last_access = sc_core::sc_time_stamp();
    std::uint64_t& reg = address == 0 ? held : ticks;
    if (trans.is_write())
      std::memcpy(&reg, trans.get_data_ptr(), 8);
    else
      std::memcpy(trans.get_data_ptr(), &reg, 8);
    trans.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  sc_core::sc_event tick_;
};

struct Options {
  base::Time entries_over;
  bool foreign = false;
  std::string board;
  std::vector<std::string> overrides;
};

int run(const Options& o) {
  config::Registry registry;
  platform::register_models(registry);
  const config::BoardConfig config = config::load_board(o.board, o.overrides, registry, config::BoardDirectories{});
  platform::Board board(config);
  std::unique_ptr<PlainDevice> device;
  if (o.foreign) {
    device = std::make_unique<PlainDevice>("plain_device");
    board.bus().map({"plain_device", 0x1100'0000, 0x1000, false, false}, device->socket);
  }
  unsigned seen = 0;
  for (unsigned i = 1; i <= 100 && o.entries_over != base::Time{}; ++i)
    base::calendar().at(o.entries_over / 101 * i + base::Time::fs(i * i * 1'013), base::path_key("nobody"),
                        [&seen] { ++seen; });
  std::ostringstream console;
  platform::SimulationOptions options;
  options.console = &console;
  platform::Simulation simulation(board, options);
  const platform::Outcome outcome = simulation.run();
  Json result = report::make_result(simulation, outcome);
  result["disturbance"] = {{"entries", seen}, {"console", console.str()}};
  if (device)
    result["disturbance"].update(
        {{"ticks", device->ticks}, {"accesses", device->accesses}, {"last_access_fs", device->last_access.value()}});
  fmt::print("{}\n", result.dump());
  return report::failure_of(result).empty() ? 0 : 1;
}

}  // namespace

int sc_main(int, char**) { return 0; }

int main(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--foreign")
      o.foreign = true;
    else if (word == "--entries" && i + 1 < argc)
      o.entries_over = base::Time::ns(std::stoull(argv[++i]));
    else if (o.board.empty())
      o.board = word;
    else
      o.overrides.push_back(word);
  }
  try {
    return run(o);
  } catch (const config::UserError& e) {
    fmt::print(stderr, "disturbed_run: {}\n", e.what());
    return 2;
  }
}
