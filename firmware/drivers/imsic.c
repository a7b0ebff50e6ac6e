/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/imsic.c */
#include "firmware/drivers/imsic.h"

#include "firmware/kernel/board.h"
#include "firmware/kernel/csr.h"
#include "models/irq/aplic_regs.h"
#include "models/irq/imsic_regs.h"

static void indirect_write(unsigned long select, unsigned long value) {
  csr_write(CSR_SISELECT, select);
  csr_write(CSR_SIREG, value);
}

void imsic_setup_hart(void) {
  indirect_write(IMSIC_EITHRESHOLD, 0);
  indirect_write(IMSIC_EIE0, ~1ul);
  indirect_write(IMSIC_EIDELIVERY, 1);
}

uint64_t imsic_address(unsigned hart) { return board.imsic + board.imsic_stride * hart; }

uint32_t imsic_claim(void) {
  /* Bits 26:16 are the identity; the write part of the exchange clears its pending bit. */
  return (uint32_t)(csr_exchange(CSR_STOPEI, 0ul) >> 16);
}

void aplic_connect(uint32_t source, unsigned hart, uint32_t identity) {
  volatile uint32_t* aplic = (volatile uint32_t*)board.aplic;
  aplic[APLIC_SOURCECFG(source) / 4] = APLIC_SOURCECFG_LEVEL1;
  aplic[APLIC_TARGET(source) / 4] = ((board.first_hart + hart) << APLIC_TARGET_HART_SHIFT) | identity;
  aplic[APLIC_SETIENUM / 4] = source;
  aplic[APLIC_DOMAINCFG / 4] = APLIC_DOMAINCFG_IE | APLIC_DOMAINCFG_DM;
}
