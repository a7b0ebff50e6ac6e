// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Advanced PLIC (RISC-V AIA): wired interrupts become MSIs to the harts' IMSICs.

#include <cstdint>
#include <vector>

#include "models/base/measure/statistics.h"
#include "models/base/parameters/schema.h"
#include "models/base/registers/register_bank.h"
#include "models/base/registers/register_socket.h"
#include "models/base/systemc/model.h"
#include "models/base/systemc/reset.h"

namespace sluice::irq {

using namespace base::literals;

class Aplic;

/// One interrupt domain: its registers, pending bits and enable bits. Register sourcecfg says which sources are active
/// in it.
class AplicDomain {
 public:
  enum class Level { machine, supervisor };
  AplicDomain(Aplic&, const std::string& path, Level);

  base::RegisterBank& registers() { return registers_; }
  /// Registers that AIA reserves read as 0 and ignore writes. The register bank still counts and reports such accesses.
  base::Answer read(std::uint64_t offset, void* data, unsigned size);
  base::Answer write(std::uint64_t offset, const void* data, unsigned size);

  /// The wire of a source has changed to `level`.
  void input_changed(unsigned source, bool level);
  /// Sets a source's sourcecfg, as a write of `value` does.
  void configure(unsigned source, std::uint32_t value);
  bool delegates(unsigned source) const;
  void reset();

 private:
  friend class Aplic;
  using Words = std::vector<std::uint32_t>;  ///< a bit per source; always 32 words
  template <class Change>
  void change(const base::RegisterWrite&, Change);
  template <class Change>
  void add_numbered(const char* name, std::uint32_t offset, Change);

  void add_configuration();
  void add_addresses();
  void add_bits();
  std::uint32_t mode(unsigned source) const;  ///< field SM; inactive for a source that is delegated or does not exist
  bool high(unsigned source) const;           ///< the rectified input value
  std::uint32_t high_word(unsigned word) const;
  void set_pending(unsigned source);
  void set_enabled(unsigned source);
  void forward();
  void write_genmsi(std::uint32_t written);

  Aplic& aplic_;
  Level level_;
  base::RegisterBank registers_;  ///< all registers of the domain; some act on pending_ and enabled_
  base::RegisterBank::Id domaincfg_, sourcecfg_, target_, genmsi_;
  Words pending_ = Words(32);  ///< changed by setip, setipnum, setipnum_le, in_clrip, clripnum
  Words enabled_ = Words(32);  ///< changed by setie, setienum, clrie, clrienum
};

/// A machine-level root domain and a supervisor-level domain below it, MSI delivery only. Registers: aplic_regs.h.
class Aplic : public base::Model, public base::Resettable {
 public:
  struct Parameters {
    unsigned sources = 95;  ///< 1 to 1023; numbered from 1
    /// Which domain the sources belong to after reset, as if machine firmware had delegated them.
    AplicDomain::Level owner = AplicDomain::Level::supervisor;
    base::Time msi_latency = 20_ns;  ///< from a source's edge to the message at its IMSIC
    static void describe(base::Schema<Parameters>&);
  };
  /// Where the IMSICs are. The MSI address configuration registers hold this after reset; software may change them.
  struct Map {
    std::uint64_t machine = 0;     ///< address of hart 0's machine file; a multiple of 4 KiB
    std::uint64_t supervisor = 0;  ///< of hart 0's supervisor file
    unsigned harts = 1;            ///< 1 to 64; their pages follow each other
  };

  Aplic(sc_core::sc_module_name, const Parameters&, const Map&);

  base::RegisterSocket machine_socket;
  base::RegisterSocket supervisor_socket;
  /// Called when a 32-bit MSI write arrives at an IMSIC. Must be set before the first interrupt.
  base::Callback<void(std::uint64_t address, std::uint32_t data)> send_msi;

  /// Sets the level of a wire. source: 1 to Parameters::sources.
  void set_source(unsigned source, bool level);

  /// Resets the domains. The wires keep their levels, and messages under way still arrive.
  void reset() override;

  AplicDomain& machine() { return machine_; }
  AplicDomain& supervisor() { return supervisor_; }

 private:
  void register_statistics(base::StatisticsGroup&) override;
  friend class AplicDomain;
  bool locked() const;
  std::uint64_t address(AplicDomain::Level, std::uint32_t hart) const;
  /// target: as in a target register. extempore: the domain whose genmsi register sends the message, else null.
  void send(AplicDomain::Level, std::uint32_t target, AplicDomain* extempore);

  Parameters parameters_;
  Map map_;
  std::uint32_t mmsiaddrcfg_ = 0, mmsiaddrcfgh_ = 0, smsiaddrcfg_ = 0, smsiaddrcfgh_ = 0;
  std::vector<bool> inputs_;  ///< by source
  std::uint64_t messages_ = 0;
  std::uint32_t resets_ = 0;  ///< a message from before the last reset clears no Busy bit of genmsi
  AplicDomain machine_;
  AplicDomain supervisor_;
};

}  // namespace sluice::irq
