// SPDX-License-Identifier: Apache-2.0
#include "platform/debug/pci_functions.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/irq/imsic_regs.h"
#include "models/pcie/pcie_regs.h"
#include "platform/board/pcie_tree.h"
#include "platform/debug/config_text.h"

namespace sluice::debug {
namespace {

using Place = std::optional<pcie::RoutingId>;

/// The place of a device on the bus below a bridge; none while the bridge leads to no bus. device: 0, except on the
/// internal bus of a switch.
Place below(const pcie::ConfigSpace& bridge, const Place& bridge_place, unsigned device) {
  const unsigned bus = bridge.get8(PCIE_SECONDARY_BUS);
  if (bus == 0 || !bridge_place) return {};
  return pcie::routing_id(bus, device, 0);
}

class Walk {
 public:
  explicit Walk(platform::Board& board) : board_(board) {
    functions_.push_back({"root", pcie::routing_id(0, 0, 0), &board.root().host_bridge()});
    const auto tree = platform::pcie_tree(board.config());
    for (unsigned n = 0; n < tree.size(); ++n)
      add_port(tree[n], fmt::format("root.port{}", n), board.root().bridge(n), pcie::routing_id(0, n + 1, 0));
  }

  std::vector<PciFunction> take() { return std::move(functions_); }

 private:
  void add_port(const platform::PortPlan& port, std::string name, const pcie::Bridge& bridge, const Place& place) {
    functions_.push_back({std::move(name), place, &bridge.config()});
    if (!port.device) return;
    const std::string& path = port.device->path();
    const Place device = below(bridge.config(), place, 0);
    if (const pcie::Endpoint* endpoint = board_.endpoint(path))
      functions_.push_back({path, device, &std::as_const(*endpoint).config(), endpoint});
    else
      add_switch(port, path, device);
  }

  void add_switch(const platform::PortPlan& above, const std::string& path, const Place& place) {
    const auto& switches = board_.switches();
    const auto s = std::find_if(switches.begin(), switches.end(), [&](const auto& i) { return i.path == path; });
    if (s == switches.end()) return;
    const pcie::ConfigSpace& upstream = s->fabric->upstream_bridge().config();
    functions_.push_back({path + ".upstream", place, &upstream});
    for (unsigned n = 0; n < above.ports.size(); ++n)
      add_port(above.ports[n], fmt::format("{}.port{}", path, n), s->fabric->downstream_bridge(n),
               below(upstream, place, n));
  }

  platform::Board& board_;
  std::vector<PciFunction> functions_;
};

std::string place_text(const Place& place) {
  if (!place) return "no bus ";
  return fmt::format("{:02x}:{:02x}.{:x}", pcie::bus_of(*place), pcie::device_of(*place), pcie::function_of(*place));
}

/// Finds a function by its name or place. Null: there is none; `text` then says which there are.
const PciFunction* find(const std::vector<PciFunction>& functions, std::string_view wanted, std::string& text) {
  const auto found = std::find_if(functions.begin(), functions.end(), [&](const PciFunction& f) {
    return f.name == wanted || (f.place && place_text(f.place) == wanted);
  });
  if (found != functions.end()) return &*found;
  text = fmt::format("{} is no PCIe function; these are:\n", wanted);
  for (const PciFunction& f : functions) text += fmt::format("{}  {}\n", place_text(f.place), f.name);
  return nullptr;
}

/// What an address leads to: "imsic.hart1.supervisor", or the region of the memory map and the offset in it; empty: it
/// is not mapped.
std::string receiver(const std::vector<config::MemoryRegion>& map, std::uint64_t address) {
  for (const config::MemoryRegion& region : map) {
    if (address < region.base || address - region.base >= region.size) continue;
    const std::uint64_t offset = address - region.base;
    const bool machine = region.name == "imsic_m";
    if ((machine || region.name == "imsic_s") && offset % IMSIC_PAGE == IMSIC_SETEIPNUM_LE)
      return fmt::format("imsic.hart{}.{}", offset / IMSIC_PAGE, machine ? "machine" : "supervisor");
    return fmt::format("{} + {:#x}", region.name, offset);
  }
  return {};
}

std::string vector_text(const std::vector<config::MemoryRegion>& map, const PciFunction& f, unsigned vector) {
  const pcie_msix_entry& e = f.endpoint->msix_table()[vector];
  const std::uint64_t address = std::uint64_t{e.address_high} << 32 | e.address_low;
  const std::string to = address == 0 ? "" : receiver(map, address);
  return fmt::format("{:#014x}  {:<24}  {:#010x}  {:<6}  {}", address, to, e.data,
                     e.control & PCIE_MSIX_ENTRY_MASKED ? "masked" : "-",
                     f.endpoint->msix_pending(vector) ? "pending" : "-");
}

}  // namespace

std::vector<PciFunction> pci_functions(platform::Board& board) { return Walk(board).take(); }

std::string list_functions(platform::Board& board) {
  constexpr const char* kIndent = "                             ";
  std::string text;
  for (const PciFunction& f : pci_functions(board)) {
    const pcie::ConfigSpace& c = *f.config;
    const std::uint32_t code = c.get32(PCIE_REVISION_ID) >> 8;
    const std::string title = class_text(code);
    text += fmt::format("{}  {:<18}  {:04x}:{:04x}  class {:06x}{}{}, command: {}\n", place_text(f.place), f.name,
                        c.get16(PCIE_VENDOR_ID), c.get16(PCIE_DEVICE_ID), code, title.empty() ? "" : " ", title,
                        command_text(c.get16(PCIE_COMMAND)));
    if (is_bridge(c)) text += kIndent + bridge_text(c) + "\n";
    for (unsigned n = 0; n < PCIE_BARS_ENDPOINT && !is_bridge(c); ++n)
      if (c.bar(n).kind != pcie::Bar::Kind::kNone) text += fmt::format("{}BAR {}: {}\n", kIndent, n, bar_text(c, n));
    if (const std::string msix = msix_text(c); !msix.empty()) text += fmt::format("{}MSI-X: {}\n", kIndent, msix);
  }
  return text;
}

std::string show_config(platform::Board& board, std::string_view function) {
  const auto functions = pci_functions(board);
  std::string text;
  const PciFunction* f = find(functions, function, text);
  return f ? config_text(*f->config) : text;
}

std::string show_msix(platform::Board& board, std::string_view function) {
  const auto functions = pci_functions(board);
  std::string text;
  const PciFunction* f = find(functions, function, text);
  if (!f) return text;
  const std::size_t vectors = f->endpoint ? f->endpoint->msix_table().size() : 0;
  if (vectors == 0) return fmt::format("{} has no MSI-X", f->name);
  text = fmt::format("{}: {}\n{:<9}  {:<14}  {:<24}  {:<10}  {:<6}  {}\n", f->name, msix_text(*f->config), "vector",
                     "address", "reaches", "data", "mask", "pending");
  const auto map = platform::memory_map(board.host().plan());
  for (unsigned v = 0; v < vectors;) {
    const std::string line = vector_text(map, *f, v);
    const unsigned first = v++;
    while (v < vectors && vector_text(map, *f, v) == line) ++v;
    text +=
        fmt::format("{:<9}  {}\n", v - first == 1 ? std::to_string(first) : fmt::format("{}..{}", first, v - 1), line);
  }
  return text;
}

}  // namespace sluice::debug
