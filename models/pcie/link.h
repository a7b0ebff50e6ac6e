// SPDX-License-Identifier: Apache-2.0
#pragma once
/// PCIe links: base's message ports with TLPs as messages, the specification's ordering rules, rates and credits.

#include <array>
#include <cstdint>
#include <string>

#include "models/base/fabric/link_direction.h"
#include "models/base/fabric/port.h"
#include "models/base/measure/statistics.h"
#include "models/base/parameters/quantity.h"
#include "models/base/parameters/schema.h"
#include "models/base/systemc/model.h"
#include "models/base/systemc/reset.h"
#include "models/pcie/config_space.h"
#include "models/pcie/tlp.h"
#include "models/pcie/tlp_ordering.h"

namespace sluice::pcie {

using namespace base::literals;

class Link;

/// What a link direction has carried.
struct LinkStatistics : base::DirectionStatistics {
  std::uint64_t payload_bytes = 0;   ///< payloads of TLPs whose content is kPayload
  std::uint64_t metadata_bytes = 0;  ///< everything else: framing, headers, descriptors, doorbells, interrupts
  std::array<std::uint64_t, kTlpTypes> tlps{};

  void count(const Tlp& t) {
    const unsigned payload = t.content == Content::kPayload ? t.payload_bytes() : 0;
    payload_bytes += payload;
    metadata_bytes += t.wire_bytes() - payload;
    ++tlps[static_cast<unsigned>(t.type)];
  }
  /// All bytes of a replay count as metadata.
  void count_again(const Tlp& t) { metadata_bytes += t.wire_bytes(); }
};

/// Makes TLPs the messages of a link. Each TLP class has a channel of its own; all of them are in one virtual channel
/// of the specification.
struct TlpProtocol {
  using Message = Tlp;
  using Pointer = TlpPtr;
  using Channel = TlpClass;
  using Statistics = LinkStatistics;
  static constexpr unsigned kChannels = kTlpClasses;

  static TlpClass channel(const Tlp& t) { return t.tlp_class(); }
  static unsigned data_units(const Tlp& t) { return t.data_units(); }
  static unsigned wire_bytes(const Tlp& t) { return t.wire_bytes(); }
  static unsigned header_bytes(const Tlp& t) { return t.header_bytes(); }
  static constexpr bool may_pass(TlpClass younger, TlpClass older) { return pcie::may_pass(younger, older); }
  static const char* name(const Tlp& t) { return to_text(t.type); }
  static base::RequestId shown_for(const Tlp&);
  static void poison(Tlp& t) { t.poisoned = true; }
  template <class F>
  static void for_each_request(const Tlp& t, const F& f) {
    for (const base::Span& s : t.spans) f(s.id);
    for (const base::RequestId id : t.line_tags) f(id);
  }
  static void transmitted(Tlp& t, base::Time sent) {
    if (t.observer) std::exchange(t.observer, nullptr)->transmitted(t, sent);
  }
};

using LinkDirection = base::LinkDirection<TlpProtocol>;

/// One end of a link: a root port, a switch port, an endpoint's port.
class Port : public base::Port<TlpProtocol> {
 public:
  using base::Port<TlpProtocol>::Port;

  /// Called at the lower end when the link goes down or is reset from above (bridge control, secondary bus reset):
  /// resets everything below. May be left unset.
  base::Callback<void()> on_hot_reset;
  /// Link::connect() calls it once. May be left unset.
  base::Callback<void(const Link&)> on_connect;
  /// Called when the link goes down (DL_Down): no earlier request will be answered. May be left unset.
  base::Callback<void()> on_link_down;

  /// Calls Link::reset() for the link below this port, if there is one. The port must be the upper end.
  void hot_reset();
  const Link* link() const { return link_; }

