// SPDX-License-Identifier: Apache-2.0
#include "platform/firmware/device_tree.h"

#include <stdexcept>

#include <fmt/format.h>
#include <libfdt.h>

#include "models/irq/finisher_regs.h"

namespace sluice::platform {
namespace {

constexpr std::uint32_t kLevelHigh = 4;
constexpr std::uint32_t kMachineExternal = 11, kSupervisorExternal = 9, kNoInterrupt = ~0u;

/// libfdt's sequential writer, with cells and nesting.
class Writer {
 public:
  Writer() {
    check(fdt_create(blob_.data(), static_cast<int>(blob_.size())));
    check(fdt_finish_reservemap(blob_.data()));
  }
  template <class F>
  void node(const std::string& name, F&& content) {
    write([&](void* blob) { return fdt_begin_node(blob, name.c_str()); });
    content();
    write([](void* blob) { return fdt_end_node(blob); });
  }
  void text(const char* name, const std::string& value) {
    write([&](void* blob) { return fdt_property_string(blob, name, value.c_str()); });
  }
  void cell(const char* name, std::uint32_t value) {
    write([&](void* blob) { return fdt_property_u32(blob, name, value); });
  }
  void flag(const char* name) { bytes(name, nullptr, 0); }
  void bytes(const char* name, const void* value, std::size_t size) {
    write([&](void* blob) { return fdt_property(blob, name, value, static_cast<int>(size)); });
  }
  void cells(const char* name, const std::vector<std::uint32_t>& values) {
    std::vector<fdt32_t> raw;
    raw.reserve(values.size());
    for (std::uint32_t v : values) raw.push_back(cpu_to_fdt32(v));
    bytes(name, raw.data(), raw.size() * sizeof(fdt32_t));
  }
  /// One cell where it fits: some software reads no more.
  void number(const char* name, std::uint64_t value) {
    high(value) == 0 ? cell(name, low(value)) : cells(name, {high(value), low(value)});
  }
  void reg(std::uint64_t base, std::uint64_t size) { cells("reg", {high(base), low(base), high(size), low(size)}); }
  void reg(std::uint64_t base, std::uint64_t size, std::uint64_t base2, std::uint64_t size2) {
    cells("reg", {high(base), low(base), high(size), low(size), high(base2), low(base2), high(size2), low(size2)});
  }
  /// A string list, such as the value of `compatible`.
  void texts(const char* name, const std::vector<std::string>& values) {
    std::string joined;
    for (const std::string& v : values) joined += v + '\0';
    bytes(name, joined.data(), joined.size());
  }
  std::vector<std::uint8_t> finish(std::uint32_t boot_hart) {
    write([](void* blob) { return fdt_finish(blob); });
    fdt_set_boot_cpuid_phys(blob_.data(), boot_hart);
    blob_.resize(fdt_totalsize(blob_.data()));
    return std::move(blob_);
  }
  static std::uint32_t high(std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); }
  static std::uint32_t low(std::uint64_t v) { return static_cast<std::uint32_t>(v); }

 private:
  /// Calls `step`, and again in a blob of twice the size as long as it lacks room.
  template <class F>
  void write(const F& step) {
    int result;
    while ((result = step(blob_.data())) == -FDT_ERR_NOSPACE) {
      std::vector<std::uint8_t> larger(2 * blob_.size());
      check(fdt_resize(blob_.data(), larger.data(), static_cast<int>(larger.size())));
      blob_ = std::move(larger);
    }
    check(result);
  }
  static void check(int result) {
    if (result != 0) throw std::runtime_error(std::string("device tree: ") + fdt_strerror(result));
  }
  std::vector<std::uint8_t> blob_ = std::vector<std::uint8_t>(64 << 10);
};

class Tree {
 public:
  explicit Tree(const DeviceTreeSource& s) : s_(s) {}
  std::vector<std::uint8_t> make() {
    w_.node("", [&] {
      cells_two();
      w_.text("compatible", "sluice,board");
      // Not the board's name: its length would move what follows, and so the firmware's time, and no copy of a board
      // would do what the board does.
      w_.text("model", "sluice,board");
      chosen();
      memory(s_.memory_base, s_.memory_size);
      for (const auto& [base, size] : s_.more_memory) memory(base, size);
      cpus();
      system_control("poweroff", FINISHER_PASS);
      system_control("reboot", FINISHER_RESET);
      w_.node("soc", [&] {
        cells_two();
        w_.text("compatible", "simple-bus");
        w_.flag("ranges");
        soc();
      });
    });
    return w_.finish(s_.first_hart);
  }

