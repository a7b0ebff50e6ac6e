/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/user/ways.h: the ways in which a process gets its calls (enum service_delivery). Each serves for ever. */
#pragma once

#include <stdint.h>

void serve_by_lines(uint64_t thread, uint64_t line_bytes) __attribute__((noreturn));
void serve_by_queue(void) __attribute__((noreturn));
void serve_by_socket(void) __attribute__((noreturn));
