// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A capture of the messages of a link: a text file, and a pcap file for Wireshark with sw/wireshark/sluice.lua.
/// docs/reference/captures.md has both formats. Plain C++.

#include <cstdint>
#include <queue>
#include <string>
#include <vector>

#include "models/base/fabric/link_direction.h"
#include "models/base/files/output_file.h"
#include "models/base/files/pcap_file.h"
#include "models/base/time/time.h"

namespace sluice::base {

class LinkCapture {
 public:
  enum class Way : std::uint8_t { down, up };
  /// Link-layer header types of the pcap files: tcpdump.org keeps these for private use.
  static constexpr std::uint32_t kTlp = 147, kCoherence = 148;

  /// Creates `stem`.txt and `stem`.pcap. Throws std::runtime_error when one cannot be written.
  LinkCapture(const std::string& stem, std::uint32_t link_type);

  /// A message whose first bit is on the wire at a time, not before now(). text: in one line. bytes: as captured.
  void add(Way, Time first_bit, std::string text, std::string bytes);
  /// Captures both directions. text and bytes describe a message. The capture must outlive the simulation.
  template <MessageProtocol P>
  void watch(LinkDirection<P>& down, LinkDirection<P>& up, std::string (*text)(const typename P::Message&),
             std::string (*bytes)(const typename P::Message&)) {
    for (const Way way : {Way::down, Way::up})
      (way == Way::down ? down : up).add_tap([this, way, text, bytes](const typename P::Message& m, Time at, Time) {
        add(way, at, text(m), bytes(m));
      });
  }

  /// Writes what is left, and closes both files, as OutputFile::close() does.
  void close();

 private:
  struct Entry {
    Time at;
    std::uint64_t number;
    Way way;
    std::string text, bytes;
    bool operator>(const Entry& other) const { return at != other.at ? at > other.at : number > other.number; }
  };
  void write_until(Time);

  OutputFile text_;
  PcapFile pcap_;
  /// The two ends take differently long to send, so what comes later may be first on the wire.
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> entries_;
  std::uint64_t messages_ = 0;
};

}  // namespace sluice::base
