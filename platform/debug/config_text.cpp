// SPDX-License-Identifier: Apache-2.0
#include "platform/debug/config_text.h"

#include <span>
#include <vector>

#include <fmt/format.h>

#include "models/pcie/pcie_regs.h"

namespace sluice::debug {
namespace {

using pcie::ConfigSpace;

struct Field {
  unsigned at;  ///< from the start of the header or of the capability
  unsigned bytes;
  const char* name;
};

constexpr Field kCommon[] = {{PCIE_VENDOR_ID, 2, "vendor_id"},
                             {PCIE_DEVICE_ID, 2, "device_id"},
                             {PCIE_COMMAND, 2, "command"},
                             {PCIE_STATUS, 2, "status"},
                             {PCIE_REVISION_ID, 1, "revision_id"},
                             {PCIE_CLASS_CODE, 3, "class_code"},
                             {PCIE_CACHE_LINE_SIZE, 1, "cache_line_size"},
                             {PCIE_HEADER_TYPE, 1, "header_type"},
                             {PCIE_BAR(0), 4, "bar0"},
                             {PCIE_BAR(1), 4, "bar1"}};
constexpr Field kEndpoint[] = {{PCIE_BAR(2), 4, "bar2"},
                               {PCIE_BAR(3), 4, "bar3"},
                               {PCIE_BAR(4), 4, "bar4"},
                               {PCIE_BAR(5), 4, "bar5"},
                               {PCIE_SUBSYSTEM_VENDOR_ID, 2, "subsystem_vendor_id"},
                               {PCIE_SUBSYSTEM_ID, 2, "subsystem_id"},
                               {PCIE_EXPANSION_ROM, 4, "expansion_rom"}};
constexpr Field kBridge[] = {{PCIE_PRIMARY_BUS, 1, "primary_bus"},
                             {PCIE_SECONDARY_BUS, 1, "secondary_bus"},
                             {PCIE_SUBORDINATE_BUS, 1, "subordinate_bus"},
                             {PCIE_IO_BASE, 1, "io_base"},
                             {PCIE_IO_LIMIT, 1, "io_limit"},
                             {PCIE_MEMORY_BASE, 2, "memory_base"},
                             {PCIE_MEMORY_LIMIT, 2, "memory_limit"},
                             {PCIE_PREFETCHABLE_BASE, 2, "prefetchable_base"},
                             {PCIE_PREFETCHABLE_LIMIT, 2, "prefetchable_limit"},
                             {PCIE_PREFETCHABLE_BASE_UPPER, 4, "prefetchable_base_upper"},
                             {PCIE_PREFETCHABLE_LIMIT_UPPER, 4, "prefetchable_limit_upper"}};
constexpr Field kLast[] = {{PCIE_CAPABILITIES_POINTER, 1, "capabilities_pointer"},
                           {PCIE_INTERRUPT_LINE, 1, "interrupt_line"},
                           {PCIE_INTERRUPT_PIN, 1, "interrupt_pin"}};
constexpr Field kBridgeControl[] = {{PCIE_BRIDGE_CONTROL, 2, "bridge_control"}};
constexpr Field kExpress[] = {{PCIE_EXPRESS_CAPABILITIES, 2, "express_capabilities"},
                              {PCIE_EXPRESS_DEVICE_CAPABILITIES, 4, "device_capabilities"},
                              {PCIE_EXPRESS_DEVICE_CONTROL, 2, "device_control"},
                              {PCIE_EXPRESS_DEVICE_STATUS, 2, "device_status"},
                              {PCIE_EXPRESS_LINK_CAPABILITIES, 4, "link_capabilities"},
                              {PCIE_EXPRESS_LINK_CONTROL, 2, "link_control"},
                              {PCIE_EXPRESS_LINK_STATUS, 2, "link_status"}};
constexpr Field kMsix[] = {
    {PCIE_MSIX_CONTROL, 2, "message_control"}, {PCIE_MSIX_TABLE, 4, "table"}, {PCIE_MSIX_PBA, 4, "pending_bits"}};

std::uint32_t value_of(const ConfigSpace& config, unsigned at, unsigned bytes) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < bytes && at + i < ConfigSpace::kBytes; ++i)
    value |= std::uint32_t{config.get8(at + i)} << 8 * i;
  return value;
}

struct Bit {
  std::uint32_t mask;
  const char* text;
};

std::string bits_text(std::uint32_t value, std::span<const Bit> bits) {
  std::string text;
  for (const Bit& b : bits)
    if ((value & b.mask) != 0) text += fmt::format("{}{}", text.empty() ? "" : ", ", b.text);
  return text;
}

