// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Plots of what a run measured, for one run or several side by side.

#include <string>
#include <vector>

#include "platform/page/document.h"
#include "platform/page/result_data.h"

namespace sluice::page {

/// A run in plots that show several.
struct Labelled {
  std::string label;
  const ResultData* result;
};

/// Adds the plots of latencies, stages, cores, links, resources, rates, DMA sizes and frames that the runs have. what:
/// the quantity that the labels are, for the axes, such as "board".
void add_measured_plots(Document&, const std::vector<Labelled>& runs, const std::string& what);
/// Adds a table of who does which step of receiving a call, of runs that have it.
void add_steps(Document&, const std::vector<Labelled>& runs);
/// The axis on which the phases of a sweep lie: of sizes, or of rates.
Dimension phase_axis(bool is_size, const std::vector<double>& values);
/// Adds mean and p99 of the latency against the offered rate, or the size, of runs with a sweep.
void add_phase_plots(Document&, const std::vector<Labelled>& runs, const std::string& what);

}  // namespace sluice::page
