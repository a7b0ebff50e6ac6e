// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/completions.h"

namespace sluice::pcie {

TlpPtr begin_completion(const Tlp& request, TlpType type, RoutingId completer) {
  TlpPtr t = make_tlp(type);
  t->requester = request.requester;
  t->tag = request.tag;
  t->traffic_class = request.traffic_class;
  t->relaxed_ordering = request.relaxed_ordering;
  t->completer = completer;
  t->content = request.content;
  return t;
}

TlpPtr make_completion(const Tlp& request, RoutingId completer, CompletionStatus status) {
  TlpPtr t = begin_completion(request, TlpType::kCpl, completer);
  t->status = status;
  t->byte_count = request.is_config() ? 4 : static_cast<std::uint16_t>(request.enabled_bytes());
  t->lower_address = request.is_config() ? 0 : request.first_byte() & 0x7f;
  t->carries_journey = request.carries_journey;
  if (request.carries_journey) t->journey = request.journey;
  return t;
}

}  // namespace sluice::pcie
