// SPDX-License-Identifier: Apache-2.0
/// What the harts of a system-on-chip find when they start: images in memory, a device tree, registers.

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/parameters/quantity.h"
#include "platform/board/instances.h"
#include "platform/board/pcie_tree.h"
#include "platform/board/system_on_chip.h"
#include "platform/firmware/device_tree.h"
#include "platform/firmware/device_tree_edit.h"

namespace sluice::platform {

/// A range of memory that an image takes.
struct Taken {
  const Image* image;
  std::uint64_t first;
  std::uint64_t last;
};

namespace {

constexpr std::uint64_t kDeviceTreeGranule = 64 << 10;
/// Bytes kept free after the tree, for firmware that extends it in place.
constexpr std::uint64_t kDeviceTreeGrowth = 16 << 10;
constexpr std::uint64_t kDynamicInfoRoom = 64;

std::uint64_t align_up(std::uint64_t v, std::uint64_t to) { return (v + to - 1) / to * to; }

/// What OpenSBI's fw_dynamic reads at the address in a2: its struct fw_dynamic_info, version 2.
std::array<std::uint64_t, 6> dynamic_info(std::uint64_t next_entry, unsigned boot_hart) {
  constexpr std::uint64_t kMagic = 0x4942'534f, kVersion = 2, kSupervisor = 1, kNoOptions = 0;
  return {kMagic, kVersion, next_entry, kSupervisor, kNoOptions, boot_hart};
}

/// Images must not overlap: the one copied last would win.
void add_checked(std::vector<Taken>& all, const Image& image) {
  std::vector<Taken> own;
  for (const Image::Segment& s : image.segments()) own.push_back({&image, s.address, s.address + s.memory_size - 1});
  for (const Taken& a : own)
    for (const Taken& b : all)
      if (a.first <= b.last && b.first <= a.last)
        image.refuse(fmt::format("lies at {} to {}, over {} {} at {} to {}", base::hexadecimal(a.first),
                                 base::hexadecimal(a.last), b.image->what(), b.image->name(),
                                 base::hexadecimal(b.first), base::hexadecimal(b.last)));
  all.insert(all.end(), own.begin(), own.end());
}

/// The address of an initial RAM disk to which the board gives none: the middle of the memory, because firmware and
/// what it loads grow from both ends, or the end of the last image if that is higher.
std::uint64_t place_of_initrd(const base::GuestRam& ram, const std::vector<Taken>& all) {
  std::uint64_t end = ram.base() + ram.size() / 2;
  for (const Taken& t : all)
    if (ram.contains(t.first, 1)) end = std::max(end, t.last + 1);
  return align_up(end, base::GuestRam::kPage);
}

/// Reads the files that a cluster's parameters name. Messages name the place where the parameter was set.
class ImageReader {
 public:
  ImageReader(const config::BoardConfig& config, const config::Instance& cluster)
      : config_(config), cluster_(cluster) {}

  Image read(const char* what, const char* key, const std::string& named, Image::Kind kind) const {
    try {
      const ImageName name = ImageName::parse(named);
      return {what, name, config_.path_of(cluster_, key, name.file), where(key), kind};
    } catch (const base::ValueError& e) {
      throw config::UserError(fmt::format("{}: {} {} {}", where(key), what, named, e.what()));
    }
  }
  /// path: taken from the model's values, so it can be opened as it is.
  Image read_device_tree(const std::string& path) const {
    return {"device tree", {path, {}}, path, where("device_tree"), Image::Kind::data};
  }

 private:
  std::string where(const char* key) const {
    const config::Origin& origin = cluster_.origin(key);
    return origin.where.file.empty() ? origin.set_by : origin.where.text();
  }

