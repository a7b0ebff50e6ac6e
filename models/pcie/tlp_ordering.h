// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Which TLP may pass which other one (PCI Express Base Specification, transaction ordering).

#include "models/pcie/tlp.h"

namespace sluice::pcie {

/// Posted TLPs pass everything; completions and non-posted requests pass each other. Of what the specification allows
/// or demands, links do not use relaxed ordering; the root complex does, between writes of one port.
constexpr bool may_pass(TlpClass younger, TlpClass older) {
  return younger == TlpClass::kPosted || older != TlpClass::kPosted;
}

}  // namespace sluice::pcie
