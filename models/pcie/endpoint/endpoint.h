// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Base class of every PCIe device: one function with configuration space, BARs, MSI-X and INTx, and a DMA engine.

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/base/fabric/ring.h"
#include "models/base/measure/statistics.h"
#include "models/base/parameters/schema.h"
#include "models/base/systemc/model.h"
#include "models/base/systemc/reset.h"
#include "models/base/time/callback.h"
#include "models/pcie/config_space.h"
#include "models/pcie/link.h"
#include "models/pcie/pcie_regs.h"
#include "models/pcie/tlp.h"

namespace sluice::pcie {

class Endpoint;

/// Answers one register read. The device calls exactly one of value(), data(), unsupported() and abort(), once,
/// immediately or later. If it never does, the reader's completion times out.
class MmioReply {
 public:
  /// Answers with the low bytes of value, little endian. Bytes beyond the eighth read as zero. of: the ledger's request
  /// that the value tells of, which goes with the answer.
  void value(std::uint64_t value, base::RequestId of = 0);
  /// Answers with the bytes of the read range, from the first on. Missing bytes read as zero.
  void data(std::span<const std::uint8_t> bytes);
  /// As above, from memory that keeps request ids with the bytes. tags has one id for each line of
  /// base::GuestRam::kTagLine bytes that the read touches; lines are aligned in bus addresses.
  void data(std::span<const std::uint8_t> bytes, std::span<const base::RequestId> tags);
  /// Whether the reader wants the request tags.
  bool wants_tags() const;
  /// The device has the request, and holds the answer back until something happens. A hart that waits for the answer
  /// counts as parked from now on until the device gives it.
  void hold();
  /// The register does not exist or cannot be read this way: the reader sees all ones.
  void unsupported();
  void abort();

 private:
  friend class Endpoint;
  Endpoint* endpoint_ = nullptr;
  std::uint32_t read_ = 0;    ///< number of the open read
  std::uint32_t serial_ = 0;  ///< of that read, to detect a second answer
  std::uint64_t resets_ = 0;  ///< the device's count when the read came; a reset drops open reads
};

/// The requests whose bytes a write has brought, for a device that makes the bytes visible later.
struct Arrival {
  base::Spans spans;        ///< offsets count from the write's first byte
  std::uint8_t ending = 0;  ///< bit n: spans[n] has no bytes in later writes
  ArrivalStage stage;       ///< for the requests whose last byte is in this write
  Content content = Content::kMetadata;
  base::Journey journey;
  /// The bytes are visible at now(). Moves the requests that end here to `stage`.
  void move_requests() const;
};

/// Options of a DMA transfer.
struct DmaOptions {
  base::Site by = {};          ///< instruction that caused the transfer; default: that of the current register access
  Purpose purpose = {};        ///< for error reports
  base::Spans spans;           ///< requests that wait for the transfer; offsets count from its first byte
  ArrivalStage arrival_stage;  ///< writes: the requests enter it when their last byte is visible in memory
  Content content = Content::kMetadata;  ///< for the links' statistics
  bool relaxed_ordering = false;
  bool want_tags = false;        ///< reads: bring the request tags of the memory read
  std::uint8_t* into = nullptr;  ///< reads: where the bytes go; must live until done. Null: a buffer of the engine
};

enum class DmaStatus : std::uint8_t { kOk, kUnsupportedRequest, kCompleterAbort, kTimeout, kBusMasterOff, kPoisoned };
const char* to_text(DmaStatus);

/// How a DMA read ended. The spans, bytes and tags are valid during the callback.
struct DmaCompletion {
  DmaStatus status;
  std::span<const std::uint8_t> data;  ///< all bytes asked for; undefined unless status is kOk
  const base::Spans& spans;            ///< as given; the journey has been applied to them
  /// Journey of the last TLP, for a device that learns only from the data which request waited for it. Empty unless
  /// status is kOk.
  const base::Journey& journey;
  base::Time issued;  ///< when dma_read() was called
  std::uint64_t address;

