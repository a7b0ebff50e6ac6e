// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The board that a board file describes: its systems-on-chip, PCIe, devices and network, built from models and bound
/// together.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/base/systemc/scheduler.h"
#include "models/coherence/link/coherent_link.h"
#include "models/coherence/link/host_path.h"
#include "models/coherence/link/register_path.h"
#include "models/net/traffic/traffic_source.h"
#include "models/net/wire.h"
#include "models/nic/nic.h"
#include "models/pcie/link.h"
#include "models/pcie/root/iommu.h"
#include "models/pcie/root/root_complex.h"
#include "models/pcie/switch.h"
#include "models/workload/workload.h"
#include "platform/board/elaboration_mark.h"
#include "platform/board/instances.h"
#include "platform/board/system_on_chip.h"
#include "platform/config/board_config.h"
#include "platform/faults/faults.h"
#include "platform/workload/traffic_workload.h"
#include "platform/workload/warm_up.h"

namespace sluice::platform {

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
  std::unique_ptr<pcie::Switch> fabric;
};

/// A coherent link.
struct CoherentInstance {
  std::string path;
  std::unique_ptr<coherence::CoherentLink> link;
  SystemOnChip* system = nullptr;  ///< at its upper end; null: nothing is at the lower end
};

/// What is at the far end of the first wire.
enum class Traffic {
  generated,  ///< the traffic source of [workload]
  external,   ///< nothing yet: the creator of the board attaches a peer
};

/// An instance of kind accel.
struct DeviceInstance {
  std::string path;
  std::string slot;
  std::unique_ptr<pcie::Endpoint> endpoint;
};

/// A device on the bus of a system-on-chip.
struct BusDeviceInstance {
  std::string path;
  SystemOnChip* system;
  memory::BusDevice* device;
  base::Model* model;                        ///< null: the module knows nothing of Sluice
  std::unique_ptr<memory::BusDevice> owned;  ///< null: the device is a PCIe device too, and owned as such
};

struct NicInstance {
  std::string path;
  nic::NicPlace place;
  std::unique_ptr<nic::Nic> nic;
  net::Mac* mac;                ///< the NIC's own
  base::Model* model;           ///< the NIC
  pcie::Endpoint* endpoint;     ///< the NIC; null: it is no PCIe device
  std::uint32_t largest_frame;  ///< bytes without FCS that it is set up for
};

struct DeviceTreeSource;

/// Builds everything in the order of the board's instances, loads the firmware, and leaves the harts at its entry.
/// Throws config::UserError for mistakes in a board file. One per process.
class Board {
 public:
  /// warm_up: what a first run has found, in place of workload.warmup.
  explicit Board(const config::BoardConfig&, Traffic = Traffic::generated, std::optional<WarmUp> warm_up = {});
  ~Board();

  const config::BoardConfig& config() const { return config_; }
  const RunParameters& run_parameters() const { return run_; }
  /// Nothing where workload.warmup says it.
  const std::optional<WarmUp>& warm_up() const { return warm_up_; }
  base::Scheduler& scheduler() { return *scheduler_; }
  /// The host first.
  std::vector<std::unique_ptr<SystemOnChip>>& systems() { return systems_; }
  SystemOnChip& host() { return *systems_.front(); }
  /// The clusters of all systems, the host's first.
  const std::vector<std::reference_wrapper<Cluster>>& clusters() const { return clusters_; }
  /// The cluster of a hart; null: the hart is in no cluster of the board.
  Cluster* cluster_of(const riscv::Core*) const;
  std::vector<SlotInstance>& slots() { return slots_; }
  std::vector<CoherentInstance>& coherent_links() { return coherent_links_; }
  std::vector<WireInstance>& wires() { return wires_; }
  std::vector<NicInstance>& nics() { return nics_; }
  std::vector<DeviceInstance>& devices() { return devices_; }
  /// Null where the board has no workload: [workload] has the model "none", or it has the model "traffic" and there are
  /// no clients().
  workload::Workload* workload() { return workload_.get(); }
  /// What the user of a run with a TAP interface must know of its workload, as a sentence; empty: nothing.
  std::string about_tap() const;
  /// Null where the board has no IOMMU.
  const pcie::Iommu* iommu() const { return iommu_.get(); }
  /// Clients of traffic: those of [workload], if it makes calls and a wire is left for it, and those of the peers.
  const std::vector<Clients>& clients() const { return clients_; }
  pcie::RootComplex& root() { return *root_; }
  /// The device of an instance of kind accel or nic; null for others.
  const pcie::Endpoint* endpoint(const std::string& path) const;
  std::vector<SwitchInstance>& switches() { return switches_; }
  /// Null on a board without faults.
  const Faults* faults() const { return faults_.get(); }

