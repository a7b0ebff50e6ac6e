// SPDX-License-Identifier: Apache-2.0
#pragma once
/// How a workload becomes a component of boards, as a model of [workload].

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "models/base/parameters/schema.h"
#include "models/part/catalogue.h"
#include "models/workload/workload.h"

namespace sluice::workload {

template <class W>
class WorkloadFactoryOf : public WorkloadFactory {
 public:
  using Parameters = typename W::Parameters;

  std::string summary() const override { return base::schema_of<Parameters>().summary(); }
  std::unique_ptr<Workload> build(const void* parameters, const Surroundings& board) const override {
    return std::make_unique<W>(*static_cast<const Parameters*>(parameters), board);
  }
  std::optional<Comparable> comparable(const void* parameters) const override {
    if constexpr (requires(const Parameters& p) { W::comparable(p); })
      return W::comparable(*static_cast<const Parameters*>(parameters));
    return {};
  }
};

/// From now on a board may have [workload] with this model. W is a Workload, has a type Parameters with describe(), and
/// is constructed from these parameters and Surroundings, which outlive it. Its constructor throws NotForThisBoard when
/// the workload cannot run on the board. A static function comparable(parameters), where there is one, says how compare
/// shows its results. model, title and exceptions are those of part::Catalogue::add().
template <class W>
void add_workload(part::Catalogue& catalogue, std::string model, std::string title) {
  static_assert(std::is_base_of_v<Workload, W>, "a workload of a board is a workload::Workload");
  catalogue.add<typename W::Parameters>("workload", std::move(model), std::move(title),
                                        std::make_shared<const WorkloadFactoryOf<W>>());
}

}  // namespace sluice::workload
