// SPDX-License-Identifier: Apache-2.0
#include "models/accel/endpoint_controller/endpoint_controller.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "models/base/measure/mistakes.h"

namespace sluice::accel {

using base::Time;

namespace {

pcie::Endpoint::Function function(const EndpointControllerParameters& p) {
  pcie::Endpoint::Function f;
  f.identity = {EPC_VENDOR_ID, EPC_DEVICE_ID, EPC_CLASS_CODE, 1, EPC_VENDOR_ID, EPC_DEVICE_ID};
  f.bars[EPC_BAR_REGISTERS] = {pcie::Bar::Kind::kMemory32, false, EPC_BAR0_SIZE};
  f.bars[EPC_BAR_WINDOW] = {pcie::Bar::Kind::kMemory64, true, p.window.count()};
  f.bars[EPC_BAR_MESSAGES] = {pcie::Bar::Kind::kMemory32, false, EPC_MESSAGES_SIZE};
  f.msix = {p.vectors, EPC_BAR_REGISTERS, EPC_MSIX_TABLE, EPC_BAR_REGISTERS, EPC_MSIX_PBA};
  return f;
}

std::string no_memory(std::uint64_t address) {
  return fmt::format(" at {:#x} of its system: no memory is there", address);
}

}  // namespace

void EndpointControllerParameters::describe(base::Schema<EndpointControllerParameters>& s) {
  using P = EndpointControllerParameters;
  s.summary("PCIe endpoint that joins a system-on-chip to another one's PCIe");
  s.add("window", &P::window, "of BAR 2, which shows the system's memory")
      .range(4_KiB, 64_GiB)
      .power_of_two()
      .setting();
  s.add("target", &P::target, "address on the system of BAR 2's first byte, after reset")
      .multiple_of(4096)
      .hexadecimal()
      .setting();
  s.add("outbound", &P::outbound, "of the window through which the system reaches PCIe")
      .range(4_KiB, 64_GiB)
      .power_of_two()
      .setting();
  s.add("vectors", &P::vectors, "of MSI-X").range(1, 64).setting();
  s.add("posted_writes", &P::posted_writes,
        "stores to the outbound window that wait for the link before harts are blocked")
      .range(1, 4096)
      .unit("TLPs")
      .assumed("as root.posted_writes: no vendor publishes its buffers");
  s.include("pcie", &P::pcie);
}

EndpointController::EndpointController(sc_core::sc_module_name name, const Parameters& p)
    : Endpoint(name, p.pcie, function(p)),
      socket(
          "socket", [this](std::uint64_t offset, void* data, unsigned size) { return read_system(offset, data, size); },
          [this](std::uint64_t offset, const void* data, unsigned size) { return write_system(offset, data, size); }),
      parameters_(p),
      host_(path(), EPC_MSIX_TABLE),
      system_(path() + ".system", EPC_REGISTERS_SIZE),
      system_side_(*this) {
  declare_host_registers();
  declare_system_registers();
}

void EndpointController::connect(const memory::ChipPorts& chip, memory::SocBus::Region region) {
  memory_ = &chip.memory;
  bus_ = &chip.bus;
  region.own = true;
  region.waits = true;
  chip.bus.map(region, socket);
}

// ---------------------------------------------------------------------------------------------------------- registers

void EndpointController::declare_host_registers() {
  host_.add({.name = "host_ring",
             .offset = EPC_HOST_RING,
             .width = 8,
             .access = base::Access::wo,
             .halves = true,
             .on_write = [this](const base::RegisterWrite& w) { ring_system(w.written); }});
  host_pending_ = host_.add(
      {.name = "host_pending", .offset = EPC_HOST_PENDING, .width = 8, .access = base::Access::w1c, .halves = true});
  host_.add({.name = "host_window_size",
             .offset = EPC_HOST_WINDOW_SIZE,
             .width = 8,
             .access = base::Access::ro,
             .halves = true,
             .on_read = [this](unsigned) { return parameters_.window.count(); }});
  scratchpads_ = host_.add(
      {.name = "host_scratchpad", .offset = EPC_HOST_SCRATCHPAD, .width = 8, .halves = true, .count = EPC_SCRATCHPADS});
}

void EndpointController::declare_system_registers() {
  system_.add({.name = "ring",
               .offset = EPC_RING,
               .width = 8,
               .access = base::Access::wo,
               .halves = true,
               .on_write = [this](const base::RegisterWrite& w) { ring_host(w.written); }});
  pending_ = system_.add({.name = "pending",
                          .offset = EPC_PENDING,
                          .width = 8,
                          .access = base::Access::w1c,
                          .halves = true,
                          .on_write = [this](const base::RegisterWrite&) { update_interrupt(); }});
  enable_ = system_.add({.name = "enable",
                         .offset = EPC_ENABLE,
                         .width = 8,
                         .halves = true,
                         .on_write = [this](const base::RegisterWrite&) { update_interrupt(); }});
  system_.add({.name = "raise",
               .offset = EPC_RAISE,
               .access = base::Access::wo,
               .on_write = [this](const base::RegisterWrite& w) { msix(static_cast<unsigned>(w.written)); }});
  system_.add({.name = "status", .offset = EPC_STATUS, .access = base::Access::ro, .on_read = [this](unsigned) {
                 return status();
               }});
  inbound_ =
      system_.add({.name = "inbound", .offset = EPC_INBOUND, .width = 8, .reset = parameters_.target, .halves = true});
  messages_ = system_.add({.name = "messages", .offset = EPC_MESSAGES, .width = 8, .halves = true});
  outbound_ = system_.add({.name = "outbound", .offset = EPC_OUTBOUND, .width = 8, .halves = true});
  system_.add({.name = "outbound_size",
               .offset = EPC_OUTBOUND_SIZE,
               .width = 8,
               .access = base::Access::ro,
               .halves = true,
               .on_read = [this](unsigned) { return parameters_.outbound.count(); }});
  // The host's bank keeps the words for both sides.
  system_.add({.name = "scratchpad",
               .offset = EPC_SCRATCHPAD,
               .width = 8,
               .halves = true,
               .count = EPC_SCRATCHPADS,
               .on_read = [this](unsigned n) { return host_.value(scratchpads_, n); },
               .on_write =
                   [this](const base::RegisterWrite& w) {
                     std::uint64_t& word = host_.value(scratchpads_, w.index);
                     word = (word & ~w.lanes) | w.written;
                   }});
}

std::uint32_t EndpointController::status() const {
  return (config().memory_enabled() ? EPC_STATUS_MEMORY : 0) | (config().bus_master() ? EPC_STATUS_MASTER : 0) |
         (msix_enabled() ? EPC_STATUS_MSIX : 0);
}

/// Resets the host's side and the scratchpads. Waiting loads through the outbound window end in bus errors.
void EndpointController::function_reset() {
  host_.reset();
  for (OutboundLoad* load : loads_) {
    load->read = false;
    load->event.notify();
  }
  loads_.clear();
  ++resets_;
  posted_ = 0;
  posted_less_.notify();
}

void EndpointController::reset_system_side() {
  system_.reset();
  update_interrupt();
}

void EndpointController::ring_system(std::uint64_t doorbells) {
  rung_by_host_ += static_cast<unsigned>(std::popcount(doorbells));
  system_.value(pending_) |= doorbells;
  update_interrupt();
}

void EndpointController::ring_host(std::uint64_t doorbells) {
  rung_by_system_ += static_cast<unsigned>(std::popcount(doorbells));
  std::uint64_t& pending = host_.value(host_pending_);
  std::uint64_t fresh = doorbells & ~pending;
  pending |= doorbells;
  for (; fresh != 0; fresh &= fresh - 1) msix(static_cast<unsigned>(std::countr_zero(fresh)) % parameters_.vectors);
}

void EndpointController::update_interrupt() { interrupt_.set((system_.value(pending_) & system_.value(enable_)) != 0); }

// --------------------------------------------------------------------------------------------------- the host's side

/// Posted writes do not pass each other.
void EndpointController::in_order(Landing&& write, Time earliest) {
  last_landing_ = std::max(earliest, last_landing_);
  landings_.push_back(std::move(write));
  base::calendar().at(last_landing_, key(), [this] { land(); });
}

/// Reads and completions do not pass posted writes.
template <class F>
void EndpointController::behind_writes(F f) {
  if (last_landing_ <= base::now()) return f();
  base::calendar().at(last_landing_, key(), std::move(f));
}

void EndpointController::mmio_read(unsigned bar, std::uint64_t offset, unsigned size, pcie::MmioReply reply) {
  if (bar == EPC_BAR_WINDOW) return read_memory(system_.value(inbound_) + offset, size, reply);
  if (bar == EPC_BAR_MESSAGES || size > sizeof(std::uint64_t)) return reply.unsupported();
  behind_writes([this, offset = static_cast<std::uint32_t>(offset), size, reply]() mutable {
    std::uint64_t value = 0;
    if (host_.read(offset, &value, size) != base::Answer::ok) return reply.unsupported();
    reply.value(value);
  });
}

void EndpointController::mmio_flush(unsigned, pcie::MmioReply reply) {
  behind_writes([reply]() mutable { reply.value(0); });
}

void EndpointController::mmio_write(unsigned bar, std::uint64_t offset, std::span<const std::uint8_t> data,
                                    const base::Journey&) {
  if (bar == EPC_BAR_WINDOW) {
    write_memory(system_.value(inbound_) + offset, data);
  } else if (last_landing_ <= base::now()) {
    write_registers(bar, offset, data);
  } else {
    in_order({bar, nullptr, offset, {data.begin(), data.end()}, take_arrival(), base::access_site()}, base::now());
  }
}

void EndpointController::write_registers(unsigned bar, std::uint64_t offset, std::span<const std::uint8_t> data) {
  if (bar == EPC_BAR_MESSAGES) return write_message(offset, data);
  host_.write(offset, data.data(), static_cast<unsigned>(std::min<std::size_t>(data.size(), 64)));
}

/// Counts and reports an access to the system's memory or interrupt controllers that has no valid target.
void EndpointController::refuse_inbound(const char* access, std::uint64_t size, const std::string& why) {
  ++inbound_refused_;
  base::mistakes().report(fmt::format("{}: {} of {} bytes{}", path(), access, size, why));
}

void EndpointController::write_memory(std::uint64_t address, std::span<const std::uint8_t> data) {
  base::GuestRam* ram = memory_->ram_at(address, data.size());
  if (!ram) return refuse_inbound("write", data.size(), no_memory(address));
  ++inbound_writes_;
  in_order({EPC_BAR_WINDOW, ram, address, {data.begin(), data.end()}, take_arrival(), base::access_site()},
           base::now() + memory_->write_latency(address, data.size()));
}

void EndpointController::land() {
  const Landing write = std::move(landings_.front());
  landings_.pop_front();
  const base::AccessSiteScope by(write.by);
  if (!write.ram) {
    write_registers(write.bar, write.address, write.bytes);
    return write.arrival.move_requests();
  }
  if (write.ram->holds_code(write.address, write.bytes.size())) [[unlikely]]
    base::mistakes().report(fmt::format("{}: write of {} bytes at {:#x} of its system: code lies there", path(),
                                        write.bytes.size(), write.address));
  memory_->written(write.address, write.bytes.size());
  write.ram->write(write.address, write.bytes.data(), write.bytes.size());
  pcie::tag_lines(*write.ram, write.address, static_cast<std::uint32_t>(write.bytes.size()), write.arrival.spans,
                  write.arrival.content);
  write.arrival.move_requests();
}

void EndpointController::read_memory(std::uint64_t address, unsigned size, pcie::MmioReply reply) {
  if (!memory_->ram_at(address, size)) {
    refuse_inbound("read", size, no_memory(address));
    return reply.unsupported();
  }
  ++inbound_reads_;
  if (last_landing_ <= base::now()) return answer_from_memory(address, size, reply);
  // The read begins when the writes before it are visible.
  base::calendar().at(last_landing_, key(), [=, this] { answer_from_memory(address, size, reply); });
}

void EndpointController::answer_from_memory(std::uint64_t address, unsigned size, pcie::MmioReply reply) {
  base::GuestRam* ram = memory_->ram_at(address, size);
  base::calendar().after(memory_->read_latency(address, size), key(), [ram, address, size, reply]() mutable {
    std::vector<base::RequestId> tags;
    if (reply.wants_tags()) pcie::read_tags(*ram, address, size, tags);
    reply.data({ram->at(address), size}, tags);
  });
}

void EndpointController::write_message(std::uint64_t offset, std::span<const std::uint8_t> data) {
  const std::uint64_t base = system_.value(messages_);
  if (base == 0)
    return refuse_inbound("message", data.size(), ": the software of its system has set no target for messages");
  if (!bus_->takes_interrupts(base + offset) ||
      !bus_->write_now(base + offset, data.data(), static_cast<unsigned>(data.size())))
    return refuse_inbound("message", data.size(),
                          fmt::format(" at {:#x} of its system: no interrupt controller takes it", base + offset));
  ++messages_taken_;
}

// ------------------------------------------------------------------------------------------------- the system's side

base::Answer EndpointController::read_system(std::uint64_t offset, void* data, unsigned size) {
  if (offset < EPC_OUTBOUND_WINDOW) return system_.read(offset, data, size);
  return load_outbound(offset - EPC_OUTBOUND_WINDOW, data, size) ? base::Answer::ok : base::Answer::unmapped;
}

base::Answer EndpointController::write_system(std::uint64_t offset, const void* data, unsigned size) {
  if (offset < EPC_OUTBOUND_WINDOW) return system_.write(offset, data, size);
  return store_outbound(offset - EPC_OUTBOUND_WINDOW, data, size) ? base::Answer::ok : base::Answer::unmapped;
}

/// Called on the hart's thread, which waits here while too many stores wait for the link.
bool EndpointController::store_outbound(std::uint64_t offset, const void* data, unsigned size) {
  ++outbound_stores_;
  while (posted_ >= parameters_.posted_writes) base::wait_for(posted_less_, "room for a posted write", path().c_str());
  pcie::DmaOptions options;
  options.purpose = {"a store through the outbound window", 0, 0};
  const bool sent = dma_write(system_.value(outbound_) + offset, {static_cast<const std::uint8_t*>(data), size},
                              options, [this, resets = resets_](const pcie::DmaSent&) {
                                if (resets != resets_) return;
                                --posted_;
                                posted_less_.notify();
                              });
  if (sent)
    ++posted_;
  else
    ++outbound_errors_;
  return sent;
}

/// Called on the hart's thread, which waits here for the completion.
bool EndpointController::load_outbound(std::uint64_t offset, void* data, unsigned size) {
  ++outbound_loads_;
  pcie::DmaOptions options;
  options.purpose = {"a load through the outbound window", 0, 0};
  OutboundLoad load{++last_load_, data, {}, {}};
  loads_.push_back(&load);
  dma_read(system_.value(outbound_) + offset, size, options, [this, n = load.number](const pcie::DmaCompletion& c) {
    const auto waiting =
        std::find_if(loads_.begin(), loads_.end(), [n](const OutboundLoad* l) { return l->number == n; });
    if (waiting == loads_.end()) return;
    const bool read = c.status == pcie::DmaStatus::kOk;
    if (read) std::memcpy((*waiting)->data, c.data.data(), c.data.size());
    behind_writes([this, n, read] { end_load(n, read); });
  });
  while (!load.read) base::wait_for(load.event, "a read through the outbound window", path().c_str());
  if (!*load.read) ++outbound_errors_;
  return *load.read;
}

/// Ends a load. A load that a reset has already ended is no longer in loads_.
void EndpointController::end_load(std::uint64_t number, bool read) {
  const auto load =
      std::find_if(loads_.begin(), loads_.end(), [number](const OutboundLoad* l) { return l->number == number; });
  if (load == loads_.end()) return;
  (*load)->read = read;
  (*load)->event.notify();
  loads_.erase(load);
}

void EndpointController::register_statistics(base::StatisticsGroup& group) {
  group.counter("rung_by_host", "doorbells", "of the system, by the host", rung_by_host_);
  group.counter("rung_by_system", "doorbells", "of the host, by the system", rung_by_system_);
  group.counter("inbound_reads", "reads", "of the system's memory through BAR 2", inbound_reads_);
  group.counter("inbound_writes", "writes", "likewise", inbound_writes_);
  group.counter("messages", "messages", "that an interrupt controller of the system took through BAR 4",
                messages_taken_);
  group.counter("inbound_refused", "accesses", "through BAR 2 or 4 to where nothing takes them", inbound_refused_);
  group.counter("outbound_loads", "loads", "of the system through the outbound window", outbound_loads_);
  group.counter("outbound_stores", "stores", "likewise", outbound_stores_);
  group.counter("outbound_errors", "accesses", "through it that PCIe did not do", outbound_errors_);
  host_.register_statistics(group);
}

}  // namespace sluice::accel
