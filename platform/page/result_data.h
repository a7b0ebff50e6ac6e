// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What pages show of a result file (docs/reference/result.md).

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/workload/list_plot.h"
#include "platform/page/node.h"

namespace sluice::page {

struct Parameter {
  std::string key, text, unit, kind, source, set_by;
  std::string points;       ///< of a fitted value: the points that it was fitted to
  std::string uncertainty;  ///< "25 %"; empty: it has none
};

/// One part of a board, such as nic.eth0.
struct Instance {
  std::string path, kind, model;
  std::vector<Parameter> parameters;

  /// The text of a parameter; empty where there is none.
  std::string text(std::string_view key) const;
};

struct BoardData {
  std::string name, summary;
  std::vector<std::string> files;
  std::vector<std::pair<std::string, std::string>> plugins;  ///< name, SHA-256
  std::vector<Instance> instances;

  /// Null where there is none.
  const Parameter* find(std::string_view instance, std::string_view key) const;
  /// The unit of the parameter "INSTANCE.KEY"; empty where there is none.
  std::string unit_of(std::string_view path) const;
};

/// The distribution of the latencies of requests, in ns.
struct LatencyData {
  struct Bucket {
    double first_ns = 0;
    double count = 0;
  };
  std::vector<std::pair<std::string, double>> quantiles;  ///< "mean", "p50", ... "max", as in the file
  std::vector<Bucket> histogram;                          ///< ascending; empty: the file has none

  std::optional<double> find(std::string_view name) const;
};

struct StageData {
  std::string name, component;
  double mean_ns = 0;
};
/// A cost of receiving a call.
struct StepData {
  std::vector<std::string> steps;  ///< done in one pass; none: it is of `rest`
  std::string who, rest;
  double mean_ns = 0;
  std::optional<double> instructions;  ///< of software
};
struct CoreData {
  std::string name;
  std::vector<std::pair<std::string, double>> time;  ///< account, share
};
struct LinkData {
  std::string name, direction;
  std::optional<double> utilisation;
};
struct ResourceData {
  std::string name;
  double busy = 0;
};

/// What was measured, over a run or one of its phases.
struct MeasuredData {
  LatencyData latency;
  std::vector<StageData> stages;
  std::vector<StepData> steps;
  std::vector<std::string> steps_of_nobody, steps_not_known;
  std::vector<CoreData> cores;
  std::vector<LinkData> links;
  std::vector<ResourceData> resources;
};

/// One rate of a load sweep, or one size of a size sweep.
struct PhaseData {
  double at = 0;         ///< calls per second, or bytes of a call
  bool is_size = false;  ///< bytes
  std::optional<double> achieved_per_s, mean_ns, p99_ns, sent, completed;
};

/// A plot that a workload has asked for, with the entries of its list.
struct PlotData : workload::ListPlot {
  std::vector<Json> entries;
};

struct FirmwareData {
  std::string cluster, name, sha256;
};

struct ResultData {
  BoardData board;
  std::string program_version, program_sources;  ///< of the program that made it; empty: the file does not say
  std::uint64_t seed = 0, replication = 0;
  std::vector<FirmwareData> firmware;
  std::string outcome, failure, diagnosis;
  std::optional<double> simulated_ns, measured_ns, throughput_per_s, zero_loss_rate_per_s;
  std::vector<std::pair<std::string, double>> requests;  ///< "sent", "completed", "dropped" (all reasons), ...
  std::vector<std::pair<std::string, double>> load;      ///< "offered_per_s", ...
  MeasuredData measured;
  std::vector<PhaseData> phases;
  std::vector<PlotData> plots;
  std::vector<std::string> remarks;  ///< mistakes of software and settings without effect, in sentences
};

/// Throws config::UserError where the file is not as docs/reference/result.md says.
ResultData result_data(const Node& result);

}  // namespace sluice::page