  const config::BoardConfig& config_;
  const config::Instance& cluster_;
};

/// Firmware that reads a property has its name, as a C string, among its constants.
bool reads(const Firmware& firmware, const std::string& property) {
  const char* name = property.c_str();
  const std::boyer_moore_horspool_searcher searcher(name, name + property.size() + 1);
  return std::any_of(firmware.images().begin(), firmware.images().end(), [&](const Image& i) {
    const auto* bytes = reinterpret_cast<const char*>(i.bytes().data());
    return std::search(bytes, bytes + i.bytes().size(), searcher) != bytes + i.bytes().size();
  });
}

/// Throws where a service is of a program that the firmware does not have.
void check_services(const config::BoardConfig& config, const config::Instance& cluster, const Firmware& firmware) {
  for (const std::string& service : cluster.parameters<riscv::ClusterParameters>().services) {
    const std::string program = service.substr(0, service.find('*'));
    if (!firmware.symbols().variable(program + "_program"))
      throw config.error(cluster, "services",
                         fmt::format("names {}, and the firmware {} has no such program", program, firmware.name()));
  }
}

/// What the board asks of the firmware of [cluster.NAME], as properties of /chosen. Throws config::UserError where the
/// firmware reads no property of such a name, so that it would have no effect.
std::vector<part::FirmwareProperty> firmware_settings(const config::BoardConfig& config,
                                                      const config::Instance& cluster, const Firmware& firmware) {
  const auto& p = cluster.parameters<riscv::ClusterParameters>();
  std::vector<part::FirmwareProperty> list;
  const auto add = [&](std::string_view key, part::FirmwareProperty property) {
    if (!reads(firmware, property.name)) {
      // A file's setting is for the firmware that it knows of: another one, as a workload's own, need not read it.
      if (!cluster.origin(key).where.file.empty() && config::BoardConfig::is_later(cluster, "firmware", cluster, key))
        return false;
      throw config.without_effect(
          cluster, key, fmt::format("the firmware {} does not read /chosen's {}", firmware.name(), property.name));
    }
    list.push_back(std::move(property));
    return true;
  };
  if (!p.services.empty() && add("services", {"sluice,services", fmt::format("{}", fmt::join(p.services, ","))}))
    check_services(config, cluster, firmware);
  if (p.batch_threads != 0) add("batch_threads", {"sluice,batch-threads", p.batch_threads});
  if (p.time_slice != riscv::ClusterParameters().time_slice)
    add("time_slice", {"sluice,time-slice", static_cast<std::uint32_t>(p.time_slice / base::Time::us(1))});
  if (p.idle_polls != 0) add("idle_polls", {"sluice,idle-polls", p.idle_polls});
  return list;
}

}  // namespace

std::unique_ptr<Cluster> SystemOnChip::make_cluster(const config::Instance& instance, unsigned first_hart) {
  using enum Image::Kind;
  const auto& p = instance.parameters<riscv::ClusterParameters>();
  const ImageReader reader(*plan_.config, instance);
  Firmware firmware(reader.read("firmware", "firmware", p.firmware, executable));
  auto c = std::make_unique<Cluster>(
      Cluster{instance.name(), &p, this, first_hart, std::move(firmware), {}, {}, {}, {}, {}, {}});
  for (const std::string& named : p.images) c->firmware.add(reader.read("image", "images", named, executable));
  c->processes = std::make_unique<Processes>(c->firmware, guest_rams());
  if (!p.initrd.empty()) c->initrd = reader.read("initrd", "initrd", p.initrd, data);
  if (!p.device_tree.empty()) c->device_tree = reader.read_device_tree(p.device_tree);
  return c;
}

const config::Instance& SystemOnChip::instance_of(const Cluster& c) const {
  return *plan_.config->find("cluster." + c.name);
}

bool SystemOnChip::is_firmware_in(const base::GuestRam& ram) const {
  return std::any_of(clusters_.begin(), clusters_.end(),
                     [&](const auto& c) { return ram.contains(c->firmware.entry(), Image::kInstruction); });
}

/// The description of the system, and of the board around it, from which this cluster's device tree is made.
DeviceTreeSource SystemOnChip::describe(const Cluster& c, const base::GuestRam& own,
                                        const DeviceTreeSource& board) const {
  DeviceTreeSource tree = board;
  tree.map = plan_.parts.map;
  tree.first_hart = c.first_hart;
  tree.harts = c.parameters->harts;
  tree.aia = plan_.aia();
  tree.timebase_hertz = c.parameters->timebase.hertz();
  tree.core_hertz = c.parameters->clock.hertz();
  tree.line_bytes = static_cast<unsigned>(plan_.parts.caches.line.count());
  tree.memory_base = own.base();
  tree.memory_size = own.size();
  for (const auto& other : rams_)
    if (&other->bytes() != &own && !is_firmware_in(other->bytes()))
      tree.more_memory.emplace_back(other->bytes().base(), other->bytes().size());
  for (const config::Instance* d : plan_.devices) {
    const memory::BusPlace place = bus_place_of(*plan_.config, *d);
    BusExtent extent = bus_extent_of(*plan_.config, *d);
    if (extent.compatible.empty()) continue;
    tree.devices.push_back({d->name(), d->path(), std::move(extent.compatible), place.address, extent.size, place.lines,
                            extent.lines_size, place.interrupts, std::move(extent.properties)});
  }
  tree.interrupt_sources = plan_.aia() ? plan_.parts.aplic.sources : plan_.parts.plic.sources;
  tree.imsic_identities = plan_.parts.imsic.identities;
  for (part::FirmwareProperty& p : firmware_settings(*plan_.config, instance_of(c), c.firmware))
    tree.chosen.push_back(std::move(p));
  tree.uart_interrupt = HostMap::kUartSource;
  // Without a clock, characters take no time at any divisor. The tree then keeps its default frequency, from which
  // drivers can compute a divisor.
  if (const auto clock = plan_.parts.uart.clock; clock.hertz() != 0)
    tree.uart_hertz = static_cast<std::uint32_t>(clock.hertz());
  tree.pcie_interrupts = HostMap::kPcieSource;
  return tree;
}

/// The system's own tree, with the user's changes.
std::vector<std::uint8_t> SystemOnChip::device_tree_of(const Cluster& c, const DeviceTreeSource& source) const {
  std::vector<std::uint8_t> tree = make_device_tree(source);
  Chosen chosen{c.parameters->bootargs, {}};
  if (c.initrd) {
    const Image::Segment& s = c.initrd->segments().front();
    chosen.initrd = {s.address, s.address + s.memory_size};
  }
  try {
    if (c.device_tree) tree = with_file(tree, c.device_tree->bytes());
    return with_chosen(tree, chosen);
  } catch (const base::ValueError& e) {
    if (c.device_tree) c.device_tree->refuse(e.what());
    throw;
  }
}

/// Refuses a device tree that does not fit in the memory. The system's own tree always fits, so the larger of the
/// user's additions is to blame: the device tree or bootargs.
void SystemOnChip::refuse_device_tree(const Cluster& c, const base::GuestRam& own, std::size_t bytes) const {
  const std::size_t bootargs = c.parameters->bootargs.size();
  if (c.device_tree && c.device_tree->bytes().size() >= bootargs)
    c.device_tree->refuse("is larger than the memory that the firmware starts in");
  throw plan_.config->error(
      instance_of(c), "bootargs",
      fmt::format("must be shorter: with its {} characters, the device tree has {} B and no room in the "
                  "memory of {} B that the firmware starts in",
                  bootargs, bytes, own.size()));
}

/// The tree lies at the end of its cluster's memory, and OpenSBI's fw_dynamic_info in front of it.
void SystemOnChip::start_harts(Cluster& c, base::GuestRam& own, const std::vector<Taken>& taken) {
  const std::vector<std::uint8_t>& tree = c.device_tree_blob;
  const auto next = c.firmware.next_entry();
  const std::uint64_t info_room = next ? kDynamicInfoRoom : 0;
  const std::uint64_t room = align_up(tree.size() + kDeviceTreeGrowth, kDeviceTreeGranule);
  if (room + info_room > own.size()) refuse_device_tree(c, own, tree.size());
  const std::uint64_t address = own.base() + own.size() - room;
  const std::uint64_t first = address - info_room;
  for (const Taken& t : taken)
    if (own.contains(t.first, 1) && t.last >= first)
      t.image->refuse(fmt::format(
          "leaves no room for the device tree in its memory: it ends at {:#x} and must end at {:#x} or below",
          t.last + 1, first));
  placed_.push_back({address, tree});
  std::uint64_t info_address = 0;
  if (next) {
    const auto info = dynamic_info(*next, c.first_hart);
    info_address = first;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(info.data());
    placed_.push_back({info_address, {bytes, bytes + sizeof info}});
  }
  for (auto& core : c.cores) core->set_boot_arguments(address, info_address);
}

/// Calls load(). An image that lies outside the system's memory is the mistake of the soc that names memories if these
/// were named later than the firmware.
template <class F>
void SystemOnChip::load_images(const Cluster& c, const F& load) const {
  try {
    load();
  } catch (const OutsideMemory& e) {
    for (const config::Instance* soc : plan_.config->of_kind("soc"))
      if (config::BoardConfig::is_later(*soc, "memories", instance_of(c), "firmware"))
        throw plan_.config->error(*soc, "memories", "leaves the image no memory: " + e.sentence());
    throw;
  }
}

void SystemOnChip::start(const DeviceTreeSource& board) {
  const SystemRam memory{
      guest_rams(), plan_.is_host() ? plan_.config->of_kind("soc").empty() ? "the board" : "the host" : plan_.path()};
  std::vector<base::GuestRam*> owned;
  std::vector<Taken> taken;
  for (auto& c : clusters_) {
    load_images(*c, [&] { c->firmware.load(memory); });
    base::GuestRam* ram = memory_->ram_at(c->firmware.entry(), Image::kInstruction);
    // Each firmware needs a RAM of its own: its stacks, heap and device tree lie after the image.
    if (const auto found = std::find(owned.begin(), owned.end(), ram); found != owned.end()) {
      const Cluster& other = *clusters_[static_cast<std::size_t>(found - owned.begin())];
      throw clash(*plan_.config, instance_of(*c), instance_of(other), "firmware",
                  "must be linked for a memory of its own: it starts in that of {}");
    }
    owned.push_back(ram);
    for (const Image& image : c->firmware.images()) add_checked(taken, image);
  }
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    Cluster& c = *clusters_[i];
    if (!c.initrd) continue;
    if (!c.initrd->placed()) c.initrd->place_at(place_of_initrd(*owned[i], taken));
    load_images(c, [&] { c.initrd->load(memory); });
    add_checked(taken, *c.initrd);
  }
  // Only after all images are placed: no cluster's image may overlap another cluster's device tree.
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    Cluster& c = *clusters_[i];
    c.htifs = Htif::of(c.firmware, *memory_, c.cores, *uart_);
    c.device_tree_blob = device_tree_of(c, describe(c, *owned[i], board));
    start_harts(c, *owned[i], taken);
  }
  place(placed_);
}

/// Reloads images, initrds and device trees into memory, except where a debugger has loaded its own program.
void SystemOnChip::reload(const LoadedProgram* loaded) {
  std::vector<Placed> kept;
  if (loaded && loaded->cluster->system == this) {
    for (const LoadedProgram::Range& r : loaded->written) {
      kept.push_back({r.address, std::vector<std::uint8_t>(r.length)});
      memory_->ram_at(r.address, r.length)->read(r.address, kept.back().bytes.data(), r.length);
    }
  }
  const std::vector<base::GuestRam*> rams = guest_rams();
  for (const auto& c : clusters_) {
    c->firmware.reload(rams);
    if (c->initrd) c->initrd->reload(rams);
  }
  place(placed_);
  place(kept);
}

void SystemOnChip::place(const std::vector<Placed>& all) {
  for (const Placed& p : all) memory_->ram_at(p.address, 1)->write(p.address, p.bytes.data(), p.bytes.size());
}

}  // namespace sluice::platform
