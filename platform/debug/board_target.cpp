// SPDX-License-Identifier: Apache-2.0
#include "platform/debug/board_target.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "models/base/measure/mistakes.h"
#include "models/base/registers/register_bank.h"
#include "models/base/registers/register_banks.h"
#include "platform/debug/target_description.h"
#include "platform/diagnosis/code_place.h"

namespace sluice::debug {
namespace {

std::vector<base::GuestRam*> rams_of(platform::Board& board) {
  std::vector<base::GuestRam*> rams;
  for (const auto& system : board.systems())
    for (base::GuestRam* ram : system->guest_rams()) rams.push_back(ram);
  return rams;
}

const char* account_title(unsigned account) {
  constexpr const char* titles[] = {
#define SLUICE_ACCOUNT(name, title, meaning) title,
      SLUICE_ACCOUNTS(SLUICE_ACCOUNT)
#undef SLUICE_ACCOUNT
  };
  return account < std::size(titles) ? titles[account] : "";
}

base::RegisterBank* bank_of(const std::string& path) {
  for (base::RegisterBank* bank : base::register_banks())
    if (bank->owner() == path) return bank;
  return nullptr;
}

bool write_bank(base::RegisterBank& bank, std::uint64_t offset, std::uint64_t value, unsigned width) {
  return bank.write(offset, &value, width) == base::Answer::ok;  // this host and the bank are little endian
}

/// Sets the kind of a register and its number within that kind. False: the register is x0 or unknown.
bool register_change(unsigned number, Change& change) {
  namespace rn = register_number;
  if (number == 0 || number > rn::kPrivilege) return false;
  if (number < rn::kPc) {
    change.kind = Change::Kind::integer, change.place = number;
  } else if (number == rn::kPc) {
    change.kind = Change::Kind::pc;
  } else if (number < rn::kCsr0) {
    change.kind = Change::Kind::floating, change.place = number - rn::kF0;
  } else if (number < rn::kPrivilege) {
    change.kind = Change::Kind::csr, change.place = number - rn::kCsr0;
  } else {
    change.kind = Change::Kind::privilege;
  }
  return true;
}

/// Most bytes of a value that a debugger writes at once. GDB's `load` writes sections in longer pieces.
constexpr std::uint64_t kLongestValue = 16;

}  // namespace

BoardTarget::BoardTarget(platform::Board& board, std::function<std::string(const Change&)> make, Watchpoints::Hit hit)
    : board_(board), make_(std::move(make)), watchpoints_(rams_of(board), std::move(hit)) {
  for (platform::Cluster& c : board.clusters()) {
    for (auto& core : c.cores) {
      cores_.push_back(core.get());
      clusters_.push_back(&c);
      core->hart().on_watched_read(
          [this](std::uint64_t physical, unsigned length) { watchpoints_.loaded(physical, length); });
    }
  }
  description_ = target_description(cores_.front()->hart().privileged().config());
}

BoardTarget::~BoardTarget() = default;

unsigned BoardTarget::thread_of(const riscv::Core& core) const {
  return static_cast<unsigned>(std::find(cores_.begin(), cores_.end(), &core) - cores_.begin()) + 1;
}

const platform::Firmware& BoardTarget::firmware(unsigned thread) const { return clusters_[thread - 1]->firmware; }

platform::SystemOnChip& BoardTarget::system(unsigned thread) const { return *clusters_[thread - 1]->system; }

/// The first hart of a thread's system. In a change of memory or devices, this hart stands for its system.
std::uint32_t BoardTarget::hart_of_system(unsigned thread) const {
  const auto first = std::find_if(clusters_.begin(), clusters_.end(), [&](const platform::Cluster* c) {
    return c->system == clusters_[thread - 1]->system;
  });
  return static_cast<std::uint32_t>(first - clusters_.begin());
}

std::string BoardTarget::thread_name(unsigned thread) { return core(thread).path(); }

std::string BoardTarget::thread_state(unsigned thread) {
  const std::string process = platform::process_at(*clusters_[thread - 1], platform::place_of(core(thread)));
  return fmt::format("{}{}{}", activity(thread), process.empty() ? "" : ", ", process);
}

/// The state without the process: "application, user mode, request 2".
std::string BoardTarget::activity(unsigned thread) {
  constexpr const char* modes[] = {"user", "supervisor", "", "machine"};
  riscv::Core& c = core(thread);
  std::string state = fmt::format("{}, {} mode", account_title(c.present_account()),
                                  modes[static_cast<unsigned>(c.hart().state().privilege)]);
  if (c.inside_instruction()) state += ", waits for a device";
  if (c.serving() != 0) state += fmt::format(", request {}", c.serving());
  return state;
}

bool BoardTarget::read_register(unsigned thread, unsigned number, std::uint64_t& value) {
  namespace rn = register_number;
  riscv::Hart& hart = core(thread).hart();
  const riscv::HartState& state = hart.state();
  if (number < rn::kPc)
    value = state.x[number];
  else if (number == rn::kPc)
    value = state.pc;
  else if (number < rn::kCsr0)
    value = state.f[number - rn::kF0];
  else if (number < rn::kPrivilege)
    return hart.privileged().csr_peek(number - rn::kCsr0, value);
  else
    value = static_cast<std::uint64_t>(state.privilege);
  return number <= rn::kPrivilege;
}

std::string BoardTarget::write_register(unsigned thread, unsigned number, std::uint64_t value) {
  Change change;
  if (number == 0) return value == 0 ? "" : "x0 is always 0";
  if (!register_change(number, change)) return "there is no such register";
  // GDB's `load` ends with a write of pc.
  if (change.kind == Change::Kind::pc && is_loaded_program(thread, value)) return load_program(thread, value);
  if (core(thread).inside_instruction())
    return "the hart is inside an access to a device: step once, then change its registers";
  if (change.kind == Change::Kind::privilege && value != 0 && value != 1 && value != 3)
    return "priv must be 0 (user), 1 (supervisor) or 3 (machine)";
  if (change.kind == Change::Kind::pc && value % 2 != 0) return "pc must be even";
  change.hart = thread - 1;
  put_number(change.bytes, value);
  return make_(change);
}

bool BoardTarget::has(const Change& change) const {
  using enum Change::Kind;
  if (change.kind == device) return bank_of(change.path()) != nullptr;
  if (change.hart >= cores_.size()) return false;
  platform::SystemOnChip& soc = system(change.hart + 1);
  if (change.kind == memory) return soc.memory().ram_at(change.place, change.bytes.size()) != nullptr;
  if (change.kind == bus) return device_at(soc, change.place, change.bytes.size()) != nullptr;
  if (change.kind == reset) {
    const auto program = change.program();
    return change.value() % 2 == 0 && std::all_of(program.begin(), program.end(), [&soc](const AddressRange& s) {
             return s.length != 0 && soc.memory().ram_at(s.address, s.length);
           });
  }
  const std::uint64_t value = change.value();
  switch (change.kind) {
    case integer:
      return change.place > 0 && change.place < 32;
    case floating:
      return change.place < 32;
    case csr:
      return change.place < 4096;
    case privilege:
      return value == 0 || value == 1 || value == 3;
    default:
      return change.kind == pc;
  }
}

bool BoardTarget::apply(const Change& change) {
  if (!has(change)) return false;
  const base::MistakesMuted muted;  // the list holds the guest's mistakes only
  if (change.kind == Change::Kind::memory) {
    base::GuestRam* ram = system(change.hart + 1).memory().ram_at(change.place, change.bytes.size());
    watchpoints_.mute(true);
    ram->write(change.place, change.bytes.data(), change.bytes.size());
    watchpoints_.mute(false);
    return true;
  }
  if (change.kind == Change::Kind::bus)
    return system(change.hart + 1)
        .bus()
        .write_now(change.place, change.bytes.data(), static_cast<unsigned>(change.bytes.size()));
  const std::uint64_t value = change.value();
  if (change.kind == Change::Kind::device)
    return write_bank(*bank_of(change.path()), change.place, value, change.width());
  riscv::Hart& hart = cores_[change.hart]->hart();
  switch (change.kind) {
    case Change::Kind::reset:
      reset(change);
      return true;
    case Change::Kind::integer:
      hart.state().x[change.place] = value;
      return true;
    case Change::Kind::floating:
      hart.state().f[change.place] = value;
      return true;
    case Change::Kind::pc:
      hart.state().pc = value & ~std::uint64_t{1};
      return true;
    case Change::Kind::csr:
      return hart.privileged().csr_poke(static_cast<unsigned>(change.place), value);
    case Change::Kind::privilege:
      hart.privileged().set_privilege(static_cast<riscv::Privilege>(value));
      return true;
    default:
      return false;
  }
}

bool BoardTarget::locate(unsigned thread, std::uint64_t address, std::uint64_t length, Part& part) {
  part.length = std::min(length, base::GuestRam::kPage - address % base::GuestRam::kPage);
  part.physical = address;
  if (!physical_ && !core(thread).hart().debug_translate(address, part.physical)) return false;
  part.ram = system(thread).memory().ram_at(part.physical, part.length);
  return part.ram != nullptr;
}

bool BoardTarget::locate_all(unsigned thread, std::uint64_t address, std::uint64_t length, std::vector<Part>& parts) {
  while (length != 0) {
    Part part;
    if (!locate(thread, address, length, part)) return false;
    parts.push_back(part);
    address += part.length;
    length -= part.length;
  }
  return true;
}

std::size_t BoardTarget::read_memory(unsigned thread, std::uint64_t address, std::span<std::uint8_t> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    Part part;
    if (!locate(thread, address + done, bytes.size() - done, part)) break;
    part.ram->read(part.physical, bytes.data() + done, part.length);
    done += part.length;
  }
  return done;
}

