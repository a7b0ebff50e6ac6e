// SPDX-License-Identifier: Apache-2.0
#include "models/workload/packets/packets_workload.h"
#include "models/workload/workload_part.h"

namespace sluice::part {

void add_workload_packets(Catalogue& catalogue) {
  workload::add_workload<workload::PacketsWorkload>(catalogue, "packets", "packets workload");
}

}  // namespace sluice::part
