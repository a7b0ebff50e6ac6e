// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The frames of the packets workload: what is sent, and what must come back. Plain C++.

#include <cstdint>
#include <optional>
#include <string>

#include "models/net/frame.h"
#include "models/net/packet.h"
#include "models/workload/packets/parameters.h"

namespace sluice::workload {

/// Every byte of a frame follows from its number and its size, so that nothing is stored to check it. The payload has
/// the byte that the board adds one to, then another, then the number in 8 bytes, then data.
class PacketForm {
 public:
  static constexpr std::uint16_t kEtherType = 0x88b5;  ///< local experiments (IEEE 802)

  explicit PacketForm(const PacketsParameters&);
  /// Sets the ends of the conversation; ports come from the parameters.
  void set_ends(const net::Endpoint& self, const net::Endpoint& board);

  /// The frame with this number. size: with FCS.
  net::PacketPtr frame(std::uint64_t number, std::uint32_t size) const;
  /// What the board must make of it: addresses (and UDP ports) as PacketsParameters::addresses says, and the payload's
  /// first byte one more.
  net::PacketPtr echo(std::uint64_t number, std::uint32_t size) const;

  /// The number in a received frame; nothing where it has not the form of an echo.
  std::optional<std::uint64_t> number_of(const net::Packet&) const;
  /// How a received frame differs from echo(); empty: it does not.
  std::string difference(const net::Packet& received, std::uint64_t number, std::uint32_t size) const;

  std::uint32_t flows() const { return flows_; }
  std::uint32_t flow_of(std::uint64_t number) const { return static_cast<std::uint32_t>(number % flows_); }

 private:
  net::PacketPtr build(std::uint64_t number, std::uint32_t size, bool back) const;

  bool udp_;
  bool swaps_;
  std::uint32_t flows_;
  std::uint32_t first_port_;
  std::uint32_t payload_;  ///< its offset in a frame
  net::Endpoint self_;
  net::Endpoint board_;
};

}  // namespace sluice::workload
