// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The ledger's request that a read has brought bytes of: an extension of the payload of a hart's read.

#include <tlm>

#include "models/base/memory/guest_ram.h"

namespace sluice::base {

/// A target that knows to which request the bytes belong says so.
struct BroughtRequest : tlm::tlm_extension<BroughtRequest> {
  RequestId id = 0;  ///< 0: none, or the target does not know

  tlm_extension_base* clone() const override { return new BroughtRequest(*this); }
  void copy_from(const tlm_extension_base& other) override { *this = static_cast<const BroughtRequest&>(other); }
};

}  // namespace sluice::base
