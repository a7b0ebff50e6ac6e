/* SPDX-License-Identifier: Apache-2.0 */
/* models/pcie/pcie_regs.h: configuration space as software sees it: ECAM addressing, headers of type 0 and 1, and the
 * capabilities that firmware walks. Names follow the PCI Express Base Specification. Freestanding C that C++ also
 * accepts. Offsets are in bytes from the function's configuration space. */
#pragma once

#include <stdint.h>

#include "models/base/freestanding.h"

/* ECAM: offset of a function's register from the window's base. */
#define PCIE_ECAM_OFFSET(bus, device, function, reg) \
  (((uint64_t)(bus) << 20) | ((uint64_t)(device) << 15) | ((uint64_t)(function) << 12) | (uint64_t)(reg))
#define PCIE_ECAM_FUNCTION_SHIFT 12 /* a function has 4096 bytes: its routing id is in the bits above */
#define PCIE_ECAM_REGISTER 0xfffu
#define PCIE_DEVICES_PER_BUS 32u
#define PCIE_FUNCTIONS_PER_DEVICE 8u

/* Common header. */
#define PCIE_VENDOR_ID 0x00u /* 16 bits; PCIE_VENDOR_NONE: no function here */
#define PCIE_VENDOR_NONE 0xffffu
#define PCIE_DEVICE_ID 0x02u
#define PCIE_COMMAND 0x04u /* 16 bits */
#define PCIE_COMMAND_MEMORY 0x0002u
#define PCIE_COMMAND_BUS_MASTER 0x0004u
#define PCIE_COMMAND_PARITY 0x0040u
#define PCIE_COMMAND_SERR 0x0100u
#define PCIE_COMMAND_INTX_DISABLE 0x0400u
#define PCIE_STATUS 0x06u /* 16 bits */
#define PCIE_STATUS_INTERRUPT 0x0008u
#define PCIE_STATUS_CAPABILITIES 0x0010u
#define PCIE_REVISION_ID 0x08u /* 8 bits; the three octets above are the class code */
#define PCIE_CLASS_CODE 0x09u
#define PCIE_CLASS_ETHERNET 0x020000u
#define PCIE_CLASS_HOST_BRIDGE 0x060000u
#define PCIE_CLASS_PCI_BRIDGE 0x060400u
#define PCIE_CACHE_LINE_SIZE 0x0cu
#define PCIE_HEADER_TYPE 0x0eu /* 8 bits */
#define PCIE_HEADER_TYPE_MASK 0x7fu
#define PCIE_HEADER_TYPE_ENDPOINT 0x00u
#define PCIE_HEADER_TYPE_BRIDGE 0x01u
#define PCIE_HEADER_TYPE_MULTIFUNCTION 0x80u
#define PCIE_CAPABILITIES_POINTER 0x34u
#define PCIE_INTERRUPT_LINE 0x3cu
#define PCIE_INTERRUPT_PIN 0x3du

/* Base address registers: type 0 has six, type 1 has two. */
#define PCIE_BAR(n) (0x10u + 4u * (n))
#define PCIE_BARS_ENDPOINT 6u
#define PCIE_BARS_BRIDGE 2u
#define PCIE_BAR_IO 0x1u
#define PCIE_BAR_TYPE_MASK 0x6u
#define PCIE_BAR_TYPE_64 0x4u
#define PCIE_BAR_PREFETCHABLE 0x8u
#define PCIE_BAR_MEMORY_MASK 0xfffffff0u
#define PCIE_SUBSYSTEM_VENDOR_ID 0x2cu
#define PCIE_SUBSYSTEM_ID 0x2eu
#define PCIE_EXPANSION_ROM 0x30u

/* Type 1 header: bridges, root ports, switch ports. */
#define PCIE_PRIMARY_BUS 0x18u /* 8 bits each */
#define PCIE_SECONDARY_BUS 0x19u
#define PCIE_SUBORDINATE_BUS 0x1au
#define PCIE_IO_BASE 0x1cu
#define PCIE_IO_LIMIT 0x1du
#define PCIE_MEMORY_BASE 0x20u /* 16 bits: address bits 31:20 in bits 15:4 */
#define PCIE_MEMORY_LIMIT 0x22u
#define PCIE_PREFETCHABLE_BASE 0x24u /* 16 bits: likewise; bits 3:0 are 1 for a 64-bit window */
#define PCIE_PREFETCHABLE_LIMIT 0x26u
#define PCIE_PREFETCHABLE_64 0x0001u
#define PCIE_PREFETCHABLE_BASE_UPPER 0x28u
#define PCIE_PREFETCHABLE_LIMIT_UPPER 0x2cu
#define PCIE_BRIDGE_CONTROL 0x3eu
#define PCIE_BRIDGE_CONTROL_RESET 0x0040u /* of the secondary bus */
#define PCIE_BRIDGE_WINDOW 0xfff0u        /* address bits of the four 16-bit base and limit registers */
#define PCIE_BRIDGE_WINDOW_SHIFT 16
#define PCIE_BRIDGE_WINDOW_GRANULE 0x100000u

