// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/endpoint/endpoint.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "models/base/registers/register_bank.h"
#include "models/base/registers/register_banks.h"
#include "models/pcie/bad_request.h"
#include "models/pcie/completions.h"

namespace sluice::pcie {
namespace {
constexpr unsigned kMostVectors = 2048;

/// Place of the MSI-X table or of the PBA.
struct Part {
  const char* title;
  unsigned bar;
  std::uint64_t offset, bytes;
};

void check_part(const Part& part, const std::array<Bar, 6>& bars) {
  const auto refuse = [&](const std::string& why) { throw std::logic_error(part.title + (" " + why)); };
  if (part.bar >= bars.size() || bars[part.bar].kind == Bar::Kind::kNone)
    refuse("is in BAR " + std::to_string(part.bar) + ", which the function does not have");
  if (part.offset % 8 != 0) refuse("must start at a multiple of 8 bytes");
  const std::uint64_t size = bars[part.bar].size;
  if (part.offset > size || size - part.offset < part.bytes)
    refuse("has " + std::to_string(part.bytes) + " bytes from " + base::hexadecimal(part.offset) +
           " on, which are not all within BAR " + std::to_string(part.bar));
}

/// Checks the number of vectors before it is used.
unsigned vectors_of(const Endpoint::Function& f) {
  if (f.msix.vectors > kMostVectors) throw std::logic_error("MSI-X has at most 2048 vectors");
  return f.msix.vectors;
}

Part table_of(const Endpoint::Msix& m) {
  return {"the MSI-X table", m.table_bar, m.table_offset, m.vectors * sizeof(pcie_msix_entry)};
}
Part pending_of(const Endpoint::Msix& m) { return {"the MSI-X PBA", m.pba_bar, m.pba_offset, m.pba_bytes()}; }

void check_msix(const Endpoint::Function& f) {
  const Part table = table_of(f.msix);
  const Part pending = pending_of(f.msix);
  check_part(table, f.bars);
  check_part(pending, f.bars);
  if (table.bar == pending.bar && table.offset < pending.offset + pending.bytes &&
      pending.offset < table.offset + table.bytes)
    throw std::logic_error("MSI-X table and PBA overlap in BAR " + std::to_string(table.bar));
}
}  // namespace

void Endpoint::Parameters::describe(base::Schema<Parameters>& s) {
  s.add("transmit_latency", &Parameters::transmit_latency, "from the device's engine to the first bit of an idle link")
      .range(0_ns, 10_us)
      .assumed("with receive_latency, about a third of the 546 ns of a 64 B read (pcie-bench, bdw, NFP-6000)");
  s.add("receive_latency", &Parameters::receive_latency, "from a TLP's last bit to the device's engine")
      .range(0_ns, 10_us)
      .assumed("as transmit_latency");
  s.add("tags", &Parameters::tags, "DMA reads in flight, in TLPs")
      .range(1, 1024)
      .unit("tags")
      .acts_with({"tag_stalls"}, "no DMA read waited for a tag")
      .assumed("all that 8-bit tags allow (PCI Express Base Specification); vendors do not publish theirs");
  s.add("max_read_request", &Parameters::max_read_request, "maximum read request size, MRRS, after reset")
      .acts_with({"cut_reads"}, "no DMA read was of more bytes")
      .range(128_B, base::Bytes(4096))
      .power_of_two()
      .assumed("pcie-model's default (model/pcie.py); on a real board set-up software chooses");
  s.add("completion_timeout", &Parameters::completion_timeout, "a DMA read without its completion fails then")
      .range(1_us, 1_s)
      .acts_with({"completion_timeouts"}, "no read was without its completion so long")
      .assumed("PCI Express Base Specification: within 50 us to 50 ms, better not below 10 ms");
}

Endpoint::Endpoint(sc_core::sc_module_name name, const Parameters& p, const Function& f)
    : Model(name),
      parameters_(p),
      function_(f),
      port_(path()),
      config_(f.identity, PCIE_HEADER_TYPE_ENDPOINT),
      msix_table_(vectors_of(f), pcie_msix_entry{0, 0, 0, PCIE_MSIX_ENTRY_MASKED}),
      msix_pending_(f.msix.vectors),
      msix_entries_(f.msix.vectors),
      tags_(p.tags) {
  for (unsigned n = 0; n < PCIE_BARS_ENDPOINT; ++n)
    if (f.bars[n].kind != Bar::Kind::kNone) config_.define_bar(n, f.bars[n]);
  config_.add_express(PCIE_EXPRESS_TYPE_ENDPOINT);
  express_ = config_.find_capability(PCIE_CAPABILITY_ID_EXPRESS);
  config_.set_max_read_request(static_cast<unsigned>(p.max_read_request.count()));
  if (f.msix.vectors > 0) {
    check_msix(f);
    msix_capability_ = config_.add_capability(PCIE_CAPABILITY_ID_MSIX, PCIE_MSIX_SIZE);
    config_.set16(msix_capability_ + PCIE_MSIX_CONTROL, static_cast<std::uint16_t>(f.msix.vectors - 1));
    config_.set32(msix_capability_ + PCIE_MSIX_TABLE, f.msix.table_offset | f.msix.table_bar);
    config_.set32(msix_capability_ + PCIE_MSIX_PBA, f.msix.pba_offset | f.msix.pba_bar);
    config_.writable(msix_capability_, (PCIE_MSIX_CONTROL_ENABLE | PCIE_MSIX_CONTROL_FUNCTION_MASK) << 16);
  }
  if (f.intx) config_.set8(PCIE_INTERRUPT_PIN, 1);
  config_.keep_reset_values();
  for (unsigned t = 0; t < p.tags; ++t) free_tags_.push(static_cast<std::uint16_t>(t));

  port_.transmit_latency = p.transmit_latency;
  port_.receive_latency = p.receive_latency;
  port_.on_receive = [this](TlpPtr t) { receive(std::move(t)); };
  port_.on_hot_reset = [this] { reset(); };
  port_.on_connect = [this](const Link& link) { link.describe_to(config_); };
}

void Endpoint::check_registers() const {
  for (const base::RegisterBank* bank : base::register_banks()) {
    if (bank->owner() != path()) continue;
    std::uint64_t all = 0;
    // BARs large enough for the bank. If there is only one, the bank is in it; otherwise only the device knows.
    std::vector<unsigned> fitting;
    for (unsigned n = 0; n < PCIE_BARS_ENDPOINT; ++n) {
      if (function_.bars[n].kind == Bar::Kind::kNone) continue;
      all += function_.bars[n].size;
      if (function_.bars[n].size >= bank->size()) fitting.push_back(n);
    }
    if (bank->size() > all)
      throw std::logic_error("a register bank has " + std::to_string(bank->size()) + " bytes, more than the " +
                             std::to_string(all) + " of the BARs");
    if (function_.msix.vectors == 0 || fitting.size() != 1 || function_.bars[fitting[0]].size != bank->size()) continue;
    for (const Part& part : {table_of(function_.msix), pending_of(function_.msix)}) {
      const std::string hidden = part.bar == fitting[0] ? bank->register_in(part.offset, part.bytes) : "";
      if (!hidden.empty())
        throw std::logic_error("register " + hidden + " lies below " + part.title + ", which has " +
                               std::to_string(part.bytes) + " bytes from " + base::hexadecimal(part.offset) +
                               " on in BAR " + std::to_string(part.bar));
    }
  }
}

// ------------------------------------------------------------------------------------------------ requests from above

void Endpoint::stop() {
  if (stops_++ > 0) return;
  port_.hold(true);
  base::name_what_is_thrown(path(), [this] { clock_stopped(true); });
}

void Endpoint::resume() {
  if (stops_ == 0) throw base::ComponentError(path(), "resume() without a stop()");
  if (--stops_ > 0) return;
  base::name_what_is_thrown(path(), [this] { clock_stopped(false); });
  port_.hold(false);
  while (!kept_.empty() && stops_ == 0) {
    TlpPtr tlp = std::move(kept_.front());
    kept_.pop_front();
    receive(std::move(tlp));
  }
}

void Endpoint::receive(TlpPtr tlp) {
  if (stops_ > 0) [[unlikely]]
    return kept_.push_back(std::move(tlp));
  tlp->release_buffer();
  // The link made this calendar entry, so an exception of the device would be blamed on the link.
  base::name_what_is_thrown(path(), [&] { take(std::move(tlp)); });
}

void Endpoint::take(TlpPtr tlp) {
  switch (tlp->type) {
    case TlpType::kMWr:
      return receive_write(std::move(tlp));
    case TlpType::kMRd:
      return receive_read(std::move(tlp));
    case TlpType::kCpl:
    case TlpType::kCplD:
      return receive_completion(std::move(tlp));
    case TlpType::kCfgRd0:
    case TlpType::kCfgWr0:
      return receive_config(std::move(tlp));
    default:
      refuse(*tlp);
  }
}

/// Reports a request for an address at which this function has nothing.
void Endpoint::report_unclaimed(const Tlp& t) {
  const std::string cause =
      config_.memory_enabled() ? "none of its BARs holds all of it" : "memory space is off in its command register";
  report_bad_request(t, path(), t.origin.device ? path() + " is asked, and " + cause : cause);
}

void Endpoint::refuse(const Tlp& t) {
  ++counters_.unsupported_requests;
  if (t.tlp_class() == TlpClass::kNonPosted) port_.send(make_completion(t, id_, CompletionStatus::kUnsupportedRequest));
}

void Endpoint::receive_config(TlpPtr tlp) {
  if (function_of(tlp->target) != 0) return refuse(*tlp);
  if (tlp->has_data()) {
    id_ = tlp->target;
    std::uint32_t value;
    std::memcpy(&value, tlp->payload(), 4);
    config_.write(tlp->reg, value, tlp->first_be);
    port_.send(make_completion(*tlp, id_, CompletionStatus::kSuccess));
    const bool flr = tlp->reg == express_ + PCIE_EXPRESS_DEVICE_CONTROL && (tlp->first_be & 2) &&
                     (value & PCIE_EXPRESS_DEVICE_CONTROL_FLR);
    if (!flr) return config_changed(tlp->reg);
    intx(false);  // a lost link deasserts INTA at the port above, a function level reset does not
    initiate_reset();
    return;
  }
  make_completions(*tlp, tlp->target, 0, 4, 64, 64, [&](TlpPtr c, std::uint32_t, std::uint32_t) {
    const std::uint32_t value = config_.read(tlp->reg);
    std::memcpy(c->payload(), &value, 4);
    port_.send(std::move(c));
  });
}

void Endpoint::config_changed(unsigned reg) {
  update_intx();
  note_unmasked();
  fire_unmasked();
  config_written(reg);
}

void Endpoint::reset() {
  id_ = 0;
  base::name_what_is_thrown(path(), [this] { initiate_reset(); });
  forget_completions();
}

void Endpoint::initiate_reset() {
  kept_.clear();
  ++resets_;
  for (std::uint32_t n = 0; n < open_reads_.size(); ++n) {
    if (!open_reads_[n].request) continue;
    ++open_reads_[n].serial;
    open_reads_[n].request->by.load.release(base::now());
    open_reads_[n].request.reset();
    free_reads_.push_back(n);
  }
  config_.reset();
  for (auto& entry : msix_table_) entry = {0, 0, 0, PCIE_MSIX_ENTRY_MASKED};
  for (VectorUse& entry : msix_entries_) entry = {};
  std::fill(msix_pending_.begin(), msix_pending_.end(), 0);
  intx_level_ = false;
  intx_sent_ = false;
  for (Transfer& t : transfers_) {
    if (!t.active) continue;
    t.abandoned = true;
    t.done = nullptr;
    t.requested = t.length;
  }
  while (!waiting_.empty()) {
    const std::uint32_t n = waiting_.pop();
    if (transfers_[n].outstanding == 0) finish_read(n);
  }
  function_reset();
}

int Endpoint::decode(std::uint64_t address, std::uint64_t bytes, std::uint64_t& offset) const {
  if (!config_.memory_enabled()) return -1;
  for (unsigned n = 0; n < PCIE_BARS_ENDPOINT; ++n) {
    const Bar& bar = config_.bar(n);
    if (bar.kind == Bar::Kind::kNone) continue;
    const std::uint64_t start = config_.bar_address(n);
    if (address < start || address - start >= bar.size || bytes > bar.size - (address - start)) continue;
    offset = address - start;
    return static_cast<int>(n);
  }
  return -1;
}

}  // namespace sluice::pcie
