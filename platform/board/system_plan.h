// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a board file says of its systems-on-chip: the host, whose parts are tables of their own, and each [soc.NAME].

#include <string>
#include <string_view>
#include <vector>

#include "models/coherence/memory_system.h"
#include "models/irq/aplic.h"
#include "models/irq/imsic.h"
#include "models/irq/plic.h"
#include "models/memory/soc_bus.h"
#include "models/uart/uart.h"
#include "platform/board/host_map.h"
#include "platform/config/board_config.h"
#include "platform/config/memory_map.h"

namespace sluice::platform {

/// Parameters of the parts that each system-on-chip has once.
struct SystemParts {
  coherence::MemorySystem::Parameters caches;
  memory::SocBus::Parameters bus;
  HostMap map;
  irq::Plic::Parameters plic;
  irq::Aplic::Parameters aplic;
  irq::Imsic::Parameters imsic;
  uart::Uart::Parameters uart;
  static void describe(base::Schema<SystemParts>&);
};

/// [soc.NAME]: a system-on-chip beside the host.
struct SystemParameters {
  std::vector<std::string> clusters;
  std::vector<std::string> memories;
  SystemParts parts;
  static void describe(base::Schema<SystemParameters>&);
};

/// One system-on-chip of a board. The first is the host, which has everything that no [soc.NAME] claims.
struct SystemPlan {
  const config::BoardConfig* config;
  const config::Instance* instance;  ///< [soc.NAME]; null: the host
  SystemParts parts;
  std::vector<const config::Instance*> clusters;
  std::vector<const config::Instance*> memories;
  std::vector<const config::Instance*> devices;  ///< on its bus, of any kind

  bool is_host() const { return !instance; }
  std::string path() const { return instance ? instance->path() : std::string(); }
  /// The path of one of its parts: "uart", "soc.card.uart".
  std::string part(std::string_view name) const;
  /// Where a key of a part was set: part "map", key "uart".
  const config::Origin& origin(std::string_view part, std::string_view key) const;
  /// An error about the value of a key of a part.
  config::UserError error(std::string_view part, std::string_view key, const std::string& what) const;
  unsigned harts() const;
  /// Whether its interrupt controllers are APLIC and IMSIC, and not a PLIC.
  bool aia() const;
};

/// The systems, the host first, then the others by name. Throws config::UserError for a system without a cluster or a
/// memory, for a cluster or memory that two systems name, and for different interrupt controllers within one system.
std::vector<SystemPlan> systems_of(const config::BoardConfig&);

/// Every region of a system's address space, by address. Throws config::UserError for overlapping regions.
std::vector<config::MemoryRegion> memory_map(const SystemPlan&);

/// Throws config::UserError for an interrupt controller with fewer sources than are wired to it, and for two devices at
/// one source.
void check_interrupt_sources(const SystemPlan&);

/// Whether a timing reads a parameter of a cluster, for example "core.reorder_buffer". All read what is not below core.
bool is_read_by(coherence::MemorySystem::Timing, std::string_view key);

/// Throws config::UserError for a core whose parts are smaller than its width, and for properties of a core from the
/// command line that have no effect with the system's timing. A board's own file may be meant for several timings.
void check_cores(const SystemPlan&);

}  // namespace sluice::platform
