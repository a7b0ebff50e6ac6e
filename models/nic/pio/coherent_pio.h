// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The PIO NIC on a coherent link: the host reads and writes frames in cache lines whose home is the NIC.

#include <cstdint>

#include "models/base/memory/line_home.h"
#include "models/base/registers/register_socket.h"
#include "models/base/systemc/model.h"
#include "models/memory/bus_device.h"
#include "models/nic/lines/receive_lines.h"
#include "models/nic/lines/transmit_lines.h"
#include "models/nic/nic.h"
#include "models/nic/pio/pio_core.h"
#include "models/nic/pio/pio_regs.h"

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
                          public base::Resettable,
                          private ReceiveLines::Client,
                          private TransmitLines::Client {
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
  void register_statistics(base::StatisticsGroup& group) override { core_.register_statistics(group); }
  bool is_receive(std::uint64_t line) const { return line - base_ < PIO_TX_LINES; }

  base::Time receive_begins(ReceiveLines&) override;
  void receive_done(ReceiveLines&) override;
  void receive_ready(ReceiveLines&) override;
  void receive_due(ReceiveLines&) override;
  void transmit_begins(TransmitLines&) override { core_.stamp_commit(); }
  std::uint32_t transmit_length(TransmitLines&) override;
  void transmit_done(TransmitLines&, std::uint32_t bytes) override;

  base::LineCaches* caches_ = nullptr;
  std::uint64_t base_ = 0;
  ReceiveLines rx_;
  bool has_frame_ = false;  ///< the host has been given the first frame
  TransmitLines tx_;
};

}  // namespace sluice::nic
