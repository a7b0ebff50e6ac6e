// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The root complex: harts reach devices through its windows, devices reach memory and interrupt controllers through
/// its root ports.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_target_socket.h>

#include "models/base/fabric/line.h"
#include "models/base/fabric/ring.h"
#include "models/base/measure/statistics.h"
#include "models/base/memory/memory_path.h"
#include "models/base/parameters/schema.h"
#include "models/base/systemc/deferred_read.h"
#include "models/base/systemc/model.h"
#include "models/base/systemc/reset.h"
#include "models/base/systemc/scheduler.h"
#include "models/pcie/bridge.h"
#include "models/pcie/link.h"
#include "models/pcie/tlp.h"

namespace sluice::pcie {

/// Takes device writes that are not for memory: to interrupt controllers (MSI) and other devices of the SoC.
class SocWriter {
 public:
  virtual ~SocWriter() = default;
  /// Called at now(). data is little endian, size 1 to 4096 bytes. Returns false if nothing takes writes there.
  virtual bool write(std::uint64_t address, const void* data, unsigned size) = 0;
  /// Name of the component at an address, as the board calls it; empty: the address is not mapped.
  virtual std::string name_at(std::uint64_t address) const = 0;
  /// Whether the component at an address takes interrupt messages; otherwise they are refused.
  virtual bool takes_interrupts(std::uint64_t /*address*/) const { return true; }
};

struct Translation {
  std::uint64_t address = 0;
  bool fault = false;
  base::Time latency;         ///< added to the access
  const char* why = nullptr;  ///< cause of a fault, as the end of a sentence
};

/// Interface of an IOMMU.
class Translator {
 public:
  virtual ~Translator() = default;
  /// Called when a request arrives. The range crosses no 4 KiB boundary.
  virtual Translation translate(RoutingId requester, std::uint64_t address, std::uint32_t length, bool write) = 0;
};

/// Bus 0 has a host bridge as device 0 and root port n as device n + 1. The TLM socket takes absolute addresses inside
/// the three windows. A hart calls it at base::now(). A read or a configuration access blocks the hart in
/// base::wait_for() until its completion; a posted write blocks it only while too many of its own posted writes wait.
/// A write that is handed over before its time (base::access_time()) counts among these from then on.
class RootComplex : public base::Model, public base::Resettable, private TransmitObserver {
 public:
  struct Parameters {
    unsigned root_ports = 1;
    std::uint64_t ecam_base = 0x3000'0000;
    base::Bytes ecam_size = 256_MiB;
    std::uint64_t mmio32_base = 0x4000'0000;
    base::Bytes mmio32_size = 1_GiB;
    std::uint64_t mmio64_base = 0x40'0000'0000;
    base::Bytes mmio64_size = 256_GiB;
    base::Time outbound_latency = 270_ns;    ///< from a core's access to the first bit of an idle link
    base::Time completion_latency = 270_ns;  ///< from a completion's last bit to the core
    base::Time read_latency =
        221_ns;  ///< a device's read: from its last bit to the first of the completion, without memory's share
    base::Time write_latency = 258_ns;  ///< a device's write: from its last bit to memory, without memory's share
    base::Bytes read_completion_boundary = 64_B;
    base::Bytes completion_size = 128_B;  ///< RCB to MPS, a power of two
    unsigned reads = 64;                  ///< devices' reads that memory serves at once, per root port
    unsigned posted_writes = 16;          ///< writes of one core that wait for the links before it is blocked
    unsigned core_reads = 32;             ///< cores' reads and configuration accesses in flight
    base::Time completion_timeout = base::Time::ms(10);
    bool peer_to_peer = true;  ///< between root ports
    static void describe(base::Schema<Parameters>&);
  };
  struct Counters {
    std::uint64_t core_reads = 0;
    std::uint64_t core_writes = 0;
    std::uint64_t config_accesses = 0;
    std::uint64_t master_aborts = 0;      ///< core accesses that no device claimed: all ones, or dropped
    std::uint64_t error_completions = 0;  ///< core accesses that ended with UR or CA
    std::uint64_t completion_timeouts = 0;
    std::uint64_t poisoned_completions = 0;  ///< core accesses that ended with a bus error
    std::uint64_t posted_stalls = 0;         ///< core writes that had to wait for room
    std::uint64_t core_read_stalls = 0;      ///< core accesses that had to wait for room
    std::uint64_t read_stalls = 0;           ///< devices' reads that had to wait for others
    std::uint64_t peer_requests = 0;         ///< of devices to windows of others, passed or not
    std::uint64_t bad_accesses = 0;          ///< core accesses whose width or alignment PCIe lacks
    std::uint64_t dma_reads = 0;
    std::uint64_t dma_writes = 0;
    std::uint64_t messages_signalled = 0;    ///< writes that the SoC took: MSIs
    std::uint64_t unsupported_requests = 0;  ///< devices' requests to nowhere, and translation faults
    std::uint64_t unexpected_completions = 0;
  };

  tlm_utils::simple_target_socket<RootComplex> socket;
  /// INTA to INTD after the swizzle: root port n's INTx is line (x + n + 1) mod 4.
  std::array<base::Line, 4> intx;

  RootComplex(sc_core::sc_module_name, const Parameters&, base::MemoryPath& memory);

  /// Resets the root ports and ends the cores' accesses: reads return all ones, and posted writes that are not yet on a
  /// link are dropped. Device requests that have already arrived still take effect.
  void reset() override;

  Port& root_port(unsigned n) { return ports_.at(n)->port; }
  const Bridge& bridge(unsigned port) const { return ports_.at(port)->bridge; }
  const ConfigSpace& host_bridge() const { return host_bridge_; }
  void set_soc_writer(SocWriter* w) { soc_ = w; }
  void set_translator(Translator* t) { translator_ = t; }
  const Parameters& parameters() const { return parameters_; }
  const Counters& counters() const { return counters_; }