  /// With want_tags: the request whose bytes lie at address + offset, or 0.
  base::RequestId tag_at(std::uint32_t offset) const {
    const std::size_t line = (address % base::GuestRam::kTagLine + offset) / base::GuestRam::kTagLine;
    return line < tags.size() ? tags[line] : 0;
  }
  std::span<const base::RequestId> tags;  ///< one for each 64 B line that the range touches
};

/// The last bit of a DMA write has been serialised.
struct DmaSent {
  base::Time issued;  ///< when dma_write() was called
  base::Time sent;    ///< now()
};

/// Ledger: a TLP's journey starts in `upstream_link` when it is handed to the link; a read that must first wait for a
/// tag starts in `dma_read` of this component. Reads apply their journey to their spans before the callback. The
/// journey of a write with an `arrival_stage` is applied at its destination; a write without one leaves the ledger
/// alone and only sets the memory's tags.
class Endpoint : public base::Model, public base::Resettable, private TransmitObserver {
 public:
  struct Parameters {
    base::Time transmit_latency = 100_ns;  ///< from the device's engine to the first bit of an idle link
    base::Time receive_latency = 100_ns;   ///< from a TLP's last bit to the device's engine
    unsigned tags = 256;                   ///< reads in flight: 1 to 1024
    base::Bytes max_read_request = 512_B;  ///< MRRS after reset: 128 B to 4 KiB
    base::Time completion_timeout = base::Time::ms(10);
    static void describe(base::Schema<Parameters>&);
  };
  struct Msix {
    unsigned vectors = 0;  ///< 0 to 2048; 0: no MSI-X
    unsigned table_bar = 0;
    std::uint32_t table_offset = 0;  ///< bytes, a multiple of 8; table and PBA lie in their BARs and do not overlap
    unsigned pba_bar = 0;
    std::uint32_t pba_offset = 0;
    /// Size of the PBA, in whole words of 8 bytes.
    std::uint64_t pba_bytes() const { return (std::uint64_t{vectors} + 63) / 64 * 8; }
  };
  /// The fixed properties of the function.
  struct Function {
    Identity identity;
    std::array<Bar, 6> bars{};
    Msix msix;
    bool intx = false;  ///< has INTA
  };
  struct Counters {
    std::uint64_t dma_reads = 0;
    std::uint64_t dma_read_bytes = 0;
    std::uint64_t dma_writes = 0;
    std::uint64_t dma_write_bytes = 0;
    std::uint64_t dma_refused = 0;  ///< bus mastering off
    std::uint64_t dma_errors = 0;   ///< reads that ended with UR or CA
    std::uint64_t cut_reads = 0;    ///< reads that took more than one TLP
    std::uint64_t tag_stalls = 0;   ///< reads that waited for a tag
    std::uint64_t completion_timeouts = 0;
    std::uint64_t poisoned_completions = 0;  ///< TLPs
    std::uint64_t unexpected_completions = 0;
    std::uint64_t unsupported_requests = 0;  ///< requests to this function that it refused
    std::uint64_t msix_sent = 0;
    std::uint64_t msix_pended = 0;   ///< vectors that were masked when they fired
    std::uint64_t msix_dropped = 0;  ///< MSI-X off, bus mastering off or no such vector
  };

  /// Link::connect() binds it as the lower end.
  Port& port() { return port_; }
  const Counters& counters() const { return counters_; }
  /// Number of operations that the device has completed for software. While it grows, the run is not stalled.
  virtual std::uint64_t ended_operations() const { return 0; }
  const ConfigSpace& config() const { return config_; }
  RoutingId id() const { return id_; }
  /// Stops the device's clock: until resume(), the device neither takes nor sends TLPs, but its link stays up. Work
  /// already in its pipelines runs on to its ports. Calls nest: each stop() needs a resume(), and a resume() without a
  /// stop() throws base::ComponentError.
  void stop();
  void resume();
  bool stopped() const { return stops_ > 0; }
  /// Resets configuration space, DMA and MSI-X, as a board reset or the loss of the link does. A stopped clock stays
  /// stopped. The device resets the rest of itself in function_reset().
  void reset() final;
  const std::array<Bar, 6>& bars() const { return function_.bars; }
  /// For the debugger; empty without MSI-X.
  const std::vector<pcie_msix_entry>& msix_table() const { return msix_table_; }
  bool msix_pending(unsigned vector) const { return msix_pending_.at(vector); }
  /// Throws std::logic_error when software cannot reach all of a register bank of this device: the bank is larger than
  /// all BARs together, or it fills the only BAR that can hold it and the MSI-X table or PBA there hides a register.
  void check_registers() const;

 protected:
  /// Throws std::logic_error for BARs and MSI-X structures that no function can have.
  Endpoint(sc_core::sc_module_name, const Parameters&, const Function&);

  // The functions that a device implements. offset counts from the BAR's start; the range lies within the BAR and
  // outside the MSI-X structures. All of them are called at now().

