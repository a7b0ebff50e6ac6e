// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Writes traces that ui.perfetto.dev and trace_processor open: track events in protobuf, encoded by hand. Plain C++.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/files/output_file.h"
#include "models/base/measure/trace.h"

namespace sluice::base {

/// A trace file. Each component has a track, nested as the paths are; each stage or activity is a slice. A flow whose
/// id is the request's ties the slices of one request together; they also carry this id as the argument `request`.
///
/// Perfetto counts whole nanoseconds: time stamps are rounded down, which keeps every order and nesting, and each slice
/// carries its exact start and duration as the arguments start_fs and duration_fs. Where slices of one component
/// overlap, the component gets further rows ("mac #2"). The same calls give the same bytes.
class PerfettoWriter : public TraceSink {
 public:
  /// Creates the file. title: what the trace is of. Throws std::runtime_error when the file cannot be written.
  PerfettoWriter(std::string path, std::string_view title);

  void track(TrackId, const std::string& path) override;
  // These throw std::invalid_argument for an unknown track.
  void slice(TrackId, const char* name, Time start, Time end, RequestId on_behalf_of) override;
  void instant(TrackId, const char* name, Time at, RequestId on_behalf_of) override;
  void counter(TrackId, const char* name, Time at, std::uint64_t value) override;

  /// OutputFile::close().
  void close() { file_.close(); }

 private:
  struct Row {
    std::uint64_t uuid;
    Time busy_until;
  };
  struct Track {
    std::string path;
    std::vector<Row> rows;
    std::map<std::string, std::uint64_t, std::less<>> counters;  ///< uuid by name
  };

  Track& known(TrackId);
  std::uint64_t describe(const std::string& path);
  void describe_row(std::uint64_t uuid, std::uint64_t parent, std::string_view name, bool counter);
  Row& row_for(Track&, Time start);
  void emit_packet(const std::string& packet);

  OutputFile file_;
  std::string event_;   ///< reused, so that a trace does not allocate for every event
  std::string packet_;  ///< likewise
  std::string framed_;  ///< likewise
  std::string nested_;  ///< likewise
  std::vector<Track> tracks_;
  std::map<std::string, std::uint64_t, std::less<>> described_;
};

}  // namespace sluice::base
