// SPDX-License-Identifier: Apache-2.0
#include "platform/page/result_data.h"

#include <fmt/format.h>

#include "platform/page/data.h"

namespace sluice::page {
namespace {

std::vector<std::pair<std::string, double>> numbers(const Node& of, std::string_view key) {
  std::vector<std::pair<std::string, double>> list;
  for (const auto& [name, value] : of.members(key))
    if (value.value().is_number()) list.emplace_back(name, value.number());
  return list;
}

Parameter parameter(const std::string& key, const Node& node) {
  Parameter p{
      key, node.text("text"), node.text("unit"), node.text("kind"), node.text("source"), node.text("set_by"), {}, {}};
  for (const Node& point : node.list("points")) p.points += (p.points.empty() ? "" : ", ") + point.text();
  if (const auto share = node.number("uncertainty")) p.uncertainty = fmt::format("{:.4g} %", *share * 100);
  return p;
}

BoardData board_data(const Node& node) {
  BoardData board{node.at("name").text(), node.text("summary"), {}, {}, {}};
  for (const Node& file : node.list("files")) board.files.push_back(file.text());
  for (const Node& plugin : node.list("plugins"))
    board.plugins.emplace_back(plugin.text("name"), plugin.text("sha256"));
  for (const auto& [path, instance] : node.at("instances").members()) {
    Instance one{path, instance.text("kind"), instance.text("model"), {}};
    for (const auto& [key, value] : instance.members("parameters")) one.parameters.push_back(parameter(key, value));
    board.instances.push_back(std::move(one));
  }
  return board;
}

LatencyData latency_data(const Node& node) {
  LatencyData latency;
  for (const auto& [name, value] : node.members())
    if (value.value().is_number()) latency.quantiles.emplace_back(name, value.number());
  const auto histogram = node.find("histogram");
  if (!histogram) return latency;
  const std::vector<Node> first = histogram->list("first_fs"), counts = histogram->list("counts");
  if (first.size() != counts.size()) histogram->refuse("must have as many counts as first_fs");
  for (std::size_t i = 0; i < first.size(); ++i)
    latency.histogram.push_back({first[i].number() / 1e6, counts[i].number()});
  return latency;
}

std::vector<std::string> texts(const Node& node, std::string_view key) {
  std::vector<std::string> list;
  for (const Node& text : node.list(key)) list.push_back(text.text());
  return list;
}

void add_steps(const Node& node, MeasuredData& measured) {
  for (const char* kind : {"costs", "rest"})
    for (const Node& c : node.list(kind))
      measured.steps.push_back(
          {texts(c, "steps"), c.text("who"), c.text("name"), c.at("mean_ns").number(), c.number("instructions")});
  measured.steps_of_nobody = texts(node, "nobody");
  measured.steps_not_known = texts(node, "not_known");
}

MeasuredData measured_data(const Node& node) {
  MeasuredData measured;
  if (const auto latency = node.find("latency_ns")) measured.latency = latency_data(*latency);
  for (const Node& s : node.list("stages"))
    measured.stages.push_back({s.at("name").text(), s.text("component"), s.at("mean_ns").number()});
  if (const auto steps = node.find("steps")) add_steps(*steps, measured);
  for (const Node& c : node.list("cores")) measured.cores.push_back({c.at("name").text(), numbers(c, "time")});
  for (const Node& l : node.list("links"))
    measured.links.push_back({l.at("name").text(), l.text("direction"), l.number("utilisation")});
  for (const Node& r : node.list("resources"))
    measured.resources.push_back({r.at("name").text(), r.at("busy").number()});
  return measured;
}

PhaseData phase_data(const Node& node) {
  PhaseData phase;
  phase.is_size = node.find("call_bytes").has_value();
  phase.at = node.at(phase.is_size ? "call_bytes" : "rate_per_s").number();
  if (const auto load = node.find("load")) phase.achieved_per_s = load->number("achieved_per_s");
  if (const auto latency = node.find("latency_ns")) {
    phase.mean_ns = latency->number("mean");
    phase.p99_ns = latency->number("p99");
  }
  phase.sent = node.number("sent");
  phase.completed = node.number("completed");
  return phase;
}

/// A list of flat objects, without what is in their own objects and lists.
std::vector<Json> flat(const std::vector<Node>& list) {
  std::vector<Json> entries;
  for (const Node& node : list) {
    Json entry = Json::object();
    for (const auto& [key, value] : node.members())
      if (value.value().is_primitive()) entry[key] = value.value();
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// The list at a place such as "/packets/trials".
std::vector<Node> list_at(const Node& result, const Node& place) {
  Node at = result;
  const std::string path = place.text();
  if (!path.starts_with('/')) place.refuse("must begin with /");
  for (std::size_t from = 1; from <= path.size();) {
    const std::size_t to = std::min(path.find('/', from), path.size());
    const auto next = at.find(path.substr(from, to - from));
    if (!next) place.refuse("must be the place of a list in the result");
    at = *next;
    from = to + 1;
  }
  return at.list();
}

PlotData plot_data(const Node& result, const Node& plot) {
  const auto shown = [](const Node& n) { return PlotData::Shown{n.at("key").text(), n.at("title").text()}; };
  PlotData data;
  data.name = plot.at("name").text();
  if (!PlotData::is_name(data.name)) plot.at("name").refuse("must be of small letters, digits and hyphens");
  data.title = plot.text("title");
  data.caption = plot.text("caption");
  data.list = plot.at("list").text();
  data.entries = flat(list_at(result, plot.at("list")));
  data.x = shown(plot.at("x"));
  for (const Node& line : plot.list("lines")) data.lines.push_back(shown(line));
  data.y_title = plot.text("y_title");
  data.also_by = plot.text("also_by");
  return data;
}

std::vector<std::string> remarks(const Node& result) {
  std::vector<std::string> list;
  for (const Node& w : result.list("without_effect"))
    list.push_back(
        fmt::format("{} ({}) has no effect, or did not act: {}.", w.text("path"), w.text("set_by"), w.text("why")));
  if (const auto mistakes = result.find("mistakes"))
    for (const Node& m : mistakes->list("list"))
      list.push_back(fmt::format("Software's mistake, {} times: {}.", exact_text(m.number("times")), m.text("what")));
  return list;
}

}  // namespace

std::string Instance::text(std::string_view key) const {
  for (const Parameter& p : parameters)
    if (p.key == key) return p.text;
  return {};
}

const Parameter* BoardData::find(std::string_view instance, std::string_view key) const {
  for (const Instance& i : instances)
    if (i.path == instance)
      for (const Parameter& p : i.parameters)
        if (p.key == key) return &p;
  return nullptr;
}

std::string BoardData::unit_of(std::string_view path) const {
  for (const Instance& i : instances) {
    if (!path.starts_with(i.path + ".")) continue;
    for (const Parameter& p : i.parameters)
      if (p.key == path.substr(i.path.size() + 1)) return p.unit;
  }
  return {};
}

std::optional<double> LatencyData::find(std::string_view name) const {
  for (const auto& [key, value] : quantiles)
    if (key == name) return value;
  return std::nullopt;
}

ResultData result_data(const Node& node) {
  ResultData r;
  r.board = board_data(node.at("board"));
  if (const auto program = node.find("program")) {
    r.program_version = program->text("version");
    r.program_sources = program->text("sources");
  }
  r.seed = node.at("seed").whole();
  r.replication = node.at("replication").whole();
  for (const Node& f : node.list("firmware"))
    r.firmware.push_back({f.text("cluster"), f.text("name"), f.text("sha256")});
  r.outcome = node.text("outcome");
  r.failure = node.text("failure");
  r.diagnosis = node.text("diagnosis");
  r.simulated_ns = node.number("simulated_ns");
  r.measured_ns = node.number("measured_ns");
  r.throughput_per_s = node.number("throughput_per_s");
  r.zero_loss_rate_per_s = node.number("zero_loss_rate_per_s");
  r.requests = numbers(node, "requests");
  if (const auto requests = node.find("requests")) {
    double dropped = 0;
    for (const auto& [reason, count] : requests->members("dropped")) dropped += count.number();
    r.requests.emplace_back("dropped", dropped);
  }
  r.load = numbers(node, "load");
  r.measured = measured_data(node);
  for (const Node& phase : node.list("phases")) r.phases.push_back(phase_data(phase));
  for (const Node& plot : node.list("plots")) r.plots.push_back(plot_data(node, plot));
  r.remarks = remarks(node);
  return r;
}

}  // namespace sluice::page
