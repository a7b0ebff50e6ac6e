// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The buffers for received frames of a NIC. They have three sizes; a frame gets the smallest free one that holds
/// it.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace sluice::nic {

class PacketBuffer {
 public:
  /// Offsets are multiples of this.
  static constexpr std::uint32_t kBeat = 64;

  explicit PacketBuffer(std::uint64_t bytes) {
    std::uint32_t offset = 0;
    for (std::size_t c = 0; c < kClasses.size(); ++c) {
      free_[c].resize(bytes * kClasses[c].percent / 100 / kClasses[c].bytes);
      firsts_[c] = offset;
      offset += static_cast<std::uint32_t>(free_[c].size()) * kClasses[c].bytes;
    }
    reset();
  }
  /// Buffers that can hold a frame of so many bytes, free or not.
  std::uint64_t buffers_for(std::uint64_t bytes) const {
    std::uint64_t n = 0;
    for (std::size_t c = 0; c < kClasses.size(); ++c) n += bytes <= kClasses[c].bytes ? free_[c].size() : 0;
    return n;
  }
  /// Offset of a buffer for a frame; nothing: there is none.
  std::optional<std::uint32_t> allocate(std::uint32_t bytes) {
    for (std::size_t c = 0; c < kClasses.size(); ++c) {
      if (bytes > kClasses[c].bytes) continue;
      for (std::size_t n = 0; n < free_[c].size(); ++n)
        if (free_[c][n]) {
          free_[c][n] = false;
          return firsts_[c] + static_cast<std::uint32_t>(n) * kClasses[c].bytes;
        }
    }
    return {};
  }
  /// The offset must be one that allocate() has returned and that is not free.
  void free(std::uint32_t offset) {
    std::size_t c = kClasses.size() - 1;
    while (offset < firsts_[c]) --c;
    free_[c][(offset - firsts_[c]) / kClasses[c].bytes] = true;
  }
  void reset() {
    for (auto& of_class : free_) of_class.assign(of_class.size(), true);
  }

 private:
  struct Class {
    std::uint32_t bytes;  ///< of a buffer: whole beats
    unsigned percent;     ///< of the memory
  };
  /// enzian-pio-nic: 128 B (10 %), 1518 B (30 %), 9618 B (60 %).
  static constexpr std::array<Class, 3> kClasses{{{128, 10}, {1536, 30}, {9664, 60}}};

  std::array<std::uint32_t, kClasses.size()> firsts_{};  ///< offset of a class's first buffer
  std::array<std::vector<bool>, kClasses.size()> free_;
};

}  // namespace sluice::nic
