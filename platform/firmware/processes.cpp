// SPDX-License-Identifier: Apache-2.0
#include "platform/firmware/processes.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "firmware/process/record.h"

namespace sluice::platform {
namespace {

constexpr std::uint64_t kLargestElf = 64 << 20;

/// The name of a record; empty where it has none.
std::string name_of(const process_record& r) {
  const std::string name(r.name, strnlen(r.name, sizeof r.name));
  const bool right = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
  });
  return right && name.size() < sizeof r.name ? name : "";
}

}  // namespace

std::string title_of_process(const std::string& name, unsigned asid) {
  return name.empty() ? fmt::format("asid {}", asid) : fmt::format("process {} ({})", name, asid);
}

Processes::Processes(const Firmware& firmware, std::vector<base::GuestRam*> rams)
    : rams_(std::move(rams)), first_(firmware.symbols().variable("sluice_processes")) {}

const base::GuestRam* Processes::ram(std::uint64_t address, std::uint64_t bytes) const {
  const auto found =
      std::find_if(rams_.begin(), rams_.end(), [&](const base::GuestRam* r) { return r->contains(address, bytes); });
  return found == rams_.end() ? nullptr : *found;
}

/// Calls `until` with each process until it returns true. A list that leads back to itself ends there.
template <class F>
void Processes::each(const F& until) const {
  std::set<std::uint64_t> seen;
  process_record record{};
  const base::GuestRam* at = first_ ? ram(*first_, sizeof record.next) : nullptr;
  if (at) at->read(*first_, &record.next, sizeof record.next);
  while (record.next != 0 && seen.insert(record.next).second) {
    const std::uint64_t place = record.next;
    at = ram(place, sizeof record);
    if (!at) return;
    at->read(place, &record, sizeof record);
    std::string name = name_of(record);
    if (!name.empty() && until(Process{record.satp, std::move(name), record.elf, record.elf_bytes})) return;
  }
}

std::vector<Processes::Process> Processes::list() const {
  std::vector<Process> all;
  each([&](Process p) {
    all.push_back(std::move(p));
    return false;
  });
  std::stable_sort(all.begin(), all.end(),
                   [](const Process& a, const Process& b) { return asid_of(a.satp) < asid_of(b.satp); });
  return all;
}

std::optional<Processes::Process> Processes::find(std::uint64_t satp) const {
  std::optional<Process> found;
  each([&](Process p) {
    if (p.satp != satp) return false;
    found = std::move(p);
    return true;
  });
  return found;
}

std::shared_ptr<const SymbolTable> Processes::symbols(const Process& process) {
  const std::uint64_t bytes = process.elf_bytes;
  const base::GuestRam* at = bytes > kLargestElf ? nullptr : ram(process.elf, bytes);
  if (bytes == 0 || !at) return nullptr;
  Symbols& known = symbols_[process.satp];
  // Another process may have the address space now, or the place in memory another file.
  const std::uint8_t* const elf = at->at(process.elf);
  if (!known.table || !std::equal(known.elf.begin(), known.elf.end(), elf, elf + bytes)) {
    known.elf.assign(elf, elf + bytes);
    known.table = std::make_shared<SymbolTable>(known.elf);
  }
  return known.table;
}

std::string Processes::function(std::uint64_t satp, std::uint64_t pc) {
  const auto process = find(satp);
  const auto table = process ? symbols(*process) : nullptr;
  return table ? table->at(pc) : "";
}

}  // namespace sluice::platform
