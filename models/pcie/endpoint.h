#pragma once
/// What every PCIe device derives from: one function with configuration space, BARs, MSI-X and INTx, and a DMA engine.

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

/// The answer to a read of a register: exactly one of its members is called once, at once or later. A reply that is
/// never given ends in the reader's completion timeout.
class MmioReply {
 public:
  /// The low `size` bytes of value, little endian; the rest, where the read asked for more than 8 bytes, is zero.
  void value(std::uint64_t value);
  /// Bytes of the read range, from its first on; missing ones read as zero.
  void data(std::span<const std::uint8_t> bytes);
  /// The register does not exist or cannot be read this way: the reader sees all ones.
  void unsupported();
  void abort();

 private:
  friend class Endpoint;
  Endpoint* endpoint_ = nullptr;
  std::uint64_t first_ = 0;
  std::uint32_t bytes_ = 0;
  RoutingId requester_ = 0;
  std::uint16_t tag_ = 0;
  std::uint8_t traffic_class_ = 0;
  bool relaxed_ordering_ = false;
  Content content_ = Content::kMetadata;
};

/// What a DMA is, beyond its address.
struct DmaOptions {
  base::Site by = {};    ///< the instruction that the device does it for; none: that of the register access under way
  Purpose purpose = {};  ///< for what is said of it where it goes wrong
  base::Spans spans;     ///< which requests wait for it; offsets count from the first byte
  ArrivalStage arrival_stage;  ///< writes: the stage of the requests from when their last byte is visible in memory
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
  base::Time issued;  ///< dma_read() was called
  std::uint64_t address;

  /// Where want_tags was set: the request whose bytes lie at address + offset; 0 for none.
  base::RequestId tag_at(std::uint32_t offset) const {
    const std::size_t line = (address % base::GuestRam::kTagLine + offset) / base::GuestRam::kTagLine;
    return line < tags.size() ? tags[line] : 0;
  }
  std::span<const base::RequestId> tags;  ///< one for each 64 B line that the range touches
};

/// The last bit of a DMA write has been serialised.
struct DmaSent {
  base::Time issued;  ///< dma_write() was called
  base::Time sent;    ///< now()
};

