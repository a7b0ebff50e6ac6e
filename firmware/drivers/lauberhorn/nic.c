/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/lauberhorn/nic.c: Lauberhorn as a NIC that delivers frames and nothing else, to a kernel that waits
 * at its own lines. */
#include "firmware/drivers/nic.h"

#include "firmware/drivers/lauberhorn/lauberhorn.h"

static bool setup(struct nic* nic, const struct nic_bus_place* place) {
  struct lauberhorn lauberhorn;
  if (place->lines == 0 || !lauberhorn_open(&lauberhorn, place->registers, place->lines, nic->settings.ipv4))
    return false;
  lauberhorn_frames_setup(&lauberhorn, nic, true);
  return true;
}

NIC_BUS_DRIVER("sluice,lauberhorn", setup);
