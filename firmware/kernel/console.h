/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/console.h: text for people, through the 16550. */
#pragma once

/* Supports %s %c %d %u %x %p, a width, a leading 0, and the length l. */
void print(const char* format, ...) __attribute__((format(printf, 1, 2)));