/// Ledger: a TLP's journey starts in `upstream_link` when it is handed to the link; a read that must first wait for a
/// tag starts in `dma_read` of this component. Reads apply their journey to their spans before the callback; writes
/// have it applied by the root complex, where `arrival_stage` is set; a write without `arrival_stage` leaves the ledger
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
    std::uint32_t table_offset = 0;  ///< bytes, a multiple of 8; table and PBA lie in their BARs, and apart
    unsigned pba_bar = 0;
    std::uint32_t pba_offset = 0;
    /// Size of the pending bits, which come in whole words of 8 bytes.
    std::uint64_t pba_bytes() const { return (std::uint64_t{vectors} + 63) / 64 * 8; }
  };
  /// The function as its designer fixed it.
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
    std::uint64_t tag_stalls = 0;   ///< reads that waited for a tag
    std::uint64_t completion_timeouts = 0;
    std::uint64_t poisoned_completions = 0;  ///< TLPs
    std::uint64_t unexpected_completions = 0;
    std::uint64_t unsupported_requests = 0;  ///< requests to this function that it refused
    std::uint64_t msix_sent = 0;
    std::uint64_t msix_pended = 0;   ///< vectors that were masked when they fired
    std::uint64_t msix_dropped = 0;  ///< MSI-X off, bus mastering off or no such vector
  };

  /// To be bound by Link::connect() as the lower end.
  Port& port() { return port_; }
  const Counters& counters() const { return counters_; }
  /// What it has done for software, in operations that have ended: while they grow, a run is not stalled.
  virtual std::uint64_t ended_operations() const { return 0; }
  const ConfigSpace& config() const { return config_; }
  RoutingId id() const { return id_; }
  /// The device's clock stops: it takes no TLPs, and sends none, until resume(); its link stays up. What has entered
  /// its pipelines runs on to its ports. Counted: each stop needs its resume, and a resume() without one throws
  /// base::ComponentError.
  void stop();
  void resume();
  bool stopped() const { return stops_ > 0; }
  /// As a reset of the board does it, or the loss of the link: configuration space, DMA and registers. A clock
  /// that is stopped stays so. What a device has besides its function, function_reset() resets.
  void reset() final;
  const std::array<Bar, 6>& bars() const { return function_.bars; }
  /// For the debugger; empty without MSI-X.
  const std::vector<pcie_msix_entry>& msix_table() const { return msix_table_; }
  bool msix_pending(unsigned vector) const { return msix_pending_.at(vector); }
  /// Throws std::logic_error for a register bank of this device that software cannot reach all of: it is larger than
  /// the BARs, or fills the one BAR that it can be in and has a register below the MSI-X table or PBA there.
  void check_registers() const;

 protected:
  /// Throws std::logic_error for BARs and MSI-X structures that no function can have.
  Endpoint(sc_core::sc_module_name, const Parameters&, const Function&);

  // What a device implements. offset counts from the BAR's start; the range lies within the BAR and outside the MSI-X
  // structures. All of them are called at now().

  /// size: 1 to 4096 bytes.
  virtual void mmio_read(unsigned bar, std::uint64_t offset, unsigned size, MmioReply reply) = 0;
  /// journey: of the write, ends with its arrival here; apply() it to the request that waited for this write.
  virtual void mmio_write(unsigned bar, std::uint64_t offset, std::span<const std::uint8_t> data,
                          const base::Journey& journey) = 0;
  /// Function level reset, hot reset or loss of the link: configuration space is at its reset values, INTx is
  /// deasserted, reads in flight will not be reported. After a function level reset, writes in flight still land;
  /// otherwise what the link carries is lost. It may be called again at once.
  virtual void function_reset() {}
  /// stop() and resume(), for what the device has besides its PCIe port.
  virtual void clock_stopped(bool stopped) { (void)stopped; }
  /// Software changed the command register or another register of configuration space.
  virtual void config_written(unsigned reg) { (void)reg; }

  // The DMA engine. Addresses are bytes on the bus; any alignment and length; transfers are split at MRRS or MPS and at
  // 4 KiB.

  using ReadDone = base::Callback<void(const DmaCompletion&)>;
  using WriteSent = base::Callback<void(const DmaSent&)>;
  /// Reads start in order of the calls, as tags allow, and may end in any order. done is always called, later. length
  /// is 1 to 16 MiB; a longer or empty one ends with kCompleterAbort. Throws std::invalid_argument where done is empty.
  void dma_read(std::uint64_t address, std::uint32_t length, const DmaOptions&, ReadDone done);
  /// Writes are posted: they become visible in order of the calls. The bytes are copied. on_sent may be empty. Returns
  /// false, and does nothing more, while bus mastering is off.
  bool dma_write(std::uint64_t address, std::span<const std::uint8_t> data, const DmaOptions&,
                 WriteSent on_sent = nullptr);
  /// Sends the vector's message, or pends it while masked. It follows all earlier dma_write()s. Spans enter
  /// `arrival_stage`, or, where it is not set, `interrupt` of this component when the message has arrived. False when
  /// it was dropped.
  bool msix(unsigned vector, const base::Spans& spans = {}, ArrivalStage arrival_stage = {});
  bool msix_enabled() const;
  /// INTA's level; sent as messages. Ignored while MSI-X is enabled or INTx is disabled. Spans as for msix(): they
  /// travel with the message that raises the level, and with no other.
  void intx(bool level, const base::Spans& spans = {}, ArrivalStage arrival_stage = {});

  /// Notes that a transfer would begin and may not: for a device that asks bus_master() itself.
  void report_bus_master_off(std::uint64_t address, std::uint32_t length, bool write, const DmaOptions&);
  unsigned reads_in_flight() const { return reads_in_flight_; }               ///< transfers, waiting ones included
  unsigned writes_queued() const { return port_.queued(TlpClass::kPosted); }  ///< TLPs not yet on the link
  ConfigSpace& config() { return config_; }

 private:
  friend class MmioReply;
  /// The counters of the PCIe function come before the device's own, in one group; or in one beside it, whose name ends
  /// in this, where it is not empty.
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
    bool abandoned = false;  ///< by a reset: nobody is told, nothing is stored
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
  /// What is known of an entry of the MSI-X table besides.
  struct VectorUse {
    base::Site by;          ///< who wrote it last
    bool unmasked = false;  ///< once since reset
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

  void complete(const MmioReply&, CompletionStatus, std::span<const std::uint8_t>);
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
  std::uint32_t take_transfer();
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
  std::vector<std::uint8_t> msix_pending_;  ///< 0 or 1 a vector
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
  std::deque<TlpPtr> kept_;  ///< came while the clock stood still
  Counters counters_;
  std::unique_ptr<base::StatisticsGroup> function_statistics_;  ///< where they are beside the device's own
};

}  // namespace sluice::pcie
