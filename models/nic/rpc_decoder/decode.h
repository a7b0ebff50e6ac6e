// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the RPC decoder makes of a frame, without time. Plain C++. Reads no byte beyond the frame.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/nic/rpc_decoder/service.h"

namespace sluice::nic::rpc {

/// Entries of the decoder's table.
inline constexpr unsigned kServices = 64;

class ServiceTable {
 public:
  void set(unsigned entry, const std::optional<Service>& service) { entries_.at(entry) = service; }
  /// The first entry with this key; null if there is none.
  const Service* find(const ServiceKey&) const;

 private:
  std::array<std::optional<Service>, kServices> entries_;
};

struct Decoded {
  unsigned verdict = RPCD_NOT_IPV4;  ///< RPCD_CALL, or why it is no call of a service
  // Of a call:
  std::uint16_t owner = 0;
  std::uint32_t source = 0;  ///< IPv4 addresses and UDP ports
  std::uint32_t destination = 0;
  std::uint16_t source_port = 0;
  std::uint16_t port = 0;
  std::vector<std::uint8_t> line;  ///< the control line's head and the arguments, little endian
};

/// How a frame goes through the layers, for their timing.
struct Path {
  /// What a layer takes off.
  struct Strip {
    std::uint32_t bytes = 0;  ///< that come in
    std::uint32_t skip = 0;
    bool limited = false;
    std::uint32_t limit = 0;
    /// Bytes that it hands on.
    std::uint32_t left() const;
  };
  static constexpr unsigned kLayers = 5;
  std::array<Strip, kLayers> strips;
  bool is_call = false;         ///< by its headers, so that arguments leave the decoder
  std::uint32_t arguments = 0;  ///< bytes of them that are there
};

/// Decodes a frame without its frame check sequence. `decoded` and `path` are overwritten.
void decode(std::span<const std::uint8_t> frame, const ServiceTable&, Decoded& decoded, Path& path);

}  // namespace sluice::nic::rpc