 private:
  std::uint32_t hart_controller(unsigned hart) const { return 1 + hart; }
  std::uint32_t controller() const { return 1 + s_.harts; }  ///< PLIC or supervisor APLIC
  std::uint32_t imsic(bool supervisor) const { return controller() + 1 + supervisor; }
  std::uint32_t machine_aplic() const { return controller() + 3; }
  std::uint32_t finisher() const { return controller() + 4; }
  std::uint32_t cpu(unsigned hart) const { return controller() + 5 + hart; }

  void cells_two() {
    w_.cell("#address-cells", 2);
    w_.cell("#size-cells", 2);
  }

  void chosen() {
    w_.node("chosen", [&] {
      w_.text("stdout-path", fmt::format("/soc/serial@{:x}", s_.map.uart));
      for (const part::FirmwareProperty& p : s_.chosen) property(p);
    });
  }

  void property(const part::FirmwareProperty& p) {
    if (const auto* text = std::get_if<std::string>(&p.value))
      w_.text(p.name.c_str(), *text);
    else if (const auto* cells = std::get_if<std::vector<std::uint32_t>>(&p.value))
      w_.cells(p.name.c_str(), *cells);
    else
      w_.cell(p.name.c_str(), std::get<std::uint32_t>(p.value));
  }

  void memory(std::uint64_t base, std::uint64_t size) {
    w_.node(fmt::format("memory@{:x}", base), [&] {
      w_.text("device_type", "memory");
      w_.reg(base, size);
    });
  }

  void cpus() {
    w_.node("cpus", [&] {
      w_.cell("#address-cells", 1);
      w_.cell("#size-cells", 0);
      w_.cell("timebase-frequency", static_cast<std::uint32_t>(s_.timebase_hertz));
      for (unsigned h = 0; h < s_.harts; ++h) {
        w_.node(fmt::format("cpu@{:x}", s_.first_hart + h), [&] {
          w_.text("device_type", "cpu");
          w_.cell("reg", s_.first_hart + h);
          w_.text("status", "okay");
          w_.text("compatible", "riscv");
          w_.text("riscv,isa",
                  fmt::format("rv64imafdc_zicbom_zicbop_zicboz_zicsr_zifencei_zihintpause_zawrs_zba_zbb_zbs"
                              "{}_sstc_svpbmt",
                              s_.aia ? "_smaia_ssaia" : ""));
          for (const char* block : {"riscv,cbom-block-size", "riscv,cbop-block-size", "riscv,cboz-block-size"})
            w_.cell(block, s_.line_bytes);
          w_.text("mmu-type", "riscv,sv39");
          w_.number("clock-frequency", s_.core_hertz);
          w_.cell("phandle", cpu(h));
          w_.node("interrupt-controller", [&] {
            w_.cell("#interrupt-cells", 1);
            w_.cell("#address-cells", 0);
            w_.flag("interrupt-controller");
            w_.text("compatible", "riscv,cpu-intc");
            w_.cell("phandle", hart_controller(h));
          });
        });
      }
      cpu_map();
    });
  }

  /// One socket, whose cores have one hart each.
  void cpu_map() {
    w_.node("cpu-map", [&] {
      w_.node("cluster0", [&] {
        for (unsigned h = 0; h < s_.harts; ++h) w_.node(fmt::format("core{}", h), [&] { w_.cell("cpu", cpu(h)); });
      });
    });
  }

  /// Lets an operating system power off or reboot without SBI: a syscon node that writes to the test finisher.
  void system_control(const std::string& what, std::uint32_t value) {
    w_.node(what, [&] {
      w_.text("compatible", "syscon-" + what);
      w_.cell("regmap", finisher());
      w_.cell("offset", FINISHER_CONTROL);
      w_.cell("value", value);
    });
  }

  /// Cells of interrupts-extended: one entry for each hart and each of the interrupts.
  std::vector<std::uint32_t> to_harts(std::initializer_list<std::uint32_t> interrupts) const {
    std::vector<std::uint32_t> cells;
    for (unsigned h = 0; h < s_.harts; ++h) {
      for (std::uint32_t i : interrupts) {
        cells.push_back(hart_controller(h));
        cells.push_back(i);
      }
    }
    return cells;
  }

