#pragma once
/// PCIe links: two directions, each with a serialiser, three queues with the specification's ordering rules, and the
/// credits of the receiver at its end.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/calendar.h"
#include "models/base/model.h"
#include "models/base/quantity.h"
#include "models/base/schema.h"
#include "models/base/statistics.h"
#include "models/base/trace.h"
#include "models/base/waiting.h"
#include "models/pcie/ring.h"
#include "models/pcie/tlp.h"

namespace sluice::pcie {

using namespace base::literals;

class Link;
class LinkDirection;

/// One end of a link: a root port, a switch port, an endpoint's port. A component owns its ports and sets on_receive
/// before the simulation starts.
class Port {
 public:
  /// owner: path of the component, for the stall diagnosis.
  explicit Port(std::string owner) : owner_(std::move(owner)) {}
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  /// At now(), the arrival of the TLP's last bit (of its header's, where cut_through) after receive_latency. Whoever
  /// has consumed it calls release_buffer().
  base::Callback<void(TlpPtr)> on_receive;
  /// The port above resets everything below it (bridge control, secondary bus reset). May be left unset.
  base::Callback<void()> on_hot_reset;
  /// The link is there: called once, by Link::connect(). May be left unset.
  base::Callback<void(const Link&)> on_connect;

  /// Pipelines of the owner's transaction layer, before the serialiser and after the last bit. The ledger counts them
  /// to the link's stage. Set before connect().
  base::Time transmit_latency;
  base::Time receive_latency;
  bool cut_through = false;

  bool connected() const { return out_ != nullptr; }
  /// Queues a TLP for the link; there is always room. A sender bounds what it has queued by queued() and an observer.
  void send(TlpPtr);
  unsigned queued(TlpClass) const;
  void hot_reset();
  const Link* link() const { return link_; }
  const std::string& owner() const { return owner_; }

 private:
  friend class Link;
  std::string owner_;
  LinkDirection* out_ = nullptr;
  Port* peer_ = nullptr;
  const Link* link_ = nullptr;
};

/// What a link direction has carried.
struct LinkStatistics {
  std::uint64_t bytes = 0;           ///< on the wire: framing, headers, payloads
  std::uint64_t payload_bytes = 0;   ///< payloads of TLPs whose content is kPayload
  std::uint64_t metadata_bytes = 0;  ///< everything else: framing, headers, descriptors, doorbells, interrupts
  std::array<std::uint64_t, kTlpTypes> tlps{};
  base::Time busy;                  ///< serialising
  std::uint64_t credit_stalls = 0;  ///< TLPs that waited for credits
  base::Time credit_wait;           ///< how long they did, summed
};

class LinkDirection : public ReceiveBuffer {
 public:
  /// Credits that the receiver advertises; 0: infinite.
  struct Credits {
    std::uint32_t headers = 0;
    std::uint32_t data = 0;  ///< 16 B units
  };
  struct Setup {
    std::string path;                   ///< "pcie.slot0.up"
    base::Stage stage;                  ///< upstream_link or downstream_link
    base::Ledger::Component component;  ///< of the link
    base::Ratio femtoseconds_per_byte;  ///< less the DLLP share
    base::Time flight;
    base::Time credit_update;                  ///< from a buffer freed to the credit at the sender, flight included
    std::array<Credits, kTlpClasses> credits;  ///< by TlpClass
  };
  explicit LinkDirection(Setup);
  LinkDirection(const LinkDirection&) = delete;

  /// Sees every TLP when it starts on the link, with the times of its first and its last bit: for traces and tests.
  using Tap = base::Callback<void(const Tlp&, base::Time first_bit, base::Time last_bit)>;
  void add_tap(Tap tap) { taps_.push_back(std::move(tap)); }

  void connect(Port& from, Port& to);
  void send(TlpPtr);
  void release(TlpClass, unsigned data_units) override;

  unsigned queued(TlpClass c) const { return static_cast<unsigned>(queues_[index(c)].size()); }
  bool blocked() const { return blocked_; }
  base::Time wire_time(unsigned bytes) const { return base::Time::fs(rate_.of_rounded_up(bytes)); }
  const LinkStatistics& statistics() const { return statistics_; }
  /// Credits that the sender has now; all ones where infinite.
  Credits available(TlpClass c);

