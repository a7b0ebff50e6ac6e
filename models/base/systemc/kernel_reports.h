// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Reports of the SystemC kernel and of modules (SC_REPORT_ERROR and the like): errors end a run like exceptions.

#include <string>
#include <vector>

#include <systemc>

namespace sluice::base {

/// From now on every error and fatal report is thrown, as a sc_report, and warnings and notes go to standard error.
void take_kernel_reports();

/// "TYPE: MESSAGE", without the kernel's lines about file and process. For an exception that a process has thrown, the
/// text of the exception.
std::string text_of(const sc_core::sc_report&);

/// The path of the model that the process belongs to. For a process outside any model, its own name. Empty for null.
std::string path_of_process(const char* name);

/// Names of all processes that can still run, except those of schedulers and of the modules at these paths.
std::vector<std::string> other_processes(const std::vector<std::string>& paths);

}  // namespace sluice::base