  /// Resets the board at base::now(), as a reset button does: harts, interrupt controllers, UART, PCIe with the devices
  /// in its slots, and caches return to their initial state. Time, counters, traffic and faults go on. The firmware's
  /// images, initial RAM disks and device trees are loaded again; other memory keeps its contents. A hart that is
  /// inside an access to a device is reset after that access, and the rest of its instruction does not happen. loaded:
  /// a program that a debugger has written to memory; it stays there, and its cluster's harts begin at its entry. Null:
  /// no such program.
  void reset(const LoadedProgram* loaded = nullptr);
  /// Resets a system beside the host: its chip and the devices on its bus.
  void reset(SystemOnChip&);

 private:
  void build_systems();
  void build_pcie();
  void build_bus_devices();
  void connect_to_bus(const config::Instance&, memory::BusDevice&, std::unique_ptr<memory::BusDevice> owned);
  void connect_to_bus(const config::Instance&, pcie::Endpoint&);
  void build_coherent_links();
  CoherentInstance& coherent_link(const config::Instance& device, const memory::BusPlace&, SystemOnChip&);
  void connect_ports(const config::Instance&, memory::BusDevice&, const memory::BusPlace&, SystemOnChip&);
  void check_joint(const config::Instance&, const pcie::Endpoint&) const;
  void build_devices();
  void check_files(const config::Instance&) const;
  template <class F>
  auto built_by_author(const config::Instance&, const F& build) const;
  void mark(const config::Instance& next);
  void publish_statistics();
  void build_nic(const config::Instance&);
  void check_clashes(const config::Instance&, const nic::NicPlace&) const;
  SystemOnChip& system(const std::string& path);
  void build_network();
  void build_traffic();
  void check_displaced(const config::Instance&, const char* why, bool in_own_file, std::string_view except = {}) const;
  void check_displaced_by_tap(const config::Instance& workload) const;
  void build_peers(Traffic);
  std::uint64_t longest_frame_of_firmware();
  void check_frames_fit();
  void check_sizes(const config::Instance&, const net::TrafficSource::Parameters&) const;
  std::unique_ptr<base::Model> build_peer(const config::Instance&, WireInstance&) const;
  void build_clients(const config::Instance&, const net::TrafficSource::Parameters&, WireInstance&);
  void start_systems();
  void build_workload(Traffic);
  std::vector<part::FirmwareProperty> workload_properties();
  template <class F>
  auto by_workload(const char* verb, const F& f) const;
  void reset_bus_devices(const SystemOnChip* of);
  workload::Surroundings surroundings(Traffic);
  SlotInstance& slot(const std::string& path);
  void connect(const std::string& slot, pcie::Port& device);
  void check_replay(const config::Instance& workload, std::uint64_t total, std::uint64_t warmup) const;
  void schedule_carrier(net::Wire&, const WireParameters&);
  void check_addresses(const config::Instance& host, const net::RemoteHost::Parameters&, const std::string& wire) const;
  std::string address_at(const WireInstance&) const;
  std::string station_at(const WireInstance&) const;
  std::uint64_t buffered_frames(const WireInstance&, std::uint64_t frame_bytes) const;
  WireInstance& wire(const config::Instance& user, const std::string& path);

  const config::BoardConfig& config_;
  const RunParameters& run_;
  const std::optional<WarmUp> warm_up_;
  std::unique_ptr<base::Scheduler> scheduler_;
  std::vector<std::unique_ptr<base::RunnerGroup>> groups_of_harts_;  ///< of the systems beside the host
  std::vector<std::unique_ptr<SystemOnChip>> systems_;
  std::vector<std::reference_wrapper<Cluster>> clusters_;
  std::uint64_t resets_ = 0;
  std::unique_ptr<pcie::RootComplex> root_;
  std::unique_ptr<pcie::Iommu> iommu_;
  std::vector<SlotInstance> slots_;
  std::vector<SwitchInstance> switches_;
  std::vector<CoherentInstance> coherent_links_;
  std::vector<std::unique_ptr<coherence::RegisterPath>> register_paths_;  ///< of the devices behind coherent links
  std::vector<std::unique_ptr<coherence::HostPath>> host_paths_;          ///< likewise
  std::vector<WireInstance> wires_;
  std::vector<NicInstance> nics_;
  std::vector<std::unique_ptr<ElaborationMark>> marks_;  ///< one before each device and workload, one after each kind
  std::vector<DeviceInstance> devices_;
  std::vector<BusDeviceInstance> bus_devices_;
  std::vector<std::unique_ptr<base::Model>> peers_;
  std::vector<std::unique_ptr<net::TrafficSource>> sources_;
  std::vector<Clients> clients_;
  workload::Surroundings surroundings_;
  std::unique_ptr<workload::Workload> workload_;
  std::unique_ptr<Faults> faults_;
  std::unique_ptr<base::StatisticsGroup> statistics_;  ///< of the board itself: "reset"
};

}  // namespace sluice::platform