const char* express_type_text(unsigned type) {
  switch (type) {
    case PCIE_EXPRESS_TYPE_ENDPOINT:
      return "endpoint";
    case PCIE_EXPRESS_TYPE_ROOT_PORT:
      return "root port";
    case PCIE_EXPRESS_TYPE_UPSTREAM:
      return "upstream port of a switch";
    case PCIE_EXPRESS_TYPE_DOWNSTREAM:
      return "downstream port of a switch";
    case PCIE_EXPRESS_TYPE_INTEGRATED:
      return "part of the root complex";
    default:
      return "";
  }
}

unsigned size_of(std::uint32_t encoded) { return 128u << (encoded & PCIE_EXPRESS_DEVICE_CONTROL_SIZE_MASK); }

std::string link_text(std::uint32_t value) {
  const std::uint32_t width = value >> 4 & 0x3f;
  return width == 0 ? "" : fmt::format("gen {} x{}", value & 0xf, width);
}

std::string place_text(std::uint32_t value) {
  return fmt::format("BAR {} + {:#x}", value & PCIE_MSIX_BIR_MASK, value & ~PCIE_MSIX_BIR_MASK);
}

std::string status_text(std::uint32_t value) {
  constexpr Bit bits[] = {{PCIE_STATUS_INTERRUPT, "INTx pending"}, {PCIE_STATUS_CAPABILITIES, "capabilities"}};
  return bits_text(value, bits);
}

std::string msix_control_text(std::uint32_t control) {
  const unsigned vectors = (control & PCIE_MSIX_CONTROL_SIZE) + 1;
  return fmt::format("{} vector{}, {}{}", vectors, vectors == 1 ? "" : "s",
                     control & PCIE_MSIX_CONTROL_ENABLE ? "on" : "off",
                     control & PCIE_MSIX_CONTROL_FUNCTION_MASK ? ", all masked" : "");
}

std::string header_meaning(const ConfigSpace& config, unsigned at) {
  switch (at) {
    case PCIE_COMMAND:
      return command_text(config.get16(PCIE_COMMAND));
    case PCIE_STATUS:
      return status_text(config.get16(PCIE_STATUS));
    case PCIE_CLASS_CODE:
      return class_text(value_of(config, PCIE_CLASS_CODE, 3));
    case PCIE_INTERRUPT_PIN: {
      const unsigned pin = config.get8(PCIE_INTERRUPT_PIN);
      return pin >= 1 && pin <= 4 ? fmt::format("INT{}", "ABCD"[pin - 1]) : "";
    }
    default:
      break;
  }
  if (is_bridge(config)) return at == PCIE_SUBORDINATE_BUS ? bridge_text(config) : "";
  for (unsigned n = 0; n < PCIE_BARS_ENDPOINT; ++n)
    if (at == PCIE_BAR(n) && config.bar(n).kind != pcie::Bar::Kind::kNone) return bar_text(config, n);
  return {};
}

std::string express_meaning(unsigned at, std::uint32_t value) {
  switch (at) {
    case PCIE_EXPRESS_CAPABILITIES:
      return express_type_text(value >> PCIE_EXPRESS_TYPE_SHIFT & 0xf);
    case PCIE_EXPRESS_DEVICE_CAPABILITIES:
      return fmt::format("max payload up to {} B", size_of(value));
    case PCIE_EXPRESS_DEVICE_CONTROL:
      return fmt::format("max payload {} B, max read request {} B",
                         size_of(value >> PCIE_EXPRESS_DEVICE_CONTROL_MPS_SHIFT),
                         size_of(value >> PCIE_EXPRESS_DEVICE_CONTROL_MRRS_SHIFT));
    case PCIE_EXPRESS_LINK_CAPABILITIES:
      return link_text(value);
    case PCIE_EXPRESS_LINK_STATUS:
      return link_text(value) + (value & PCIE_EXPRESS_LINK_STATUS_ACTIVE ? ", active" : "");
    default:
      return {};
  }
}

std::string msix_meaning(unsigned at, std::uint32_t value) {
  return at == PCIE_MSIX_CONTROL ? msix_control_text(value) : place_text(value);
}

std::string line(const ConfigSpace& config, unsigned start, const Field& f, const std::string& meaning) {
  const std::uint32_t value = value_of(config, start + f.at, f.bytes);
  std::string text = fmt::format("{:#05x}  {:<24}  {:#0{}x}", start + f.at, f.name, value, 2 + 2 * f.bytes);
  if (!meaning.empty()) text += fmt::format("{:{}}{}", "", 2 + 2 * (4 - f.bytes), meaning);
  return text + "\n";
}

std::string header_lines(const ConfigSpace& config, std::span<const Field> fields) {
  std::string text;
  for (const Field& f : fields) text += line(config, 0, f, header_meaning(config, f.at));
  return text;
}

