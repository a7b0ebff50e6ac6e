// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Ethernet frames for the board's server: sound ones, and what can be wrong with them.

#include "tests/fuzz/fuzz.h"

namespace sluice::fuzz {

constexpr std::uint8_t kBoardMac[6] = {0x02, 0x53, 0x4c, 0, 0, 1};
constexpr std::uint8_t kOurMac[6] = {0x02, 0, 0, 0, 0, 1};
constexpr std::uint32_t kBoardAddress = 0x0a000002;
constexpr std::uint32_t kOurAddress = 0x0a000001;

/// A UDP frame from our port to the board's.
Bytes udp_frame(std::uint16_t to, const Bytes& payload, std::uint16_t from = 700);
/// A call of echo's ECHO procedure, and the UDP payload that answers it.
Bytes echo_call(std::uint32_t xid, const Bytes& data);
Bytes echo_reply(std::uint32_t xid, const Bytes& data);

/// One of everything that the firmware serves: ARP, ICMP, every procedure by UDP, the portmapper by TCP.
const std::vector<Bytes>& valid_frames();
/// Changes a frame's fields, its lengths, or bytes; three times of four with checksums that are right afterwards.
void mutate_frame(Bytes& frame, Random&);

}  // namespace sluice::fuzz