  void soc() {
    w_.node(fmt::format("test@{:x}", s_.map.finisher), [&] {
      w_.texts("compatible", {"sifive,test1", "sifive,test0", "syscon"});
      w_.reg(s_.map.finisher, HostMap::kFinisherSize);
      w_.cell("phandle", finisher());
    });
    w_.node(fmt::format("clint@{:x}", s_.map.clint), [&] {
      w_.texts("compatible", {"sifive,clint0", "riscv,clint0"});
      w_.reg(s_.map.clint, HostMap::kClintSize);
      w_.cells("interrupts-extended", to_harts({3, 7}));
    });
    if (s_.aia)
      aia();
    else
      plic();
    w_.node(fmt::format("serial@{:x}", s_.map.uart), [&] {
      w_.text("compatible", "ns16550a");
      w_.reg(s_.map.uart, HostMap::kUartSize);
      w_.cell("clock-frequency", s_.uart_hertz);
      w_.cell("interrupt-parent", controller());
      interrupt_cells("interrupts", s_.uart_interrupt);
    });
    for (const BusNode& d : s_.devices) device(d);
    if (s_.iommu) {
      w_.node(fmt::format("iommu@{:x}", s_.map.iommu), [&] {
        w_.text("compatible", "sluice,iommu");
        w_.reg(s_.map.iommu, HostMap::kIommuSize);
      });
    }
    if (s_.root) host_bridge();
  }

  void device(const BusNode& d) {
    w_.node(fmt::format("{}@{:x}", d.name, d.base), [&] {
      w_.text("compatible", d.compatible);
      if (d.lines_size == 0)
        w_.reg(d.base, d.size);
      else
        w_.reg(d.base, d.size, d.lines, d.lines_size);
      w_.text("sluice,path", d.path);
      for (const part::FirmwareProperty& p : d.properties) property(p);
      if (d.interrupts.empty()) return;
      w_.cell("interrupt-parent", controller());
      std::vector<std::uint32_t> cells;
      for (const unsigned source : d.interrupts) {
        cells.push_back(source);
        if (s_.aia) cells.push_back(kLevelHigh);
      }
      w_.cells("interrupts", cells);
    });
  }

  void interrupt_cells(const char* name, unsigned source) {
    if (s_.aia)
      w_.cells(name, {source, kLevelHigh});
    else
      w_.cell(name, source);
  }

  void plic() {
    w_.node(fmt::format("interrupt-controller@{:x}", s_.map.plic), [&] {
      w_.texts("compatible", {"sifive,plic-1.0.0", "riscv,plic0"});
      w_.reg(s_.map.plic, HostMap::kPlicSize);
      w_.cell("#interrupt-cells", 1);
      w_.cell("#address-cells", 0);
      w_.flag("interrupt-controller");
      w_.cell("riscv,ndev", s_.interrupt_sources);
      // The position of an entry is its PLIC context. The contexts of other clusters' harts come first and have no
      // interrupt here.
      auto contexts = to_harts({kMachineExternal, kSupervisorExternal});
      for (unsigned other = 0; other < 2 * s_.first_hart; ++other)
        contexts.insert(contexts.begin(), {hart_controller(0), kNoInterrupt});
      w_.cells("interrupts-extended", contexts);
      w_.cell("phandle", controller());
    });
  }

  void aia() {
    for (bool supervisor : {false, true}) {
      const std::uint64_t base = (supervisor ? s_.map.imsic_s : s_.map.imsic_m) + HostMap::kImsicStride * s_.first_hart;
      w_.node(fmt::format("interrupt-controller@{:x}", base), [&] {
        w_.texts("compatible", {"qemu,imsics", "riscv,imsics"});
        w_.reg(base, HostMap::kImsicStride * s_.harts);
        w_.flag("interrupt-controller");
        w_.cell("#interrupt-cells", 0);
        w_.cell("#address-cells", 0);
        w_.flag("msi-controller");
        w_.cell("#msi-cells", 0);
        w_.cells("interrupts-extended", to_harts({supervisor ? kSupervisorExternal : kMachineExternal}));
        w_.cell("riscv,num-ids", s_.imsic_identities);
        w_.cell("phandle", imsic(supervisor));
      });
    }
    for (bool supervisor : {false, true}) {
      const std::uint64_t base = supervisor ? s_.map.aplic_s : s_.map.aplic_m;
      w_.node(fmt::format("interrupt-controller@{:x}", base), [&] {
        w_.texts("compatible", {"qemu,aplic", "riscv,aplic"});
        w_.reg(base, HostMap::kAplicSize);
        w_.flag("interrupt-controller");
        w_.cell("#interrupt-cells", 2);
        w_.cell("#address-cells", 0);
        w_.cell("riscv,num-sources", s_.interrupt_sources);
        w_.cell("msi-parent", imsic(supervisor));
        if (!supervisor) {
          w_.cell("riscv,children", controller());
          // The name in the binding, and the name that OpenSBI used before there was a binding.
          for (const char* name : {"riscv,delegation", "riscv,delegate"})
            w_.cells(name, {controller(), 1, s_.interrupt_sources});
        }
        w_.cell("phandle", supervisor ? controller() : machine_aplic());
      });
    }
  }

