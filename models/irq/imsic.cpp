// SPDX-License-Identifier: Apache-2.0
#include "models/irq/imsic.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "models/base/measure/mistakes.h"
#include "models/irq/imsic_regs.h"

namespace sluice::irq {

// ---------------------------------------------------------------------------------------------------- interrupt file

ImsicFile::ImsicFile(unsigned identities) : identities_(identities), eip_((identities + 1) / 64), eie_(eip_.size()) {}

bool ImsicFile::set_pending(std::uint64_t identity) {
  if (identity == 0 || identity > identities_) return false;
  eip_[identity / 64] |= std::uint64_t{1} << (identity % 64);
  update();
  return true;
}

/// Lowest identity that is pending, enabled and below the threshold; 0: none.
unsigned ImsicFile::first() const {
  for (unsigned word = 0; word < eip_.size(); ++word) {
    const std::uint64_t bits = eip_[word] & eie_[word];
    if (bits == 0) continue;
    const unsigned identity = 64 * word + static_cast<unsigned>(std::countr_zero(bits));
    return eithreshold_ == 0 || identity < eithreshold_ ? identity : 0;
  }
  return 0;
}

bool ImsicFile::read(std::uint64_t select, std::uint64_t& value) {
  if (select < IMSIC_EIDELIVERY || select > IMSIC_EIE63 || (select >= IMSIC_EIP0 && select % 2 != 0)) return false;
  const std::uint64_t word = IMSIC_WORD(select);
  value = 0;
  if (select == IMSIC_EIDELIVERY)
    value = eidelivery_;
  else if (select == IMSIC_EITHRESHOLD)
    value = eithreshold_;
  else if (select >= IMSIC_EIP0 && word < eip_.size())
    value = (select < IMSIC_EIE0 ? eip_ : eie_)[word];
  return true;
}

bool ImsicFile::write(std::uint64_t select, std::uint64_t value) {
  if (select < IMSIC_EIDELIVERY || select > IMSIC_EIE63 || (select >= IMSIC_EIP0 && select % 2 != 0)) return false;
  const std::uint64_t word = IMSIC_WORD(select);
  if (select == IMSIC_EIDELIVERY) {
    if (value <= 1) eidelivery_ = value != 0;  // other values are not supported: the old one stays
  } else if (select == IMSIC_EITHRESHOLD) {
    eithreshold_ = value & (std::bit_ceil(identities_ + 1u) - 1);
  } else if (select >= IMSIC_EIP0 && word < eip_.size()) {
    if (word == 0) value &= ~std::uint64_t{1};  // there is no identity 0
    (select < IMSIC_EIE0 ? eip_ : eie_)[word] = value;
  }
  update();
  return true;
}

std::uint64_t ImsicFile::top() {
  const std::uint64_t identity = first();
  return identity << IMSIC_TOPEI_IDENTITY_SHIFT | identity;
}

void ImsicFile::claim(std::uint64_t identity) {
  if (identity == 0 || identity > identities_) return;
  eip_[identity / 64] &= ~(std::uint64_t{1} << (identity % 64));
  update();
}

void ImsicFile::reset() {
  std::fill(eip_.begin(), eip_.end(), 0);
  std::fill(eie_.begin(), eie_.end(), 0);
  eithreshold_ = 0;
  eidelivery_ = false;
  update();
}

void ImsicFile::look(const base::RegisterView::Visit& visit) const {
  constexpr unsigned kWidth = 8;
  visit({"eidelivery", IMSIC_EIDELIVERY, kWidth, eidelivery_});
  visit({"eithreshold", IMSIC_EITHRESHOLD, kWidth, eithreshold_});
  const auto show = [&visit](const char* name, unsigned first, const std::vector<std::uint64_t>& words) {
    for (unsigned n = 0; n < words.size(); ++n)
      visit({fmt::format("{}{}", name, 2 * n), first + 2 * n, kWidth, words[n]});
  };
  show("eip", IMSIC_EIP0, eip_);
  show("eie", IMSIC_EIE0, eie_);
}

// ------------------------------------------------------------------------------------------------------------- model

void Imsic::Parameters::describe(base::Schema<Parameters>& s) {
  s.summary("incoming MSI controllers (AIA)");
  s.add("identities", &Parameters::identities, "interrupt identities of each file")
      .choices({63, 127, 255, 511, 1023, 2047})
      .unit("identities")
      .setting();
  s.add("delivery", &Parameters::delivery, "from an interrupt file to its hart's pipeline")
      .range(0_ns, 100_us)
      .acts_with({"messages"}, "no interrupt was sent")
      .assumed("as aplic.msi_latency: some 60 cycles of a core; Intel publishes none for its local APIC");
}

Imsic::Imsic(sc_core::sc_module_name name, const Parameters& parameters, unsigned harts)
    : Model(name),
      machine_socket(
          "machine_socket",
          [this](std::uint64_t offset, void* data, unsigned size) { return read(kMachine, offset, data, size); },
          [this](std::uint64_t offset, const void* data, unsigned size) {
            return write(kMachine, offset, data, size);
          }),
      supervisor_socket(
          "supervisor_socket",
          [this](std::uint64_t offset, void* data, unsigned size) { return read(kSupervisor, offset, data, size); },
          [this](std::uint64_t offset, const void* data, unsigned size) {
            return write(kSupervisor, offset, data, size);
          }) {
  for (unsigned hart = 0; hart < harts; ++hart)
    for (const Level level : {kMachine, kSupervisor}) add_file(level, hart, parameters);
}

void Imsic::register_statistics(base::StatisticsGroup& group) {
  group.counter("messages", "messages", "MSIs that named an identity of the file", messages_);
  group.counter("unknown_identities", "messages", "MSIs that did not", unknown_);
  group.counter("refused", "accesses", "accesses that are not 32 bits wide, not aligned or outside the pages",
                refused_);
}

void Imsic::reset() {
  for (auto& level : files_)
    for (auto& file : level) file->reset();
}

void Imsic::add_file(Level level, unsigned hart, const Parameters& parameters) {
  files_[level].push_back(std::make_unique<ImsicFile>(parameters.identities));
  files_[level].back()->line.set_delivery(parameters.delivery, path());
  views_.push_back(std::make_unique<base::RegisterView>(
      fmt::format("{}.hart{}.{}", path(), hart, level == kMachine ? "machine" : "supervisor"),
      [file = files_[level].back().get()](const base::RegisterView::Visit& visit) { file->look(visit); }));
}

std::uint64_t Imsic::region_size() const { return files_[kMachine].size() * IMSIC_PAGE; }

base::Answer Imsic::check(const char* access, std::uint64_t offset, unsigned size) {
  const base::Answer answer = base::check_access(offset, size, region_size(), 4);
  if (answer == base::Answer::ok) return answer;
  ++refused_;
  base::report_refused(path(), answer, access, offset, size);
  return answer;
}

base::Answer Imsic::read(Level, std::uint64_t offset, void* data, unsigned size) {
  const base::Answer answer = check("read", offset, size);
  if (answer == base::Answer::ok) std::memset(data, 0, size);
  return answer;
}

base::Answer Imsic::write(Level level, std::uint64_t offset, const void* data, unsigned size) {
  const base::Answer answer = check("write", offset, size);
  if (answer != base::Answer::ok) return answer;
  std::uint32_t identity;
  std::memcpy(&identity, data, sizeof identity);
  const std::uint64_t within = offset % IMSIC_PAGE;
  const std::uint64_t hart = offset / IMSIC_PAGE;
  const char* file = level == kMachine ? "machine" : "supervisor";
  if (within > IMSIC_SETEIPNUM_BE) {
    base::mistakes().report(
        fmt::format("{}: message at byte {:#x} of hart {}'s {} file is ignored, only 0x0 and 0x4 "
                    "take one",
                    path(), within, hart, file));
    return answer;
  }
  if (within == IMSIC_SETEIPNUM_BE) identity = __builtin_bswap32(identity);
  ImsicFile& f = *files_[level][hart];
  if (f.set_pending(identity)) {
    ++messages_;
    return answer;
  }
  ++unknown_;
  base::mistakes().report(fmt::format("{}: message with identity {} to hart {}'s {} file is ignored, it has 1 to {}",
                                      path(), identity, hart, file, f.identities()));
  return answer;
}

}  // namespace sluice::irq
