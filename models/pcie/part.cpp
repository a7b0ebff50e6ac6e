// SPDX-License-Identifier: Apache-2.0
#include "models/part/catalogue.h"
#include "models/pcie/switch_part.h"

namespace sluice::part {

void add_pcie(Catalogue& catalogue) { pcie::add_switch<pcie::Switch>(catalogue, "plain", "PCIe switch"); }

}  // namespace sluice::part
