/* firmware/drivers/imsic.c */
#include "firmware/drivers/imsic.h"

#include "firmware/kernel/board.h"
#include "firmware/kernel/csr.h"

#define IMSIC_EIDELIVERY 0x70ul
#define IMSIC_EITHRESHOLD 0x72ul
#define IMSIC_EIE0 0xc0ul

#define APLIC_DOMAINCFG 0x0000u
#define APLIC_DOMAINCFG_IE 0x100u
#define APLIC_DOMAINCFG_MSI 0x004u
#define APLIC_SOURCECFG(source) (4u * (source))
#define APLIC_SOURCECFG_LEVEL_HIGH 6u
#define APLIC_SETIENUM 0x1edcu
#define APLIC_TARGET(source) (0x3000u + 4u * (source))

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
  aplic[APLIC_SOURCECFG(source) / 4] = APLIC_SOURCECFG_LEVEL_HIGH;
  aplic[APLIC_TARGET(source) / 4] = ((board.first_hart + hart) << 18) | identity;
  aplic[APLIC_SETIENUM / 4] = source;
  aplic[APLIC_DOMAINCFG / 4] = APLIC_DOMAINCFG_IE | APLIC_DOMAINCFG_MSI;
}
