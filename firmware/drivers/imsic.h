/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/imsic.h: incoming message-signalled interrupts (AIA 1.0), the supervisor file of each hart; and the
 * APLIC's supervisor domain, which turns wired interrupts into such messages. */
#pragma once

#include <stdint.h>

/* Enables delivery and identities 1 to 63 of the calling hart's file. */
void imsic_setup_hart(void);

/* Address to which a device writes an identity to interrupt `hart`. */
uint64_t imsic_address(unsigned hart);

/* Claims the calling hart's highest-priority pending identity; 0 if there is none. */
uint32_t imsic_claim(void);

/* Lets wired source `source` (active high level) send `identity` to `hart`. */
void aplic_connect(uint32_t source, unsigned hart, uint32_t identity);
