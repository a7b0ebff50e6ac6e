// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A PCIe endpoint that joins its own system-on-chip to the PCIe hierarchy of another one, the host. A BAR gives the
/// host access to the system's memory, both sides can ring doorbells and send messages, and an outbound window gives
/// the system access to the host's memory.

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "models/accel/endpoint_controller/endpoint_controller_regs.h"
#include "models/base/fabric/line.h"
#include "models/base/measure/mistakes.h"
#include "models/base/registers/register_bank.h"
#include "models/base/registers/register_socket.h"
#include "models/base/systemc/scheduler.h"
#include "models/memory/bus_device.h"
#include "models/pcie/endpoint/endpoint.h"

namespace sluice::accel {

using namespace base::literals;

struct EndpointControllerParameters {
  base::Bytes window = 16_MiB;  ///< of BAR 2
  std::uint64_t target = 0;     ///< system address of BAR 2's first byte, after reset
  base::Bytes outbound = 16_MiB;
  unsigned vectors = 8;         ///< of MSI-X
  unsigned posted_writes = 16;  ///< stores through the outbound window that wait for the link before harts are blocked
  pcie::Endpoint::Parameters pcie;
  static void describe(base::Schema<EndpointControllerParameters>&);
};

/// Registers: endpoint_controller_regs.h. Writes through BAR 2 reach memory in order, and reads do not pass them.
/// Request ids stay with the bytes. A load through the outbound window waits for its completion, and ends in a bus
/// error if it fails. A store is posted, and ends in a bus error only while bus mastering is off.
class EndpointController : public pcie::Endpoint, public memory::BusDevice {
 public:
  using Parameters = EndpointControllerParameters;

  EndpointController(sc_core::sc_module_name, const Parameters&);

  base::RegisterSocket socket;  ///< the system's side

  // memory::BusDevice
  void connect(const memory::ChipPorts&, memory::SocBus::Region) override;
  unsigned lines() const override { return 1; }
  void on_line(unsigned, base::Callback<void(bool)> changed) override { interrupt_.on_change = std::move(changed); }
  base::Model* model() override { return this; }
  base::Resettable* resettable() override { return &system_side_; }

 private:
  /// What a reset of the system resets.
  struct SystemSide final : base::Resettable {
    explicit SystemSide(EndpointController& c) : controller(c) {}
    void reset() override { controller.reset_system_side(); }
    EndpointController& controller;
  };
  /// A load through the outbound window, on the stack of the hart that waits for it.
  struct OutboundLoad {
    std::uint64_t number;
    void* data;
    base::Event event;
    std::optional<bool> read;  ///< whether it succeeded; empty while it waits
  };

  /// A write by the host that waits for earlier writes or for memory.
  struct Landing {
    unsigned bar;
    base::GuestRam* ram;    ///< written through BAR 2; null: the write is to another BAR
    std::uint64_t address;  ///< in memory, or the offset in another BAR
    std::vector<std::uint8_t> bytes;
    pcie::Arrival arrival;
    base::Site by;
  };

  void register_statistics(base::StatisticsGroup&) override;
  void mmio_read(unsigned bar, std::uint64_t offset, unsigned size, pcie::MmioReply) override;
  void mmio_flush(unsigned bar, pcie::MmioReply) override;
  void mmio_write(unsigned bar, std::uint64_t offset, std::span<const std::uint8_t>, const base::Journey&) override;
  void function_reset() override;

  void declare_host_registers();
  void declare_system_registers();
  void reset_system_side();
  void ring_system(std::uint64_t doorbells);
  void ring_host(std::uint64_t doorbells);
  void update_interrupt();
  std::uint32_t status() const;

  void write_memory(std::uint64_t address, std::span<const std::uint8_t>);
  void write_registers(unsigned bar, std::uint64_t offset, std::span<const std::uint8_t>);
  void in_order(Landing&&, base::Time earliest);
  template <class F>
  void behind_writes(F f);
  void land();
  void read_memory(std::uint64_t address, unsigned size, pcie::MmioReply);
  void answer_from_memory(std::uint64_t address, unsigned size, pcie::MmioReply);
  void write_message(std::uint64_t address, std::span<const std::uint8_t>);
  void refuse_inbound(const char* access, std::uint64_t size, const std::string& why);

  base::Answer read_system(std::uint64_t offset, void* data, unsigned size);
  base::Answer write_system(std::uint64_t offset, const void* data, unsigned size);
  bool load_outbound(std::uint64_t offset, void* data, unsigned size);
  bool store_outbound(std::uint64_t offset, const void* data, unsigned size);
  void end_load(std::uint64_t number, bool read);

  Parameters parameters_;
  base::RegisterBank host_, system_;
  base::RegisterBank::Id host_pending_, pending_, enable_, inbound_, messages_, outbound_, scratchpads_;
  base::Line interrupt_;
  SystemSide system_side_;
  base::MemoryPath* memory_ = nullptr;
  memory::SocBus* bus_ = nullptr;
  std::deque<Landing> landings_;  ///< in order of time
  base::Time last_landing_;       ///< latest time at which a write of the host lands; no access passes it
  std::vector<OutboundLoad*> loads_;
  std::uint64_t last_load_ = 0;
  unsigned posted_ = 0;  ///< stores that the link has not taken yet
  unsigned resets_ = 0;
  base::Event posted_less_;
  std::uint64_t rung_by_host_ = 0, rung_by_system_ = 0;
  std::uint64_t inbound_reads_ = 0, inbound_writes_ = 0, messages_taken_ = 0, inbound_refused_ = 0;
  std::uint64_t outbound_loads_ = 0, outbound_stores_ = 0, outbound_errors_ = 0;
};

}  // namespace sluice::accel
