// SPDX-License-Identifier: Apache-2.0
#include "models/base/measure/waveforms.h"

#include <algorithm>
#include <utility>

namespace sluice::base {

WaveformSource::WaveformSource(std::string path) : path_(std::move(path)) { waveform_sources().push_back(this); }

WaveformSource::~WaveformSource() { std::erase(waveform_sources(), this); }

std::vector<WaveformSource*>& waveform_sources() {
  static std::vector<WaveformSource*> sources;
  return sources;
}

bool& waveforms_wanted() {
  static bool wanted = false;
  return wanted;
}

std::uint64_t& watched_request() {
  static std::uint64_t request = 0;
  return request;
}

}  // namespace sluice::base
