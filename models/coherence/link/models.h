// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The links that Sluice has: their rates.

#include "models/base/parameters/quantity.h"
#include "models/base/parameters/schema.h"
#include "models/coherence/link/coherent_link.h"

namespace sluice::coherence {

/// Enzian's coherence interface (ECI). A frame is eight words of 8 B, of which one is control.
struct EciParameters {
  unsigned lanes = 12;
  base::BitRate lane_rate = 10_Gbps;  ///< without the line code
  CoherentLatencies common;
  base::Ratio femtoseconds_per_byte() const;
  static void describe(base::Schema<EciParameters>&);
};

/// CXL 3.0 in flits of 256 B, of which 240 B are slots.
struct CxlParameters {
  unsigned generation = 5;  ///< of PCIe, whose rate it has
  unsigned lanes = 8;
  CoherentLatencies common;
  base::Ratio femtoseconds_per_byte() const;
  static void describe(base::Schema<CxlParameters>&);
};

struct OnDieParameters {
  base::BitRate rate = 512_Gbps;
  CoherentLatencies common;
  base::Ratio femtoseconds_per_byte() const { return rate.femtoseconds_per_byte(); }
  static void describe(base::Schema<OnDieParameters>&);
};

}  // namespace sluice::coherence
