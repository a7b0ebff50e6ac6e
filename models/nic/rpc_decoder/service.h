// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The services that an RPC decoder finds, and the shapes of their arguments. Plain C++.

#include <array>
#include <cstdint>

#include "models/nic/rpc_decoder/rpc_decoder_regs.h"

namespace sluice::nic::rpc {

/// A part of a procedure's arguments, in XDR's words (RFC 4506): some words, and perhaps an array behind them.
struct Part {
  enum class Array : std::uint8_t {
    none = RPCD_ARRAY_NONE,
    opaque = RPCD_ARRAY_OPAQUE,
    scalars = RPCD_ARRAY_SCALARS,
    hypers = RPCD_ARRAY_HYPERS
  };
  std::uint32_t classes = 0;  ///< RPCD_CLASS_* of each word, the first in bits 1:0
  std::uint8_t words = 0;     ///< 0 to RPCD_PART_WORDS_MOST
  Array array = Array::none;
  bool counted = false;     ///< the array begins with the number of its elements
  std::uint16_t limit = 0;  ///< of a counted array its most elements (bytes, if opaque), of another one its words

  /// The register RPCD_PART_SHAPE.
  std::uint32_t shape() const {
    return std::uint32_t{limit} << RPCD_SHAPE_LIMIT_SHIFT | (counted ? RPCD_SHAPE_COUNTED : 0) |
           static_cast<std::uint32_t>(array) << RPCD_SHAPE_ARRAY_SHIFT | words;
  }
  /// Whether the decoder takes it: it has at most RPCD_PART_WORDS_MOST words, and both halves of each hyper.
  bool is_valid() const {
    if (words > RPCD_PART_WORDS_MOST || (array == Array::hypers && !counted && limit % 2 != 0)) return false;
    bool open = false;  // the word before is the first half of a hyper
    for (unsigned w = 0; w < words; ++w) {
      const unsigned word_class = classes >> 2 * w & 3;
      if (open != (word_class == RPCD_CLASS_HYPER_LOW)) return false;
      open = word_class == RPCD_CLASS_HYPER_HIGH;
    }
    return !open;
  }
  static Part of(std::uint32_t classes, std::uint32_t shape) {
    return {classes, static_cast<std::uint8_t>(shape & RPCD_SHAPE_WORDS),
            static_cast<Array>((shape & RPCD_SHAPE_ARRAY) >> RPCD_SHAPE_ARRAY_SHIFT), (shape & RPCD_SHAPE_COUNTED) != 0,
            static_cast<std::uint16_t>(shape >> RPCD_SHAPE_LIMIT_SHIFT)};
  }
};

struct ServiceKey {
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  std::uint16_t port = 0;  ///< UDP
  bool operator==(const ServiceKey&) const = default;
};

struct Service {
  ServiceKey key;
  std::uint16_t owner = 0;
  std::uint64_t function_pointer = 0;
  std::array<Part, RPCD_PARTS> parts;
};

}  // namespace sluice::nic::rpc
