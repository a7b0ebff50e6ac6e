// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A system-on-chip: clusters of harts with the bus, memory, caches and interrupt controllers that they share.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/base/systemc/reset.h"
#include "models/base/systemc/scheduler.h"
#include "models/coherence/memory_system.h"
#include "models/irq/aplic.h"
#include "models/irq/clint.h"
#include "models/irq/finisher.h"
#include "models/irq/imsic.h"
#include "models/irq/plic.h"
#include "models/memory/ram.h"
#include "models/memory/soc_bus.h"
#include "models/pcie/root/root_complex.h"
#include "models/riscv/core.h"
#include "models/uart/uart.h"
#include "platform/board/system_plan.h"
#include "platform/firmware/firmware.h"
#include "platform/firmware/htif.h"
#include "platform/firmware/processes.h"

namespace sluice::platform {

class SystemOnChip;
struct DeviceTreeSource;
struct Taken;

/// Harts that run one firmware.
struct Cluster {
  std::string name;  ///< "host"
  const riscv::ClusterParameters* parameters;
  SystemOnChip* system;
  unsigned first_hart;  ///< number of its first hart within the system
  Firmware firmware;
  std::optional<Image> initrd;
  std::optional<Image> device_tree;  ///< from the user: replaces the system's tree or overlays it
  std::vector<std::unique_ptr<riscv::Core>> cores;
  std::vector<std::unique_ptr<Htif>> htifs;    ///< one for each firmware image that has a tohost
  std::vector<std::uint8_t> device_tree_blob;  ///< the tree that its harts receive
  std::unique_ptr<Processes> processes;        ///< of the firmware
};

/// A program that a debugger has written to memory, in place of a cluster's firmware.
struct LoadedProgram {
  struct Range {
    std::uint64_t address, length;  ///< physical, within one memory
  };
  const Cluster* cluster;
  std::uint64_t entry;
  std::vector<Range> written;
};

/// Built in two steps: the constructor makes what is on the chip; start() loads the firmware once the board around the
/// chip is known. Both throw config::UserError for mistakes in the board file.
class SystemOnChip : public pcie::SocWriter {
 public:
  /// The group holds this system's harts and limits how far one may run ahead of another.
  SystemOnChip(SystemPlan, base::RunnerGroup&);
  ~SystemOnChip() override;

  const SystemPlan& plan() const { return plan_; }
  std::string path() const { return plan_.path(); }
  unsigned harts() const { return harts_; }
  const base::RunnerGroup& group() const { return group_; }
  std::vector<std::unique_ptr<Cluster>>& clusters() { return clusters_; }
  const std::vector<std::unique_ptr<memory::Ram>>& rams() const { return rams_; }
  /// The models on the chip, in the order of the result file, without the bus, which comes last there.
  std::vector<base::Model*> models();
  /// The bytes of all its memories.
  std::vector<base::GuestRam*> guest_rams() const;
  memory::SocBus& bus() { return *bus_; }
  coherence::MemorySystem& memory() { return *memory_; }
  irq::Finisher& finisher() { return *finisher_; }
  uart::Uart& uart() { return *uart_; }

  /// Sets the level of an interrupt wire that leads to the system's controller.
  void set_source(unsigned number, bool level);

  /// Loads the firmware of its clusters and leaves their harts at its entry. tree: what their device trees say of the
  /// board around the system.
  void start(const DeviceTreeSource& tree);

  /// Collect what a reset must reset: add_harts() adds the harts, add_parts() the chip's other parts, those nearest to
  /// the sources of interrupts first. The board adds its own parts between the two.
  void add_harts(std::vector<base::Resettable*>&, const LoadedProgram*);
  void add_parts(std::vector<base::Resettable*>&);
  /// Loads again what was in memory at the start.
  void reload(const LoadedProgram*);

 private:
  // pcie::SocWriter
  bool write(std::uint64_t address, const void* data, unsigned size) override;
  std::string name_at(std::uint64_t address) const override;
  bool takes_interrupts(std::uint64_t address) const override;

  void build_memory();
  void build_clusters();
  void build_interrupts();
  void build_message_interrupts();
  void connect(base::InterruptLine&, unsigned hart, unsigned bit);
  void connect(base::Line&, unsigned hart, unsigned bit);
  riscv::Core& core(unsigned hart);
  std::string module_of(std::string_view part) const;

  // system_boot.cpp
  std::unique_ptr<Cluster> make_cluster(const config::Instance&, unsigned first_hart);
  const config::Instance& instance_of(const Cluster&) const;
  template <class F>
  void load_images(const Cluster&, const F& load) const;
  bool is_firmware_in(const base::GuestRam&) const;
  DeviceTreeSource describe(const Cluster&, const base::GuestRam& own, const DeviceTreeSource& board) const;
  std::vector<std::uint8_t> device_tree_of(const Cluster&, const DeviceTreeSource&) const;
  [[noreturn]] void refuse_device_tree(const Cluster&, const base::GuestRam& own, std::size_t bytes) const;
  void start_harts(Cluster&, base::GuestRam& own, const std::vector<Taken>&);
  struct Placed {
    std::uint64_t address;
    std::vector<std::uint8_t> bytes;
  };
  void place(const std::vector<Placed>&);

  const SystemPlan plan_;
  base::RunnerGroup& group_;
  const unsigned harts_;
  std::unique_ptr<coherence::MemorySystem> memory_;
  std::unique_ptr<memory::SocBus> bus_;
  std::vector<std::unique_ptr<memory::Ram>> rams_;
  std::vector<std::unique_ptr<Cluster>> clusters_;
  std::unique_ptr<irq::Finisher> finisher_;
  std::unique_ptr<uart::Uart> uart_;
  std::unique_ptr<irq::Clint> clint_;
  std::unique_ptr<irq::Plic> plic_;
  std::unique_ptr<irq::Aplic> aplic_;
  std::unique_ptr<irq::Imsic> imsic_;
  std::vector<Placed> placed_;  ///< device trees and fw_dynamic_info
};

}  // namespace sluice::platform
