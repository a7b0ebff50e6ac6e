// SPDX-License-Identifier: Apache-2.0
#include "models/nic/descriptor/stamps.h"

namespace sluice::nic {

void Stamps::take(unsigned entry, base::Time when) {
  base::calendar().at(when, key_, [this, entry, generation = generation_] {
    if (generation != generation_ || ready_ >> entry & 1) return;
    entries_[entry] = base::now() / base::Time::ns(1);
    ready_ |= std::uint64_t{1} << entry;
  });
}

void Stamps::reset() {
  ++generation_;
  ready_ = 0;
}

}  // namespace sluice::nic