  void host_bridge() {
    constexpr std::uint32_t k32 = 0x0200'0000, k64 = 0x4300'0000;  // 64-bit space is prefetchable
    const pcie::RootComplex::Parameters& m = *s_.root;
    const auto window = [](std::uint32_t space, std::uint64_t base, std::uint64_t size) {
      return std::vector<std::uint32_t>{space,
                                        Writer::high(base),
                                        Writer::low(base),
                                        Writer::high(base),
                                        Writer::low(base),
                                        Writer::high(size),
                                        Writer::low(size)};
    };
    w_.node(fmt::format("pci@{:x}", m.ecam_base), [&] {
      w_.text("compatible", "pci-host-ecam-generic");
      w_.text("device_type", "pci");
      w_.cell("#address-cells", 3);
      w_.cell("#size-cells", 2);
      w_.cell("#interrupt-cells", 1);
      w_.cells("bus-range", {0, static_cast<std::uint32_t>(m.ecam_size.count() >> 20) - 1});
      w_.reg(m.ecam_base, m.ecam_size.count());
      w_.flag("dma-coherent");
      auto ranges = window(k32, m.mmio32_base, m.mmio32_size.count());
      const auto high = window(k64, m.mmio64_base, m.mmio64_size.count());
      ranges.insert(ranges.end(), high.begin(), high.end());
      w_.cells("ranges", ranges);
      if (s_.aia) w_.cell("msi-parent", imsic(true));
      interrupt_map(0);
      for (const PcieFunction& f : s_.functions) function(f, 0);
    });
  }

  /// Follows the PCI bus binding to Open Firmware. Bus numbers are 0 here, because the firmware assigns them. turn: sum
  /// of the device numbers of the bridges above.
  void function(const PcieFunction& f, std::uint32_t turn) {
    w_.node(fmt::format("{}@{:x},0", f.name, f.device), [&] {
      if (f.bridge) w_.text("device_type", "pci");
      w_.cells("reg", {f.device << 11, 0, 0, 0, 0});
      if (f.station) w_.bytes("local-mac-address", f.station->bytes.data(), f.station->bytes.size());
      for (const part::FirmwareProperty& p : f.properties) property(p);
      if (!f.bridge) return;
      w_.cell("#address-cells", 3);
      w_.cell("#size-cells", 2);
      w_.cell("#interrupt-cells", 1);
      w_.flag("ranges");
      interrupt_map(turn + f.device);
      for (const PcieFunction& below : f.below) function(below, turn + f.device);
    });
  }

  /// The swizzle of the PCI specification: maps a device's pin to one of four sources. Each bridge has a map, because
  /// Linux searches upwards from the device for the first one.
  void interrupt_map(std::uint32_t turn) {
    std::vector<std::uint32_t> map;
    for (std::uint32_t device = 0; device < 4; ++device) {
      for (std::uint32_t pin = 1; pin <= 4; ++pin) {
        for (std::uint32_t cell : {device << 11, 0u, 0u, pin, controller()}) map.push_back(cell);
        map.push_back(s_.pcie_interrupts + (turn + device + pin - 1) % 4);
        if (s_.aia) map.push_back(kLevelHigh);
      }
    }
    w_.cells("interrupt-map", map);
    w_.cells("interrupt-map-mask", {3u << 11, 0, 0, 7});
  }

  const DeviceTreeSource& s_;
  Writer w_;
};

}  // namespace

std::vector<std::uint8_t> make_device_tree(const DeviceTreeSource& source) { return Tree(source).make(); }

}  // namespace sluice::platform
