// SPDX-License-Identifier: Apache-2.0
#include "models/base/systemc/kernel_reports.h"

#include <algorithm>
#include <cstring>
#include <iostream>

#include "models/base/systemc/model.h"
#include "models/base/systemc/scheduler.h"

namespace sluice::base {
namespace {

void tell(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  // The kernel would write to standard output, which is for results.
  if (actions & sc_core::SC_DISPLAY) std::cerr << "sluice: SystemC: " << text_of(report) << '\n';
  sc_core::sc_report_handler::default_handler(report, actions & ~sc_core::sc_actions{sc_core::SC_DISPLAY});
}

std::string with_dots(std::string name) {
  for (std::size_t at; (at = name.find("__")) != std::string::npos;) name.replace(at, 2, ".");
  return name;
}

}  // namespace

void take_kernel_reports() {
  using Handler = sc_core::sc_report_handler;
  Handler::set_actions(sc_core::SC_FATAL, sc_core::SC_DEFAULT_ERROR_ACTIONS);
  Handler::set_actions(sc_core::SC_ERROR, sc_core::SC_DEFAULT_ERROR_ACTIONS);
  // Whoever asks how the kernel ended says that it was stopped, and by whom.
  Handler::set_actions("/OSCI/SystemC", sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  Handler::set_handler(tell);
}

std::string text_of(const sc_core::sc_report& report) {
  const char* type = report.get_msg_type();
  const char* message = report.get_msg();
  const std::string said = message ? message : "";
  if (!type || std::strcmp(type, sc_core::SC_ID_SIMULATION_UNCAUGHT_EXCEPTION_) != 0)
    return said.empty() ? std::string(type ? type : "") : std::string(type ? type : "") + ": " + said;
  return said.starts_with("UNKNOWN EXCEPTION") ? "something that is no std::exception" : said;
}

std::string path_of_process(const char* name) {
  const std::string process = name ? name : "";
  // Looks for the model by name, because a process that has thrown no longer exists.
  for (std::size_t end = process.size(); end != std::string::npos && end > 0; end = process.rfind('.', end - 1))
    if (const auto* model = dynamic_cast<const Model*>(sc_core::sc_find_object(process.substr(0, end).c_str())))
      return model->path();
  return with_dots(process);
}

std::vector<std::string> other_processes(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  const auto collect = [&](const auto& self, const std::vector<sc_core::sc_object*>& objects) -> void {
    for (sc_core::sc_object* object : objects) {
      if (dynamic_cast<Scheduler*>(object) || std::count(paths.begin(), paths.end(), with_dots(object->name())) > 0)
        continue;
      if (auto* process = dynamic_cast<sc_core::sc_process_b*>(object);
          process && !sc_core::sc_process_handle(process).terminated())
        names.push_back(with_dots(object->name()));
      self(self, object->get_child_objects());
    }
  };
  collect(collect, sc_core::sc_get_top_level_objects());
  return names;
}

}  // namespace sluice::base
