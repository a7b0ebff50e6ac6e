// SPDX-License-Identifier: Apache-2.0
#include "platform/page/plot.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::page {
namespace {

// In pixels. With the axis and its labels the widest plots fit a window of 1,000.
constexpr int kWidth = 780, kHeight = 300;
constexpr int kPanelHeight = 170, kPanelsBeside = 3;
constexpr int kBarWidth = 680, kBarHeight = 22;
constexpr int kLongestLabel = 320;

Json scale_of(const Dimension& d) {
  if (d.logarithmic) return {{"type", "log"}, {"nice", false}, {"padding", 12}};
  return {{"zero", false}, {"nice", true}};
}

/// So many beside each other are as wide as one plot.
int panel_width(std::size_t panels) { return panels <= 1 ? 760 : panels == 2 ? 360 : 225; }

/// Millions of calls per second: "12M".
void shorten_rates(Json& guide, const std::string& title) {
  if (title.ends_with("(1/s)")) guide["format"] = "~s";
}

/// Bars leave room for their names.
int bar_width(const Dimension& names) {
  std::size_t longest = 0;
  for (const std::string& name : names.order) longest = std::max(longest, name.size());
  return kBarWidth - 6 * static_cast<int>(std::clamp<std::size_t>(longest, 28, 50) - 28);
}

/// The encoding of a channel that has an axis.
Json axis(const Dimension& d) {
  if (d.number) {
    Json json = {{"field", d.field}, {"type", "quantitative"}, {"title", d.title}, {"scale", scale_of(d)}};
    json["axis"] = Json::object();
    shorten_rates(json["axis"], d.title);
    if (!d.ticks.empty()) json["axis"].update({{"values", d.ticks}, {"labelOverlap", true}});
    return json;
  }
  return {{"field", d.field},
          {"type", "ordinal"},
          {"title", d.title},
          {"sort", d.order.empty() ? Json() : Json(d.order)},
          {"axis", {{"labelLimit", kLongestLabel}, {"labelAngle", 0}, {"labelOverlap", true}}}};
}

Json legend(const Dimension& d) {
  std::size_t longest = 0;
  for (const std::string& name : d.order) longest = std::max(longest, name.size());
  const int columns = longest <= 22 ? 5 : longest <= 40 ? 3 : 2;
  return {{"field", d.field},
          {"type", "nominal"},
          {"title", d.title},
          {"sort", d.order.empty() ? Json() : Json(d.order)},
          {"legend",
           {{"orient", "top"},
            {"columns", columns},
            {"labelLimit", kWidth / columns},
            {"symbolLimit", 100},
            {"symbolOpacity", 1}}}};
}

/// The mark of intervals around a value, which take its axis. A logarithmic axis has no 0: there one that reaches below
/// a thousandth of the value ends at that.
Json interval_mark(const Dimension& value, const char* channel, Json encoding) {
  Json transform = Json::array();
  transform.push_back({{"filter", {{"field", "low"}, {"valid", true}}}});
  if (value.logarithmic)
    transform.push_back({{"calculate", "max(datum.low, datum." + value.field + " / 1000)"}, {"as", "low"}});
  encoding[channel] = axis(value);
  encoding[channel]["field"] = "low";
  encoding[channel + std::string("2")] = {{"field", "high"}};
  return {
      {"mark", {{"type", "rule"}, {"strokeWidth", 1.5}}}, {"transform", transform}, {"encoding", std::move(encoding)}};
}

Json gradient(const Dimension& d) {
  Json guide = {{"orient", "top"}, {"gradientLength", 300}, {"titleLimit", 400}};
  shorten_rates(guide, d.title);
  return {{"field", d.field},
          {"type", "quantitative"},
          {"title", d.title},
          {"scale", {{"type", d.logarithmic ? "log" : "linear"}, {"scheme", "viridis"}}},
          {"legend", guide}};
}

/// A specification, or small ones for the values of a field.
Json in_panels(Json spec, const Dimension& panels, std::size_t count) {
  if (panels.field.empty()) return spec;
  const int beside = static_cast<int>(std::min<std::size_t>(count, kPanelsBeside));
  return {{"facet",
           {{"field", panels.field},
            {"type", "nominal"},
            {"title", panels.title},
            {"sort", panels.order.empty() ? Json() : Json(panels.order)},
            {"header", {{"labelLimit", panel_width(count)}, {"titleOrient", "top"}}}}},
          {"columns", beside},
          {"spec", std::move(spec)}};
}

}  // namespace

