// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A hart on RAM at 0x8000_0000, a console at 0x1000_0000 and the test finisher at 0x10_0000, as on QEMU's virt board.
/// It counts bus calls, and they can be made to take time.

#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/riscv/iss/hart.h"

namespace sluice::riscv {

enum class Timing { functional, cached, interval };

/// The caches and the core of a timing.
struct TimingParts {
  base::LineState l1d{4096, 4, 64}, l1i{4096, 4, 64};
  CoreShape shape;
  void give_to(HartConfig& config, Timing timing) {
    if (timing != Timing::functional) config.l1d = &l1d, config.l1i = &l1i;
    if (timing == Timing::interval) config.shape = &shape, config.privileged.issue_width = shape.dispatch_width;
  }
};

struct IssMachine : Bus {
  static constexpr std::uint64_t kRam = 0x8000'0000, kRamSize = 64 << 20, kConsole = 0x1000'0000, kFinisher = 0x10'0000;
  /// A device register that answers after `device_slots`.
  static constexpr std::uint64_t kDevice = 0x2000'0000;

  /// Engine of the machines that are given none.
  inline static MakeEngine default_engine = make_interpreter;

  static HartConfig at_ram(HartConfig config, MakeEngine engine = default_engine) {
    config.privileged.reset_pc = kRam;
    config.engine = engine;
    return config;
  }
  explicit IssMachine(const HartConfig& config = {}, MakeEngine engine = default_engine)
      : hart(*this, at_ram(config, engine)) {}

  void load_binary(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("no guest " + path);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    ram.write(kRam, bytes.data(), bytes.size());
  }
  void load_words(const std::vector<std::uint32_t>& words, std::uint64_t at = kRam) {
    if (!words.empty()) ram.write(at, words.data(), words.size() * 4);
  }
  std::uint64_t x(unsigned n) { return hart.state().x[n]; }

  base::GuestRam* ram_at(std::uint64_t address) override { return ram.contains(address, 1) ? &ram : nullptr; }
  bool load(std::uint64_t address, void* data, unsigned size) override {
    ++loads;
    if (address != kDevice) return false;
    hart.state().slots += device_slots;
    if (on_device) on_device();
    std::memcpy(data, &device_value, size);
    return true;
  }
  bool store(std::uint64_t address, const void* data, unsigned size) override {
    ++stores;
    if (address == kConsole) {
      console.push_back(*static_cast<const char*>(data));
    } else if (address == kFinisher) {
      finished = true;
      std::uint32_t word = 0;
      std::memcpy(&word, data, 4);
      exit_code = word >> 16;
    } else if (address == kDevice) {
      hart.state().slots += device_slots;
      if (on_device) on_device();
      std::memcpy(&device_value, data, size);
    } else {
      return false;
    }
    return true;
  }
  bool synchronise() override {
    ++synchronised;
    if (on_synchronise) on_synchronise();
    return true;
  }
  std::uint64_t slot_limit() override { return finished ? 0 : limit; }
  std::uint64_t time() override { return hart.state().slots / 100; }
  void set_stimecmp(std::uint64_t) override {}
  void cache_miss(std::uint64_t address, base::LineUse use) override {
    ++misses;
    hart.state().slots += miss_slots;
    base::LineState* cache = use == base::LineUse::fetch ? hart.config().l1i : hart.config().l1d;
    cache->fill(address, writes(use) ? base::LineState::kModified : base::LineState::kExclusive);
  }
  std::uint64_t fill(std::uint64_t address, base::LineUse use, std::uint64_t slot) override {
    ++misses;
    base::LineState* cache = use == base::LineUse::fetch ? hart.config().l1i : hart.config().l1d;
    cache->fill(address, writes(use) ? base::LineState::kModified : base::LineState::kExclusive);
    return slot + miss_slots;
  }
  void probe(unsigned stage, std::uint64_t address) override { note("probe", stage, address); }
  void complete(std::uint64_t address) override { note("complete", address, 0); }
  void bind(std::uint64_t to, std::uint64_t from) override { note("bind", to, from); }
  void open(std::uint64_t what, std::uint64_t address) override { note("open", what, address); }
  void account(unsigned account) override {
    note("account", account, 0);
    present_account = account;
  }
  bool in_account(std::uint64_t account) override { return account == present_account; }
  bool imsic_read(unsigned, std::uint64_t, std::uint64_t&) override { return false; }
  bool imsic_write(unsigned, std::uint64_t, std::uint64_t) override { return false; }
  bool imsic_top(unsigned, std::uint64_t&) override { return false; }
  bool imsic_claim(unsigned, std::uint64_t) override { return false; }

  void note(const char* what, std::uint64_t a, std::uint64_t b) {
    notes.push_back(std::string(what) + " " + std::to_string(a) + " " + std::to_string(b) + " at " +
                    std::to_string(hart.state().slots));
  }

  base::GuestRam ram{kRam, kRamSize};
  std::uint64_t limit = ~std::uint64_t{0};
  std::uint64_t device_slots = 0, device_value = 0, miss_slots = 40;
  std::function<void()> on_device, on_synchronise;
  std::string console;
  std::vector<std::string> notes;
  unsigned present_account = ~0u;
  bool finished = false;
  unsigned exit_code = 0;
  std::uint64_t loads = 0, stores = 0, misses = 0, synchronised = 0;
  Hart hart;
};

}  // namespace sluice::riscv
