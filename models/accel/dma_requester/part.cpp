#include "models/accel/dma_requester/dma_requester.h"
#include "models/pcie/device_part.h"

namespace sluice::part {

void add_dma_requester(Catalogue& catalogue) {
  pcie::add_device<accel::DmaRequester>(catalogue, "dma-requester", "DMA requester");
}

}  // namespace sluice::part