std::string BoardTarget::write_memory(unsigned thread, std::uint64_t address, std::span<const std::uint8_t> bytes) {
  std::vector<Part> parts;
  if (!locate_all(thread, address, bytes.size(), parts)) return write_device(thread, address, bytes);
  std::size_t done = 0;
  for (const Part& part : parts) {
    Change change;
    change.hart = hart_of_system(thread);
    change.place = part.physical;
    const auto piece = bytes.subspan(done, part.length);
    change.bytes.assign(piece.begin(), piece.end());
    if (std::string why = make_(change); !why.empty()) return why;
    done += part.length;
    note_written(thread, part.physical, part.physical + part.length);
  }
  return {};
}

/// Merges ranges that touch.
void BoardTarget::note_written(unsigned thread, std::uint64_t start, std::uint64_t end) {
  Stretches& written = written_[&system(thread)];
  bool program = end - start > kLongestValue;
  auto next = written.lower_bound(start);
  if (next != written.begin() && std::prev(next)->second.end >= start) {
    --next;
    start = next->first;
  }
  while (next != written.end() && next->first <= end) {
    end = std::max(end, next->second.end);
    program |= next->second.program;
    next = written.erase(next);
  }
  written[start] = {end, program};
}

bool BoardTarget::is_loaded_program(unsigned thread, std::uint64_t entry) const {
  const auto found = written_.find(&system(thread));
  if (found == written_.end()) return false;
  const auto after = found->second.upper_bound(entry);
  if (after == found->second.begin()) return false;
  const Written& stretch = std::prev(after)->second;
  return entry < stretch.end && stretch.program;
}

