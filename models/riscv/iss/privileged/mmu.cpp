// SPDX-License-Identifier: Apache-2.0
// Address translation: the parts of Privileged that walk page tables and ask the PMP.
#include <algorithm>
#include <cstring>

#include "models/riscv/iss/privileged/privileged.h"

namespace sluice::riscv {

namespace {

namespace pte {
constexpr std::uint64_t kV = 1, kR = 2, kW = 4, kX = 8, kU = 16, kG = 32, kA = 64, kD = 128;
constexpr unsigned kPbmtShift = 61;
constexpr std::uint64_t kPbmt = std::uint64_t{3} << kPbmtShift;
constexpr std::uint64_t kReserved = std::uint64_t{0x3ff} << 54;  ///< N, PBMT and bits 60:54; of a leaf less PBMT
constexpr std::uint64_t kPpn = (std::uint64_t{1} << 44) - 1;
constexpr std::uint64_t ppn(std::uint64_t entry) { return (entry >> 10) & kPpn; }
}  // namespace pte

constexpr unsigned kLevels = 3, kVpnBits = 9, kPageBits = 12;
constexpr std::uint64_t kPage = std::uint64_t{1} << kPageBits;
constexpr std::uint64_t kBareRegion = std::uint64_t{1} << 30;

Cause page_fault(Access access) {
  return access == Access::fetch ? Cause::fetch_page : access == Access::load ? Cause::load_page : Cause::store_page;
}
Cause access_fault(Access access) {
  return access == Access::fetch  ? Cause::fetch_access
         : access == Access::load ? Cause::load_access
                                  : Cause::store_access;
}
std::uint8_t needed(Access access) {
  return access == Access::fetch ? Pmp::kExecute : access == Access::load ? Pmp::kRead : Pmp::kWrite;
}

}  // namespace

Cause Privileged::translate(std::uint64_t virtual_address, unsigned size, Access access, Translation& result) {
  Leaf leaf;
  const Cause cause = find(virtual_address, size, access, Walk::update, leaf);
  if (cause != Cause::none) return cause;
  result.physical = leaf.physical;
  result.region_size = pmp_.uniform_region(leaf.physical, leaf.page_size, kPage);
  result.readable = leaf.permissions & Pmp::kRead;
  result.writable = leaf.permissions & Pmp::kWrite;
  result.executable = leaf.permissions & Pmp::kExecute;
  result.type = leaf.type;
  result.page_shift = leaf.page_shift;
  result.is_global = leaf.is_global;
  result.walk = leaf.walk;
  return Cause::none;
}

Cause Privileged::translate_hint(std::uint64_t virtual_address, Translation& result, Access access) {
  Leaf leaf;
  const Cause cause = find(virtual_address, 1, access, Walk::probe, leaf);
  result.physical = leaf.physical;
  result.type = leaf.type;
  return cause;
}

/// Finds the leaf that translates the address, and removes the permissions that the PMP does not grant.
Cause Privileged::find(std::uint64_t virtual_address, unsigned size, Access access, Walk walk, Leaf& leaf) {
  const Privilege privilege = access == Access::fetch ? state_.privilege : effective_data_privilege();
  leaf = {virtual_address, kBareRegion, Pmp::kAll, MemoryType::normal, 0, false, {}};
  if (privilege != Privilege::machine && csr_.satp >> 60 != 0) {
    const Cause cause = walk_sv39(virtual_address, access, privilege, walk, leaf);
    if (cause != Cause::none) return cause;
  }
  const std::uint8_t allowed = pmp_.permissions(leaf.physical, size, privilege);
  if (!(allowed & needed(access))) return access_fault(access);
  leaf.permissions &= allowed;
  return Cause::none;
}

/// PBMT is reserved while menvcfg.PBMTE is clear. Its value 3 is reserved by the specification,
/// and write-through memory where the hart has it.
std::uint64_t Privileged::reserved_bits(std::uint64_t entry) const {
  const bool has_type = csr_.menvcfg & kMenvcfgPbmte;
  return has_type && (config_.write_through || (entry & pte::kPbmt) != pte::kPbmt) ? pte::kReserved & ~pte::kPbmt
                                                                                   : pte::kReserved;
}

std::uint8_t Privileged::leaf_permissions(std::uint64_t entry, Privilege privilege) const {
  std::uint8_t allowed = 0;
  const bool readable_code = (entry & pte::kX) && (csr_.mstatus & mstatus::kMxr);
  if ((entry & pte::kR) || readable_code) allowed |= Pmp::kRead;
  if (entry & pte::kW) allowed |= Pmp::kWrite;
  if (entry & pte::kX) allowed |= Pmp::kExecute;
  const bool user_page = entry & pte::kU;
  if (privilege == Privilege::user) return user_page ? allowed : 0;
  if (!user_page) return allowed;
  // A supervisor never executes user pages, and touches their data only under SUM.
  return csr_.mstatus & mstatus::kSum ? allowed & ~Pmp::kExecute : 0;
}

Cause Privileged::walk_sv39(std::uint64_t virtual_address, Access access, Privilege privilege, Walk walk, Leaf& leaf) {
  constexpr unsigned kUnused = 64 - (kLevels * kVpnBits + kPageBits);
  const auto canonical = static_cast<std::int64_t>(virtual_address << kUnused) >> kUnused;
  if (static_cast<std::uint64_t>(canonical) != virtual_address) return page_fault(access);

  std::uint64_t table = (csr_.satp & pte::kPpn) << kPageBits;
  for (unsigned level = kLevels; level-- > 0;) {
    const unsigned shift = kPageBits + level * kVpnBits;
    const std::uint64_t address = table + ((virtual_address >> shift) & 0x1ff) * 8;
    // Page tables live in RAM: a walk that leaves it is an access fault of the original access.
    base::GuestRam* ram = bus_.ram_at(address);
    const std::uint8_t table_access = pmp_.permissions(address, 8, Privilege::supervisor);
    if (!ram || !ram->contains(address, 8) || !(table_access & Pmp::kRead)) return access_fault(access);
    std::uint64_t entry;
    std::memcpy(&entry, ram->at(address), sizeof entry);
    leaf.walk.entries[leaf.walk.count++] = address;
    leaf.is_global |= (entry & pte::kG) != 0;

    if (!(entry & pte::kV)) return page_fault(access);
    if (!(entry & (pte::kR | pte::kW | pte::kX))) {
      if (entry & (pte::kReserved | pte::kA | pte::kD | pte::kU)) return page_fault(access);  // reserved in a pointer
      table = pte::ppn(entry) << kPageBits;
      continue;
    }
    if ((entry & reserved_bits(entry)) || (!(entry & pte::kR) && (entry & pte::kW))) return page_fault(access);
    leaf.permissions = leaf_permissions(entry, privilege);
    if (!(leaf.permissions & needed(access))) return page_fault(access);
    const std::uint64_t page_size = std::uint64_t{1} << shift;
    const std::uint64_t page = pte::ppn(entry) << kPageBits;
    if (page & (page_size - 1)) return page_fault(access);  // misaligned superpage

    const std::uint64_t updated = entry | pte::kA | (access == Access::store ? pte::kD : 0);
    if (updated != entry && walk == Walk::update) {
      if (!(table_access & Pmp::kWrite)) return access_fault(access);
      if (ram->watch(address) && ram->awaited(address, sizeof entry, nullptr)) {
        ++synchronised_walks_;
        if (!bus_.synchronise()) return page_fault(access);  // the hart has been reset, which discards the fault
        std::uint64_t present;
        std::memcpy(&present, ram->at(address), sizeof present);
        if (present != entry) {
          leaf.walk = {}, leaf.is_global = false;
          return walk_sv39(virtual_address, access, privilege, walk, leaf);
        }
      }
      entry = updated;
      if (ram->watch(address))
        ram->write(address, &entry, sizeof entry);
      else
        std::memcpy(ram->at(address), &entry, sizeof entry);
    }
    if (!(entry & pte::kD)) leaf.permissions &= ~Pmp::kWrite;
    leaf.physical = page | (virtual_address & (page_size - 1));
    leaf.page_size = page_size;
    leaf.page_shift = static_cast<std::uint8_t>(shift);
    leaf.type = static_cast<MemoryType>((entry & pte::kPbmt) >> pte::kPbmtShift);
    return Cause::none;
  }
  return page_fault(access);  // a pointer at the last level
}

}  // namespace sluice::riscv