Json line_spec(const Lines& l, std::size_t panels) {
  const bool small = !l.panels.field.empty();
  const Json x = axis(l.x), y = axis(l.y), colour = legend(l.colour);
  Json encoding = {{"x", x}, {"y", y}, {"color", colour}};
  Json line = {{"type", "line"}, {"strokeWidth", 1.8}};
  if (l.steps) line["interpolate"] = "step-after";
  Json layers = Json::array();
  if (l.spread) {
    Json band = encoding;
    band["y"]["aggregate"] = "min";
    band["y2"] = {{"field", l.y.field}, {"aggregate", "max"}};
    layers.push_back({{"mark", {{"type", "area"}, {"opacity", 0.2}}}, {"encoding", band}});
    encoding["y"]["aggregate"] = "median";
  }
  layers.push_back({{"mark", line}, {"encoding", encoding}});
  if (l.intervals) layers.push_back(interval_mark(l.y, "y", {{"x", x}, {"color", colour}}));
  if (!l.steps) {
    encoding["shape"] = colour;
    layers.push_back(
        {{"mark", {{"type", "point"}, {"filled", true}, {"size", small ? 30 : 55}, {"opacity", 1}, {"tooltip", true}}},
         {"encoding", encoding}});
  }
  Json spec = {{"width", small ? panel_width(panels) : kWidth},
               {"height", small && panels > 2 ? kPanelHeight : kHeight},
               {"layer", layers}};
  return in_panels(std::move(spec), l.panels, panels);
}

Json stack_spec(const Stack& s) {
  Json value = axis(s.value);
  value["stack"] = "zero";
  value["scale"] = {{"zero", true}, {"nice", false}};
  Json bar = axis(s.bar);
  return {{"width", bar_width(s.bar)},
          {"height", static_cast<int>(s.bars) * (kBarHeight + 8) + 10},
          {"mark", {{"type", "bar"}, {"tooltip", true}, {"strokeWidth", 0.5}}},
          {"encoding",
           {{"y", bar},
            {"x", value},
            {"color", legend(s.colour)},
            {"detail", {{"field", "part"}, {"type", "nominal"}}},
            {"order", {{"field", "place"}, {"type", "quantitative"}}}}}};
}

Json bar_spec(const Bars& b) {
  Json value = axis(b.value);
  value["scale"] = {{"zero", true}, {"nice", true}};
  if (b.share) value["scale"]["domain"] = {0, 1};
  value["stack"] = nullptr;
  return {{"width", kBarWidth},
          {"height", static_cast<int>(b.groups) * (static_cast<int>(b.runs) * (b.runs > 4 ? 7 : 14) + 12) + 10},
          {"mark", {{"type", "bar"}, {"tooltip", true}}},
          {"encoding",
           {{"y", axis(b.group)},
            {"x", value},
            {"yOffset", {{"field", b.colour.field}, {"type", "nominal"}, {"sort", b.colour.order}}},
            {"color", legend(b.colour)}}}};
}

Json dot_spec(const Dimension& row, const Dimension& value, std::size_t rows, bool intervals) {
  const Json x = axis(value), y = axis(row);
  Json layers = Json::array();
  if (intervals) layers.push_back(interval_mark(value, "x", {{"y", y}}));
  layers.push_back({{"mark", {{"type", "point"}, {"filled", true}, {"size", 60}, {"opacity", 1}, {"tooltip", true}}},
                    {"encoding", {{"y", y}, {"x", x}}}});
  return {{"width", kBarWidth}, {"height", static_cast<int>(rows) * kBarHeight + 10}, {"layer", layers}};
}

Json heat_spec(const HeatMap& h, std::size_t columns, std::size_t rows, std::size_t panels) {
  const int width = panel_width(panels);
  const int cell = std::clamp(width / static_cast<int>(std::max<std::size_t>(columns, 1)), 1, 90);
  const int height = std::clamp(180 / static_cast<int>(std::max<std::size_t>(rows, 1)), 6, 34);
  Json spec = {{"width", std::max(cell * static_cast<int>(columns), 60)},
               {"height", height * static_cast<int>(rows)},
               {"mark", {{"type", "rect"}, {"tooltip", true}}},
               {"encoding",
                {{"x", axis(h.x)}, {"y", axis(h.y)}, {"color", h.value.number ? gradient(h.value) : legend(h.value)}}}};
  return in_panels(std::move(spec), h.panels, panels);
}

std::string quantity_title(std::string_view path) {
  std::string title;
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    std::string_view part = rest.substr(0, dot);
    for (const std::string_view unit : {"_ns", "_per_s", "_gbps", "_bytes"})
      if (part.ends_with(unit) && part.size() > unit.size()) part.remove_suffix(unit.size());
    title += (title.empty() ? "" : " ") + (part == "p999" ? std::string("p99.9") : std::string(part));
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  std::replace(title.begin(), title.end(), '_', ' ');
  return title;
}

std::string axis_title(std::string_view path, std::string_view unit) {
  if (!unit.empty()) return fmt::format("{} ({})", quantity_title(path), unit);
  for (const std::string_view share : {"share", "ratio", "utilisation", "busy"})
    if (path.find(share) != std::string_view::npos) return quantity_title(path) + " (share)";
  return quantity_title(path) + " (count)";
}

}  // namespace sluice::page
