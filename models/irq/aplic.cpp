// SPDX-License-Identifier: Apache-2.0
#include "models/irq/aplic.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "models/irq/aplic_regs.h"
#include "models/irq/source_bits.h"

namespace sluice::irq {

namespace {

constexpr std::uint32_t kSmsiaddrcfghMask = APLIC_MMSIADDRCFGH_LHXS | APLIC_MMSIADDRCFGH_PPN;
constexpr std::uint32_t kMmsiaddrcfghMask = kSmsiaddrcfghMask | APLIC_MMSIADDRCFGH_L | APLIC_MMSIADDRCFGH_HHXS |
                                            APLIC_MMSIADDRCFGH_HHXW | APLIC_MMSIADDRCFGH_LHXW;

bool edge_sensitive(std::uint32_t mode) { return mode == APLIC_SOURCECFG_EDGE1 || mode == APLIC_SOURCECFG_EDGE0; }
bool level_sensitive(std::uint32_t mode) { return mode >= APLIC_SOURCECFG_LEVEL1; }

bool rectified(std::uint32_t mode, bool wire) {
  if (!edge_sensitive(mode) && !level_sensitive(mode)) return false;
  const bool inverted = (mode & 1) != 0;
  return wire != inverted;
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------ domain

AplicDomain::AplicDomain(Aplic& aplic, const std::string& path, Level level)
    : aplic_(aplic), level_(level), registers_(path, APLIC_SIZE) {
  add_configuration();
  if (level == Level::machine) add_addresses();
  add_bits();
}

void AplicDomain::add_configuration() {
  domaincfg_ = registers_.add({.name = "domaincfg",
                               .offset = APLIC_DOMAINCFG,
                               .reset = APLIC_DOMAINCFG_FIXED | APLIC_DOMAINCFG_DM,
                               .write_mask = APLIC_DOMAINCFG_IE,
                               .on_write = [this](const base::RegisterWrite&) { forward(); }});
  sourcecfg_ = registers_.add({.name = "sourcecfg",
                               .offset = APLIC_SOURCECFG(1),
                               .write_mask = 0,
                               .count = APLIC_MAX_SOURCES,
                               .on_write =
                                   [this](const base::RegisterWrite& w) {
                                     configure(w.index + 1, static_cast<std::uint32_t>(w.written));
                                     forward();
                                   },
                               .first_element = 1});
  target_ = registers_.add({.name = "target",
                            .offset = APLIC_TARGET(1),
                            .write_mask = APLIC_TARGET_HART | APLIC_TARGET_EIID,
                            .count = APLIC_MAX_SOURCES,
                            .on_write =
                                [this](const base::RegisterWrite& w) {
                                  if (mode(w.index + 1) == APLIC_SOURCECFG_INACTIVE)
                                    registers_.value(target_, w.index) = 0;
                                },
                            .first_element = 1});
  genmsi_ = registers_.add(
      {.name = "genmsi", .offset = APLIC_GENMSI, .write_mask = 0, .on_write = [this](const base::RegisterWrite& w) {
         write_genmsi(static_cast<std::uint32_t>(w.written));
       }});
}

void AplicDomain::add_addresses() {
  const auto add = [this](const char* name, std::uint32_t offset, std::uint32_t& value, std::uint32_t mask) {
    registers_.add({.name = name,
                    .offset = offset,
                    .write_mask = mask,
                    .on_read = [&value](unsigned) { return std::uint64_t{value}; },
                    .on_write =
                        [this, &value](const base::RegisterWrite& w) {
                          if (!aplic_.locked()) value = static_cast<std::uint32_t>(w.value);
                        }});
  };
  add("mmsiaddrcfg", APLIC_MMSIADDRCFG, aplic_.mmsiaddrcfg_, ~0u);
  add("mmsiaddrcfgh", APLIC_MMSIADDRCFGH, aplic_.mmsiaddrcfgh_, kMmsiaddrcfghMask);
  add("smsiaddrcfg", APLIC_SMSIADDRCFG, aplic_.smsiaddrcfg_, ~0u);
  add("smsiaddrcfgh", APLIC_SMSIADDRCFGH, aplic_.smsiaddrcfgh_, kSmsiaddrcfghMask);
}

/// Applies a change to every active source whose bit was written as one.
template <class Change>
void AplicDomain::change(const base::RegisterWrite& w, Change change_source) {
  for (auto bits = static_cast<std::uint32_t>(w.written); bits != 0; bits &= bits - 1) {
    const unsigned source = 32 * w.index + static_cast<unsigned>(std::countr_zero(bits));
    if (mode(source) != APLIC_SOURCECFG_INACTIVE) change_source(source);
  }
  forward();
}

/// A register that changes the source whose number is written.
template <class Change>
void AplicDomain::add_numbered(const char* name, std::uint32_t offset, Change change_source) {
  registers_.add({.name = name,
                  .offset = offset,
                  .write_mask = 0,
                  .on_write = [this, change_source](const base::RegisterWrite& w) {
                    const auto source = static_cast<unsigned>(w.written);
                    if (mode(source) != APLIC_SOURCECFG_INACTIVE) change_source(source);
                    forward();
                  }});
}

void AplicDomain::add_bits() {
  registers_.add(
      {.name = "setip",
       .offset = APLIC_SETIP(0),
       .write_mask = 0,
       .count = 32,
       .on_read = [this](unsigned word) { return std::uint64_t{pending_[word]}; },
       .on_write = [this](const base::RegisterWrite& w) { change(w, [this](unsigned s) { set_pending(s); }); }});
  registers_.add(
      {.name = "in_clrip",
       .offset = APLIC_IN_CLRIP(0),
       .write_mask = 0,
       .count = 32,
       .on_read = [this](unsigned word) { return std::uint64_t{high_word(word)}; },
       .on_write =
           [this](const base::RegisterWrite& w) { change(w, [this](unsigned s) { assign(pending_, s, false); }); }});
  registers_.add(
      {.name = "setie",
       .offset = APLIC_SETIE(0),
       .write_mask = 0,
       .count = 32,
       .on_read = [this](unsigned word) { return std::uint64_t{enabled_[word]}; },
       .on_write = [this](const base::RegisterWrite& w) { change(w, [this](unsigned s) { set_enabled(s); }); }});
  registers_.add({.name = "clrie",
                  .offset = APLIC_CLRIE(0),
                  .write_mask = 0,
                  .count = 32,
                  .on_write = [this](const base::RegisterWrite& w) {
                    change(w, [this](unsigned s) { assign(enabled_, s, false); });
                  }});
  add_numbered("setipnum", APLIC_SETIPNUM, [this](unsigned s) { set_pending(s); });
  add_numbered("setipnum_le", APLIC_SETIPNUM_LE, [this](unsigned s) { set_pending(s); });
  add_numbered("clripnum", APLIC_CLRIPNUM, [this](unsigned s) { assign(pending_, s, false); });
  add_numbered("setienum", APLIC_SETIENUM, [this](unsigned s) { set_enabled(s); });
  add_numbered("clrienum", APLIC_CLRIENUM, [this](unsigned s) { assign(enabled_, s, false); });
}

void AplicDomain::reset() {
  registers_.reset();
  std::fill(pending_.begin(), pending_.end(), 0);
  std::fill(enabled_.begin(), enabled_.end(), 0);
}

base::Answer AplicDomain::read(std::uint64_t offset, void* data, unsigned size) {
  const base::Answer answer = registers_.read(offset, data, size);
  if (answer != base::Answer::unmapped || offset >= APLIC_SIZE || size != 4 || offset % 4 != 0) return answer;
  std::memset(data, 0, size);
  return base::Answer::ok;
}

base::Answer AplicDomain::write(std::uint64_t offset, const void* data, unsigned size) {
  const base::Answer answer = registers_.write(offset, data, size);
  if (answer != base::Answer::unmapped || offset >= APLIC_SIZE || size != 4 || offset % 4 != 0) return answer;
  return base::Answer::ok;
}

bool AplicDomain::delegates(unsigned source) const {
  return (registers_.value(sourcecfg_, source - 1) & APLIC_SOURCECFG_D) != 0;
}

std::uint32_t AplicDomain::mode(unsigned source) const {
  if (source == 0 || source > aplic_.parameters_.sources || delegates(source)) return APLIC_SOURCECFG_INACTIVE;
  return static_cast<std::uint32_t>(registers_.value(sourcecfg_, source - 1));
}

bool AplicDomain::high(unsigned source) const {
  const std::uint32_t m = mode(source);
  return m != APLIC_SOURCECFG_INACTIVE && rectified(m, aplic_.inputs_[source]);
}

std::uint32_t AplicDomain::high_word(unsigned word) const {
  std::uint32_t bits = 0;
  for (unsigned bit = 0; bit < 32; ++bit) bits |= std::uint32_t{high(32 * word + bit)} << bit;
  return bits;
}

void AplicDomain::configure(unsigned source, std::uint32_t value) {
  if (source > aplic_.parameters_.sources) return;
  const bool machine = level_ == Level::machine;
  if (!machine && !aplic_.machine_.delegates(source)) value = APLIC_SOURCECFG_INACTIVE;
  if ((value & APLIC_SOURCECFG_D) != 0) {
    value = machine ? APLIC_SOURCECFG_D : APLIC_SOURCECFG_INACTIVE;
  } else {
    value &= APLIC_SOURCECFG_SM;
    if (value == 2 || value == 3) value = APLIC_SOURCECFG_INACTIVE;  // reserved modes
  }
  const bool withdrawn = machine && delegates(source) && (value & APLIC_SOURCECFG_D) == 0;
  registers_.value(sourcecfg_, source - 1) = value;
  if (withdrawn) aplic_.supervisor_.configure(source, APLIC_SOURCECFG_INACTIVE);
  if (mode(source) == APLIC_SOURCECFG_INACTIVE) {
    assign(pending_, source, false);
    assign(enabled_, source, false);
    registers_.value(target_, source - 1) = 0;
  } else if (level_sensitive(mode(source))) {
    // The pending bit takes the value of the rectified input, which the new mode may have changed.
    assign(pending_, source, high(source));
  }
}

void AplicDomain::input_changed(unsigned source, bool level) {
  const std::uint32_t m = mode(source);
  if (rectified(m, level))
    assign(pending_, source, true);
  else if (level_sensitive(m))
    assign(pending_, source, false);
  forward();
}

void AplicDomain::set_pending(unsigned source) {
  if (!level_sensitive(mode(source)) || high(source)) assign(pending_, source, true);
}

void AplicDomain::set_enabled(unsigned source) { assign(enabled_, source, true); }

/// If the domain's IE bit is set, sends an MSI for each pending and enabled source, lowest number first.
void AplicDomain::forward() {
  if ((registers_.value(domaincfg_) & APLIC_DOMAINCFG_IE) == 0) return;
  for (unsigned word = 0; word < pending_.size(); ++word) {
    for (std::uint32_t bits = pending_[word] & enabled_[word]; bits != 0; bits &= bits - 1) {
      const unsigned source = 32 * word + static_cast<unsigned>(std::countr_zero(bits));
      assign(pending_, source, false);
      aplic_.send(level_, static_cast<std::uint32_t>(registers_.value(target_, source - 1)), nullptr);
    }
  }
}

void AplicDomain::write_genmsi(std::uint32_t written) {
  std::uint64_t& genmsi = registers_.value(genmsi_);
  if ((genmsi & APLIC_GENMSI_BUSY) != 0) return;
  written &= APLIC_TARGET_HART | APLIC_TARGET_EIID;
  genmsi = written | APLIC_GENMSI_BUSY;
  aplic_.send(level_, written, this);
}

// ------------------------------------------------------------------------------------------------------------- model

void Aplic::Parameters::describe(base::Schema<Parameters>& s) {
  s.summary("advanced PLIC (AIA), MSI delivery");
  s.add("sources", &Parameters::sources, "interrupt sources, numbered from 1")
      .range(1, APLIC_MAX_SOURCES)
      .unit("sources")
      .setting();
  s.add("owner", &Parameters::owner, "domain that has the sources after reset")
      .acts_with({"messages"}, "no wired interrupt was sent")
      .choices({{"machine", AplicDomain::Level::machine}, {"supervisor", AplicDomain::Level::supervisor}})
      .setting();
  s.add("msi_latency", &Parameters::msi_latency, "from a source's edge to the message at its IMSIC")
      .range(0_ns, 10_us)
      .acts_with({"messages"}, "no interrupt was sent")
      .assumed("one posted write on the host's fabric");
}

Aplic::Aplic(sc_core::sc_module_name name, const Parameters& parameters, const Map& map)
    : Model(name),
      machine_socket(
          "machine_socket",
          [this](std::uint64_t offset, void* data, unsigned size) { return machine_.read(offset, data, size); },
          [this](std::uint64_t offset, const void* data, unsigned size) { return machine_.write(offset, data, size); }),
      supervisor_socket(
          "supervisor_socket",
          [this](std::uint64_t offset, void* data, unsigned size) { return supervisor_.read(offset, data, size); },
          [this](std::uint64_t offset, const void* data, unsigned size) {
            return supervisor_.write(offset, data, size);
          }),
      parameters_(parameters),
      map_(map),
      inputs_(parameters.sources + 1),
      machine_(*this, path() + ".machine", AplicDomain::Level::machine),
      supervisor_(*this, path() + ".supervisor", AplicDomain::Level::supervisor) {
  reset();
}

void Aplic::register_statistics(base::StatisticsGroup& group) {
  group.counter("messages", "messages", "MSIs sent", messages_);
}

void Aplic::reset() {
  ++resets_;
  const auto high_half = [](std::uint64_t address) {
    return static_cast<std::uint32_t>(address >> (APLIC_PAGE_SHIFT + 32)) & APLIC_MMSIADDRCFGH_PPN;
  };
  mmsiaddrcfg_ = static_cast<std::uint32_t>(map_.machine >> APLIC_PAGE_SHIFT);
  mmsiaddrcfgh_ = high_half(map_.machine) | static_cast<std::uint32_t>(std::bit_width(map_.harts - 1))
                                                << APLIC_MMSIADDRCFGH_LHXW_SHIFT;
  smsiaddrcfg_ = static_cast<std::uint32_t>(map_.supervisor >> APLIC_PAGE_SHIFT);
  smsiaddrcfgh_ = high_half(map_.supervisor);
  machine_.reset();
  supervisor_.reset();
  if (parameters_.owner == AplicDomain::Level::supervisor) {
    for (unsigned source = 1; source <= parameters_.sources; ++source) machine_.configure(source, APLIC_SOURCECFG_D);
  }
}

void Aplic::set_source(unsigned source, bool level) {
  if (source == 0 || source > parameters_.sources || inputs_[source] == level) return;
  inputs_[source] = level;
  (machine_.delegates(source) ? supervisor_ : machine_).input_changed(source, level);
}

bool Aplic::locked() const { return (mmsiaddrcfgh_ & APLIC_MMSIADDRCFGH_L) != 0; }

std::uint64_t Aplic::address(AplicDomain::Level level, std::uint32_t hart) const {
  const bool machine = level == AplicDomain::Level::machine;
  const std::uint32_t low = machine ? mmsiaddrcfg_ : smsiaddrcfg_;
  const std::uint32_t high = machine ? mmsiaddrcfgh_ : smsiaddrcfgh_;
  const unsigned hhxs = (mmsiaddrcfgh_ & APLIC_MMSIADDRCFGH_HHXS) >> APLIC_MMSIADDRCFGH_HHXS_SHIFT;
  const unsigned hhxw = (mmsiaddrcfgh_ & APLIC_MMSIADDRCFGH_HHXW) >> APLIC_MMSIADDRCFGH_HHXW_SHIFT;
  const unsigned lhxw = (mmsiaddrcfgh_ & APLIC_MMSIADDRCFGH_LHXW) >> APLIC_MMSIADDRCFGH_LHXW_SHIFT;
  const unsigned lhxs = (high & APLIC_MMSIADDRCFGH_LHXS) >> APLIC_MMSIADDRCFGH_LHXS_SHIFT;
  const std::uint64_t base_page = std::uint64_t{high & APLIC_MMSIADDRCFGH_PPN} << 32 | low;
  const std::uint64_t group = hart >> lhxw & ((1u << hhxw) - 1);
  const std::uint64_t within = hart & ((1u << lhxw) - 1);
  return (base_page | group << (hhxs + APLIC_PAGE_SHIFT) | within << lhxs) << APLIC_PAGE_SHIFT;
}

void Aplic::send(AplicDomain::Level level, std::uint32_t target, AplicDomain* extempore) {
  const std::uint64_t to = address(level, target >> APLIC_TARGET_HART_SHIFT);
  const std::uint32_t identity = target & APLIC_TARGET_EIID;
  base::calendar().after(parameters_.msi_latency, key(), [this, to, identity, resets = resets_, extempore] {
    if (extempore != nullptr && resets == resets_)
      extempore->registers_.value(extempore->genmsi_) &= ~std::uint64_t{APLIC_GENMSI_BUSY};
    ++messages_;
    if (send_msi) send_msi(to, identity);
  });
}

}  // namespace sluice::irq
