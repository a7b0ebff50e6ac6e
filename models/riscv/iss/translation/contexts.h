// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The translations that an engine keeps, for each way in which addresses translate: by page table and ASID, privilege,
/// and what mstatus adds. A hart that comes back to one finds its translations again. Plain C++.

#include <array>
#include <cstdint>
#include <memory>

#include "models/riscv/iss/translation/soft_tlb.h"
#include "models/riscv/iss/translation/translation_key.h"

namespace sluice::riscv {

class TranslationContexts {
 public:
  /// How many are kept, of data and of fetches; the least recently used one makes room.
  static constexpr std::size_t kMost = 16;

  /// Number of this way of fetching: the same as long as nothing has been forgotten of it, and never reused.
  std::uint64_t generation(const TranslationKey&);
  /// The soft TLB of this way of accessing data. It stays the same object until the next call.
  SoftTlb& data(const TranslationKey&);

  void forget_all();
  /// Forgets what is translated with this ASID.
  void forget(std::uint16_t asid);
  /// Gives ways of fetching whose addresses translate, of this ASID or of all, other numbers.
  void renumber(std::uint16_t asid, bool all);

  /// Calls f(SoftTlb&) for all that may hold translations of an ASID, or of any.
  template <class F>
  void for_each(const F& f) {
    for (Data& d : data_)
      if (d.tlb && d.used != 0) f(*d.tlb);
  }
  template <class F>
  void for_each_of(std::uint16_t asid, const F& f) {
    for (Data& d : data_)
      if (d.tlb && d.used != 0 && d.key.translates() && d.key.asid() == asid) f(*d.tlb);
  }

 private:
  struct Fetch {
    TranslationKey key;
    std::uint64_t used = 0;  ///< the greater, the later; 0: never
    std::uint64_t generation = 0;
  };
  struct Data {
    TranslationKey key;
    std::uint64_t used = 0;
    std::unique_ptr<SoftTlb> tlb;
  };
  template <class Context>
  Context& find(std::array<Context, kMost>&, const TranslationKey&, bool& is_new);

  std::array<Fetch, kMost> fetch_;
  std::array<Data, kMost> data_;
  std::uint64_t uses_ = 0;
  std::uint64_t last_generation_ = 0;
};

}  // namespace sluice::riscv
