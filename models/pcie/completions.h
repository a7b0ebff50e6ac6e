// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The completions that answer a request: how many there are, and where they break.

#include <cstdint>
#include <utility>

#include "models/pcie/tlp.h"

namespace sluice::pcie {

/// A completion (Cpl or CplD) with what every completion takes over from its request.
TlpPtr begin_completion(const Tlp& request, TlpType type, RoutingId completer);

/// A completion without data, with the journey of the request: for configuration writes and for errors.
TlpPtr make_completion(const Tlp& request, RoutingId completer, CompletionStatus);

/// Makes the completions of a read of `bytes` bytes from address `first`, in order of address. Each has at most `most`
/// bytes and ends at the end of the range or at a multiple of boundary. boundary is a power of two, and `most` a
/// multiple of it. Calls emit(TlpPtr, offset, bytes) for each; emit fills payload() from byte (first + offset) % 4 on.
/// The last completion carries the journey.
template <class Emit>
void make_completions(const Tlp& request, RoutingId completer, std::uint64_t first, std::uint32_t bytes,
                      std::uint32_t boundary, std::uint32_t most, Emit&& emit) {
  for (std::uint32_t offset = 0; offset < bytes;) {
    const std::uint64_t at = first + offset;
    std::uint32_t piece = static_cast<std::uint32_t>(((at + most) & ~std::uint64_t{boundary - 1}) - at);
    if (piece > bytes - offset) piece = bytes - offset;
    TlpPtr t = begin_completion(request, TlpType::kCplD, completer);
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
