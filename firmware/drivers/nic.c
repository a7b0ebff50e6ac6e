/* firmware/drivers/nic.c: which driver serves the NIC that the board has. */
#include "firmware/drivers/nic.h"

#include "firmware/drivers/nic_descriptor.h"
#include "firmware/drivers/pcie.h"
#include "models/nic/descriptor/descriptor_regs.h"

bool nic_setup(struct nic* nic, unsigned queues) {
  const struct pcie_function* function = pcie_find(DESC_VENDOR_ID, DESC_DEVICE_ID);
  return function != 0 && nic_descriptor_setup(nic, function, queues);
}