/// Takes all written ranges as the program. A range across two adjacent memories becomes two.
std::string BoardTarget::load_program(unsigned thread, std::uint64_t entry) {
  std::vector<AddressRange> program;
  for (const auto& [start, written] : written_[&system(thread)]) {
    for (std::uint64_t at = start, length = 0; at != written.end; at += length) {
      const base::GuestRam* ram = system(thread).memory().ram_at(at, 1);
      length = std::min(written.end - at, ram->base() + ram->size() - at);
      program.push_back({at, length});
    }
  }
  return make_(Change::to_entry(thread - 1, entry, program));
}

const memory::SocBus::Region* BoardTarget::device_at(platform::SystemOnChip& soc, std::uint64_t physical,
                                                     std::uint64_t length) {
  for (const memory::SocBus::Region& r : soc.bus().regions())
    if (r.own && !r.whole_address && physical >= r.base && physical - r.base < r.size &&
        length <= r.size - (physical - r.base) && !soc.memory().ram_at(physical, 1))
      return &r;
  return nullptr;
}

/// Writes a device's register: through its register bank if it has one, else by its address on the SoC bus.
std::string BoardTarget::write_register_of(const std::string& device, std::uint64_t offset, std::uint64_t value,
                                           unsigned width) {
  if (bank_of(device)) return make_(Change::to_device(device, offset, value, width));
  for (unsigned thread = 1; thread <= cores_.size(); ++thread) {
    for (const memory::SocBus::Region& r : system(thread).bus().regions()) {
      if (r.name != device) continue;
      Change change;
      change.kind = Change::Kind::bus;
      change.hart = hart_of_system(thread);
      change.place = r.base + offset;
      put_number(change.bytes, value);
      change.bytes.resize(width);
      return make_(change);
    }
  }
  return fmt::format("{} has no registers that are reached by an address: the CSRs of its hart are", device);
}

