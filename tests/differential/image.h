// SPDX-License-Identifier: Apache-2.0
#pragma once
/// An image: the RAM of the machine before a batch, with the harness and the batch's programs; and how to read one.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/differential/layout.h"

namespace sluice::differential {

constexpr std::uint64_t kRam = DIFF_RAM, kRamSize = DIFF_RAM_SIZE, kPage = 4096;
constexpr std::uint64_t kRamForPrograms = kRamSize - (4 << 20);

#define SLUICE_ONE(name) +1
constexpr unsigned kInitialCsrs = 0 DIFF_INITIAL_CSRS(SLUICE_ONE), kFinalCsrs = 0 DIFF_FINAL_CSRS(SLUICE_ONE);
#undef SLUICE_ONE
#define SLUICE_FIELD(name) std::uint64_t name = 0;
struct InitialCsrs {
  DIFF_INITIAL_CSRS(SLUICE_FIELD)
};
struct FinalCsrs {
  DIFF_FINAL_CSRS(SLUICE_FIELD)
};
#undef SLUICE_FIELD
/// "mstatus" and so on, in the order of FinalCsrs.
extern const char* const kFinalCsrNames[kFinalCsrs];

/// A program's descriptor, as the harness reads it.
struct Descriptor {
  std::uint64_t code[4] = {};  ///< by mode; virtual for U and S
  std::uint64_t size = 0, step = 64, log = 0, log_limit = 0, result = 0, supervisor_exit = 0;
  // For the host alone.
  std::uint64_t begin = 0, end = 0;  ///< memory that is compared, physical
  std::uint64_t seed = 0, index = 0;
  std::uint64_t code_at = 0;  ///< physical
  std::uint64_t supervisor_log = 0, supervisor_data = 0;
  std::uint64_t test_pages = 0;  ///< virtual; pages of a random program whose leaves may lead to nothing, 0: none
  char kind[32] = {};
  std::uint64_t unused[10] = {};
  std::uint64_t x[32] = {}, f[32] = {}, fcsr = 0;
  InitialCsrs csr;
};
static_assert(offsetof(Descriptor, begin) == D_HOST && offsetof(Descriptor, x) == D_X);
static_assert(offsetof(Descriptor, f) == D_F && offsetof(Descriptor, csr) == D_CSRS &&
              offsetof(Descriptor, step) == 40);

struct LogEntry {
  std::uint64_t cause, epc, tval, status, vector, digest, unused[2];
};
static_assert(sizeof(LogEntry) == 1 << L_SHIFT);

struct Result {
  std::uint64_t done, logged, status, fcsr, x[32], f[32];
  FinalCsrs csr;
};
static_assert(offsetof(Result, x) == R_X && offsetof(Result, f) == R_F && offsetof(Result, csr) == R_CSRS);

class Image {
 public:
  Image() : bytes_(kRamSize) {}
  /// A harness (flat binary) and no program. Throws std::runtime_error when it cannot be read.
  explicit Image(const std::string& harness);
  static Image load(const std::string& path);
  void save(const std::string& path) const;

  std::uint8_t* at(std::uint64_t address) { return bytes_.data() + (address - kRam); }
  const std::uint8_t* at(std::uint64_t address) const { return bytes_.data() + (address - kRam); }
  template <typename T>
  T get(std::uint64_t address) const {
    T value;
    std::memcpy(&value, at(address), sizeof value);
    return value;
  }
  template <typename T>
  void put(std::uint64_t address, const T& value) {
    std::memcpy(at(address), &value, sizeof value);
  }
  void put_words(std::uint64_t address, const std::vector<std::uint64_t>& words) {
    std::memcpy(at(address), words.data(), words.size() * 8);
  }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

  /// The address of whole pages behind those handed out before.
  std::uint64_t allocate(std::uint64_t bytes);
  bool has_room(std::uint64_t bytes) const { return free_ + bytes <= kRam + kRamForPrograms; }

  std::uint64_t programs() const { return get<std::uint64_t>(kRam + DIFF_CONTROL + CB_COUNT); }
  std::uint64_t running() const { return get<std::uint64_t>(kRam + DIFF_CONTROL + CB_INDEX); }
  std::uint64_t descriptor_at(std::uint64_t n) const {
    return get<std::uint64_t>(get<std::uint64_t>(kRam + DIFF_CONTROL + CB_TABLE) + 8 * n);
  }
  Descriptor descriptor(std::uint64_t n) const { return get<Descriptor>(descriptor_at(n)); }
  void set_programs(const std::vector<std::uint64_t>& descriptors);

 private:
  std::vector<std::uint8_t> bytes_;
  std::uint64_t free_ = kRam + DIFF_PROGRAMS;
};

}  // namespace sluice::differential
