// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Lists of transfer sizes as a person writes them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::base {

/// "64", "8..2048" (doubling: 8, 16, ... up to 2048), "64..1024:64" (in steps), and lists of these: "8,64..256". Sizes
/// are whole bytes, 1 to `most`, and ascend. Throws ValueError with the end of a sentence: "must be ...".
std::vector<std::uint32_t> parse_sizes(std::string_view text, std::uint32_t most);

/// What is wrong with such a list of Ethernet frames, without FCS, as the end of a sentence; empty: nothing. least: of
/// frames that are not padded.
std::string wrong_frame_sizes(std::string_view text, std::uint32_t least, std::uint32_t most);

}  // namespace sluice::base