/// Does at once what a store by the thread would do.
std::string BoardTarget::write_device(unsigned thread, std::uint64_t address, std::span<const std::uint8_t> bytes) {
  Change change;
  change.kind = Change::Kind::bus;
  change.hart = hart_of_system(thread);
  change.place = address;
  const bool there = physical_ || core(thread).hart().debug_translate(address, change.place);
  if (!there || !device_at(system(thread), change.place, bytes.size()))
    return "not all of these addresses are memory or a device's on the SoC bus (monitor write reaches every device)";
  if (bytes.size() > 8 || (bytes.size() & (bytes.size() - 1)) != 0) return "a device is written by 1, 2, 4 or 8 bytes";
  change.bytes.assign(bytes.begin(), bytes.end());
  return make_(change);
}

void BoardTarget::reset(const Change& change) {
  watchpoints_.mute(true);
  if (change.bytes.empty()) {
    board_.reset();
  } else {
    platform::LoadedProgram loaded{clusters_[change.hart], change.value(), {}};
    for (const AddressRange& s : change.program()) loaded.written.push_back({s.address, s.length});
    board_.reset(&loaded);
  }
  watchpoints_.mute(false);
  written_.clear();
  loaded_ = !change.bytes.empty();
}

std::string BoardTarget::restart() {
  Change change;
  change.kind = Change::Kind::reset;
  return make_(change);
}

void BoardTarget::set_breakpoint(std::uint64_t address) {
  breakpoints_[address] = true;
  for (riscv::Core* c : cores_) c->hart().engine().set_breakpoint(address);
}

/// To move one thread past a breakpoint, GDB removes all breakpoints for one instruction. Harts that run meanwhile must
/// still stop at them, so a breakpoint is removed only when the machine next continues with no thread held.
void BoardTarget::clear_breakpoint(std::uint64_t address) {
  if (const auto found = breakpoints_.find(address); found != breakpoints_.end()) found->second = false;
}

void BoardTarget::settle_breakpoints() {
  for (auto b = breakpoints_.begin(); b != breakpoints_.end();) {
    if (!b->second)
      for (riscv::Core* c : cores_) c->hart().engine().clear_breakpoint(b->first);
    b = b->second ? std::next(b) : breakpoints_.erase(b);
  }
}

bool BoardTarget::set_watchpoint(unsigned thread, WatchKind kind, std::uint64_t address, std::uint64_t length) {
  constexpr std::uint64_t kLongest = 1 << 20;
  Watchpoint w{kind, address, length, {}};
  if (length == 0 || length > kLongest || !locate_all(thread, address, length, w.parts)) return false;
  watchpoints_.add(std::move(w));
  return true;
}

void BoardTarget::clear_watchpoint(WatchKind kind, std::uint64_t address, std::uint64_t length) {
  watchpoints_.remove(kind, address, length);
}

void BoardTarget::clear_all() {
  for (auto& [address, wanted] : breakpoints_) wanted = false;
  settle_breakpoints();
  only_process_.clear();
  watchpoints_.remove_all();
}

}  // namespace sluice::debug
