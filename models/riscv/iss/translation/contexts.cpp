// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/translation/contexts.h"

#include <algorithm>

namespace sluice::riscv {

/// The context with this key, or the least recently used one, which gets the key: `is_new` then.
template <class Context>
Context& TranslationContexts::find(std::array<Context, kMost>& contexts, const TranslationKey& key, bool& is_new) {
  Context* place = contexts.data();
  for (Context& c : contexts) {
    if (c.used != 0 && c.key == key) {
      c.used = ++uses_;
      is_new = false;
      return c;
    }
    if (c.used < place->used) place = &c;
  }
  place->key = key;
  place->used = ++uses_;
  is_new = true;
  return *place;
}

std::uint64_t TranslationContexts::generation(const TranslationKey& key) {
  bool is_new = false;
  Fetch& context = find(fetch_, key, is_new);
  if (is_new) context.generation = ++last_generation_;
  return context.generation;
}

SoftTlb& TranslationContexts::data(const TranslationKey& key) {
  bool is_new = false;
  Data& context = find(data_, key, is_new);
  if (!context.tlb)
    context.tlb = std::make_unique<SoftTlb>();
  else if (is_new)
    context.tlb->flush();
  return *context.tlb;
}

void TranslationContexts::forget_all() {
  for (Fetch& c : fetch_) c.used = 0;
  for (Data& c : data_) c.used = 0;
}

void TranslationContexts::renumber(std::uint16_t asid, bool all) {
  for (Fetch& c : fetch_)
    if (c.key.translates() && (all || c.key.asid() == asid)) c.generation = ++last_generation_;
}

void TranslationContexts::forget(std::uint16_t asid) {
  const auto forget_of = [asid](auto& contexts) {
    for (auto& c : contexts)
      if (c.key.translates() && c.key.asid() == asid) c.used = 0;
  };
  forget_of(fetch_);
  forget_of(data_);
}

}  // namespace sluice::riscv
