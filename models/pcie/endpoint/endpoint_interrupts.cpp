// SPDX-License-Identifier: Apache-2.0
/// MSI-X and INTx of an endpoint.

#include <fmt/format.h>

#include "models/pcie/endpoint/endpoint.h"

namespace sluice::pcie {

bool Endpoint::in_msix_table(unsigned bar, std::uint64_t offset) const {
  const Msix& m = function_.msix;
  return m.vectors && bar == m.table_bar && offset >= m.table_offset &&
         offset < m.table_offset + std::uint64_t{m.vectors} * sizeof(pcie_msix_entry);
}

bool Endpoint::in_msix_pba(unsigned bar, std::uint64_t offset) const {
  const Msix& m = function_.msix;
  return m.vectors && bar == m.pba_bar && offset >= m.pba_offset && offset < m.pba_offset + m.pba_bytes();
}

std::uint8_t Endpoint::msix_byte(unsigned bar, std::uint64_t offset) const {
  const Msix& m = function_.msix;
  if (in_msix_table(bar, offset))
    return reinterpret_cast<const std::uint8_t*>(msix_table_.data())[offset - m.table_offset];
  if (!in_msix_pba(bar, offset)) return 0;
  std::uint8_t bits = 0;
  const auto first = static_cast<unsigned>(offset - m.pba_offset) * 8;
  for (unsigned v = first; v < first + 8 && v < m.vectors; ++v)
    bits |= static_cast<std::uint8_t>(msix_pending_[v] << (v - first));
  return bits;
}

bool Endpoint::msix_enabled() const {
  return msix_capability_ && (config_.get16(msix_capability_ + PCIE_MSIX_CONTROL) & PCIE_MSIX_CONTROL_ENABLE);
}

bool Endpoint::vector_masked(unsigned vector) const {
  return (config_.get16(msix_capability_ + PCIE_MSIX_CONTROL) & PCIE_MSIX_CONTROL_FUNCTION_MASK) ||
         (msix_table_[vector].control & PCIE_MSIX_ENTRY_MASKED);
}

void Endpoint::note_unmasked() {
  for (unsigned v = 0; v < msix_entries_.size(); ++v)
    if (!vector_masked(v)) msix_entries_[v].unmasked = true;
}

/// Reports what keeps a vector from firing. A temporary mask is legal and not reported: the message is sent when
/// software unmasks the vector.
bool Endpoint::may_fire(unsigned vector) {
  const auto refused = [&](const std::string& cause, const base::Site& by) {
    base::mistakes().report(fmt::format("{}: interrupt of vector {}: {}", path(), vector, cause), by);
    return false;
  };
  if (vector >= msix_table_.size())
    return refused(fmt::format("the MSI-X table has {} entries, so it is dropped", msix_table_.size()),
                   base::access_site());
  const VectorUse& entry = msix_entries_[vector];
  const base::Site by = entry.by.hart ? entry.by : base::access_site();
  if (!msix_enabled()) return refused("MSI-X is off in its capability, so it is dropped", by);
  if (!config_.bus_master()) return refused("bus mastering is off in its command register, so it is dropped", by);
  if (!entry.unmasked && !msix_pending_[vector])
    refused("it has not been unmasked since reset, so its message waits", by);
  return true;
}

bool Endpoint::msix(unsigned vector, const base::Spans& spans, ArrivalStage arrival_stage) {
  const bool ready = vector < msix_table_.size() && msix_entries_[vector].unmasked && msix_enabled();
  if ((!ready || !config_.bus_master()) && !may_fire(vector)) {
    ++counters_.msix_dropped;
    return false;
  }
  if (vector_masked(vector)) {
    ++counters_.msix_pended;
    msix_pending_[vector] = 1;
    return true;
  }
  send_msix(vector, spans, arrival_stage);
  return true;
}

void Endpoint::send_msix(unsigned vector, const base::Spans& spans, ArrivalStage arrival_stage) {
  const pcie_msix_entry& entry = msix_table_[vector];
  TlpPtr t = make_tlp(TlpType::kMWr);
  t->requester = id_;
  const std::uint64_t address = (std::uint64_t{entry.address_high} << 32 | entry.address_low) & ~std::uint64_t{3};
  t->cover(address, 4);
  t->by = msix_entries_[vector].by;
  t->origin = origin_of(address, 4, {"", vector, 0});
  t->origin.interrupt = true;
  t->resize_payload();
  for (unsigned i = 0; i < 4; ++i) t->payload()[i] = static_cast<std::uint8_t>(entry.data >> 8 * i);
  give_requests(*t, spans, arrival_stage);
  ++counters_.msix_sent;
  port_.send(std::move(t));
}

/// Puts the requests that wait for an interrupt message into it.
void Endpoint::give_requests(Tlp& t, const base::Spans& spans, ArrivalStage arrival_stage) const {
  for (const base::Span& s : spans) t.spans.add({0, 0, s.id});
  t.ending = 0xff;
  t.carries_journey = !spans.empty();
  t.arrival_stage = arrival_stage.set() ? arrival_stage : ArrivalStage{SLUICE_STAGE_interrupt, component()};
}

void Endpoint::fire_unmasked() {
  if (!msix_enabled() || !config_.bus_master()) return;
  for (unsigned v = 0; v < msix_pending_.size(); ++v) {
    if (!msix_pending_[v] || vector_masked(v)) continue;
    msix_pending_[v] = 0;
    send_msix(v, {}, {});
  }
}

void Endpoint::intx(bool level, const base::Spans& spans, ArrivalStage arrival_stage) {
  intx_level_ = level;
  update_intx(spans, arrival_stage);
}

void Endpoint::update_intx(const base::Spans& spans, ArrivalStage arrival_stage) {
  const std::uint16_t status = config_.get16(PCIE_STATUS) & static_cast<std::uint16_t>(~PCIE_STATUS_INTERRUPT);
  config_.set16(PCIE_STATUS, static_cast<std::uint16_t>(status | (intx_level_ ? PCIE_STATUS_INTERRUPT : 0)));
  const bool disabled = config_.get16(PCIE_COMMAND) & PCIE_COMMAND_INTX_DISABLE;
  const bool level = intx_level_ && function_.intx && !disabled && !msix_enabled();
  if (level == intx_sent_) return;
  intx_sent_ = level;
  TlpPtr m = make_tlp(TlpType::kMsg);
  m->requester = id_;
  m->message_code = level ? kAssertIntA : kDeassertIntA;
  if (level) give_requests(*m, spans, arrival_stage);
  port_.send(std::move(m));
}

}  // namespace sluice::pcie