std::string capability_text(const ConfigSpace& config, unsigned at) {
  const unsigned id = config.get8(at);
  std::string text;
  if (id == PCIE_CAPABILITY_ID_EXPRESS) {
    text = fmt::format("PCI Express capability at {:#04x}\n", at);
    for (const Field& f : kExpress)
      text += line(config, at, f, express_meaning(f.at, value_of(config, at + f.at, f.bytes)));
  } else if (id == PCIE_CAPABILITY_ID_MSIX) {
    text = fmt::format("MSI-X capability at {:#04x}\n", at);
    for (const Field& f : kMsix) text += line(config, at, f, msix_meaning(f.at, value_of(config, at + f.at, f.bytes)));
  } else {
    text = fmt::format("capability {:#04x} at {:#04x}\n", id, at);
  }
  return text;
}

}  // namespace

bool is_bridge(const ConfigSpace& config) {
  return (config.get8(PCIE_HEADER_TYPE) & PCIE_HEADER_TYPE_MASK) == PCIE_HEADER_TYPE_BRIDGE;
}

std::string command_text(std::uint16_t command) {
  constexpr Bit bits[] = {{PCIE_COMMAND_MEMORY, "memory"},
                          {PCIE_COMMAND_BUS_MASTER, "bus master"},
                          {PCIE_COMMAND_PARITY, "parity"},
                          {PCIE_COMMAND_SERR, "SERR#"},
                          {PCIE_COMMAND_INTX_DISABLE, "INTx disabled"}};
  const std::string text = bits_text(command, bits);
  return text.empty() ? "-" : text;
}

std::string class_text(std::uint32_t class_code) {
  constexpr std::uint32_t kInterface = 0xff;
  switch (class_code & ~kInterface) {
    case PCIE_CLASS_ETHERNET:
      return "Ethernet controller";
    case PCIE_CLASS_HOST_BRIDGE:
      return "host bridge";
    case PCIE_CLASS_PCI_BRIDGE:
      return "PCI bridge";
    case 0x088000:
      return "system peripheral";
    case 0x120000:
      return "processing accelerator";
    default:
      return {};
  }
}

std::string bar_text(const ConfigSpace& config, unsigned bar) {
  const pcie::Bar& b = config.bar(bar);
  return fmt::format("{}-bit{}, at {:#x}, {}", b.kind == pcie::Bar::Kind::kMemory64 ? 64 : 32,
                     b.prefetchable ? " prefetchable" : "", config.bar_address(bar),
                     base::to_text(base::Bytes(b.size)));
}

std::string bridge_text(const ConfigSpace& config) {
  const unsigned secondary = config.get8(PCIE_SECONDARY_BUS);
  if (secondary == 0) return "no buses yet";
  std::string text = fmt::format("buses {:02x} to {:02x}", secondary, config.get8(PCIE_SUBORDINATE_BUS));
  const auto low = [&](unsigned reg) { return std::uint64_t{config.get16(reg) & 0xfff0u} << 16; };
  const auto high = [&](unsigned reg) { return std::uint64_t{config.get32(reg)} << 32; };
  const auto add = [&](const char* kind, std::uint64_t first, std::uint64_t last) {
    last |= PCIE_BRIDGE_WINDOW_GRANULE - 1;
    if (first <= last) text += fmt::format(", {} {:#x} to {:#x}", kind, first, last);
  };
  add("memory", low(PCIE_MEMORY_BASE), low(PCIE_MEMORY_LIMIT));
  add("prefetchable", low(PCIE_PREFETCHABLE_BASE) | high(PCIE_PREFETCHABLE_BASE_UPPER),
      low(PCIE_PREFETCHABLE_LIMIT) | high(PCIE_PREFETCHABLE_LIMIT_UPPER));
  return text;
}

std::string msix_text(const ConfigSpace& config) {
  const unsigned at = config.find_capability(PCIE_CAPABILITY_ID_MSIX);
  return at == 0 ? "" : msix_control_text(config.get16(at + PCIE_MSIX_CONTROL));
}

std::string config_text(const ConfigSpace& config) {
  std::string text =
      header_lines(config, kCommon) +
      header_lines(config, is_bridge(config) ? std::span<const Field>(kBridge) : std::span<const Field>(kEndpoint));
  text += header_lines(config, kLast);
  if (is_bridge(config)) text += header_lines(config, kBridgeControl);
  for (unsigned at = config.get8(PCIE_CAPABILITIES_POINTER); at != 0; at = config.get8(at + 1))
    text += capability_text(config, at);
  return text;
}

}  // namespace sluice::debug
