// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A workload whose exceptions name it, so that the message to the user says where they come from.

#include <memory>
#include <type_traits>
#include <utility>

#include "models/base/systemc/model.h"
#include "models/workload/workload.h"

namespace sluice::platform {

/// Hands every call on. What the workload throws becomes a base::ComponentError of `workload`.
class NamedWorkload final : public workload::Workload {
 public:
  explicit NamedWorkload(std::unique_ptr<workload::Workload> workload) : own_(std::move(workload)) {}

  /// Not named: the board names it, and must tell workload::NotForThisBoard apart.
  std::vector<part::FirmwareProperty> firmware_properties() const override { return own_->firmware_properties(); }
  void start(workload::Run& run) override {
    named([&] { own_->start(run); });
  }
  std::string about_to_run() const override {
    return named([this] { return own_->about_to_run(); });
  }
  std::uint64_t ended() const override {
    return named([this] { return own_->ended(); });
  }
  std::uint64_t under_way() const override {
    return named([this] { return own_->under_way(); });
  }
  bool waits() const override {
    return named([this] { return own_->waits(); });
  }
  std::optional<double> progress() const override {
    return named([this] { return own_->progress(); });
  }
  std::string stall_reason() const override {
    return named([this] { return own_->stall_reason(); });
  }
  std::string stall_details() const override {
    return named([this] { return own_->stall_details(); });
  }
  std::string failure(bool finished) const override {
    return named([&] { return own_->failure(finished); });
  }
  std::string phases() const override {
    return named([this] { return own_->phases(); });
  }
  std::vector<workload::ListPlot> plots() const override {
    return named([this] { return own_->plots(); });
  }
  void add_result(workload::Json& result) const override {
    named([&] { own_->add_result(result); });
  }
  std::string report(const workload::Json& result) const override {
    return named([&] { return own_->report(result); });
  }

 private:
  template <class F>
  static std::invoke_result_t<F> named(const F& f) {
    return base::name_what_is_thrown("workload", f);
  }

  std::unique_ptr<workload::Workload> own_;
};

}  // namespace sluice::platform