  /// size: 1 to 4096 bytes.
  virtual void mmio_read(unsigned bar, std::uint64_t offset, unsigned size, MmioReply reply) = 0;
  /// A read of no bytes. Answer it with value(0) when all earlier writes have taken effect.
  virtual void mmio_flush(unsigned bar, MmioReply reply) {
    (void)bar;
    reply.value(0);
  }
  /// journey: the write's, up to its arrival here. Apply it (Journey::apply()) to the request that waited for this
  /// write.
  virtual void mmio_write(unsigned bar, std::uint64_t offset, std::span<const std::uint8_t> data,
                          const base::Journey& journey) = 0;
  /// Inside mmio_write(): which bytes of the write belong to which requests. Device memory that others read later
  /// should keep these ids, as base::GuestRam does. The requests move on when mmio_write() returns or, after
  /// take_arrival(), when the device calls Arrival::move_requests().
  const Arrival& arriving() const { return arriving_; }
  Arrival take_arrival();
  /// Function level reset, hot reset or loss of the link: configuration space is at its reset values, INTx is
  /// deasserted, reads in flight will not be reported. After a function level reset, writes in flight still land;
  /// otherwise what the link carries is lost. It may be called again at once.
  virtual void function_reset() {}
  /// Called by stop() and resume(): stops or starts the rest of the device.
  virtual void clock_stopped(bool stopped) { (void)stopped; }
  /// Software changed the command register or another register of configuration space.
  virtual void config_written(unsigned reg) { (void)reg; }

  // The DMA engine. Addresses are bus addresses of any alignment. Transfers are split at MRRS or MPS and at 4 KiB
  // boundaries.

  using ReadDone = base::Callback<void(const DmaCompletion&)>;
  using WriteSent = base::Callback<void(const DmaSent&)>;
  /// Reads start in call order as tags become free, and may end in any order. done is called later, never inside this
  /// call; a reset drops it. length is 1 to 16 MiB; a longer or empty one ends with kCompleterAbort. Throws
  /// std::invalid_argument where done is empty.
  void dma_read(std::uint64_t address, std::uint32_t length, const DmaOptions&, ReadDone done);
  /// Writes are posted: they become visible in order of the calls. The bytes are copied. on_sent may be empty. Returns
  /// false, and sends nothing, while bus mastering is off.
  bool dma_write(std::uint64_t address, std::span<const std::uint8_t> data, const DmaOptions&,
                 WriteSent on_sent = nullptr);
  /// Sends the vector's message, or sets its pending bit while it is masked. The message stays behind all earlier
  /// dma_write()s. When it arrives, the requests in spans enter `arrival_stage` or, by default, `interrupt` of this
  /// component. Returns false when the message was dropped.
  bool msix(unsigned vector, const base::Spans& spans = {}, ArrivalStage arrival_stage = {});
  bool msix_enabled() const;
  /// Sets INTA's level, which is sent as messages. The wire stays deasserted while MSI-X is enabled or INTx is
  /// disabled. Spans are as for msix(); only the message that raises the level carries them.
  void intx(bool level, const base::Spans& spans = {}, ArrivalStage arrival_stage = {});

  /// Reports a transfer that cannot begin because bus mastering is off. For a device that checks bus_master() itself.
  void report_bus_master_off(std::uint64_t address, std::uint32_t length, bool write, const DmaOptions&);
  unsigned reads_in_flight() const { return reads_in_flight_; }               ///< transfers, waiting ones included
  unsigned writes_queued() const { return port_.queued(TlpClass::kPosted); }  ///< TLPs not yet on the link
  ConfigSpace& config() { return config_; }

 private:
  friend class MmioReply;
  /// If empty, the counters of the PCIe function come before the device's own, in one group. Otherwise they are in a
  /// group of their own, whose name is path() and this text.
  virtual const char* function_group() const { return ""; }
  void fill_statistics(base::StatisticsGroup&) final;
  void register_function_statistics(base::StatisticsGroup&);
  struct Transfer {
    std::uint64_t address = 0;
    std::uint32_t length = 0;
    std::uint32_t requested = 0;    ///< bytes for which TLPs have been made
    std::uint32_t outstanding = 0;  ///< TLPs
    DmaStatus status = DmaStatus::kOk;
    bool active = false;
    bool abandoned = false;  ///< a reset ended it: done is not called, nothing is stored
    DmaOptions options;
    ReadDone done;
    base::Journey journey;  ///< of the last TLP
    base::Time issued;
    Origin origin;
    std::uint8_t* bytes = nullptr;
    std::vector<std::uint8_t> buffer;
    std::vector<base::RequestId> tags;
  };
  struct Tag {
    std::uint32_t transfer = kNone;
    std::uint32_t offset = 0;     ///< of the TLP's first byte in the transfer
    std::uint32_t remaining = 0;  ///< bytes
    bool last = false;            ///< carries the transfer's journey
    std::uint64_t serial = 0;
  };
  struct Deadline {
    base::Time when;
    std::uint16_t tag;
    std::uint64_t serial;
  };
  struct Sent {
    WriteSent callback;
    base::Time issued;
  };
  /// Further state of an MSI-X table entry.
  struct VectorUse {
    base::Site by;          ///< instruction that wrote the entry last
    bool unmasked = false;  ///< has been unmasked since reset
  };
  static constexpr std::uint32_t kNone = ~0u;