/* Capability list: id in bits 7:0, offset of the next in bits 15:8. */
#define PCIE_CAPABILITY_ID_MSI 0x05u
#define PCIE_CAPABILITY_ID_EXPRESS 0x10u
#define PCIE_CAPABILITY_ID_MSIX 0x11u

/* PCI Express capability; offsets from the capability. */
#define PCIE_EXPRESS_CAPABILITIES 0x02u /* 16 bits; version in 3:0, device/port type in 7:4 */
#define PCIE_EXPRESS_TYPE_ENDPOINT 0x0u
#define PCIE_EXPRESS_TYPE_ROOT_PORT 0x4u
#define PCIE_EXPRESS_TYPE_UPSTREAM 0x5u
#define PCIE_EXPRESS_TYPE_DOWNSTREAM 0x6u
#define PCIE_EXPRESS_TYPE_INTEGRATED 0x9u
#define PCIE_EXPRESS_TYPE_SHIFT 4
#define PCIE_EXPRESS_TYPE_MASK 0xfu
#define PCIE_EXPRESS_VERSION_2 0x2u
#define PCIE_EXPRESS_DEVICE_CAPABILITIES 0x04u /* bits 2:0: max payload supported, 128 << n bytes */
#define PCIE_EXPRESS_DEVICE_CAPABILITIES_EXTENDED_TAG 0x00000020u
#define PCIE_EXPRESS_DEVICE_CAPABILITIES_ROLE_BASED_ERRORS 0x00008000u
#define PCIE_EXPRESS_DEVICE_CAPABILITIES_FLR 0x10000000u
#define PCIE_EXPRESS_DEVICE_CONTROL 0x08u /* 16 bits */
#define PCIE_EXPRESS_DEVICE_CONTROL_RELAXED_ORDERING 0x0010u
#define PCIE_EXPRESS_DEVICE_CONTROL_EXTENDED_TAG 0x0100u
#define PCIE_EXPRESS_DEVICE_CONTROL_NO_SNOOP 0x0800u
#define PCIE_EXPRESS_DEVICE_CONTROL_FLR 0x8000u   /* wo: function level reset */
#define PCIE_EXPRESS_DEVICE_CONTROL_MPS_SHIFT 5   /* bits 7:5: max payload, 128 << n bytes */
#define PCIE_EXPRESS_DEVICE_CONTROL_MRRS_SHIFT 12 /* bits 14:12: max read request, 128 << n bytes */
#define PCIE_EXPRESS_DEVICE_CONTROL_SIZE_MASK 0x7u
#define PCIE_EXPRESS_DEVICE_STATUS 0x0au
#define PCIE_EXPRESS_DEVICE_STATUS_DETECTED 0x000fu /* w1c  three kinds of errors, unsupported requests */
#define PCIE_EXPRESS_LINK_CAPABILITIES 0x0cu        /* speed in 3:0, width in 9:4 */
#define PCIE_EXPRESS_LINK_WIDTH_SHIFT 4
#define PCIE_EXPRESS_LINK_CAPABILITIES_ACTIVE_REPORTING 0x00100000u
#define PCIE_EXPRESS_LINK_CONTROL 0x10u
#define PCIE_EXPRESS_LINK_CONTROL_ASPM 0x0003u
#define PCIE_EXPRESS_LINK_CONTROL_RCB_128 0x0008u /* ro, of a root port; clear: 64 B */
#define PCIE_EXPRESS_LINK_CONTROL_COMMON_CLOCK 0x0040u
#define PCIE_EXPRESS_LINK_CONTROL_EXTENDED_SYNCH 0x0080u
#define PCIE_EXPRESS_LINK_STATUS 0x12u /* 16 bits: current speed (1 = 2.5 GT/s ...) in 3:0, width in 9:4 */
#define PCIE_EXPRESS_LINK_STATUS_ACTIVE 0x2000u
#define PCIE_EXPRESS_SIZE 0x3cu

/* MSI-X capability; offsets from the capability. */
#define PCIE_MSIX_CONTROL 0x02u        /* 16 bits */
#define PCIE_MSIX_CONTROL_SIZE 0x07ffu /* entries - 1 */
#define PCIE_MSIX_CONTROL_FUNCTION_MASK 0x4000u
#define PCIE_MSIX_CONTROL_ENABLE 0x8000u
#define PCIE_MSIX_TABLE 0x04u /* BAR number in 2:0, offset in 31:3 */
#define PCIE_MSIX_PBA 0x08u   /* likewise */
#define PCIE_MSIX_BIR_MASK 0x7u
#define PCIE_MSIX_SIZE 0x0cu

struct pcie_msix_entry {
  uint32_t address_low;
  uint32_t address_high;
  uint32_t data;
  uint32_t control; /* PCIE_MSIX_ENTRY_MASKED; reset: masked */
};
#define PCIE_MSIX_ENTRY_MASKED 0x00000001u
_Static_assert(sizeof(struct pcie_msix_entry) == 16, "MSI-X table entry");