 private:
  struct Pool {
    Credits left;
    bool infinite_headers = false;
    bool infinite_data = false;
    std::uint32_t limit_headers = 0;
    std::uint32_t limit_data = 0;
  };
  struct Return {
    base::Time when;
    TlpClass tlp_class;
    std::uint32_t headers;
    std::uint32_t data;
  };
  struct InFlight {
    base::Time when;
    TlpPtr tlp;
  };

  static constexpr unsigned index(TlpClass c) { return static_cast<unsigned>(c); }
  bool affordable(const Tlp&) const;
  void collect();
  void pump();
  int choose();
  void transmit(TlpPtr, base::Time now);
  void account(const Tlp&, base::Time duration);
  void show(const Tlp&, base::Time first_bit, base::Time last_bit);
  void deliver();
  void arm_delivery();
  void wake_at(base::Time);

  Setup setup_;
  base::Ratio rate_;
  base::ComponentKey key_;
  Port* from_ = nullptr;
  Port* to_ = nullptr;
  base::Time free_at_;
  std::uint64_t sequence_ = 0;
  unsigned last_class_ = kTlpClasses - 1;
  unsigned waiting_tlps_ = 0;
  bool blocked_ = false;
  std::array<Ring<TlpPtr>, kTlpClasses> queues_;
  std::array<Pool, kTlpClasses> pools_;
  Ring<Return> returns_;
  Ring<InFlight> in_flight_;
  base::Calendar::Handle wake_;
  base::Time wake_time_;
  std::optional<base::Waiting> stalled_;
  LinkStatistics statistics_;
  std::vector<Tap> taps_;
  base::TrackId track_;
};

/// One PCIe link.
///
/// Timing: a TLP of n payload bytes occupies its direction for (n + header + 8 B framing) / rate; rate is generation x
/// lanes x line code less the DLLP share (SKP, ACK, flow control); docs/models/pcie.md has the formula and its source.
class Link : public base::Model {
 public:
  struct Parameters {
    unsigned generation = 3;          ///< 1 to 5
    unsigned lanes = 16;              ///< 1, 2, 4, 8, 12, 16
    base::Time flight = 5_ns;         ///< one way, wire only
    base::Bytes max_payload = 256_B;  ///< MPS: 128 B to 4 KiB
    // Credits that each receiver advertises: TLPs, and payload in 16 B units. 0: infinite.
    std::uint32_t posted_headers = 128;
    std::uint32_t posted_data = 1024;
    std::uint32_t non_posted_headers = 128;
    std::uint32_t non_posted_data = 128;
    std::uint32_t completion_headers = 0;
    std::uint32_t completion_data = 0;
    /// From a freed buffer to the update at the sender, flight apart. 0: the specification's limit for this link.
    base::Time credit_update = 0_ns;
    static void describe(base::Schema<Parameters>&);
  };

  Link(sc_core::sc_module_name, const Parameters&);

  /// Binds the two ends; upper is the one nearer to the root. Throws std::logic_error when a port has a link already.
  void connect(Port& upper, Port& lower);

  const Parameters& parameters() const { return parameters_; }
  LinkDirection& up() { return up_; }      ///< from device to host
  LinkDirection& down() { return down_; }  ///< from host to device
  void register_statistics(base::StatisticsGroup&);

 private:
  Parameters parameters_;
  LinkDirection up_;
  LinkDirection down_;
};

/// Rate of one direction before and after the DLLP share, as femtoseconds for a byte.
base::Ratio raw_femtoseconds_per_byte(unsigned generation, unsigned lanes);
base::Ratio usable_femtoseconds_per_byte(unsigned generation, unsigned lanes, unsigned max_payload);
/// The specification's limit for ACK and UpdateFC transmission, in symbol times.
unsigned update_limit_symbols(unsigned lanes, unsigned max_payload);
base::Time symbol_time(unsigned generation);

}  // namespace sluice::pcie
