// SPDX-License-Identifier: Apache-2.0
#include "models/base/measure/perfetto.h"

#include <stdexcept>

#include <fmt/format.h>

#include "models/base/time/key.h"

namespace sluice::base {

namespace {

// Field numbers of Perfetto's public schema; tests/unit/base/perfetto_subset.proto names the same.
namespace field {
constexpr unsigned kTracePacket = 1;
constexpr unsigned kPacketTimestamp = 8, kPacketSequence = 10, kPacketEvent = 11, kPacketSequenceFlags = 13,
                   kPacketDescriptor = 60;
constexpr unsigned kTrackUuid = 1, kTrackName = 2, kTrackProcess = 3, kTrackParent = 5, kTrackCounter = 8;
constexpr unsigned kProcessPid = 1, kProcessName = 6;
constexpr unsigned kEventAnnotation = 4, kEventType = 9, kEventTrack = 11, kEventCategory = 22, kEventName = 23,
                   kEventCounterValue = 30, kEventFlow = 47;
constexpr unsigned kAnnotationUint = 3, kAnnotationName = 10;
}  // namespace field

enum EventType : unsigned { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4 };

constexpr std::string_view kRoot = "";

void put_varint(std::string& out, std::uint64_t v) {
  char bytes[10];
  std::size_t n = 0;
  for (; v >= 0x80; v >>= 7) bytes[n++] = static_cast<char>(v | 0x80);
  bytes[n++] = static_cast<char>(v);
  out.append(bytes, n);
}

void put_uint(std::string& out, unsigned number, std::uint64_t v) {
  put_varint(out, number << 3);
  put_varint(out, v);
}

void put_fixed64(std::string& out, unsigned number, std::uint64_t v) {
  put_varint(out, number << 3 | 1);
  char bytes[8];
  for (unsigned i = 0; i < 8; ++i) bytes[i] = static_cast<char>(v >> (8 * i));
  out.append(bytes, 8);
}

void put_bytes(std::string& out, unsigned number, std::string_view bytes) {
  put_varint(out, number << 3 | 2);
  put_varint(out, bytes.size());
  out.append(bytes);
}

void put_annotation(std::string& out, std::string& scratch, std::string_view name, std::uint64_t value) {
  scratch.clear();
  put_bytes(scratch, field::kAnnotationName, name);
  put_uint(scratch, field::kAnnotationUint, value);
  put_bytes(out, field::kEventAnnotation, scratch);
}

void begin_packet(std::string& packet) {
  packet.clear();
  put_uint(packet, field::kPacketSequence, 1);
}

std::uint64_t whole_ns(Time t) { return t.femtoseconds() / 1'000'000; }

}  // namespace

PerfettoWriter::PerfettoWriter(std::string path, std::string_view title) : file_(std::move(path)) {
  nested_.clear();
  put_uint(nested_, field::kProcessPid, 1);
  put_bytes(nested_, field::kProcessName, title);
  const std::uint64_t uuid = path_key(kRoot);
  event_.clear();
  put_uint(event_, field::kTrackUuid, uuid);
  put_bytes(event_, field::kTrackProcess, nested_);
  begin_packet(packet_);
  put_uint(packet_, field::kPacketSequenceFlags, 1);  // SEQ_INCREMENTAL_STATE_CLEARED: readers start afresh here
  put_bytes(packet_, field::kPacketDescriptor, event_);
  emit_packet(packet_);
  described_.emplace(kRoot, uuid);
}

void PerfettoWriter::emit_packet(const std::string& packet) {
  framed_.clear();
  put_bytes(framed_, field::kTracePacket, packet);
  file_.write(framed_);
}

void PerfettoWriter::describe_row(std::uint64_t uuid, std::uint64_t parent, std::string_view name, bool counter) {
  event_.clear();
  put_uint(event_, field::kTrackUuid, uuid);
  put_bytes(event_, field::kTrackName, name);
  put_uint(event_, field::kTrackParent, parent);
  if (counter) put_bytes(event_, field::kTrackCounter, "");
  begin_packet(packet_);
  put_bytes(packet_, field::kPacketDescriptor, event_);
  emit_packet(packet_);
}

/// Writes the descriptors of the paths above this one and then its own, each unless it has been written already.
/// Returns the uuid of the path's track.
std::uint64_t PerfettoWriter::describe(const std::string& path) {
  if (const auto known = described_.find(path); known != described_.end()) return known->second;
  const std::size_t dot = path.rfind('.');
  const std::uint64_t parent = describe(dot == std::string::npos ? std::string(kRoot) : path.substr(0, dot));
  const std::uint64_t uuid = path_key(path);
  describe_row(uuid, parent, std::string_view(path).substr(dot == std::string::npos ? 0 : dot + 1), false);
  described_.emplace(path, uuid);
  return uuid;
}

void PerfettoWriter::track(TrackId id, const std::string& path) {
  if (tracks_.size() <= id) tracks_.resize(id + 1);
  tracks_[id] = {path, {{describe(path), Time()}}, {}};
}

/// Returns the row that became free last, at or before `start`; a new row when all are busy. Perfetto reads events with
/// equal time stamps in file order, so a slice goes only to a row whose slices have all ended by its start, even where
/// an earlier gap would do.
PerfettoWriter::Row& PerfettoWriter::row_for(Track& track, Time start) {
  Row* best = nullptr;
  for (Row& row : track.rows)
    if (row.busy_until <= start && (!best || row.busy_until > best->busy_until)) best = &row;
  if (best) return *best;
  const std::string suffix = fmt::format(" #{}", track.rows.size() + 1);
  const std::uint64_t uuid = path_key(track.path + suffix);
  const std::size_t dot = track.path.rfind('.');
  const std::string parent = dot == std::string::npos ? std::string(kRoot) : track.path.substr(0, dot);
  describe_row(uuid, describe(parent), track.path.substr(dot == std::string::npos ? 0 : dot + 1) + suffix, false);
  return track.rows.emplace_back(Row{uuid, Time()});
}

PerfettoWriter::Track& PerfettoWriter::known(TrackId id) {
  if (id < tracks_.size() && !tracks_[id].rows.empty()) return tracks_[id];
  throw std::invalid_argument(fmt::format("the trace has no track {}: Trace::track() makes one", id));
}

void PerfettoWriter::slice(TrackId id, const char* name, Time start, Time end, RequestId on_behalf_of) {
  Row& row = row_for(known(id), start);
  row.busy_until = end;

  event_.clear();
  put_uint(event_, field::kEventType, kSliceBegin);
  put_uint(event_, field::kEventTrack, row.uuid);
  put_bytes(event_, field::kEventName, name);
  put_bytes(event_, field::kEventCategory, on_behalf_of ? "request" : "component");
  if (on_behalf_of) {
    put_fixed64(event_, field::kEventFlow, on_behalf_of);
    put_annotation(event_, nested_, "request", on_behalf_of);
  }
  put_annotation(event_, nested_, "start_fs", start.femtoseconds());
  put_annotation(event_, nested_, "duration_fs", (end - start).femtoseconds());
  begin_packet(packet_);
  put_uint(packet_, field::kPacketTimestamp, whole_ns(start));
  put_bytes(packet_, field::kPacketEvent, event_);
  emit_packet(packet_);

  event_.clear();
  put_uint(event_, field::kEventType, kSliceEnd);
  put_uint(event_, field::kEventTrack, row.uuid);
  begin_packet(packet_);
  put_uint(packet_, field::kPacketTimestamp, whole_ns(end));
  put_bytes(packet_, field::kPacketEvent, event_);
  emit_packet(packet_);
}

void PerfettoWriter::instant(TrackId id, const char* name, Time at, RequestId on_behalf_of) {
  event_.clear();
  put_uint(event_, field::kEventType, kInstant);
  put_uint(event_, field::kEventTrack, known(id).rows.front().uuid);
  put_bytes(event_, field::kEventName, name);
  if (on_behalf_of) {
    put_fixed64(event_, field::kEventFlow, on_behalf_of);
    put_annotation(event_, nested_, "request", on_behalf_of);
  }
  put_annotation(event_, nested_, "start_fs", at.femtoseconds());
  begin_packet(packet_);
  put_uint(packet_, field::kPacketTimestamp, whole_ns(at));
  put_bytes(packet_, field::kPacketEvent, event_);
  emit_packet(packet_);
}

void PerfettoWriter::counter(TrackId id, const char* name, Time at, std::uint64_t value) {
  Track& track = known(id);
  auto row = track.counters.find(std::string_view(name));
  if (row == track.counters.end()) {
    const std::uint64_t uuid = path_key(fmt::format("{}/{}", track.path, name));
    describe_row(uuid, track.rows.front().uuid, name, true);
    row = track.counters.emplace(name, uuid).first;
  }
  event_.clear();
  put_uint(event_, field::kEventType, kCounter);
  put_uint(event_, field::kEventTrack, row->second);
  put_uint(event_, field::kEventCounterValue, value);
  begin_packet(packet_);
  put_uint(packet_, field::kPacketTimestamp, whole_ns(at));
  put_bytes(packet_, field::kPacketEvent, event_);
  emit_packet(packet_);
}

}  // namespace sluice::base
