/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/process/elf.h: loads ELF files (System V ABI, RISC-V ELF psABI) into address spaces. */
#pragma once

#include "firmware/process/address_space.h"

/* Where the file of a program has these bytes of its memory; 0: nowhere, or not all of them. */
const void* elf_find(const uint8_t* start, const uint8_t* end, uint64_t address, uint64_t bytes);

/* Maps the loadable segments of a file for RV64, each page once, with what the segments allow, and gives its entry
 * point. False: the file is no static program for RV64, or a segment lies outside of user memory or of the file; pages
 * that were mapped until then stay. */
bool elf_load(struct address_space* space, const uint8_t* start, const uint8_t* end, uint64_t* entry);
