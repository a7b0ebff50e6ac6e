// SPDX-License-Identifier: Apache-2.0
#include "models/base/measure/waveforms.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace sluice::base {

WaveformSource::WaveformSource(std::string path) : path_(std::move(path)) { waveform_sources().push_back(this); }

WaveformSource::~WaveformSource() { std::erase(waveform_sources(), this); }

std::vector<WaveformSource*>& waveform_sources() {
  static std::vector<WaveformSource*> sources;
  return sources;
}

void check_waveform_room(const std::string& file) {
  constexpr std::uintmax_t kRoom = 4 << 20;
  for (const std::filesystem::path& folder :
       {std::filesystem::absolute(file).parent_path(), std::filesystem::path(P_tmpdir)}) {
    std::error_code error;
    const std::filesystem::space_info space = std::filesystem::space(folder, error);
    if (!error && space.available < kRoom)
      throw std::runtime_error(file + ": less than 4 MiB are free in " + folder.string() +
                               ", so that it may not be complete");
  }
}

void check_waveform(const std::string& file) {
  check_waveform_room(file);
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const std::int64_t size = in ? static_cast<std::int64_t>(in.tellg()) : 0;
  // A block is a byte that says its type, and its length without that byte: 64 bits, the highest byte first.
  std::int64_t at = 0;
  while (at < size) {
    std::array<char, 9> head{};
    in.seekg(at);
    in.read(head.data(), head.size());
    std::uint64_t length = 0;
    for (std::size_t i = 1; i < head.size(); ++i) length = length << 8 | static_cast<std::uint8_t>(head[i]);
    if (!in || length < 8 || length > static_cast<std::uint64_t>(size)) break;
    at += 1 + static_cast<std::int64_t>(length);
  }
  if (size == 0 || at != size) throw std::runtime_error(file + ": not all of it could be written: is the disk full?");
}

bool& waveforms_wanted() {
  static bool wanted = false;
  return wanted;
}

std::uint64_t& watched_request() {
  static std::uint64_t request = 0;
  return request;
}

bool is_watched(const Spans& spans) {
  return std::any_of(spans.begin(), spans.end(), [](const Span& s) { return s.id == watched_request(); });
}

}  // namespace sluice::base
