// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Incoming MSI controllers of a cluster (RISC-V AIA): a machine and a supervisor interrupt file per hart.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/base/fabric/interrupt_line.h"
#include "models/base/measure/statistics.h"
#include "models/base/memory/interrupt_file.h"
#include "models/base/parameters/schema.h"
#include "models/base/registers/register_bank.h"
#include "models/base/registers/register_socket.h"
#include "models/base/registers/register_view.h"
#include "models/base/systemc/model.h"
#include "models/base/systemc/reset.h"

namespace sluice::irq {

using namespace base::literals;

/// One interrupt file. After reset nothing is pending, enabled or delivered.
class ImsicFile : public base::InterruptFile {
 public:
  /// identities: 63, 127, ..., 2047.
  explicit ImsicFile(unsigned identities);
  unsigned identities() const { return identities_; }

  base::InterruptLine line;  ///< to mip.MEIP or mip.SEIP

  /// Called when an MSI arrives. Returns false and does nothing when the file has no such identity.
  bool set_pending(std::uint64_t identity);

  bool read(std::uint64_t select, std::uint64_t& value) override;
  bool write(std::uint64_t select, std::uint64_t value) override;
  std::uint64_t top() override;
  void claim(std::uint64_t identity) override;

  void reset();

  /// Visits the indirect registers, with their numbers for miselect or siselect.
  void look(const base::RegisterView::Visit&) const;

 private:
  unsigned first() const;
  void update() { line.set(eidelivery_ && first() != 0); }

  unsigned identities_;
  std::vector<std::uint64_t> eip_;  ///< 64 identities each: registers eip0, eip2, ...
  std::vector<std::uint64_t> eie_;
  std::uint64_t eithreshold_ = 0;
  bool eidelivery_ = false;
};

/// Each level has a region with one page per hart, hart 0 first. Harts, the root complex and an APLIC write MSIs to the
/// socket of the level, or by write(). A message is pending as soon as it is written, because its path to the IMSIC has
/// taken its time; the hart is told of it a delivery later. Pages: imsic_regs.h.
class Imsic : public base::Model, public base::Resettable {
 public:
  enum Level : unsigned { kMachine = 0, kSupervisor = 1 };
  struct Parameters {
    unsigned identities = 255;    ///< of each file: a power of two less one, 63 to 2047
    base::Time delivery = 20_ns;  ///< from a file to its hart's pipeline
    static void describe(base::Schema<Parameters>&);
  };

  /// harts: 1 to 64, numbered from 0.
  Imsic(sc_core::sc_module_name, const Parameters&, unsigned harts);

  base::RegisterSocket machine_socket;
  base::RegisterSocket supervisor_socket;

  /// Accesses the region of a level, as its socket does. offset: from the page of hart 0.
  base::Answer read(Level, std::uint64_t offset, void* data, unsigned size);
  base::Answer write(Level, std::uint64_t offset, const void* data, unsigned size);
  std::uint64_t region_size() const;

  void reset() override;

  ImsicFile& file(unsigned hart, Level level) { return *files_[level][hart]; }

 private:
  void register_statistics(base::StatisticsGroup&) override;
  void add_file(Level, unsigned hart, const Parameters&);
  base::Answer check(const char* access, std::uint64_t offset, unsigned size);

  std::array<std::vector<std::unique_ptr<ImsicFile>>, 2> files_;
  std::vector<std::unique_ptr<base::RegisterView>> views_;  ///< of each file
  std::uint64_t messages_ = 0;
  std::uint64_t unknown_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace sluice::irq
