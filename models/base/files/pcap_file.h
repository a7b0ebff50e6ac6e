// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Captures in the classic pcap format, of any link type. Plain C++.

#include <cstdint>
#include <string>
#include <string_view>

#include "models/base/files/output_file.h"

namespace sluice::base {

/// Writes a capture with nanosecond stamps (magic a1b23c4d, little-endian on every host).
class PcapFile {
 public:
  /// link_type: of tcpdump.org's list of link-layer header types. Throws std::runtime_error when the file cannot be
  /// written.
  PcapFile(std::string path, std::uint32_t link_type);

  /// Appends a record. Calls must come in order of time.
  void write(std::uint64_t nanoseconds, std::string_view bytes);
  std::uint64_t records() const { return records_; }

  /// Closes the file, as OutputFile::close() does.
  void close() { file_.close(); }

 private:
  OutputFile file_;
  std::string record_;  ///< reused, so that a capture does not allocate for every record
  std::uint64_t records_ = 0;
};

}  // namespace sluice::base
