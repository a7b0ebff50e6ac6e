/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/likely.h: tells the compiler which way most requests go. */
#pragma once

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define COLD __attribute__((cold, noinline))
