// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Base class of every SystemC model of Sluice. A TLM target that is a base::Model is called without the kernel being
/// brought to the caller's time: it uses base::now() and the calendar, never sc_time_stamp() or wait().

#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include <systemc>

#include "models/base/measure/ledger.h"
#include "models/base/measure/statistics.h"
#include "models/base/systemc/kernel_reports.h"
#include "models/base/time/calendar.h"
#include "models/base/time/key.h"

namespace sluice::base {

/// An exception that a component threw during simulation. The component is broken and the run is over.
class ComponentError : public std::runtime_error {
 public:
  ComponentError(std::string component, const std::string& what)
      : runtime_error(what.empty() ? "it gives no reason" : what), component_(std::move(component)) {}
  const std::string& component() const { return component_; }  ///< its path

 private:
  std::string component_;
};

/// Calls f, which is code of the component at `path` that runs in an entry or on a thread of another component, and
/// returns what f returns. An exception from f becomes a ComponentError of the component at `path`.
template <class F>
decltype(auto) name_what_is_thrown(const std::string& path, F&& f) {
  try {
    return f();
  } catch (const sc_core::sc_unwind_exception&) {
    throw;  // the kernel ends the process
  } catch (const ComponentError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw ComponentError(path, "this machine has no more memory for it, or its limit (ulimit -v) allows no more");
  } catch (const sc_core::sc_report& e) {
    throw ComponentError(path, text_of(e));
  } catch (const std::exception& e) {
    throw ComponentError(path, e.what());
  } catch (...) {
    throw ComponentError(path, "something that is no std::exception");
  }
}

/// The path of the model or other component whose calendar entries have this key; empty where there is none.
std::string path_of_key(ComponentKey);

/// The module name of a board path.
inline std::string module_name(std::string path) {
  for (std::size_t at; (at = path.find('.')) != std::string::npos;) path.replace(at, 1, "__");
  return path;
}

/// The kernel's names allow no dots, board paths have them: the instance "nic.eth0" is the module
/// module_name("nic.eth0").
class Model : public sc_core::sc_module {
 public:
  const std::string& path() const { return path_; }  ///< as in the board file: "nic.eth0"
  ComponentKey key() const { return key_; }          ///< orders this model's calendar entries
  Ledger::Component component() const { return component_; }

  /// Puts the model's statistics into base::statistics(), in a group named by its path. The builder of the model calls
  /// it once, in the order in which results are shown; a second call throws std::logic_error.
  void publish_statistics() {
    statistics_ = std::make_unique<StatisticsGroup>(path_, &statistics());
    fill_statistics(*statistics_);
  }

 protected:
  explicit Model(const sc_core::sc_module_name& name)
      : sc_module(name), path_(path_of(name)), key_(path_key(path_)), component_(ledger().component(path_)) {}

  /// A model overrides it to register its own statistics. Base classes and contained models register theirs themselves.
  virtual void register_statistics(StatisticsGroup&) {}

 private:
  /// For a base class with statistics of its own: registers them and calls register_statistics().
  virtual void fill_statistics(StatisticsGroup& own) { register_statistics(own); }
  static std::string path_of(const char* name) {
    std::string path = name;
    for (std::size_t at; (at = path.find("__")) != std::string::npos;) path.replace(at, 2, ".");
    return path;
  }

  std::string path_;
  ComponentKey key_;
  Ledger::Component component_;
  std::unique_ptr<StatisticsGroup> statistics_;
};

}  // namespace sluice::base
