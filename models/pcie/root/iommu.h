// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The IOMMU: translates the addresses of devices by page tables in memory, with an IOTLB.

#include <array>
#include <cstdint>
#include <vector>

#include "models/base/measure/statistics.h"
#include "models/base/memory/memory_path.h"
#include "models/base/parameters/quantity.h"
#include "models/base/parameters/schema.h"
#include "models/base/registers/register_bank.h"
#include "models/base/registers/register_socket.h"
#include "models/base/systemc/model.h"
#include "models/base/systemc/reset.h"
#include "models/pcie/root/iommu_regs.h"
#include "models/pcie/root/root_complex.h"

namespace sluice::pcie {

/// Registers and page tables: iommu_regs.h. A request that hits the IOTLB takes `lookup` longer. One that misses waits
/// for a walker and for one memory read at each level of the table, one after the other; levels that the table cache
/// holds need no read. Requests for a page whose walk is under way wait for that walk. Faults are not cached.
class Iommu : public base::Model, public Translator, public base::Resettable {
 public:
  struct Parameters {
    unsigned tables = 16;          ///< addresses of tables that are cached; 0: every walk starts at the root
    unsigned entries = 64;         ///< of the IOTLB, 1 to 65536
    unsigned ways = 4;             ///< its associativity; divides entries
    unsigned walkers = 4;          ///< walks at once, 1 to 64
    base::Time lookup = 5_ns;      ///< of every request that is translated
    base::Time walk_step = 20_ns;  ///< of each level of a walk, besides its memory read
    static void describe(base::Schema<Parameters>&);
  };
  struct Counters {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
    std::uint64_t joined = 0;  ///< waited for a walk that another request had begun
    std::uint64_t table_reads = 0;
    std::uint64_t evictions = 0;
    std::uint64_t faults = 0;
    std::uint64_t waits = 0;  ///< misses that found every walker busy
  };

  base::RegisterSocket socket;

  Iommu(sc_core::sc_module_name, const Parameters&, base::MemoryPath& memory);

  Translation translate(RoutingId requester, std::uint64_t address, std::uint32_t length, bool write) override;

  /// Turns translation off and drops all cached translations. A busy walker stays busy until its walk ends.
  void reset() override;

  const Counters& counters() const { return counters_; }
  base::RegisterBank& registers() { return registers_; }

 private:
  void register_statistics(base::StatisticsGroup&) override;
  struct Entry {
    std::uint64_t page = 0;  ///< address >> IOMMU_PAGE_SHIFT(level)
    std::uint64_t frame = 0;
    base::Time ready;        ///< when its walk ends
    std::uint64_t used = 0;  ///< order of use; the least is evicted
    std::uint8_t level = 0;
    std::uint8_t rights = 0;
    bool valid = false;
  };
  /// A cached table address: the table of `level` for all addresses with this prefix.
  struct Table {
    std::uint64_t prefix = 0;  ///< address >> IOMMU_PAGE_SHIFT(level + 1)
    std::uint64_t address = 0;
    std::uint64_t used = 0;
    unsigned level = 0;
    bool valid = false;
  };
  struct Leaf {
    std::uint64_t frame = 0;
    std::uint8_t level = 0;
    std::uint8_t rights = 0;
    std::uint32_t cause = 0;  ///< 0: a leaf was found; else IOMMU_CAUSE_*
    base::Time latency;
  };

  void forget();
  Entry* find(std::uint64_t address);
  std::size_t first_of_set(std::uint64_t page) const { return page % sets_ * parameters_.ways; }
  Table* find_table(std::uint64_t address, unsigned level);
  void keep_table(std::uint64_t address, unsigned level, std::uint64_t table);
  Leaf walk(std::uint64_t address);
  Entry& insert(std::uint64_t address, const Leaf&, base::Time ready);
  Translation fault(RoutingId, std::uint64_t address, std::uint32_t cause, base::Time latency);

  Parameters parameters_;
  base::MemoryPath& memory_;
  std::uint64_t sets_;
  std::vector<Entry> entries_;
  std::vector<Table> tables_;
  std::vector<base::Time> walkers_;  ///< when each walker is free
  std::uint64_t uses_ = 0;
  base::RegisterBank registers_;  ///< the registers below, and command
  base::RegisterBank::Id control_, root_, fault_, fault_requester_, fault_address_;
  Counters counters_;
};

}  // namespace sluice::pcie
