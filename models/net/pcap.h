// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Packet captures in the classic pcap format, Ethernet frames only. Plain C++.

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/files/input_file.h"
#include "models/base/files/pcap_file.h"
#include "models/base/time/time.h"
#include "models/net/wire.h"

namespace sluice::net {

/// Writes a capture. Stamps are simulated time, rounded down to whole nanoseconds; second 0 is the simulation's start.
class PcapWriter {
 public:
  /// Creates the file. Throws std::runtime_error when it cannot be written.
  explicit PcapWriter(std::string path);

  /// Appends a frame without FCS. Calls must come in order of time.
  void write(base::Time at, const void* frame, std::uint32_t length);
  std::uint64_t frames() const { return file_.records(); }

  /// Closes the file, as base::OutputFile::close() does.
  void close() { file_.close(); }

 private:
  base::PcapFile file_;
};

/// Captures the frames sent and received at an end of a wire. wire and writer must outlive the simulation.
void capture(Wire& wire, Wire::End end, PcapWriter& writer);

/// Reads a capture frame by frame. Stamps may be in micro- or nanoseconds, and numbers in either byte order. Every
/// error is a std::runtime_error with one sentence that names the file: "x.pcap: is not a pcap file".
class PcapReader {
 public:
  struct Frame {
    base::Time at;                    ///< since the first frame
    std::vector<std::uint8_t> bytes;  ///< without FCS
  };

  /// Opens the file and reads its header. Throws when there is no such file, or it is no Ethernet capture.
  explicit PcapReader(std::string path);

  /// Reads the next frame; false at the end of the file. Times count from the first frame's, which is 0; a frame whose
  /// stamp is before the first frame's has time 0. Throws at a truncated or impossible record, at a frame that was
  /// captured only in part, and at a frame of more than Packet::kCapacity bytes.
  bool next(Frame& frame);
  std::uint64_t frames() const { return frames_; }

 private:
  [[noreturn]] void fail(const std::string& what) const;
  std::uint32_t number(const std::uint8_t* p) const;

  std::string path_;
  base::InputFile file_;
  bool swapped_ = false;      ///< numbers are big-endian
  bool nanoseconds_ = false;  ///< else microseconds
  std::uint64_t frames_ = 0;
  std::uint64_t first_ = 0;  ///< ns of the first frame's stamp
};

}  // namespace sluice::net
