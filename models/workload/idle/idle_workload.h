// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The workload that asks nothing of a board: what harts, NICs and links do while there is nothing to do.

#include "models/base/time/time.h"
#include "models/workload/workload_part.h"

namespace sluice::workload {

/// [workload] with model "idle".
struct IdleParameters {
  base::Time settle = base::Time::ms(100);
  base::Time length = base::Time::s(1);
  static void describe(base::Schema<IdleParameters>&);
};

class IdleWorkload final : public Workload {
 public:
  using Parameters = IdleParameters;

  IdleWorkload(const Parameters& p, const Surroundings&) : parameters_(p) {}

  void start(Run&) override;
  std::optional<double> progress() const override;
  std::string failure(bool finished) const override;
  void add_result(Json& result) const override;
  std::string report(const Json& result) const override;

 private:
  const Parameters& parameters_;
  bool has_begun_ = false;
};

}  // namespace sluice::workload
