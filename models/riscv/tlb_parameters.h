// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a board says about the TLBs of a hart.

#include "models/base/parameters/schema.h"
#include "models/riscv/iss/translation/translation_buffers.h"

namespace sluice::riscv {

/// The defaults are those of a Skylake server core.
struct TlbParameters {
  unsigned entries = 64;
  unsigned ways = 4;
  unsigned code_entries = 128;
  unsigned code_ways = 8;
  unsigned second_entries = 1536;
  unsigned second_ways = 12;
  unsigned second_latency = 7;
  unsigned walk_entries = 32;

  TranslationBuffers::Shape shape() const {
    return {{entries, ways}, {second_entries, second_ways}, second_latency, walk_entries, {code_entries, code_ways}};
  }
  static void describe(base::Schema<TlbParameters>&);
};

}  // namespace sluice::riscv
