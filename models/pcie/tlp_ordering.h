// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Which TLP may pass which other one (PCI Express Base Specification, transaction ordering).

#include "models/pcie/tlp.h"

namespace sluice::pcie {

/// Posted TLPs pass the other classes; completions and non-posted requests pass each other. Links ignore the relaxed
/// ordering attribute; the root complex heeds it between writes of one port.
constexpr bool may_pass(TlpClass younger, TlpClass older) {
  return younger == TlpClass::kPosted || older != TlpClass::kPosted;
}

}  // namespace sluice::pcie
