// SPDX-License-Identifier: Apache-2.0
#include "platform/report/sensitivity/variations.h"

#include "platform/config/dump.h"

namespace sluice::report {

Variations variations(const config::BoardConfig& board) {
  Variations all;
  for (const config::Instance& instance : board.instances()) {
    for (const auto& p : instance.schema().parameters()) {
      const std::string path = instance.path() + "." + p->key();
      const std::string value = config::value_text(instance, *p);
      const base::Provenance& provenance = instance.origin(p->key()).provenance;
      const base::Ratio share = provenance.effective_uncertainty();
      const auto fix = [&](Fixed why) { all.fixed.push_back({path, value, why}); };
      if (p->is_setting()) {
        fix(Fixed::kSetting);
      } else if (!p->is_number()) {
        fix(Fixed::kNoNumber);
      } else if (share == base::Ratio(0)) {
        fix(Fixed::kExact);
      } else {
        const base::Variation less = p->varied(instance.values(), share, base::Side::kLess);
        const base::Variation more = p->varied(instance.values(), share, base::Side::kMore);
        if (less.text.empty() && more.text.empty())
          fix(Fixed::kNoOther);
        else
          all.varied.push_back({path, value, provenance, less, more});
      }
    }
  }
  return all;
}

}  // namespace sluice::report
