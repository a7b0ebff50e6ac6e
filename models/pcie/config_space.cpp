// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config_space.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "models/pcie/pcie_regs.h"

namespace sluice::pcie {
namespace {

constexpr std::uint32_t both_halves(std::uint32_t low, std::uint32_t high) { return low | high << 16; }

/// Returns n for a size of 128 << n bytes.
unsigned encode_size(unsigned bytes) {
  return static_cast<unsigned>(__builtin_ctz(std::clamp(bytes, 128u, 4096u) / 128));
}

}  // namespace

ConfigSpace::ConfigSpace(const Identity& id, std::uint8_t header_type) {
  set16(PCIE_VENDOR_ID, id.vendor);
  set16(PCIE_DEVICE_ID, id.device);
  set32(PCIE_REVISION_ID, id.class_code << 8 | id.revision);
  set8(PCIE_HEADER_TYPE, header_type);
  writable(PCIE_COMMAND, PCIE_COMMAND_MEMORY | PCIE_COMMAND_BUS_MASTER | PCIE_COMMAND_INTX_DISABLE |
                             PCIE_COMMAND_PARITY | PCIE_COMMAND_SERR);
  writable(PCIE_CACHE_LINE_SIZE, 0xff);
  writable(PCIE_INTERRUPT_LINE, 0xff);
  if (header_type == PCIE_HEADER_TYPE_ENDPOINT) {
    set16(PCIE_SUBSYSTEM_VENDOR_ID, id.subsystem_vendor);
    set16(PCIE_SUBSYSTEM_ID, id.subsystem);
    return;
  }
  writable(PCIE_PRIMARY_BUS, 0x00ff'ffff);  // and secondary and subordinate
  writable(PCIE_MEMORY_BASE, both_halves(PCIE_BRIDGE_WINDOW, PCIE_BRIDGE_WINDOW));
  writable(PCIE_PREFETCHABLE_BASE, both_halves(PCIE_BRIDGE_WINDOW, PCIE_BRIDGE_WINDOW));
  writable(PCIE_PREFETCHABLE_BASE_UPPER, ~0u);
  writable(PCIE_PREFETCHABLE_LIMIT_UPPER, ~0u);
  writable(PCIE_INTERRUPT_LINE, both_halves(0, PCIE_BRIDGE_CONTROL_RESET));
  // The specification leaves the windows' reset values open: empty ones claim nothing by accident.
  set32(PCIE_MEMORY_BASE, both_halves(PCIE_BRIDGE_WINDOW, 0));
  set32(PCIE_PREFETCHABLE_BASE, both_halves(PCIE_BRIDGE_WINDOW | PCIE_PREFETCHABLE_64, PCIE_PREFETCHABLE_64));
}

void ConfigSpace::write(unsigned reg, std::uint32_t value, unsigned byte_enables) {
  if (reg >= kBytes) return;
  std::uint32_t mask = 0;
  for (unsigned i = 0; i < 4; ++i)
    if (byte_enables >> i & 1) mask |= 0xffu << 8 * i;
  std::uint32_t& word = words_[reg / 4];
  word &= ~(value & mask & clear_by_one_[reg / 4]);
  mask &= writable_[reg / 4];
  word = (word & ~mask) | (value & mask);
}

unsigned ConfigSpace::add_capability(std::uint8_t id, unsigned bytes) {
  const unsigned at = next_capability_;
  next_capability_ += (bytes + 3) & ~3u;
  set8(at, id);
  if (last_capability_ == 0)
    set8(PCIE_CAPABILITIES_POINTER, static_cast<std::uint8_t>(at));
  else
    set8(last_capability_ + 1, static_cast<std::uint8_t>(at));
  last_capability_ = at;
  set16(PCIE_STATUS, get16(PCIE_STATUS) | PCIE_STATUS_CAPABILITIES);
  return at;
}

unsigned ConfigSpace::find_capability(std::uint8_t id) const {
  for (unsigned at = get8(PCIE_CAPABILITIES_POINTER); at; at = get8(at + 1))
    if (get8(at) == id) return at;
  return 0;
}

void ConfigSpace::add_express(unsigned type) {
  express_ = add_capability(PCIE_CAPABILITY_ID_EXPRESS, PCIE_EXPRESS_SIZE);
  set16(express_ + PCIE_EXPRESS_CAPABILITIES,
        static_cast<std::uint16_t>(PCIE_EXPRESS_VERSION_2 | type << PCIE_EXPRESS_TYPE_SHIFT));
  const bool endpoint = type == PCIE_EXPRESS_TYPE_ENDPOINT || type == PCIE_EXPRESS_TYPE_INTEGRATED;
  set32(express_ + PCIE_EXPRESS_DEVICE_CAPABILITIES, PCIE_EXPRESS_DEVICE_CAPABILITIES_EXTENDED_TAG |
                                                         PCIE_EXPRESS_DEVICE_CAPABILITIES_ROLE_BASED_ERRORS |
                                                         (endpoint ? PCIE_EXPRESS_DEVICE_CAPABILITIES_FLR : 0));
  set16(express_ + PCIE_EXPRESS_DEVICE_CONTROL, PCIE_EXPRESS_DEVICE_CONTROL_RELAXED_ORDERING |
                                                    PCIE_EXPRESS_DEVICE_CONTROL_EXTENDED_TAG |
                                                    PCIE_EXPRESS_DEVICE_CONTROL_NO_SNOOP);
  writable(express_ + PCIE_EXPRESS_DEVICE_CONTROL, 0xffffu & ~PCIE_EXPRESS_DEVICE_CONTROL_FLR);
  clear_by_one(express_ + PCIE_EXPRESS_DEVICE_CONTROL, both_halves(0, PCIE_EXPRESS_DEVICE_STATUS_DETECTED));
  writable(express_ + PCIE_EXPRESS_LINK_CONTROL, PCIE_EXPRESS_LINK_CONTROL_ASPM |
                                                     PCIE_EXPRESS_LINK_CONTROL_COMMON_CLOCK |
                                                     PCIE_EXPRESS_LINK_CONTROL_EXTENDED_SYNCH);
}

void ConfigSpace::check_bar(unsigned n, const Bar& bar) const {
  constexpr std::uint64_t kLeast = 16, kMost32 = std::uint64_t{1} << 31;
  const auto refuse = [n](const std::string& why) { throw std::logic_error("BAR " + std::to_string(n) + " " + why); };
  const auto is_wide = [this](unsigned i) { return bars_[i].kind == Bar::Kind::kMemory64; };
  const bool wide = bar.kind == Bar::Kind::kMemory64;
  if (n >= bars_.size()) refuse("does not exist: a function has BARs 0 to 5");
  if (bar.size < kLeast || (bar.size & (bar.size - 1)) != 0)
    refuse("has " + std::to_string(bar.size) + " bytes: a BAR's size is a power of two, at least 16 B");
  if (!wide && bar.size > kMost32) refuse("is larger than the 2 GiB that a 32-bit BAR can have");
  if (wide && n + 1 == bars_.size()) refuse("has no place for its upper half: the last 64-bit BAR is 4");
  if (n > 0 && is_wide(n - 1)) refuse("is the upper half of BAR " + std::to_string(n - 1) + ", which is a 64-bit one");
  if (wide && bars_[n + 1].kind != Bar::Kind::kNone)
    refuse("is a 64-bit one, and its upper half is BAR " + std::to_string(n + 1) + ", which is another");
}

void ConfigSpace::define_bar(unsigned n, const Bar& bar) {
  if (bar.kind == Bar::Kind::kNone) return;
  check_bar(n, bar);
  bars_[n] = bar;
  const bool wide = bar.kind == Bar::Kind::kMemory64;
  const std::uint64_t mask = ~(bar.size - 1);
  set32(PCIE_BAR(n), (wide ? PCIE_BAR_TYPE_64 : 0) | (bar.prefetchable ? PCIE_BAR_PREFETCHABLE : 0));
  writable(PCIE_BAR(n), static_cast<std::uint32_t>(mask) & PCIE_BAR_MEMORY_MASK);
  if (wide) writable(PCIE_BAR(n + 1), static_cast<std::uint32_t>(mask >> 32));
}

std::uint64_t ConfigSpace::bar_address(unsigned n) const {
  std::uint64_t a = get32(PCIE_BAR(n)) & PCIE_BAR_MEMORY_MASK;
  if (bars_[n].kind == Bar::Kind::kMemory64) a |= std::uint64_t{get32(PCIE_BAR(n + 1))} << 32;
  return a;
}

bool ConfigSpace::memory_enabled() const { return get16(PCIE_COMMAND) & PCIE_COMMAND_MEMORY; }
bool ConfigSpace::bus_master() const { return get16(PCIE_COMMAND) & PCIE_COMMAND_BUS_MASTER; }

unsigned ConfigSpace::max_payload() const {
  const unsigned supported = get32(express_ + PCIE_EXPRESS_DEVICE_CAPABILITIES) & PCIE_EXPRESS_DEVICE_CONTROL_SIZE_MASK;
  const unsigned set = get16(express_ + PCIE_EXPRESS_DEVICE_CONTROL) >> PCIE_EXPRESS_DEVICE_CONTROL_MPS_SHIFT &
                       PCIE_EXPRESS_DEVICE_CONTROL_SIZE_MASK;
  return 128u << std::min(set, supported);
}

unsigned ConfigSpace::max_read_request() const {
  const unsigned set = get16(express_ + PCIE_EXPRESS_DEVICE_CONTROL) >> PCIE_EXPRESS_DEVICE_CONTROL_MRRS_SHIFT &
                       PCIE_EXPRESS_DEVICE_CONTROL_SIZE_MASK;
  return 128u << std::min(set, 5u);
}

void ConfigSpace::set_max_payload(unsigned bytes, unsigned supported) {
  const unsigned capabilities = express_ + PCIE_EXPRESS_DEVICE_CAPABILITIES;
  set32(capabilities, (get32(capabilities) & ~PCIE_EXPRESS_DEVICE_CONTROL_SIZE_MASK) | encode_size(supported));
  const unsigned control = express_ + PCIE_EXPRESS_DEVICE_CONTROL;
  const unsigned mask = PCIE_EXPRESS_DEVICE_CONTROL_SIZE_MASK << PCIE_EXPRESS_DEVICE_CONTROL_MPS_SHIFT;
  set16(control, static_cast<std::uint16_t>((get16(control) & ~mask) | encode_size(bytes)
                                                                           << PCIE_EXPRESS_DEVICE_CONTROL_MPS_SHIFT));
}

void ConfigSpace::set_max_read_request(unsigned bytes) {
  const unsigned control = express_ + PCIE_EXPRESS_DEVICE_CONTROL;
  const unsigned mask = PCIE_EXPRESS_DEVICE_CONTROL_SIZE_MASK << PCIE_EXPRESS_DEVICE_CONTROL_MRRS_SHIFT;
  set16(control, static_cast<std::uint16_t>((get16(control) & ~mask) | encode_size(bytes)
                                                                           << PCIE_EXPRESS_DEVICE_CONTROL_MRRS_SHIFT));
}

void ConfigSpace::set_read_completion_boundary(unsigned bytes) {
  const unsigned control = express_ + PCIE_EXPRESS_LINK_CONTROL;
  const unsigned others = get16(control) & ~PCIE_EXPRESS_LINK_CONTROL_RCB_128;
  set16(control, static_cast<std::uint16_t>(others | (bytes == 128 ? PCIE_EXPRESS_LINK_CONTROL_RCB_128 : 0)));
  keep_reset_values();
}

void ConfigSpace::set_link(unsigned generation, unsigned lanes, unsigned max_payload) {
  set_max_payload(max_payload, max_payload);
  const std::uint32_t speed_and_width = generation | lanes << PCIE_EXPRESS_LINK_WIDTH_SHIFT;
  const unsigned type = get16(express_ + PCIE_EXPRESS_CAPABILITIES) >> PCIE_EXPRESS_TYPE_SHIFT & PCIE_EXPRESS_TYPE_MASK;
  const bool above = type == PCIE_EXPRESS_TYPE_ROOT_PORT || type == PCIE_EXPRESS_TYPE_DOWNSTREAM;
  set32(express_ + PCIE_EXPRESS_LINK_CAPABILITIES,
        speed_and_width | (above ? PCIE_EXPRESS_LINK_CAPABILITIES_ACTIVE_REPORTING : 0));
  set16(express_ + PCIE_EXPRESS_LINK_STATUS,
        static_cast<std::uint16_t>(speed_and_width | (above ? PCIE_EXPRESS_LINK_STATUS_ACTIVE : 0)));
  keep_reset_values();
}

}  // namespace sluice::pcie
