// SPDX-License-Identifier: Apache-2.0
#pragma once
/// [workload] with model "packets".

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/parameters/quantity.h"
#include "models/base/parameters/schema.h"
#include "models/net/traffic/remote_host.h"
#include "models/net/wire.h"

namespace sluice::workload {

using namespace base::literals;

enum class PacketFormat { l2, udp };
enum class PacketAddresses { swapped, kept };
enum class PacketLoad { saturate, constant, poisson, zero_loss };

struct PacketsParameters {
  /// Octets of a frame that Packet::length leaves out, and octets of the line that belong to a frame beside these.
  static constexpr std::uint32_t kFcs = net::Wire::kFcs;
  static constexpr std::uint32_t kBetween = net::Wire::kPreamble + net::Wire::kGap;
  static constexpr std::uint32_t kLeast = 64;  ///< bytes of the shortest Ethernet frame, FCS included

  net::RemoteHost::Parameters host;
  PacketLoad load = PacketLoad::saturate;
  base::BitRate rate;  ///< on the wire, preamble and gap included; 0: not set
  base::BitRate resolution = 100_Mbps;
  std::string sizes = "64";  ///< bytes with FCS
  PacketFormat format = PacketFormat::l2;
  PacketAddresses addresses = PacketAddresses::swapped;
  std::uint32_t flows = 64;
  std::uint32_t first_port = 40'000;
  std::uint32_t server_port = 9;
  std::uint64_t requests = 100'000;
  std::uint64_t warmup = 0;
  base::Time timeout = 1_ms;
  std::uint32_t mtu = 1'500;
  static void describe(base::Schema<PacketsParameters>&);

  std::vector<std::uint32_t> size_list() const;
  std::string valid_sizes() const;  ///< what is wrong with `sizes`, as the end of a sentence; empty: nothing
};

/// Octets of the line that a frame of this size takes.
constexpr std::uint64_t line_octets(std::uint32_t size) { return size + PacketsParameters::kBetween; }

}  // namespace sluice::workload
