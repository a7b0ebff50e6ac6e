// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "models/pcie/bridge.h"
#include "models/pcie/pcie_regs.h"
#include "platform/debug/config_text.h"

using namespace sluice;
using namespace sluice::debug;
using Catch::Contains;
using pcie::Bar;

TEST_CASE("an endpoint's registers are told by name and meaning", "[monitor]") {
  pcie::ConfigSpace c({0x1234, 0x5678, PCIE_CLASS_ETHERNET, 3, 0x9abc, 0xdef0}, PCIE_HEADER_TYPE_ENDPOINT);
  c.define_bar(0, {Bar::Kind::kMemory64, true, 1u << 20});
  c.define_bar(2, {Bar::Kind::kMemory32, false, 4096});
  c.add_express(PCIE_EXPRESS_TYPE_ENDPOINT);
  c.set_link(3, 16, 256);
  c.set_max_read_request(512);
  const unsigned msix = c.add_capability(PCIE_CAPABILITY_ID_MSIX, PCIE_MSIX_SIZE);
  c.set16(msix + PCIE_MSIX_CONTROL, PCIE_MSIX_CONTROL_ENABLE | PCIE_MSIX_CONTROL_FUNCTION_MASK | 16);
  c.set32(msix + PCIE_MSIX_TABLE, 0x2000 | 2);
  const unsigned other = c.add_capability(0x09, 8);
  c.write(PCIE_BAR(0), 0x1230'0000, 0xf);
  c.write(PCIE_BAR(1), 0x40, 0xf);
  c.write(PCIE_COMMAND, PCIE_COMMAND_MEMORY | PCIE_COMMAND_BUS_MASTER, 0x3);

  const std::string text = config_text(c);
  CHECK_THAT(text, Contains("0x000  vendor_id                 0x1234\n"));
  CHECK_THAT(text, Contains("0x004  command                   0x0006      memory, bus master\n"));
  CHECK_THAT(text, Contains("0x009  class_code                0x020000    Ethernet controller\n"));
  CHECK_THAT(text,
             Contains("0x010  bar0                      0x1230000c  64-bit prefetchable, at 0x4012300000, 1 MiB\n"));
  CHECK_THAT(text, Contains("0x014  bar1                      0x00000040\n"));
  CHECK_THAT(text, Contains("0x018  bar2                      0x00000000  32-bit, at 0x0, 4 KiB\n"));
  CHECK_THAT(text, Contains("0x02e  subsystem_id              0xdef0\n"));
  CHECK_THAT(text, Contains("PCI Express capability at 0x40\n0x042  express_capabilities      0x0002      endpoint\n"));
  CHECK_THAT(text, Contains("max payload 256 B, max read request 512 B\n"));
  CHECK_THAT(text, Contains("0x052  link_status               0x0103      gen 3 x16\n"));
  CHECK_THAT(text, Contains("message_control           0xc010      17 vectors, on, all masked\n"));
  CHECK_THAT(text, Contains("BAR 2 + 0x2000\n"));
  CHECK_THAT(text, Contains("capability 0x09 at " + base::hexadecimal(other) + "\n"));
  CHECK_THAT(text, !Contains("secondary_bus"));
  CHECK(msix_text(c) == "17 vectors, on, all masked");
}

TEST_CASE("a bridge's buses and windows are told", "[monitor]") {
  pcie::Bridge bridge({0x1234, 0x5678, PCIE_CLASS_PCI_BRIDGE, 0, 0, 0}, PCIE_EXPRESS_TYPE_ROOT_PORT);
  CHECK(is_bridge(bridge.config()));
  CHECK(bridge_text(bridge.config()) == "no buses yet");
  bridge.write(PCIE_PRIMARY_BUS, 0x0003'0200, 0x7);
  CHECK(bridge_text(bridge.config()) == "buses 02 to 03");
  bridge.write(PCIE_MEMORY_BASE, 0x4010'4000, 0xf);
  bridge.write(PCIE_PREFETCHABLE_BASE, 0x0010'0000, 0xf);
  bridge.write(PCIE_PREFETCHABLE_BASE_UPPER, 0x40, 0xf);
  bridge.write(PCIE_PREFETCHABLE_LIMIT_UPPER, 0x40, 0xf);
  const char* all = "buses 02 to 03, memory 0x40000000 to 0x401fffff, prefetchable 0x4000000000 to 0x40001fffff";
  CHECK(bridge_text(bridge.config()) == all);
  const std::string text = config_text(bridge.config());
  CHECK_THAT(text, Contains(std::string("0x01a  subordinate_bus           0x03        ") + all + "\n"));
  CHECK_THAT(text, Contains("express_capabilities      0x0042      root port\n"));
  CHECK_THAT(text, !Contains("subsystem_id"));
}

TEST_CASE("command bits and classes have names", "[monitor]") {
  CHECK(command_text(0) == "-");
  CHECK(command_text(PCIE_COMMAND_MEMORY | PCIE_COMMAND_INTX_DISABLE) == "memory, INTx disabled");
  CHECK(class_text(PCIE_CLASS_PCI_BRIDGE) == "PCI bridge");
  CHECK(class_text(0x123456).empty());
  CHECK(msix_text(pcie::ConfigSpace({}, PCIE_HEADER_TYPE_ENDPOINT)).empty());
}
