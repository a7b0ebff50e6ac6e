/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/pcie.h: enumerates the PCIe hierarchy through ECAM: bus numbers, bridge windows, base addresses,
 * payload sizes, MSI-X. Run once by hart 0. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/kernel/fdt.h"

#define PCIE_MAX_FUNCTIONS 64u

struct pcie_function {
  const struct pcie_function* above; /* the bridge above its bus; 0: it is on the root bus */
  uint8_t bus, device, function;
  uint8_t header_type; /* PCIE_HEADER_TYPE_* without the multifunction bit */
  uint16_t vendor_id, device_id;
  uint32_t class_code;
  uint8_t express, msix;    /* offsets of the capabilities; 0: none */
  uint8_t interrupt_device; /* root-bus device that INTx arrives at, swizzled */
  uint8_t interrupt_pin;    /* 1 to 4; 0: no INTx */
  uint64_t bar[6];          /* where software reaches it; 0: no such BAR */
  uint64_t bar_size[6];
};

/* Finds and configures everything below the host bridge. Returns the number of functions; 0 without PCIe. Functions
 * that do not fit the windows are reported on the console and left disabled. */
unsigned pcie_setup(void);

/* The functions in the order of enumeration; 0 beyond the last one. */
const struct pcie_function* pcie_function(unsigned index);

/* The first function with these ids; 0 if there is none. */
const struct pcie_function* pcie_find(uint16_t vendor_id, uint16_t device_id);

/* Moves `node` to the function's node in the device tree, by way of one node for each bridge above it; false if there
 * is none. Call before memory_reserve(), which may overwrite the tree. */
bool pcie_node(const struct pcie_function* function, struct fdt_walk* node);

void pcie_print(void);

/* Number of MSI-X vectors, 0 without the capability. */
unsigned pcie_msix_vectors(const struct pcie_function* function);

/* Fills and unmasks one entry of the MSI-X table; pcie_msix_enable() then switches the function to MSI-X. */
void pcie_msix_route(const struct pcie_function* function, unsigned vector, uint64_t address, uint32_t data);
void pcie_msix_enable(const struct pcie_function* function);

/* Interrupt controller source of the function's INTx; 0 if there is none. */
uint32_t pcie_interrupt_line(const struct pcie_function* function);

/* The address at which software reaches a BAR that is at this address of the bus. The default is the same address; an
 * image that translates may link its own. */
uint64_t pcie_reach(uint64_t physical, uint64_t bytes);
