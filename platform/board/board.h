#pragma once
/// A board file's system, built from models and bound together. It knows every model and no board.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/base/systemc/scheduler.h"
#include "models/coherence/memory_system.h"
#include "models/irq/aplic.h"
#include "models/irq/clint.h"
#include "models/irq/finisher.h"
#include "models/irq/imsic.h"
#include "models/irq/plic.h"
#include "models/memory/ram.h"
#include "models/memory/soc_bus.h"
#include "models/net/traffic_source.h"
#include "models/net/wire.h"
#include "models/nic/nic.h"
#include "models/pcie/iommu.h"
#include "models/pcie/link.h"
#include "models/pcie/root_complex.h"
#include "models/pcie/switch.h"
#include "models/riscv/core.h"
#include "models/uart/uart.h"
#include "models/workload/workload.h"
#include "platform/board/elaboration.h"
#include "platform/board/host_map.h"
#include "platform/board/instances.h"
#include "platform/config/board_config.h"
#include "platform/faults/faults.h"
#include "platform/firmware/firmware.h"
#include "platform/firmware/htif.h"

namespace sluice::platform {

/// Harts with one firmware.
struct Cluster {
  std::string name;  ///< "host"
  const riscv::ClusterParameters* parameters;
  unsigned first_hart;
  Firmware firmware;
  std::optional<Image> initrd;
  std::optional<Image> device_tree;  ///< of the user: in the place of the board's, or an overlay of it
  std::vector<std::unique_ptr<riscv::Core>> cores;
  std::vector<std::unique_ptr<Htif>> htifs;  ///< one for each of its firmware's images that has a tohost
};

struct WireInstance {
  std::string path;
  std::unique_ptr<net::Wire> wire;
};

struct SlotInstance {
  std::string path;
  std::unique_ptr<pcie::Link> link;
};

struct SwitchInstance {
  std::string path;
  std::unique_ptr<pcie::Switch> plain;
};

/// A program that a debugger has written to memory in the place of a cluster's firmware.
struct LoadedProgram {
  struct Range {
    std::uint64_t address, length;  ///< physical, within one memory
  };
  std::size_t cluster;
  std::uint64_t entry;
  std::vector<Range> written;
};

/// What is at the far end of the first wire.
enum class Traffic {
  generated,  ///< the traffic source of [workload]
  external,   ///< nothing yet: whoever has made the board attaches something
};

/// An instance of kind accel.
struct DeviceInstance {
  std::string path;
  std::string slot;
  std::unique_ptr<pcie::Endpoint> endpoint;
};

struct NicInstance {
  std::string path;
  nic::NicPlace place;
  std::unique_ptr<nic::Nic> nic;
};

struct DeviceTreeSource;
struct Taken;

/// Builds everything in the order of the board's instances, loads the firmware, and leaves the harts at its entry.
/// Throws config::UserError for what a board file has wrong. One per process.
class Board : private pcie::SocWriter {
 public:
  explicit Board(const config::BoardConfig&, Traffic = Traffic::generated);
  ~Board() override;

  const config::BoardConfig& config() const { return config_; }
  const RunParameters& run_parameters() const { return run_; }
  const std::vector<std::unique_ptr<memory::Ram>>& rams() const { return rams_; }
  base::Scheduler& scheduler() { return *scheduler_; }
  std::vector<Cluster>& clusters() { return clusters_; }
  const std::vector<Cluster>& clusters() const { return clusters_; }
  /// What the harts of clusters()[cluster] get.
  const std::vector<std::uint8_t>& device_tree(std::size_t cluster) const { return device_trees_[cluster]; }
  std::vector<SlotInstance>& slots() { return slots_; }
  std::vector<WireInstance>& wires() { return wires_; }
  std::vector<NicInstance>& nics() { return nics_; }
  std::vector<DeviceInstance>& devices() { return devices_; }
  /// Null where the board has none: by [workload], on a board without a wire, or with external traffic.
  workload::Workload* workload() { return workload_.get(); }
  /// Null where the board has none.
  const pcie::Iommu* iommu() const { return iommu_.get(); }
  /// Where the workload is traffic; else null.
  net::TrafficSource* source() { return source_.get(); }
  irq::Finisher& finisher() { return *finisher_; }
  uart::Uart& uart() { return *uart_; }
  memory::SocBus& bus() { return *bus_; }
  pcie::RootComplex& root() { return *root_; }
  /// The device of an instance of kind accel or nic; null for others.
  const pcie::Endpoint* endpoint(const std::string& path) const;
  std::vector<SwitchInstance>& switches() { return switches_; }
  /// Null on a board without faults.
  const Faults* faults() const { return faults_.get(); }
  coherence::MemorySystem& memory() { return *memory_; }

