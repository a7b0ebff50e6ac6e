/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/plic.h: RISC-V PLIC 1.0, supervisor contexts. */
#pragma once

#include <stdint.h>

void plic_setup_hart(unsigned hart);
void plic_enable(unsigned hart, uint32_t source);

/* Highest pending source that is enabled for the hart, 0 if there is none; it stays claimed until plic_complete(). */
uint32_t plic_claim(unsigned hart);
void plic_complete(unsigned hart, uint32_t source);
