// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A coherent link between the caches of a system-on-chip and the homes of lines in a device.
/// docs/models/coherent-links.md

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/base/fabric/link_direction.h"
#include "models/base/measure/statistics.h"
#include "models/base/parameters/quantity.h"
#include "models/base/parameters/schema.h"
#include "models/base/systemc/model.h"
#include "models/base/systemc/reset.h"
#include "models/coherence/link/coherent_message.h"
#include "models/coherence/link/dialect.h"

namespace sluice::coherence {

using namespace base::literals;

/// What a direction of a link has carried.
struct CoherentStatistics : base::DirectionStatistics {
  std::uint64_t line_bytes = 0;  ///< bytes of lines
  std::array<std::uint64_t, protocol::kKinds> kinds{};
  std::uint64_t accesses = 0;    ///< messages about registers
  std::uint64_t host_parts = 0;  ///< messages about host memory, and interrupts

  void count(const CoherentMessage& m) {
    if (m.access) {
      ++accesses;
      return;
    }
    if (m.host.path) {
      ++host_parts;
      return;
    }
    line_bytes += m.format.content_bytes;
    ++kinds[static_cast<unsigned>(m.what.kind)];
  }
  void count_again(const CoherentMessage&) {}
};

struct CoherentProtocol {
  using Message = CoherentMessage;
  using Pointer = CoherentMessagePtr;
  using Channel = unsigned;
  using Statistics = CoherentStatistics;
  static constexpr unsigned kChannels = kMessageChannels;

  static unsigned channel(const CoherentMessage& m) { return m.channel(); }
  static unsigned data_units(const CoherentMessage&) { return 0; }
  static unsigned wire_bytes(const CoherentMessage& m) { return m.format.bytes; }
  static unsigned header_bytes(const CoherentMessage& m) { return m.format.bytes; }
  static constexpr bool may_pass(unsigned younger, unsigned older) { return younger != older; }
  static const char* name(const CoherentMessage& m) { return m.format.name; }
  static base::RequestId shown_for(const CoherentMessage& m) { return m.of != 0 ? m.of : m.serves; }
  static void transmitted(CoherentMessage&, base::Time) {}
  static void poison(CoherentMessage&) {}  // no fault does
  template <class F>
  static void for_each_request(const CoherentMessage& m, const F& f) {
    f(m.of);
    f(m.serves);
  }
};

/// What lies between a core's miss and the device, in both directions, whatever the link.
struct CoherentLatencies {
  base::Time flight = 5_ns;
  base::Time host_transmit = 20_ns;
  base::Time host_receive = 20_ns;
  base::Time device_transmit = 20_ns;
  base::Time device_receive = 20_ns;
  base::Time host_io = 0_ns;
  base::Time device_io = 0_ns;
  std::uint32_t credits = 0;
  base::Time credit_update = 100_ns;
  static void describe(base::Schema<CoherentLatencies>&);
};

class RegisterPath;

class CoherentLink : public base::Model, public base::Resettable {
 public:
  using Port = base::Port<CoherentProtocol>;
  using Receive = base::Callback<void(const CoherentMessage&)>;

  CoherentLink(const sc_core::sc_module_name&, const Dialect&, base::Ratio femtoseconds_per_byte,
               const CoherentLatencies&);

  const Dialect& dialect() const { return dialect_; }
  /// Bytes of the lines whose messages cross the link.
  void set_line_bytes(unsigned bytes) { line_bytes_ = bytes; }
  /// Messages about lines of [base, base + size) go to a home at the device's end, and all others to the caches at the
  /// host's. Throws std::logic_error for lines of another size than those that cross the link.
  void connect_home(std::uint64_t base, std::uint64_t size, unsigned line_bytes, Receive home, Receive caches);

  /// Sends a message about a line.
  void send_to_device(CoherentMessagePtr m) { send(host_, std::move(m)); }
  void send_to_host(CoherentMessagePtr m) { send(device_, std::move(m)); }
  /// Latency of an access to registers at either end, beside that of every message.
  const CoherentLatencies& latencies() const { return latencies_; }
  /// Sends the request of an access to registers, or its answer.
  void send_access(RegisterAccess&, bool is_answer);

  /// A way to registers that reset() resets, too.
  void add_registers(RegisterPath& path) { registers_.push_back(&path); }
  /// Sends a message of a HostPath, which its other end gets.
  void send_about_host(CoherentMessagePtr, bool from_device);
  /// A way to host memory that reset() resets, too.
  void add_host_path(HostPath& path) { host_paths_.push_back(&path); }
  /// How often the link has forgotten what was under way.
  std::uint64_t resets() const { return resets_; }

  base::LinkDirection<CoherentProtocol>& up() { return up_; }      ///< from device to host
  base::LinkDirection<CoherentProtocol>& down() { return down_; }  ///< from host to device
  /// Messages about a line that are under way, in words; empty: none.
  std::string describe(std::uint64_t line) const;
  bool is_up() const { return down_.up(); }
  /// Called when the link goes down: both ends lose all lines.
  void on_down(base::Callback<void()> f) { on_down_.push_back(std::move(f)); }
  /// As net::Wire::hold_down(): while anybody holds the link down, what is under way and what is sent is lost.
  void hold_down(bool on);
  /// Forgets what is under way.
  void reset() override;

 private:
  void register_statistics(base::StatisticsGroup&) override;
  struct Home {
    std::uint64_t base, size;
    Receive receive;
  };
  void send(Port&, CoherentMessagePtr);
  void arrive_at_device(const CoherentMessage&);
  void end_accesses();

  const Dialect& dialect_;
  const CoherentLatencies latencies_;
  unsigned line_bytes_ = 0;
  Port host_, device_;
  std::vector<Home> homes_;
  Receive caches_;
  std::vector<RegisterPath*> registers_;
  std::vector<HostPath*> host_paths_;
  std::uint64_t resets_ = 0;
  std::vector<base::Callback<void()>> on_down_;
  unsigned downs_ = 0;
  base::LinkDirection<CoherentProtocol> up_, down_;
};

}  // namespace sluice::coherence

extern template class sluice::base::LinkDirection<sluice::coherence::CoherentProtocol>;