  /// What a reset button does, at base::now(): harts, interrupt controllers, UART, PCIe with all that is in its slots,
  /// and caches are as at the start. Time, counters, traffic and faults go on. The firmware's images, initial RAM disks
  /// and device trees are loaded again; other memory keeps what it has. A hart that is inside an access to a device is
  /// reset behind it; what it was about to do does not happen. loaded: what a debugger has put in memory stays, and its
  /// cluster's harts begin there; null: nothing.
  void reset(const LoadedProgram* loaded = nullptr);

 private:
  bool write(std::uint64_t address, const void* data, unsigned size) override;
  std::string name_at(std::uint64_t address) const override;
  bool takes_interrupts(std::uint64_t address) const override;

  base::Time choose_quantum() const;
  void build_memory();
  void build_clusters();
  void build_interrupts();
  void build_pcie();
  void build_devices();
  void check_files(const config::Instance&) const;
  template <class F>
  auto built_by_author(const config::Instance&, const F& build) const;
  void register_device_statistics(const std::string& path, pcie::Endpoint&);
  void build_nic(const config::Instance&);
  void build_network();
  void build_traffic();
  Cluster make_cluster(const config::Instance&, unsigned first_hart) const;
  void load_firmware();
  bool is_firmware_in(const base::GuestRam&) const;
  void build_workload(Traffic);
  workload::Surroundings surroundings(Traffic);
  DeviceTreeSource describe(const Cluster&, const base::GuestRam& own) const;
  std::vector<std::uint8_t> device_tree_of(const Cluster&, const base::GuestRam& own) const;
  [[noreturn]] void refuse_device_tree(const Cluster&, const base::GuestRam& own, std::size_t bytes) const;
  void start_harts(Cluster&, base::GuestRam& own, const std::vector<std::uint8_t>& tree, const std::vector<Taken>&);
  bool aia() const { return clusters_.front().parameters->interrupts == riscv::Interrupts::aia; }
  void set_source(unsigned number, bool level);
  SlotInstance& slot(const std::string& path);
  void connect(const std::string& slot, pcie::Port& device);
  void check_replay(const config::Instance& workload, std::uint64_t warmup) const;
  void schedule_carrier(net::Wire&, const WireParameters&);
  void check_addresses(const config::Instance& host, const net::RemoteHost::Parameters&, const std::string& wire) const;
  std::string address_at(const WireInstance&) const;
  std::uint64_t buffered_calls(const WireInstance&, const net::CallParameters&) const;
  net::Wire& wire(const config::Instance& user, const std::string& path);
  riscv::Core& core(unsigned hart);

  const config::BoardConfig& config_;
  const RunParameters& run_;
  HostMap map_;
  unsigned harts_ = 0;
  std::unique_ptr<base::Scheduler> scheduler_;
  std::vector<std::unique_ptr<memory::Ram>> rams_;
  std::unique_ptr<coherence::MemorySystem> memory_;
  std::unique_ptr<memory::SocBus> bus_;
  std::vector<Cluster> clusters_;
  std::vector<std::vector<std::uint8_t>> device_trees_;  ///< by cluster
  /// Bytes for guest memory.
  struct Placed {
    std::uint64_t address;
    std::vector<std::uint8_t> bytes;
  };
  void place(const std::vector<Placed>&);
  void reload(const LoadedProgram*);
  std::vector<Placed> placed_;  ///< what harts are told of the board
  std::uint64_t resets_ = 0;
  std::unique_ptr<irq::Clint> clint_;
  std::unique_ptr<irq::Plic> plic_;
  std::unique_ptr<irq::Aplic> aplic_;
  std::unique_ptr<irq::Imsic> imsic_;
  std::unique_ptr<irq::Finisher> finisher_;
  std::unique_ptr<uart::Uart> uart_;
  std::unique_ptr<pcie::RootComplex> root_;
  std::unique_ptr<pcie::Iommu> iommu_;
  std::vector<SlotInstance> slots_;
  std::vector<SwitchInstance> switches_;
  std::vector<WireInstance> wires_;
  std::vector<NicInstance> nics_;
  std::vector<std::unique_ptr<ElaborationMark>> marks_;  ///< one before each device, and one after all
  std::vector<DeviceInstance> devices_;
  std::vector<std::unique_ptr<net::EchoPeer>> peers_;
  std::unique_ptr<net::TrafficSource> source_;
  workload::Surroundings surroundings_;
  std::unique_ptr<workload::Workload> workload_;
  std::unique_ptr<Faults> faults_;
  std::vector<std::unique_ptr<base::StatisticsGroup>> groups_;
};

}  // namespace sluice::platform
