/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/plic.c */
#include "firmware/drivers/plic.h"

#include "firmware/kernel/board.h"
#include "models/irq/plic_regs.h"

/* Each hart has a machine context, then a supervisor context. */
static uint32_t context_of(unsigned hart) { return 2u * (board.first_hart + hart) + 1u; }

static volatile uint32_t* plic(uint32_t offset) { return (volatile uint32_t*)(board.plic + offset); }

void plic_setup_hart(unsigned hart) { *plic(PLIC_THRESHOLD(context_of(hart))) = 0; }

void plic_enable(unsigned hart, uint32_t source) {
  *plic(PLIC_PRIORITY(source)) = 1;
  *plic(PLIC_ENABLE(context_of(hart), source / 32u)) |= 1u << (source % 32u);
}

uint32_t plic_claim(unsigned hart) { return *plic(PLIC_CLAIM(context_of(hart))); }

void plic_complete(unsigned hart, uint32_t source) { *plic(PLIC_CLAIM(context_of(hart))) = source; }
