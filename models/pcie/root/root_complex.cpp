// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/root/root_complex.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "models/base/systemc/brought_request.h"
#include "models/base/time/access_time.h"
#include "models/pcie/bad_request.h"
#include "models/pcie/pcie_regs.h"

namespace sluice::pcie {
namespace {

// Vendor and device ids that no vendor has: these parts exist in no silicon.
constexpr Identity kHostBridge{0x534c, 0x0700, PCIE_CLASS_HOST_BRIDGE, 0, 0, 0};
constexpr Identity kRootPort{0x534c, 0x0703, PCIE_CLASS_PCI_BRIDGE, 0, 0, 0};

/// Why PCIe cannot carry an access to the windows, as the end of a sentence; null if it can.
const char* reason_against(const tlm::tlm_generic_payload& access, bool config, unsigned most) {
  const std::uint64_t address = access.get_address();
  const std::uint64_t length = access.get_data_length();
  if (access.get_command() == tlm::TLM_IGNORE_COMMAND) return "it neither reads nor writes";
  if (access.get_byte_enable_ptr()) return "byte enables are not taken";
  if (length == 0) return "it has no bytes";
  if (access.get_streaming_width() < length) return "its streaming width is less than its length";
  if (config)
    return length > 4 - address % 4 ? "configuration space takes what lies within an aligned word of 4 bytes" : nullptr;
  if (access.is_read() && length > most) return "a read has at most 128 bytes";
  return length > Tlp::kBoundary - address % Tlp::kBoundary ? "it would cross 4 KiB" : nullptr;
}

bool within(std::uint64_t address, std::uint64_t length, std::uint64_t base, base::Bytes size) {
  return address >= base && address - base < size.count() && length <= size.count() - (address - base);
}

}  // namespace

void RootComplex::Parameters::describe(base::Schema<Parameters>& s) {
  s.summary("PCIe root complex");
  s.add("root_ports", &Parameters::root_ports, "links it has").range(1, 31).unit("ports").setting();
  s.add("ecam_base", &Parameters::ecam_base, "configuration window").multiple_of(1u << 20).hexadecimal().setting();
  s.add("ecam_size", &Parameters::ecam_size, "1 MiB for each bus")
      .range(2_MiB, 256_MiB)
      .multiple_of(1u << 20)
      .setting();
  s.add("mmio32_base", &Parameters::mmio32_base, "window for 32-bit BARs")
      .multiple_of(1u << 20)
      .hexadecimal()
      .setting();
  s.add("mmio32_size", &Parameters::mmio32_size, "its size").multiple_of(1u << 20).setting();
  s.add("mmio64_base", &Parameters::mmio64_base, "window for 64-bit BARs")
      .multiple_of(1u << 20)
      .hexadecimal()
      .setting();
  s.add("mmio64_size", &Parameters::mmio64_size, "its size").multiple_of(1u << 20).setting();
  s.add("outbound_latency", &Parameters::outbound_latency, "from a core's access to the first bit of an idle link")
      .range(0_ns, 10_us)
      .acts_with({"core_reads", "core_writes", "config_accesses"}, "no core used PCIe")
      .derived("half of a ~750 ns MMIO read (Wave 2.3) less link and endpoint");
  s.add("completion_latency", &Parameters::completion_latency, "from a completion's last bit to the core")
      .range(0_ns, 10_us)
      .acts_with({"core_reads", "config_accesses"}, "no core read by PCIe")
      .derived("half of a ~750 ns MMIO read (Wave 2.3) less link and endpoint");
  s.add("read_latency", &Parameters::read_latency,
        "a device's read: from its last bit to the first of its completion, memory's share apart")
      .range(0_ns, 10_us)
      .acts_with({"dma_reads"}, "no device read memory")
      .fitted(
          "546 ns of a 64 B read by the DMA engine of an NFP-6000 at gen3 x8 (pcie-bench, Broadwell E5-2630 v4) less "
          "80 "
          "ns of that engine, 200 of endpoint, 24.9 of link and 20 of memory, rounded down",
          {"pcie.read.broadwell.64"});
  s.add("write_latency", &Parameters::write_latency, "a device's write: from its last bit to memory")
      .range(0_ns, 10_us)
      .acts_with({"dma_writes", "messages_signalled", "peer_requests"}, "no device wrote")
      .derived(
          "379 ns one way (Nagare 4.3), of a 64 B write at gen3 x16, less 100 ns of endpoint, 10.9 of link and 10 of "
          "memory, rounded down");
  s.add("read_completion_boundary", &Parameters::read_completion_boundary,
        "RCB, as the Link Control registers of the root ports show it; completion_size is a multiple of it")
      .choices({64_B, 128_B})
      .without_effect([](const Parameters&) {
        return "completion_size cuts reads; only software sees this, in Link Control registers";
      })
      .assumed("pcie-model's default (model/pcie.py); the specification allows both");
  s.add("completion_size", &Parameters::completion_size,
        "the most that one completion of a device's read carries; completions end at multiples of it")
      .range(64_B, base::Bytes(4096))
      .power_of_two()
      .acts_with({"dma_reads"}, "no device read memory")
      .measured(
          "Kalia, Kaminsky, Andersen, Design Guidelines for High Performance RDMA Systems, USENIX ATC 2016: read "
          "completions of Intel CPUs are combined to 128 B")
      .uncertainty("0 %");
  s.add("reads", &Parameters::reads, "devices' reads in service, for each root port")
      .range(1, 4096)
      .unit("TLPs")
      .acts_with({"read_stalls"}, "no device's read waited for others")
      .assumed("covers the latency at gen3 x16");
  s.add("posted_writes", &Parameters::posted_writes, "writes of one core that wait for the links before it is blocked")
      .range(1, 4096)
      .unit("TLPs")
      .acts_with({"posted_stalls"}, "no core's write waited for others")
      .assumed("a core's write-combining and uncore buffers");
  s.add("core_reads", &Parameters::core_reads, "cores' reads and configuration accesses in flight")
      .range(1, 256)
      .unit("TLPs")
      .acts_with({"core_read_stalls"}, "no core's read waited for others")
      .assumed("at least one for each hart");
  s.add("completion_timeout", &Parameters::completion_timeout,
        "a core's read without a completion returns all ones then")
      .range(1_us, 1_s)
      .acts_with({"completion_timeouts"}, "no core's read was without its completion so long")
      .assumed("PCI Express Base Specification: within 50 us to 50 ms, better not below 10 ms");
  s.add("peer_to_peer", &Parameters::peer_to_peer, "requests pass from root port to root port")
      .acts_with({"peer_requests"}, "no device made a request to another's memory")
      .setting();
  s.rule("completion_size", [](const Parameters& p) {
    return p.completion_size < p.read_completion_boundary
               ? "must be at least read_completion_boundary, which is " + base::to_text(p.read_completion_boundary)
               : std::string();
  });
}

RootComplex::RootPort::RootPort(const std::string& owner, const Identity& identity)
    : port(owner), bridge(identity, PCIE_EXPRESS_TYPE_ROOT_PORT) {}

RootComplex::RootComplex(sc_core::sc_module_name name, const Parameters& p, base::MemoryPath& memory)
    : Model(name),
      socket("socket"),
      parameters_(p),
      memory_(memory),
      host_bridge_(kHostBridge, PCIE_HEADER_TYPE_ENDPOINT) {
  if (p.root_ports < 1 || p.root_ports > 31) throw std::invalid_argument(path() + ": root_ports must be 1 to 31");
  socket.register_b_transport(this, &RootComplex::b_transport);
  host_bridge_.add_express(PCIE_EXPRESS_TYPE_INTEGRATED);
  host_bridge_.keep_reset_values();
  for (unsigned i = 0; i < p.root_ports; ++i) {
    ports_.push_back(std::make_unique<RootPort>(path(), kRootPort));
    ports_[i]->bridge.config().set_read_completion_boundary(static_cast<unsigned>(p.read_completion_boundary.count()));
    Port& port = ports_[i]->port;
    port.on_receive = [this, i](TlpPtr t) { receive(i, std::move(t)); };
    port.on_connect = [this, i](const Link& link) { link.describe_to(ports_[i]->bridge.config()); };
    port.on_link_down = [this, i] { link_down(*ports_[i]); };
  }
  for (unsigned i = 0; i < p.core_reads; ++i) {
    accesses_.push_back(std::make_unique<Access>());
    free_accesses_.push(static_cast<std::uint16_t>(i));
  }
}

// --------------------------------------------------------------------------------------------------- requests of cores

RootComplex::RootPort* RootComplex::port_of_address(std::uint64_t address) {
  for (auto& p : ports_)
    if (p->bridge.leads_to(address)) return p.get();
  return nullptr;
}

RootComplex::RootPort* RootComplex::port_of_bus(unsigned bus) {
  for (auto& p : ports_)
    if (p->bridge.leads_to_bus(bus)) return p.get();
  return nullptr;
}

bool RootComplex::in_configuration_space(std::uint64_t address, std::uint64_t length) const {
  return within(address, length, parameters_.ecam_base, parameters_.ecam_size);
}

bool RootComplex::in_memory_windows(std::uint64_t address, std::uint64_t length) const {
  return within(address, length, parameters_.mmio32_base, parameters_.mmio32_size) ||
         within(address, length, parameters_.mmio64_base, parameters_.mmio64_size);
}

void RootComplex::b_transport(tlm::tlm_generic_payload& trans, sc_core::sc_time&) {
  const std::uint64_t address = trans.get_address();
  const std::uint64_t length = trans.get_data_length();
  const bool config = in_configuration_space(address, length);
  if (!config && !in_memory_windows(address, length)) {
    trans.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  const bool write = trans.is_write();
  if (const char* wrong = reason_against(trans, config, kMostRead)) [[unlikely]] {
    ++counters_.bad_accesses;
    const char* what = write ? "write" : trans.is_read() ? "read" : "access";
    base::mistakes().report(
        fmt::format("{}: {} of {} bytes at {:#x}: PCIe has no such access, {}", path(), what, length, address, wrong));
    trans.set_response_status(trans.get_byte_enable_ptr() ? tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE
                                                          : tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  trans.set_response_status(tlm::TLM_OK_RESPONSE);
  if (config) return configure(trans);
  if (write) return post(address, trans.get_data_ptr(), static_cast<unsigned>(length));
  ++counters_.core_reads;
  TlpPtr t = make_tlp(TlpType::kMRd);
  t->cover(address, static_cast<std::uint32_t>(length));
  t->by = base::access_site();
  if (auto* const later = trans.get_extension<base::DeferredRead>()) return read_later(*later, std::move(t));
  access(trans, std::move(t));
}

void RootComplex::configure(tlm::tlm_generic_payload& trans) {
  ++counters_.config_accesses;
  const std::uint64_t offset = trans.get_address() - parameters_.ecam_base;
  const auto length = static_cast<std::uint32_t>(trans.get_data_length());
  const bool write = trans.get_command() == tlm::TLM_WRITE_COMMAND;
  TlpPtr t = make_tlp(write ? TlpType::kCfgWr1 : TlpType::kCfgRd1);
  t->cover(offset & PCIE_ECAM_REGISTER, length);
  t->reg = static_cast<std::uint16_t>(t->address);
  t->address = 0;
  t->target = static_cast<RoutingId>(offset >> PCIE_ECAM_FUNCTION_SHIFT);
  if (write) {
    t->resize_payload();
    std::memset(t->payload(), 0, 4);
    std::memcpy(t->payload() + offset % 4, trans.get_data_ptr(), length);
  }
  access(trans, std::move(t));
}

/// Why no root port takes requests for an address in the windows. Empty if one does, or if the link of the port that
/// would is down, which is not the software's fault.
std::string RootComplex::why_unclaimed(std::uint64_t address) const {
  std::string cause = "the window of no root port holds the address";
  for (unsigned n = 0; n < ports_.size(); ++n) {
    const RootPort& p = *ports_[n];
    const bool leads = p.bridge.leads_to(address);
    if (leads && p.port.connected()) return {};
    if (leads) cause = fmt::format("nothing is connected to the root port 00:{:02x}.0", n + 1);
    if (p.bridge.hides(address))
      cause = fmt::format("memory space is off in the command register of the root port 00:{:02x}.0", n + 1);
  }
  return cause;
}

/// Reports a core's memory request that goes nowhere. Configuration requests are not reported: software finds functions
/// by them.
void RootComplex::report_unclaimed(const Tlp& t) {
  const std::string cause = why_unclaimed(t.address);
  if (!cause.empty()) report_bad_request(t, path(), cause);
}

std::uint16_t RootComplex::take_access() {
  if (!free_accesses_.empty()) return free_accesses_.pop();
  ++counters_.core_read_stalls;
  Waiter waiter;
  waiting_accesses_.push(&waiter);
  while (!waiter.number) base::wait_for(waiter.given, "room for a read", path().c_str());
  return *waiter.number;
}

/// Gives the access to the core that has waited longest; a core that asks again at once must not overtake it.
void RootComplex::give_back_access(std::uint16_t number) {
  if (waiting_accesses_.empty()) return free_accesses_.push(number);
  Waiter& next = *waiting_accesses_.pop();
  next.number = number;
  next.given.notify();
}

void RootComplex::access(tlm::tlm_generic_payload& trans, TlpPtr request) {
  const std::uint64_t resets = resets_;
  wait_for_due_writes();
  const std::uint16_t number = take_access();
  if (resets != resets_) {  // a reset came while the core waited
    ++counters_.master_aborts;
    if (trans.is_read()) std::memset(trans.get_data_ptr(), 0xff, trans.get_data_length());
    return give_back_access(number);
  }
  Access& a = *accesses_[number];
  begin_access(number, std::move(request), base::now());
  while (!a.done) base::wait_for(a.event, "read completion", path().c_str());
  if (trans.get_command() == tlm::TLM_READ_COMMAND)
    std::memcpy(trans.get_data_ptr(), a.data.data(), trans.get_data_length());
  if (auto* const brought = trans.get_extension<base::BroughtRequest>()) brought->id = a.brought;
  if (a.error) trans.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  end_access(number);
}

/// A read for which no core waits. It waits neither for room nor for the core's writes that have found none.
void RootComplex::read_later(base::DeferredRead& read, TlpPtr request) {
  if (free_accesses_.empty() || has_due_writes()) return;
  read.is_taken = true;
  const std::uint16_t number = free_accesses_.pop();
  begin_access(number, std::move(request), std::max(base::access_time(), base::now()));
  accesses_[number]->deliver = read.deliver;
}

void RootComplex::begin_access(unsigned number, TlpPtr request, base::Time at) {
  Access& a = *accesses_[number];
  request->requester = kSelf;
  request->tag = static_cast<std::uint16_t>(number);
  a.done = a.in_flight = a.cut_off = a.error = a.failed = false;
  a.request = std::move(request);
  a.received = 0;
  a.brought = 0;
  base::calendar().at(at + parameters_.outbound_latency, key(), [this, number] { launch(number); });
}

void RootComplex::deliver(unsigned number) {
  Access& a = *accesses_[number];
  const auto to = std::exchange(a.deliver, nullptr);
  end_access(number);
  to(a.failed ? nullptr : a.data.data());
}

void RootComplex::end_access(unsigned number) {
  accesses_[number]->request.reset();
  give_back_access(static_cast<std::uint16_t>(number));
}

void RootComplex::launch(unsigned number) {
  Access& a = *accesses_[number];
  if (a.cut_off) return fail(number, counters_.master_aborts);
  Tlp& t = *a.request;
  RootPort* p = nullptr;
  if (t.is_config()) {
    const unsigned bus = bus_of(t.target);
    if (bus == 0) return access_local(number);
    p = port_of_bus(bus);
    if (p && bus == p->bridge.secondary_bus()) {
      // A link has one device.
      if (device_of(t.target) != 0) p = nullptr;
      t.type = t.has_data() ? TlpType::kCfgWr0 : TlpType::kCfgRd0;
    }
  } else {
    p = port_of_address(t.address);
  }
  if (!p || !p->port.up()) {
    if (!a.deliver) report_unclaimed(t);  // what nobody waits for is a hint
    return fail(number, counters_.master_aborts);
  }
  a.in_flight = true;
  a.through = p;
  a.timeout = base::calendar().after(parameters_.completion_timeout, key(),
                                     [this, number] { fail(number, counters_.completion_timeouts); });
  TlpPtr out = make_tlp(t.type);
  out->requester = t.requester;
  out->tag = t.tag;
  out->target = t.target;
  out->reg = t.reg;
  out->address = t.address;
  out->length = t.length;
  out->first_be = t.first_be;
  out->last_be = t.last_be;
  out->by = t.by;
  if (t.has_data()) {
    out->resize_payload();
    std::memcpy(out->payload(), t.payload(), t.payload_bytes());
  }
  p->port.send(std::move(out));
}

/// Accesses the configuration space of bus 0: the host bridge and the root ports.
void RootComplex::access_local(unsigned number) {
  Access& a = *accesses_[number];
  const Tlp& t = *a.request;
  const unsigned device = device_of(t.target);
  if (function_of(t.target) != 0 || device > ports_.size()) return fail(number, counters_.master_aborts);
  if (t.has_data()) {
    std::uint32_t value;
    std::memcpy(&value, t.payload(), 4);
    if (device == 0)
      host_bridge_.write(t.reg, value, t.first_be);
    else if (ports_[device - 1]->bridge.write(t.reg, value, t.first_be))
      ports_[device - 1]->port.hot_reset();
  } else {
    const std::uint32_t value =
        device == 0 ? host_bridge_.read(t.reg) : ports_[device - 1]->bridge.config().read(t.reg);
    store(a, reinterpret_cast<const std::uint8_t*>(&value) + t.first_byte() % 4, t.enabled_bytes());
  }
  finish(number);
}

void RootComplex::store(Access& a, const std::uint8_t* bytes, std::uint32_t count) {
  count = std::min<std::uint32_t>(count, static_cast<std::uint32_t>(a.data.size()) - a.received);
  std::memcpy(a.data.data() + a.received, bytes, count);
  a.received += count;
}

/// Ends an access that got no successful completion: a read returns all ones, a write is dropped.
void RootComplex::fail(unsigned number, std::uint64_t& counter) {
  ++counter;
  accesses_[number]->failed = true;
  accesses_[number]->data.fill(0xff);
  finish(number);
}

void RootComplex::reset() {
  ++resets_;
  host_bridge_.reset();
  for (auto& p : ports_) {
    link_down(*p);
    p->bridge.reset();
    p->asserted = 0;
  }
  for (auto& a : accesses_) a->cut_off = a->request && !a->in_flight && !a->done;
  drop_due_writes();
  update_lines();
}

/// Requests that went out through the port end as master aborts. INTx that came in through the port is deasserted, but
/// only after the messages that still wait for earlier writes.
void RootComplex::link_down(RootPort& port) {
  for (unsigned n = 0; n < accesses_.size(); ++n)
    if (accesses_[n]->in_flight && accesses_[n]->through == &port) fail(n, counters_.master_aborts);
  ++port.losses;
  while (!port.waiting_reads.empty()) port.waiting_reads.pop()->release_buffer();
  base::calendar().at(std::max(base::now(), port.last_landing), key(), [this, &port] {
    port.asserted = 0;
    update_lines();
  });
}

void RootComplex::finish(unsigned number, base::Time earliest) {
  Access& a = *accesses_[number];
  a.in_flight = false;
  base::calendar().cancel(a.timeout);
  base::calendar().at(std::max(base::now() + parameters_.completion_latency, earliest), key(), [this, number] {
    accesses_[number]->done = true;
    if (!accesses_[number]->deliver) return accesses_[number]->event.notify();
    deliver(number);
  });
}

void RootComplex::receive_completion(TlpPtr tlp) {
  const Tlp& c = *tlp;
  if (c.requester != kSelf) {
    RootPort* p = port_of_bus(bus_of(c.requester));
    if (p && parameters_.peer_to_peer && p->port.up()) {
      const base::Time after = c.relaxed_ordering ? base::Time{} : ports_[c.ingress]->last_landing;
      return forward(*p, std::move(tlp), std::max(base::now() + parameters_.write_latency, after));
    }
  }
  tlp->release_buffer();
  if (c.requester != kSelf || c.tag >= accesses_.size() || !accesses_[c.tag]->in_flight) {
    ++counters_.unexpected_completions;
    return;
  }
  Access& a = *accesses_[c.tag];
  if (c.status != CompletionStatus::kSuccess) return fail(c.tag, counters_.error_completions);
  if (c.poisoned) {
    a.error = true;
    return fail(c.tag, counters_.poisoned_completions);
  }
  if (c.type == TlpType::kCplD) {
    // Configuration space answers with whole DWs.
    const unsigned skip = a.request->is_config() ? a.request->first_byte() % 4 : c.lower_address & 3;
    const unsigned wanted = a.request->is_config() ? a.request->enabled_bytes() : c.byte_count;
    const std::uint32_t here = c.payload_bytes() > skip ? std::min(c.payload_bytes() - skip, wanted) : 0;
    store(a, c.payload() + skip, here);
    if (!c.line_tags.empty()) note_brought(a, c);
    if (a.received < a.request->enabled_bytes() && here > 0) return;
  }
  finish(c.tag, ports_[c.ingress]->last_landing);  // a completion does not pass earlier writes
}

/// A core's read brings bytes of a request, which has been on its way with them.
void RootComplex::note_brought(Access& a, const Tlp& completion) {
  for (const base::RequestId id : completion.line_tags) {
    if (id == 0 || id == a.brought) continue;
    a.brought = id;
    completion.journey.apply(id);
  }
}

void RootComplex::register_statistics(base::StatisticsGroup& group) {
  const Counters& c = counters_;
  group.counter("core_reads", "reads", "of devices, by cores", c.core_reads);
  group.counter("core_writes", "writes", "to devices, by cores", c.core_writes);
  group.counter("config_accesses", "accesses", "to configuration space", c.config_accesses);
  group.counter("master_aborts", "accesses", "of cores that no device claimed", c.master_aborts);
  group.counter("error_completions", "accesses", "of cores that ended with UR or CA", c.error_completions);
  group.counter("completion_timeouts", "accesses", "of cores without an answer", c.completion_timeouts);
  group.counter("poisoned_completions", "accesses", "of cores that ended with a bus error", c.poisoned_completions);
  group.counter("posted_stalls", "writes", "of cores that found their posted writes too many", c.posted_stalls);
  group.counter("core_read_stalls", "accesses", "of cores that found core_reads others in flight", c.core_read_stalls);
  group.counter("read_stalls", "TLPs", "reads by devices that found `reads` others in service", c.read_stalls);
  group.counter("peer_requests", "TLPs", "of devices, to memory of others", c.peer_requests);
  group.counter("bad_accesses", "accesses", "of a width or alignment that PCIe has not", c.bad_accesses);
  group.counter("dma_reads", "TLPs", "reads of memory by devices", c.dma_reads);
  group.counter("dma_writes", "TLPs", "writes to memory by devices", c.dma_writes);
  group.counter("messages_signalled", "TLPs", "writes that the SoC took: MSIs", c.messages_signalled);
  group.counter("unsupported_requests", "TLPs", "devices' requests to nowhere and translation faults",
                c.unsupported_requests);
  group.counter("unexpected_completions", "TLPs", "that nobody waits for", c.unexpected_completions);
}

}  // namespace sluice::pcie
