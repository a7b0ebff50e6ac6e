/* firmware/kernel/account.h: account(polling) and the like: says which account this core's time belongs to from now on,
 * by one hint instruction (models/base/measure/hints.h). */
#pragma once

#include "models/base/measure/hints.h"

#ifdef __riscv
#define account(name) __asm__ volatile("sltiu x0, x0, %0" : : "i"(SLUICE_ACCOUNT_##name) : "memory")
#else
#define account(name) sluice_account(SLUICE_ACCOUNT_##name)
#endif

/* stage(unmarshal, frame): the request whose bytes lie at `frame` enters that stage. */
#define stage(name, address) sluice_probe(SLUICE_STAGE_##name, address)
