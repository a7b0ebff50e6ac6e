// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Waveforms of the blocks in RTL. Plain C++.

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/measure/ledger.h"
#include "models/base/time/time.h"

namespace sluice::base {

/// The cycles that are written: of a part of simulated time, or those in which a block has a request.
struct WaveformWindow {
  Time from;
  Time until = Time::max();
  std::uint64_t request = 0;  ///< 0: any, or none
};

/// A block that can write its waveform. It is in waveform_sources() as long as it exists.
class WaveformSource {
 public:
  explicit WaveformSource(std::string path);
  virtual ~WaveformSource();
  WaveformSource(const WaveformSource&) = delete;
  WaveformSource& operator=(const WaveformSource&) = delete;

  const std::string& path() const { return path_; }
  /// From now on the block writes this file. Throws std::runtime_error when it cannot.
  virtual void open_waveform(const std::string& file, const WaveformWindow&) = 0;
  /// Throws std::runtime_error when not all of it could be written.
  virtual void close_waveform() = 0;
  /// Whether a cycle has been written.
  bool has_waveform() const { return has_waveform_; }

 protected:
  void note_cycle() { has_waveform_ = true; }

 private:
  std::string path_;
  bool has_waveform_ = false;
};

/// In the order in which they were made.
std::vector<WaveformSource*>& waveform_sources();

/// Throws std::runtime_error when less than 4 MiB are free beside the file or where temporary files are: then it may be
/// cut, since the library that writes FST has removed its own files by the time that anybody can look.
void check_waveform_room(const std::string& file);

/// Throws std::runtime_error when there is no such room behind the closed FST file, or when it ends before its blocks
/// do. The library says nothing of a full disk.
void check_waveform(const std::string& file);

/// Whether the run will ask for waveforms. Set before the blocks are made: one that need not write a waveform is
/// faster.
bool& waveforms_wanted();

/// The request whose packets blocks are told of: WaveformWindow::request of the run; 0: none.
std::uint64_t& watched_request();
/// Whether a packet with these spans is of that request.
bool is_watched(const Spans&);

}  // namespace sluice::base
