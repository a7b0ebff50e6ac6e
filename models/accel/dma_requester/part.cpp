// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "models/accel/dma_requester/dma_requester.h"
#include "models/accel/dma_requester/dma_workload.h"
#include "models/pcie/endpoint/device_part.h"

namespace sluice::part {

void add_dma_requester(Catalogue& catalogue) {
  pcie::add_device<accel::DmaRequester>(catalogue, "dma-requester", "DMA requester");
  catalogue.add<accel::DmaWorkloadParameters>("workload", "dma", "DMA workload",
                                              std::make_shared<const accel::DmaWorkloadFactory>());
}

}  // namespace sluice::part
