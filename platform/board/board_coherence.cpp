// SPDX-License-Identifier: Apache-2.0
/// Devices on the bus of a system-on-chip, and those behind its coherent links.
#include <algorithm>

#include <fmt/format.h>

#include "models/coherence/link/link_part.h"
#include "platform/board/board.h"

namespace sluice::platform {
namespace {

/// The caches of a system, to the homes behind one link.
class HomesBehind final : public base::LineHomes {
 public:
  HomesBehind(coherence::MemorySystem& memory, coherence::CoherentLink& link) : memory_(memory), link_(link) {}
  void add_home(base::LineHome& home, std::uint64_t base, std::uint64_t size, std::string path) override {
    memory_.add_home(home, base, size, std::move(path), link_);
  }

 private:
  coherence::MemorySystem& memory_;
  coherence::CoherentLink& link_;
};

}  // namespace

void Board::build_coherent_links() {
  for (const config::Instance* l : config_.of_kind("coherent")) {
    const auto& factory = dynamic_cast<const coherence::LinkFactory&>(*l->factory());
    coherent_links_.push_back({l->path(), factory.build(base::module_name(l->path()).c_str(), l->model_values())});
  }
}

/// The link that a device is behind.
CoherentInstance& Board::coherent_link(const config::Instance& device, const memory::BusPlace& place,
                                       SystemOnChip& system) {
  const std::string key = place.keys + "link";
  CoherentInstance& link = *std::find_if(coherent_links_.begin(), coherent_links_.end(),
                                         [&](const CoherentInstance& l) { return l.path == place.link; });
  if (link.system && link.system != &system)
    throw config_.error(device, key, fmt::format("must name a link of its own system: {} is another's", place.link));
  link.system = &system;
  const coherence::Dialect& dialect = link.link->dialect();
  const unsigned line = system.memory().line_bytes();
  if (dialect.line_bytes != 0 && dialect.line_bytes != line)
    throw config_.error(device, key,
                        fmt::format("must name a link with lines of {} B, as its system's caches.line says; {} has "
                                    "lines of {} B",
                                    line, dialect.name, dialect.line_bytes));
  return link;
}

/// Connects a device's registers, and the lines that it is the home of.
void Board::connect_ports(const config::Instance& d, memory::BusDevice& device, const memory::BusPlace& place,
                          SystemOnChip& system) {
  const BusExtent extent = bus_extent_of(config_, d);
  memory::SocBus::Region region{d.path(), place.address, extent.size, false, false};
  memory::ChipPorts ports{system.bus(), system.memory()};
  if (extent.lines_size == 0)
    return by_author(config_, d.path(), "cannot be built", [&] { device.connect(ports, region); });
  coherence::CoherentLink& link = *coherent_link(d, place, system).link;
  register_paths_.push_back(
      std::make_unique<coherence::RegisterPath>(base::module_name(d.path() + ".registers").c_str(), link, d.path()));
  HomesBehind homes(system.memory(), link);
  ports.registers = &register_paths_.back()->to_device;
  const auto interrupt = [&bus = system.bus()](std::uint64_t to, std::uint32_t value) {
    return bus.takes_interrupts(to) && bus.write_now(to, &value, sizeof value);
  };
  host_paths_.push_back(std::make_unique<coherence::HostPath>(base::module_name(d.path() + ".host").c_str(), link,
                                                              system.memory(), system.memory().line_bytes(), interrupt,
                                                              d.path()));
  ports.host = host_paths_.back().get();
  by_author(config_, d.path(), "cannot be built", [&] {
    device.connect(ports, region);
    device.connect_lines(homes, place.lines, extent.lines_size, d.path());
  });
  region.own = region.waits = true;
  system.bus().map(region, register_paths_.back()->from_bus);
}

}  // namespace sluice::platform
