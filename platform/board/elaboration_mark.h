// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Records the component whose elaboration or start-of-simulation callback the kernel is calling. The kernel does not
/// tell, and an exception from such a callback is caught only after it has passed through the kernel.

#include <string>

#include <systemc>

namespace sluice::platform {

/// Made before a component, because the kernel calls modules in the order in which they were made.
class ElaborationMark : public sc_core::sc_module {
 public:
  /// path: of the component that is made next; empty: a component that messages do not name.
  ElaborationMark(const sc_core::sc_module_name& name, std::string path) : sc_module(name), path_(std::move(path)) {}

  /// Path of the component that the kernel calls now; empty: none.
  static const std::string& current();

 private:
  void before_end_of_elaboration() override { now(); }
  void end_of_elaboration() override { now(); }
  void start_of_simulation() override { now(); }
  void end_of_simulation() override { now(); }
  void now() const;

  std::string path_;
};

}  // namespace sluice::platform
