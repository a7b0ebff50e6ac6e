/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/process/record.h: what a kernel says of its processes, so that the simulator can name them in diagnoses,
 * traces and the debugger. The simulator finds the list from the image's symbol `sluice_processes`, and reads it when
 * it has something to name. Any kernel may keep such a list. Freestanding C that C++ also accepts. */
#pragma once

#include <stdint.h>

#include "models/base/freestanding.h"

#define PROCESS_NAME_BYTES 24u

/* A record stays in the list. Where a process has ended, the next one with its satp takes its record. Addresses are
 * physical. */
struct process_record {
  uint64_t next; /* address of the next record; 0: this is the last */
  uint64_t satp; /* of a hart that runs the process; its ASID is the number of the process */
  uint64_t elf;  /* address of its ELF file, for the symbols */
  uint64_t elf_bytes;
  char name[PROCESS_NAME_BYTES]; /* A-Z, a-z, 0-9, '_', '.' and '-', and a zero byte */
};
_Static_assert(sizeof(struct process_record) == 56, "no padding");

/* Address of the first record; 0: there is none. */
#ifndef __cplusplus
extern uint64_t sluice_processes;
#endif