 private:
  friend class Link;
  Link* link_ = nullptr;
};

/// One PCIe link.
///
/// Timing: a TLP of n payload bytes occupies its direction for (n + header + 8 B framing) / rate; rate is generation x
/// lanes x line code less the DLLP share (SKP, ACK, flow control); docs/models/pcie.md has the formula and its source.
/// Where base::spread() is drawn, the reference clock deviates, and SKP ordered sets take no share but come one by one.
class Link : public base::Model, public base::Resettable {
 public:
  struct Parameters {
    unsigned generation = 3;          ///< 1 to 5
    unsigned lanes = 16;              ///< 1, 2, 4, 8, 12, 16
    base::Time flight = 5_ns;         ///< one way, wire only
    unsigned clock_tolerance = 0;     ///< ppm, of the reference clock, which all links of a board share
    base::Bytes max_payload = 256_B;  ///< MPS: 128 B to 4 KiB
    // Credits that each receiver advertises: TLPs, and payload in 16 B units.
    std::uint32_t posted_headers = 0;  ///< 0, here and in the next three: as credits() says
    std::uint32_t posted_data = 0;
    std::uint32_t non_posted_headers = 0;
    std::uint32_t non_posted_data = 0;
    std::uint32_t completion_headers = 0;  ///< 0: infinite
    std::uint32_t completion_data = 0;     ///< 0: infinite
    /// From a freed buffer to the update at the sender, without the flight. 0: the specification's limit for this link.
    base::Time credit_update = 0_ns;
    static void describe(base::Schema<Parameters>&);
    /// What a receiver advertises, by class. Receivers of faster links have larger buffers, because the credits' round
    /// trip does not get shorter by as much as the rate grows.
    std::array<base::Credits, kTlpClasses> credits() const;
  };

  Link(sc_core::sc_module_name, const Parameters&);

  /// Binds the two ends; upper is the one nearer to the root. Throws std::logic_error when a port has a link already.
  void connect(Port& upper, Port& lower);

  const Parameters& parameters() const { return parameters_; }
  /// Writes the link's properties into the PCI Express capability of a function at one of its ends.
  void describe_to(ConfigSpace&) const;
  LinkDirection& up() { return up_; }      ///< from device to host
  LinkDirection& down() { return down_; }  ///< from host to device
  const LinkDirection& up() const { return up_; }
  const LinkDirection& down() const { return down_; }
  bool is_up() const { return up_.up(); }
  /// Down: everything on the link is lost, the port above gives up what it waits for, and everything below is reset.
  void set_up(bool up);
  /// Takes the link down and up again; does nothing while the link is down. For a board reset or a secondary bus reset
  /// of the port above.
  void reset() override;
  /// As net::Wire::hold_down().
  void hold_down(bool on) {
    downs_ += on ? 1 : -1u;
    set_up(downs_ == 0);
  }

 private:
  void register_statistics(base::StatisticsGroup&) override;
  Parameters parameters_;
  Port* upper_ = nullptr;
  Port* lower_ = nullptr;
  unsigned downs_ = 0;
  LinkDirection up_;
  LinkDirection down_;
};

/// Rate of one direction before and after the DLLP share, as femtoseconds for a byte.
base::Ratio raw_femtoseconds_per_byte(unsigned generation, unsigned lanes);
/// skips: the share of SKP ordered sets is taken off, too.
base::Ratio usable_femtoseconds_per_byte(unsigned generation, unsigned lanes, unsigned max_payload, bool skips = true);
/// SKP ordered sets of a generation: how often one is due, and how long it takes.
base::OrderedSets skip_ordered_sets(unsigned generation);
/// Time that a receiver takes to process a TLP in the specification's limits, in symbol times.
inline constexpr unsigned kInternalDelay = 115;
/// The specification's limit for ACK and UpdateFC transmission, in symbol times.
unsigned update_limit_symbols(unsigned lanes, unsigned max_payload);
base::Time symbol_time(unsigned generation);

}  // namespace sluice::pcie

extern template class sluice::base::LinkDirection<sluice::pcie::TlpProtocol>;
