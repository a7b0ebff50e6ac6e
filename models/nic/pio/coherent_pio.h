// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The PIO NIC on a coherent link: the host reads and writes frames in cache lines whose home is the NIC.

#include <array>
#include <cstdint>

#include "models/base/memory/line_home.h"
#include "models/base/registers/register_socket.h"
#include "models/base/systemc/model.h"
#include "models/base/time/calendar.h"
#include "models/memory/bus_device.h"
#include "models/nic/nic.h"
#include "models/nic/pio/line_window.h"
#include "models/nic/pio/pio_core.h"

namespace sluice::nic {

/// What a load of a line gets that no other cache has.
enum class LineGrant { shared, exclusive };

struct CoherentPioParameters {
  PioParameters pio;
  LineGrant grant = LineGrant::shared;
  static void describe(base::Schema<CoherentPioParameters>&);
};

/// Two control lines for each direction. Receive: the host loads one of them, and the load is held back until a frame
/// has come; a load of the other says that the host has done with the frame. Transmit: the host writes a frame into the
/// control line that it holds, and the overflow lines; a load of the other commits it. docs/models/nic-pio.md has the
/// state machines.
class CoherentPio final : public base::Model,
                          public Nic,
                          public PioNic,
                          public base::LineHome,
                          public memory::BusDevice,
                          public base::Resettable {
  const LineGrant grant_;
  PioCore core_;

 public:
  base::RegisterSocket socket{"registers", core_.registers()};

  CoherentPio(const sc_core::sc_module_name&, const CoherentPioParameters&, net::Wire&, net::Wire::End);

  net::Mac& mac() override { return core_.mac(); }
  const PioCore& core() const override { return core_; }
  base::RegisterBank& registers() { return core_.registers(); }

  // base::LineHome
  void attach(base::LineCaches&, std::uint64_t base) override;
  void line_requested(const base::LineRequest&) override;
  void line_written(const base::LineWritten&) override;
  void line_recalled(std::uint64_t line) override;
  void caches_reset() override;

  // memory::BusDevice
  void connect(const memory::ChipPorts&, memory::SocBus::Region) override;
  void connect_lines(base::LineHomes&, std::uint64_t address, std::uint64_t size, const std::string& path) override;
  unsigned lines() const override { return 0; }
  void on_line(unsigned, base::Callback<void(bool)>) override {}
  base::Model* model() override { return this; }
  base::Resettable* resettable() override { return this; }

  void reset() override;

 private:
  static constexpr unsigned kNone = LineWindow::kNone;
  /// A load of a control line that waits for its answer.
  struct Waiting {
    std::uint64_t request = 0;  ///< number; 0: none waits
    unsigned control = kNone;
  };

  void register_statistics(base::StatisticsGroup& group) override { core_.register_statistics(group); }
  LineWindow& window_of(std::uint64_t line) { return line - base_ < PIO_TX_LINES ? rx_ : tx_; }
  void answer(std::uint64_t request, LineWindow::Line&, base::RequestId of = 0);
  void refuse(const base::LineRequest&, const char* why);

  // Receive.
  void receive_requested(const base::LineRequest&, unsigned control);
  void end_of_frame();
  void try_receive();
  void answer_receive(std::uint64_t word);
  void no_frame();
  void answer_without_frame();
  // Transmit.
  void transmit_requested(const base::LineRequest&, unsigned control);
  void take_control_line();
  void take_frame();
  void note_reply(const base::LineWritten&);

  base::LineCaches* caches_ = nullptr;
  std::uint64_t base_ = 0;

  LineWindow rx_;
  unsigned rx_line_ = kNone;        ///< that the host has an answer in
  std::uint32_t rx_bytes_ = 0;      ///< of the frame in it; 0: none
  base::RequestId rx_request_ = 0;  ///< the ledger's, that the frame belongs to
  Waiting rx_waiting_;
  base::Calendar::Handle rx_timer_;
  bool rx_is_due_ = false;  ///< the time for which it may be held back is over

  LineWindow tx_;
  unsigned tx_line_ = kNone;  ///< that the host writes to
  bool tx_has_control_ = false;
  std::uint32_t tx_bytes_ = 0;
  Waiting tx_waiting_;
  base::Site tx_by_;  ///< that commits
  /// How what is sent came here: the commit, and the lines that were taken back for it.
  base::RequestId tx_request_ = 0;
  base::Time tx_committed_;
  std::array<base::Journey, 3> tx_journeys_;  ///< of the commit, the control line, and the last overflow line
};

}  // namespace sluice::nic
