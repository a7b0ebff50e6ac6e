// SPDX-License-Identifier: Apache-2.0
#include "platform/firmware/htif.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/base/systemc/scheduler.h"

namespace sluice::platform {
namespace {

constexpr std::uint64_t kWord = 8, kHalf = 4;
/// Time from a store to only the lower half of tohost until its value is taken, unless the upper half is stored first.
constexpr base::Time kSettles = base::Time::us(1);

// A command: device in bits 63:56, command in 55:48, payload below.
constexpr unsigned kSystem = 0, kConsole = 1;
constexpr unsigned kPutCharacter = 1;
constexpr std::uint64_t kPayload = (std::uint64_t{1} << 48) - 1;

// A system call: number and arguments at the payload's address; the result takes the number's place.
constexpr std::uint64_t kWriteCall = 64, kExitCall = 93;
constexpr std::uint64_t kLongestText = 1 << 20;

unsigned device_of(std::uint64_t value) { return static_cast<unsigned>(value >> 56); }
unsigned command_of(std::uint64_t value) { return static_cast<unsigned>(value >> 48 & 0xff); }

}  // namespace

std::vector<std::unique_ptr<Htif>> Htif::of(const Firmware& firmware, base::HartMemory& memory,
                                            const std::vector<std::unique_ptr<riscv::Core>>& cores, uart::Uart& uart) {
  std::vector<std::unique_ptr<Htif>> all;
  for (const Image& image : firmware.images()) {
    const auto tohost = image.symbols().variable("tohost");
    if (!tohost || *tohost % kWord != 0) continue;
    if (base::GuestRam* ram = memory.ram_at(*tohost, kWord))
      all.push_back(std::unique_ptr<Htif>(new Htif(image, *ram, *tohost, memory, cores, uart)));
  }
  return all;
}

Htif::Htif(const Image& image, base::GuestRam& ram, std::uint64_t tohost, base::HartMemory& memory,
           const std::vector<std::unique_ptr<riscv::Core>>& cores, uart::Uart& uart)
    : ram_(ram), tohost_(tohost), memory_(memory), uart_(uart) {
  const auto fromhost = image.symbols().variable("fromhost");
  if (fromhost && *fromhost % kWord == 0 && memory.ram_at(*fromhost, kWord)) fromhost_ = fromhost;
  for (const auto& core : cores) {
    cores_.push_back(core.get());
    core->observe(*this);
  }
  ram_.add_watcher(this);
  ram_.set_watch(tohost_, base::GuestRam::kHostInterface);
}

/// Called during a hart's instruction: ends the hart's run after it. Stores by devices and debuggers are not commands.
void Htif::ram_written(std::uint64_t address, std::uint64_t length) {
  const base::Runner* runner = base::Scheduler::instance().running();
  if (answering_ || !runner || address >= tohost_ + kWord || address + length <= tohost_) return;
  const auto core =
      std::find_if(cores_.begin(), cores_.end(), [&](const riscv::Core* c) { return c->path() == runner->path(); });
  if (core == cores_.end()) return;
  stored_by_ = *core;
  stored_ = true;
  complete_ = address + length > tohost_ + kHalf;
  (*core)->end_run();
}

void Htif::after(riscv::Core& core, riscv::StopReason) {
  if (!stored_ || &core != stored_by_) return;
  stored_ = false;
  core.synchronise();
  base::calendar().cancel(settling_);
  if (complete_) return look();
  // A 32-bit store of the lower half: the upper one may follow.
  settling_ = base::calendar().after(kSettles, core.key(), [this] { look(); });
}

void Htif::look() {
  if (const std::uint64_t value = read(tohost_); value != 0) command(value);
}

void Htif::command(std::uint64_t value) {
  const std::uint64_t payload = value & kPayload;
  if (device_of(value) == kConsole && command_of(value) == kPutCharacter) {
    uart_.show(static_cast<char>(payload));
    return done(value & ~kPayload);
  }
  if (device_of(value) != kSystem || command_of(value) != 0)
    return end(value, fmt::format("wrote {:#x} to tohost: no command, of device {}", value, device_of(value)));
  if (payload == 1) return end(value, {});
  if (payload % 2 != 0) return end(value, fmt::format("wrote {} to tohost: test {} failed", value, payload >> 1));
  if (!system_call(payload)) end(value, fmt::format("wrote {} to tohost: no system call that is served", value));
}

/// False: there is no system call at this address, or it is not supported.
bool Htif::system_call(std::uint64_t block) {
  base::GuestRam* ram = memory_.ram_at(block, 4 * kWord);
  if (!ram || block % kWord != 0) return false;
  const std::uint64_t number = read(block);
  if (number == kExitCall) {
    const std::uint64_t code = read(block + kWord);
    end(code, code == 0 ? "" : fmt::format("asked by tohost to exit with {}", code));
    return true;
  }
  const std::uint64_t file = read(block + kWord);
  if (number != kWriteCall || (file != 1 && file != 2)) return false;
  const auto written = write_text(read(block + 2 * kWord), read(block + 3 * kWord));
  if (!written) return false;
  write(block, *written);
  done(1);
  return true;
}

std::optional<std::uint64_t> Htif::write_text(std::uint64_t address, std::uint64_t length) {
  if (length == 0) return 0;  // an address without memory is no error then
  base::GuestRam* ram = length > kLongestText ? nullptr : memory_.ram_at(address, length);
  if (!ram) return {};
  for (std::uint64_t i = 0; i < length; ++i) uart_.show(static_cast<char>(*ram->at(address + i)));
  return length;
}

/// Clears tohost, and writes the answer to fromhost if the image has one.
void Htif::done(std::uint64_t answer) {
  write(tohost_, 0);
  if (fromhost_) write(*fromhost_, answer);
}

void Htif::end(std::uint64_t value, std::string what) {
  if (on_exit) on_exit({value, std::move(what)}, *stored_by_);
}

std::uint64_t Htif::read(std::uint64_t address) const {
  std::uint64_t value = 0;
  memory_.ram_at(address, kWord)->read(address, &value, kWord);
  return value;
}

void Htif::write(std::uint64_t address, std::uint64_t value) {
  answering_ = true;
  memory_.ram_at(address, kWord)->write(address, &value, kWord);
  answering_ = false;
}

}  // namespace sluice::platform
