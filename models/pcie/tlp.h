// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Transaction layer packets with the fields of the PCI Express specification, in pooled objects, and what Sluice adds:
/// which requests their bytes belong to and where they have been. Plain C++.

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "models/base/fabric/pool.h"
#include "models/base/fabric/port.h"
#include "models/base/measure/ledger.h"
#include "models/base/measure/mistakes.h"
#include "models/base/time/time.h"

namespace sluice::pcie {

/// Bus in bits 15:8, device in 7:3, function in 2:0.
using RoutingId = std::uint16_t;
constexpr RoutingId routing_id(unsigned bus, unsigned device, unsigned function) {
  return static_cast<RoutingId>(bus << 8 | (device & 31) << 3 | (function & 7));
}
constexpr unsigned bus_of(RoutingId id) { return id >> 8; }
constexpr unsigned device_of(RoutingId id) { return id >> 3 & 31; }
constexpr unsigned function_of(RoutingId id) { return id & 7; }

enum class TlpType : std::uint8_t { kMRd, kMWr, kCfgRd0, kCfgWr0, kCfgRd1, kCfgWr1, kCpl, kCplD, kMsg };
inline constexpr unsigned kTlpTypes = 9;
const char* to_text(TlpType);  ///< "MRd"

/// The three classes of flow control and ordering.
enum class TlpClass : std::uint8_t { kPosted, kNonPosted, kCompletion };
inline constexpr unsigned kTlpClasses = 3;

enum class CompletionStatus : std::uint8_t { kSuccess = 0, kUnsupportedRequest = 1, kCompleterAbort = 4 };

/// Message codes of INTx; code - kAssertIntA is the pin for assertions, code - kDeassertIntA for deassertions.
inline constexpr std::uint8_t kAssertIntA = 0x20;
inline constexpr std::uint8_t kDeassertIntA = 0x24;

/// What a TLP's payload is, for the links' statistics.
enum class Content : std::uint8_t {
  kMetadata,  ///< descriptors, doorbells, registers, interrupts
  kPayload,   ///< bytes of packets and messages
};

/// The ledger's stage that requests enter when their bytes have arrived at the receiver. Default: none.
struct ArrivalStage {
  base::Stage stage = SLUICE_STAGE_COUNT;
  base::Ledger::Component component = 0;
  /// Only requests whose stage is `notify` or `wait_core` enter it, and without the journey. For interrupts: software
  /// that polls may have taken the request before the message arrives.
  bool only_waiting = false;
  base::Mark mark{};
  bool set() const { return stage != SLUICE_STAGE_COUNT; }
};

/// What a device wants a transfer for: "the buffer of receive descriptor" 5 of queue 0.
struct Purpose {
  const char* what = nullptr;  ///< null: nothing is known
  std::uint32_t index = 0;
  std::uint32_t queue = 0;
};

/// The device transfer that a TLP is part of, for error reports.
struct Origin {
  const std::string* device = nullptr;  ///< its path; null: the request is not from a device
  std::uint64_t address = 0;            ///< of the transfer's first byte
  std::uint32_t bytes = 0;
  std::uint32_t number = 0;  ///< the device counts its transfers from 1
  Purpose purpose;
  bool interrupt = false;  ///< the TLP is the MSI-X message of vector purpose.index
};

struct Tlp;

/// A TLP's observer is called when the TLP leaves the transmitter's queue. `sent`: when the TLP's last bit will be
/// serialised.
class TransmitObserver {
 public:
  virtual ~TransmitObserver() = default;
  virtual void transmitted(Tlp&, base::Time sent) = 0;
};

struct Tlp : base::Message {
  static constexpr unsigned kFraming = 8;            ///< bytes: physical layer framing, sequence number, LCRC
  static constexpr unsigned kCreditUnit = 16;        ///< bytes of payload per data credit
  static constexpr std::uint32_t kMostBytes = 4096;  ///< of payload
  static constexpr std::uint32_t kBoundary = 4096;   ///< no TLP crosses a multiple of it

  // Header.
  TlpType type = TlpType::kMRd;
  std::uint8_t traffic_class = 0;
  bool relaxed_ordering = false;
  bool no_snoop = false;
  std::uint8_t first_be = 0;      ///< byte enables of the first DW; requests
  std::uint8_t last_be = 0;       ///< of the last DW; 0 where there is one DW only
  std::uint8_t message_code = 0;  ///< Msg
  std::uint16_t length = 0;       ///< DW, 0 to 1024
  RoutingId requester = 0;
  std::uint16_t tag = 0;
  std::uint64_t address = 0;  ///< MRd, MWr: bits 1:0 are 0
  RoutingId target = 0;       ///< Cfg: the function addressed
  std::uint16_t reg = 0;      ///< Cfg: register offset, bytes, bits 1:0 are 0
  RoutingId completer = 0;    ///< Cpl, CplD
  CompletionStatus status = CompletionStatus::kSuccess;
  std::uint8_t lower_address = 0;  ///< Cpl, CplD: bits 6:0 of the first byte's address
  std::uint16_t byte_count = 0;    ///< Cpl, CplD: bytes still to come, this completion's included; 0 to 4096

