// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a board says about a hart's accesses to memory that it does not cache, or that nothing but
/// software keeps up to date in its cache.

#include "models/base/parameters/quantity.h"
#include "models/base/parameters/schema.h"

namespace sluice::riscv {

struct UncachedParameters {
  base::Bytes read_block{8};
  unsigned combining_buffers = 10;
  base::Bytes combining_block{64};
  base::Time combining_drain = base::Time::ns(40);
  unsigned write_through_lines = 0;
  static void describe(base::Schema<UncachedParameters>&);
};

}  // namespace sluice::riscv
