#pragma once
/// Whose callbacks of elaboration and of the simulation's start the kernel calls: it does not say, and what they throw
/// has passed through it when it is caught.

#include <string>

#include <systemc>

namespace sluice::platform {

/// Made before a component, because the kernel calls modules in the order in which they were made.
class ElaborationMark : public sc_core::sc_module {
 public:
  /// path: of what is made next; empty: of nothing to be named.
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