  // Fields that are not in the specification's header, except EP.
  Content content = Content::kMetadata;
  bool poisoned = false;                   ///< EP: its payload is wrong, and the receiver must not use it
  bool wants_tags = false;                 ///< MRd: completions bring the memory's request tags
  std::uint8_t ending = 0;                 ///< bit n: spans[n] has no bytes in later TLPs of its transfer
  std::uint8_t ingress = 0;                ///< port by which it entered the component that holds it
  ArrivalStage arrival_stage;              ///< MWr, Msg: for the spans that end here, after the journey
  base::Spans spans;                       ///< offsets count from the first enabled byte
  std::vector<base::RequestId> line_tags;  ///< CplD: one for each 64 B line that it touches
  TransmitObserver* observer = nullptr;
  std::uint32_t cookie = 0;  ///< for the observer's own use
  base::Site by;             ///< the instruction that made the request, or that made a device make it
  Origin origin;             ///< of devices' requests

  TlpClass tlp_class() const {
    if (type == TlpType::kMWr || type == TlpType::kMsg) return TlpClass::kPosted;
    return type >= TlpType::kCpl ? TlpClass::kCompletion : TlpClass::kNonPosted;
  }
  bool has_data() const {
    return type == TlpType::kMWr || type == TlpType::kCplD || type == TlpType::kCfgWr0 || type == TlpType::kCfgWr1;
  }
  bool is_config() const { return type >= TlpType::kCfgRd0 && type <= TlpType::kCfgWr1; }
  bool is_completion() const { return type == TlpType::kCpl || type == TlpType::kCplD; }
  /// 12 or 16: four DWs for messages and for addresses above 4 GiB.
  unsigned header_bytes() const {
    if (type == TlpType::kMsg) return 16;
    return (type == TlpType::kMRd || type == TlpType::kMWr) && address >> 32 ? 16 : 12;
  }
  unsigned payload_bytes() const { return has_data() ? length * 4u : 0; }
  unsigned wire_bytes() const { return header_bytes() + payload_bytes() + kFraming; }
  unsigned data_units() const { return (payload_bytes() + kCreditUnit - 1) / kCreditUnit; }

  /// Requests: address of the first enabled byte, and the bytes from there to the last enabled one (0: none enabled).
  std::uint64_t first_byte() const { return address + (first_be ? static_cast<unsigned>(__builtin_ctz(first_be)) : 0); }
  std::uint32_t enabled_bytes() const;
  /// Whether all bytes between the first and the last enabled one are enabled.
  bool contiguous() const;
  bool enabled(std::uint32_t offset) const;  ///< of the byte at address + offset
  /// Sets address, length and byte enables to cover exactly [first, first + bytes): bytes is 1 to 4096 less first % 4.
  void cover(std::uint64_t first, std::uint32_t bytes);

  /// The payload in whole DWs. Byte n belongs to address + n; in a CplD, to (address of first byte & ~3) + n. After
  /// resize_payload() it is undefined until written.
  std::uint8_t* payload() { return payload_.data(); }
  const std::uint8_t* payload() const { return payload_.data(); }
  /// Makes room for `length` DWs.
  void resize_payload() {
    if (payload_.size() < length * 4u) payload_.resize(length * 4u);
  }

  /// Resets every field; keeps allocated memory.
  void clear();

  /// The header's bytes as the specification lays them out (big endian), header_bytes() of them.
  std::array<std::uint8_t, 16> encode_header() const;

  /// Returns the credits of the receive buffer that holds the TLP. Does nothing if no buffer holds it.
  void release_buffer() { return_credits(static_cast<unsigned>(tlp_class()), data_units()); }

 private:
  std::vector<std::uint8_t> payload_;  ///< kept while the TLP is in the pool, so that steady state allocates nothing
};

using TlpPool = base::Pool<Tlp>;
/// Its destructor returns no buffer credits: the consumer of a TLP calls release_buffer().
using TlpPtr = base::PoolPtr<Tlp>;

inline TlpPtr make_tlp(TlpType type) {
  Tlp* t = TlpPool::instance().take();
  t->type = type;
  return TlpPtr(t);
}

/// Tags the lines of bytes that were written to memory with the requests in the spans (offsets count from `first`).
/// Packet bytes without spans clear the tags of an older packet. Descriptors without spans leave the tags alone,
/// because they share their lines with others.
void tag_lines(base::GuestRam&, std::uint64_t first, std::uint32_t bytes, const base::Spans&, Content);
/// Appends the tag of each line that these bytes touch.
void read_tags(const base::GuestRam&, std::uint64_t first, std::uint32_t bytes, std::vector<base::RequestId>&);

/// The bytes that a message carries for these requests are visible at their destination at now(). Applies the journey
/// to each request that ends here (bit n of `ending`: spans[n]) and moves it to the arrival stage.
void move_requests(const base::Spans&, std::uint8_t ending, const ArrivalStage&, const base::Journey&);

}  // namespace sluice::pcie