 private:
  void register_statistics(base::StatisticsGroup&) override;
  static constexpr unsigned kMostRead = 128;  ///< bytes of one core read
  static constexpr RoutingId kSelf = 0;       ///< requester of cores' requests, completer of devices' requests
  struct RootPort {
    RootPort(const std::string& owner, const Identity& identity);
    Port port;
    Bridge bridge;
    base::Time last_landing;  ///< when the last posted write lands; only relaxed-ordering writes pass it
    unsigned reads = 0;       ///< in service
    base::Ring<TlpPtr> waiting_reads;
    unsigned losses = 0;        ///< times that the link was lost; requests from before a loss get no answer
    std::uint8_t asserted = 0;  ///< INTx virtual wires, bit 0 is INTA
  };
  /// A device's read of RAM.
  struct MemoryRead {
    TlpPtr request;
    base::GuestRam* ram;
    std::uint64_t address;
    unsigned losses;  ///< of its port when it arrived
  };
  /// The buffers of one core's writes.
  struct PostedWrites {
    explicit PostedWrites(const base::Runner* c) : core(c) {}
    const base::Runner* core;  ///< null: initiators that are no core share this entry
    unsigned waiting = 0;
    base::Ring<TlpPtr> due;  ///< handed over before their time, and at their time there was no place
    base::Event freed;
  };
  /// A core that waits for a free entry of accesses_.
  struct Waiter {
    std::optional<std::uint16_t> number;
    base::Event given;
  };
  /// A core's non-posted access. Its number is its tag.
  struct Access {
    bool in_flight = false;  ///< a completion may come
    bool done = false;
    bool cut_off = false;               ///< a reset ended it before it went out
    bool error = false;                 ///< the core sees a bus error
    const RootPort* through = nullptr;  ///< while in flight
    TlpPtr request;
    std::array<std::uint8_t, kMostRead> data;
    std::uint32_t received = 0;
    base::RequestId brought = 0;  ///< the ledger's request that the bytes belong to
    bool failed = false;
    std::function<void(const std::uint8_t*)> deliver;  ///< base::DeferredRead; empty: a core waits
    base::Event event;
    base::Calendar::Handle timeout;
  };

  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&);
  bool in_configuration_space(std::uint64_t address, std::uint64_t length = 1) const;
  bool in_memory_windows(std::uint64_t address, std::uint64_t length = 1) const;
  void configure(tlm::tlm_generic_payload&);
  void post(std::uint64_t address, const std::uint8_t* data, unsigned bytes);
  unsigned posted_writes_of_caller();
  bool is_full(const PostedWrites& w) const { return w.waiting >= parameters_.posted_writes; }
  void send_posted(TlpPtr);
  bool has_due_writes();
  void wait_for_due_writes();
  void drop_due_writes();
  std::uint16_t take_access();
  void give_back_access(std::uint16_t number);
  void access(tlm::tlm_generic_payload&, TlpPtr request);
  void read_later(base::DeferredRead&, TlpPtr request);
  void begin_access(unsigned number, TlpPtr request, base::Time at);
  void deliver(unsigned number);
  void end_access(unsigned number);
  void note_brought(Access&, const Tlp& completion);
  void launch(unsigned access);
  void access_local(unsigned access);
  void store(Access&, const std::uint8_t* bytes, std::uint32_t count);
  void fail(unsigned access, std::uint64_t& counter);
  void link_down(RootPort&);
  void finish(unsigned access, base::Time earliest = {});
  RootPort* port_of_address(std::uint64_t address);
  RootPort* port_of_bus(unsigned bus);
  void transmitted(Tlp&, base::Time sent) override;

  void receive(unsigned port, TlpPtr);
  void receive_write(RootPort&, TlpPtr);
  void land(TlpPtr, base::GuestRam*);
  void receive_read(RootPort&, TlpPtr);
  void start_read(RootPort&, TlpPtr);
  void read_memory(MemoryRead, base::Time begin);
  void finish_read(TlpPtr, base::GuestRam&, std::uint64_t address);
  void start_waiting_reads(RootPort&);
  void forward(RootPort& to, TlpPtr, base::Time when);
  void refuse(RootPort&, TlpPtr request, const char* cause = nullptr);
  void answer_refused(RootPort&, const Tlp& request, const char* cause);
  void refuse_read(RootPort&, TlpPtr request, const char* cause, base::Time latency);
  std::string why_unclaimed(std::uint64_t address) const;
  void report_unclaimed(const Tlp&);
  std::string nowhere(const Tlp&) const;
  const char* refusal(const RootPort& from, const RootPort* to) const;
  void write_soc(const Tlp&);
  void receive_completion(TlpPtr);
  void receive_message(RootPort&, TlpPtr);
  void signal(RootPort&, const Tlp&);
  void update_lines();
  Translation translate(const Tlp&, bool write);

  Parameters parameters_;
  base::MemoryPath& memory_;
  SocWriter* soc_ = nullptr;
  Translator* translator_ = nullptr;
  ConfigSpace host_bridge_;
  std::vector<std::unique_ptr<RootPort>> ports_;
  std::vector<std::unique_ptr<Access>> accesses_;
  base::Ring<std::uint16_t> free_accesses_;
  base::Ring<Waiter*> waiting_accesses_;  ///< in order of arrival; empty while an access is free
  std::vector<std::unique_ptr<PostedWrites>> posted_writes_;
  std::uint64_t resets_ = 0;
  Counters counters_;
};

}  // namespace sluice::pcie
