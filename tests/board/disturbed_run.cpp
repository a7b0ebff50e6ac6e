// SPDX-License-Identifier: Apache-2.0
/// disturbed_run [--entries NS] [--foreign] BOARD [PATH=VALUE...]: runs a board with things added to it that must not
/// change its result, and prints its result file with one more member, "disturbance": what the additions saw.
///
/// --entries NS: 100 calendar entries that do nothing, at odd times over that many nanoseconds. --foreign: a plain
/// TLM-2.0 device, mapped at 0x1100'0000.

#include <cstring>
#include <sstream>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_target_socket.h>

#include "tests/board/board_program.h"

namespace {

using namespace sluice;
using tests::Json;

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

class Disturbance : public tests::Addition {
 public:
  std::size_t option(std::span<const std::string> words) override {
    if (words[0] == "--foreign") {
      foreign_ = true;
      return 1;
    }
    if (words[0] != "--entries" || words.size() < 2) return 0;
    entries_over_ = base::Time::ns(std::stoull(words[1]));
    return 2;
  }

  void prepare(platform::Board& board, platform::SimulationOptions& options) override {
    if (foreign_) {
      device_ = std::make_unique<PlainDevice>("plain_device");
      board.host().bus().map({"plain_device", 0x1100'0000, 0x1000, false, false}, device_->socket);
    }
    for (unsigned i = 1; i <= 100 && entries_over_ != base::Time{}; ++i)
      base::calendar().at(entries_over_ / 101 * i + base::Time::fs(i * i * 1'013), base::path_key("nobody"),
                          [this] { ++seen_; });
    options.console = &console_;
  }

  void report(platform::Simulation&, Json& result) override {
    result["disturbance"] = {{"entries", seen_}, {"console", console_.str()}};
    if (device_)
      result["disturbance"].update({{"ticks", device_->ticks},
                                    {"accesses", device_->accesses},
                                    {"last_access_fs", device_->last_access.value()}});
  }

 private:
  base::Time entries_over_;
  bool foreign_ = false;
  std::unique_ptr<PlainDevice> device_;
  unsigned seen_ = 0;
  std::ostringstream console_;
};

}  // namespace

std::unique_ptr<sluice::tests::Addition> sluice::tests::make_addition() { return std::make_unique<Disturbance>(); }