  void transmitted(Tlp&, base::Time sent) override;
  void receive(TlpPtr);
  void take(TlpPtr);
  void receive_config(TlpPtr);
  void receive_write(TlpPtr);
  void receive_read(TlpPtr);
  void receive_completion(TlpPtr);
  int decode(std::uint64_t address, std::uint64_t bytes, std::uint64_t& offset) const;
  void register_write(unsigned bar, std::uint64_t offset, std::span<const std::uint8_t>, const base::Journey&);
  void config_changed(unsigned reg);
  void write_msix_table(std::uint64_t at, std::span<const std::uint8_t>);
  void initiate_reset();

  /// A read of a register that has not been answered.
  struct OpenRead {
    TlpPtr request;
    std::uint32_t serial = 0;
  };
  const Tlp* request_of(const MmioReply&) const;
  void complete(const MmioReply&, CompletionStatus, std::span<const std::uint8_t>,
                std::span<const base::RequestId> tags = {});
  MmioReply open_read(TlpPtr request);
  void note_arrival(const Tlp&, std::uint32_t from, std::uint32_t bytes);
  void end_arrival();
  void refuse(const Tlp&);
  void report_unclaimed(const Tlp&);

  void issue_reads();
  void issue_read(Transfer&, std::uint32_t transfer);
  void settle(std::uint16_t number);
  void forget_completions();
  void fail_read(std::uint32_t transfer, DmaStatus);
  void report_sent(std::uint32_t slot, base::Time);
  Origin origin_of(std::uint64_t address, std::uint32_t length, const Purpose&);
  void finish_read(std::uint32_t transfer);
  /// The number of an unused element: one that is free, or a new one at the end.
  template <class Elements>
  static std::uint32_t take_slot(Elements& elements, std::vector<std::uint32_t>& free) {
    if (free.empty()) {
      elements.emplace_back();
      return static_cast<std::uint32_t>(elements.size() - 1);
    }
    const std::uint32_t n = free.back();
    free.pop_back();
    return n;
  }
  void check_deadlines();
  void arm_deadline();

  bool in_msix_table(unsigned bar, std::uint64_t offset) const;
  bool in_msix_pba(unsigned bar, std::uint64_t offset) const;
  std::uint8_t msix_byte(unsigned bar, std::uint64_t offset) const;
  bool vector_masked(unsigned vector) const;
  void note_unmasked();
  bool may_fire(unsigned vector);
  void send_msix(unsigned vector, const base::Spans&, ArrivalStage);
  void give_requests(Tlp&, const base::Spans&, ArrivalStage) const;
  void fire_unmasked();
  void update_intx(const base::Spans& spans = {}, ArrivalStage arrival_stage = {});

  Parameters parameters_;
  Function function_;
  Port port_;
  ConfigSpace config_;
  RoutingId id_ = 0;
  unsigned express_ = 0;
  unsigned msix_capability_ = 0;

  std::vector<pcie_msix_entry> msix_table_;
  std::vector<std::uint8_t> msix_pending_;  ///< 0 or 1 for each vector
  std::vector<VectorUse> msix_entries_;
  bool intx_level_ = false;
  bool intx_sent_ = false;

  std::deque<Transfer> transfers_;
  std::vector<std::uint32_t> free_transfers_;
  base::Ring<std::uint32_t> waiting_;  ///< transfers with bytes not yet asked for
  std::vector<Tag> tags_;
  base::Ring<std::uint16_t> free_tags_;
  base::Ring<Deadline> deadlines_;
  base::Calendar::Handle deadline_;
  std::uint64_t serial_ = 0;
  unsigned reads_in_flight_ = 0;
  std::uint32_t transfers_made_ = 0;
  std::deque<Sent> sent_;
  std::vector<std::uint32_t> free_sent_;
  unsigned stops_ = 0;
  std::vector<OpenRead> open_reads_;
  std::vector<std::uint32_t> free_reads_;
  std::uint64_t resets_ = 0;
  Arrival arriving_;
  bool arrival_taken_ = false;
  std::deque<TlpPtr> kept_;  ///< TLPs that came while the clock was stopped
  Counters counters_;
  std::unique_ptr<base::StatisticsGroup> function_statistics_;  ///< set if function_group() is not empty
};

}  // namespace sluice::pcie
