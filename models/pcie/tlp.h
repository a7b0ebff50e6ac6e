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

/// The three kinds that flow control and ordering know.
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
  bool set() const { return stage != SLUICE_STAGE_COUNT; }
};

/// What a device wants a transfer for: "the buffer of receive descriptor" 5 of queue 0.
struct Purpose {
  const char* what = nullptr;  ///< null: nothing is known
  std::uint32_t index = 0;
  std::uint32_t queue = 0;
};

/// The transfer of a device that a TLP is a part of: for what is said of one that goes wrong.
struct Origin {
  const std::string* device = nullptr;  ///< its path; null: no device's request
  std::uint64_t address = 0;            ///< of the transfer's first byte
  std::uint32_t bytes = 0;
  std::uint32_t number = 0;  ///< the device counts its transfers from 1
  Purpose purpose;
  bool interrupt = false;  ///< the message of the vector purpose.index
};

struct Tlp;

/// Told when a TLP that names it has left the transmitter's queue, and when its last bit will be serialised.
class TransmitObserver {
 public:
  virtual ~TransmitObserver() = default;
  virtual void transmitted(Tlp&, base::Time sent) = 0;
};

struct Tlp : base::Message {
  static constexpr unsigned kFraming = 8;            ///< bytes: physical layer framing, sequence number, LCRC
  static constexpr unsigned kCreditUnit = 16;        ///< bytes of payload per data credit
  static constexpr std::uint32_t kMostBytes = 4096;  ///< of payload

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

  // What the specification does not know.
  Content content = Content::kMetadata;
  bool poisoned = false;                   ///< EP: its payload is wrong, and the receiver must not use it
  bool wants_tags = false;                 ///< MRd: completions bring the memory's request tags
  std::uint8_t ending = 0;                 ///< bit n: spans[n] has no bytes in later TLPs of its transfer
  std::uint8_t ingress = 0;                ///< of whoever holds the TLP: the port it came in by
  ArrivalStage arrival_stage;              ///< MWr, Msg: for the spans that end here, after the journey
  base::Spans spans;                       ///< offsets count from the first enabled byte
  std::vector<base::RequestId> line_tags;  ///< CplD: one for each 64 B line that it touches
  TransmitObserver* observer = nullptr;
  std::uint32_t cookie = 0;  ///< the observer's
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

  /// The payload, whole DWs: byte n is that at address + n; of a CplD, at (address of first byte & ~3) + n. Undefined
  /// after resize_payload() until written.
  std::uint8_t* payload() { return payload_.data(); }
  const std::uint8_t* payload() const { return payload_.data(); }
  /// Makes room for `length` DWs.
  void resize_payload() {
    if (payload_.size() < length * 4u) payload_.resize(length * 4u);
  }

  /// As new, but for memory that it keeps.
  void clear();

  /// The header's bytes as the specification lays them out (big endian), header_bytes() of them.
  std::array<std::uint8_t, 16> encode_header() const;

  /// Credits of the receive buffer it lies in go back to the sender; nothing where it lies in none.
  void release_buffer() { return_credits(static_cast<unsigned>(tlp_class()), data_units()); }

 private:
  std::vector<std::uint8_t> payload_;  ///< kept across lives, so that steady state allocates nothing
};

using TlpPool = base::Pool<Tlp>;
/// Buffer credits are not returned at the end of its life: the consumer of a TLP calls release_buffer().
using TlpPtr = base::PoolPtr<Tlp>;

inline TlpPtr make_tlp(TlpType type) {
  Tlp* t = TlpPool::instance().take();
  t->type = type;
  return TlpPtr(t);
}

/// A completion without data, with the journey of the request: of writes to configuration space, and of errors.
TlpPtr make_completion(const Tlp& request, RoutingId completer, CompletionStatus);

/// Makes the completions of a read of `bytes` bytes from address `first`, in order of address: each ends at the end of
/// the range or at a multiple of boundary (a power of two), and is at most `most` bytes, a multiple of boundary. Calls
/// emit(TlpPtr, offset, bytes) for each; the caller fills payload() from byte (first + offset) % 4 on. The last one
/// carries the journey.
template <class Emit>
void make_completions(const Tlp& request, RoutingId completer, std::uint64_t first, std::uint32_t bytes,
                      std::uint32_t boundary, std::uint32_t most, Emit&& emit) {
  for (std::uint32_t offset = 0; offset < bytes;) {
    const std::uint64_t at = first + offset;
    std::uint32_t piece = static_cast<std::uint32_t>(((at + most) & ~std::uint64_t{boundary - 1}) - at);
    if (piece > bytes - offset) piece = bytes - offset;
    TlpPtr t = make_tlp(TlpType::kCplD);
    t->requester = request.requester;
    t->tag = request.tag;
    t->traffic_class = request.traffic_class;
    t->relaxed_ordering = request.relaxed_ordering;
    t->completer = completer;
    t->content = request.content;
    t->byte_count = static_cast<std::uint16_t>(bytes - offset);
    t->lower_address = at & 0x7f;
    t->length = static_cast<std::uint16_t>(((at & 3) + piece + 3) / 4);
    t->resize_payload();
    const std::uint32_t start = offset;
    offset += piece;
    if (offset == bytes && request.carries_journey) {
      t->carries_journey = true;
      t->journey = request.journey;
    }
    emit(std::move(t), start, piece);
  }
}

}  // namespace sluice::pcie
