/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/account.h: account(polling) and similar charge this core's time to the named account from then on, by
 * one hint instruction (models/base/measure/hints.h). */
#pragma once

#include "models/base/measure/hints.h"

#ifdef __riscv
#define account(name) __asm__ volatile("sltiu x0, x0, %0" : : "i"(SLUICE_ACCOUNT_##name) : "memory")
#else
#define account(name) sluice_account(SLUICE_ACCOUNT_##name)
#endif

/* stage(unmarshal, frame): the request whose bytes lie at `frame` enters the stage `unmarshal`. */
#define stage(name, address) sluice_probe(SLUICE_STAGE_##name, address)

/* begins(jump, frame): in the stage that the request is in, its step `jump` begins. */
#define begins(step, address) sluice_begins(SLUICE_STEP_##step, address)

/* For set-up. does(unmarshal, jump): what this software does in the stage `unmarshal` is the step `jump`, and what it
 * says of the stage besides. tells(schedule): it has a stage for the step, or does not need it. */
#define does(stage, step) sluice_does(SLUICE_STAGE_##stage, SLUICE_STEP_##step)
#define tells(step) sluice_tells(SLUICE_STEP_##step)
