// SPDX-License-Identifier: Apache-2.0
#include "models/base/measure/statistics.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "models/base/measure/statistics_paths.h"

namespace sluice::base {
namespace {

/// What f returns. If f throws, returns nothing and sets `why` to the reason.
template <class F>
auto attempt(F&& f, std::string& why) -> std::optional<decltype(f())> {
  try {
    return f();
  } catch (const std::exception& e) {
    why = std::string("threw an exception: ") + e.what();
  } catch (...) {
    why = "threw something that is no std::exception";
  }
  return std::nullopt;
}

}  // namespace

void StatisticsVisitor::broken(const StatisticsLabel& label, const std::string& why) {
  throw std::logic_error("statistic '" + label.name + "' " + why);
}

std::uint64_t Measured::operator()(const std::uint64_t& counter) const {
  for (const auto& e : group_.entries_)
    if (e.kind == StatisticsGroup::Kind::counter && e.plain == &counter) return e.end.value_or(*e.plain) - e.base;
  throw std::logic_error("statistics group '" + group_.name_ + "' derives a value from a counter it did not register");
}

Time Measured::elapsed() const { return group_.until_.value_or(now_) - group_.since_; }

StatisticsGroup::StatisticsGroup(std::string name, StatisticsGroup* parent) : name_(std::move(name)), parent_(parent) {
  if (!parent_) return;
  for (const auto* sibling : parent_->children_)
    if (sibling->name_ == name_) throw std::logic_error("statistics group '" + name_ + "' exists twice");
  parent_->children_.push_back(this);
  since_ = parent_->since_;
}

StatisticsGroup::~StatisticsGroup() {
  if (parent_) std::erase(parent_->children_, this);
  for (auto* child : children_) child->parent_ = nullptr;
}

StatisticsGroup::Entry& StatisticsGroup::add(std::string_view name, std::string_view unit, std::string_view meaning,
                                             Kind kind) {
  for (const Entry& e : entries_)
    if (e.label.name == name)
      throw std::logic_error("statistic '" + e.label.name + "' of '" + name_ + "' is registered twice");
  Entry& e = entries_.emplace_back();
  e.label = {std::string(name), std::string(unit), std::string(meaning)};
  e.kind = kind;
  return e;
}

void StatisticsGroup::counter(std::string_view name, std::string_view unit, std::string_view meaning,
                              const std::uint64_t& value) {
  add(name, unit, meaning, Kind::counter).plain = &value;
}

void StatisticsGroup::counter_of(std::string_view name, std::string_view unit, std::string_view meaning, Count count) {
  if (!count) throw std::logic_error(fmt::format("statistic '{}' of '{}' has no function", name, name_));
  add(name, unit, meaning, Kind::counter_of).count = std::move(count);
}

void StatisticsGroup::resource(std::string_view name, std::string_view title, std::string_view meaning, Count busy,
                               bool waits) {
  counter_of(name, "fs", meaning, std::move(busy));
  entries_.back().resource = std::string(title);
  entries_.back().waits = waits;
}

void StatisticsGroup::level(std::string_view name, std::string_view unit, std::string_view meaning,
                            const std::uint64_t& value) {
  add(name, unit, meaning, Kind::level).plain = &value;
}

void StatisticsGroup::hidden_level(std::string_view name, const std::uint64_t& value) {
  add(name, "", "", Kind::hidden_level).plain = &value;
}

void StatisticsGroup::derived(std::string_view name, std::string_view unit, std::string_view meaning, Derive derive) {
  if (!derive) throw std::logic_error(fmt::format("statistic '{}' of '{}' has no function", name, name_));
  add(name, unit, meaning, Kind::derived).derive = std::move(derive);
}

void StatisticsGroup::histogram(std::string_view name, std::string_view unit, std::string_view meaning,
                                Histogram& value) {
  add(name, unit, meaning, Kind::histogram).distribution = &value;
}

std::uint64_t StatisticsGroup::raw(Entry& e) { return e.kind == Kind::counter_of ? e.count() : *e.plain; }

void StatisticsGroup::start_measuring(Time now) {
  prepare();
  since_ = now;
  for (Entry& e : entries_) {
    e.broken.clear();
    if (counts(e)) e.base = attempt([&e] { return raw(e); }, e.broken).value_or(0);
    if (e.kind == Kind::histogram) e.distribution->clear();
  }
  for (auto* child : children_) child->start_measuring(now);
}

void StatisticsGroup::show(Entry& e, StatisticsVisitor& visitor, Time now) {
  if (e.kind == Kind::hidden_level) return;
  if (e.kind == Kind::histogram) return visitor.histogram(e.label, *e.distribution);
  std::string why = e.broken;
  if (!why.empty()) return visitor.broken(e.label, why);
  if (e.kind == Kind::derived) {
    if (const auto value = attempt([&] { return e.derive(Measured(*this, now)); }, why))
      visitor.real(e.label, *value);
    else
      visitor.broken(e.label, why);
    return;
  }
  const auto value = attempt([&e] { return counted(e); }, why);
  if (value && *value < e.base) why = fmt::format("fell from {} to {}, and a counter only grows", e.base, *value);
  if (why.empty())
    visitor.integer(e.label, *value - e.base);
  else
    visitor.broken(e.label, why);
}

void StatisticsGroup::collect(std::vector<std::uint64_t>& values) {
  prepare();
  for (Entry& e : entries_) {
    if (!is_read(e)) continue;
    values.push_back(attempt([&e] { return raw(e); }, e.broken).value_or(0));
  }
  for (auto* child : children_) child->collect(values);
}

StatisticsReading StatisticsGroup::read(Time now) {
  StatisticsReading reading{now, {}};
  collect(reading.values);
  return reading;
}

/// path: of this group, with a dot behind it. `before` is 1 for a counter and 0 for a level, until the values are
/// known.
void StatisticsGroup::add_counted(const std::string& path, std::vector<Counted>& out) const {
  for (const Entry& e : entries_)
    if (is_read(e)) out.push_back({path + e.label.name, counts(e), 0});
  for (const auto* child : children_) child->add_counted(path + child->name_ + ".", out);
}

std::vector<Counted> StatisticsGroup::counted_between(const StatisticsReading& from,
                                                      const StatisticsReading& to) const {
  std::vector<Counted> list;
  add_counted("", list);
  for (std::size_t n = 0; n < list.size(); ++n) {
    list[n].before *= from.values.at(n);
    list[n].value = to.values.at(n) - list[n].before;
  }
  return list;
}

void StatisticsGroup::set_window(const StatisticsReading& from, const StatisticsReading& to, std::size_t& next) {
  since_ = from.at;
  until_ = to.at;
  for (Entry& e : entries_) {
    if (!is_read(e)) continue;
    if (counts(e)) e.base = from.values.at(next);
    e.end = to.values.at(next++);
  }
  for (auto* child : children_) child->set_window(from, to, next);
}

void StatisticsGroup::show_between(const StatisticsReading& from, const StatisticsReading& to) {
  std::size_t next = 0;
  set_window(from, to, next);
}

void StatisticsGroup::read_resources(std::vector<Resource>& out, const std::string& path) {
  prepare();
  const std::string here = path.empty() ? name_ : path + "." + name_;
  for (Entry& e : entries_) {
    std::string why;
    if (e.resource) out.push_back({here, *e.resource, attempt([&e] { return raw(e); }, why).value_or(0), e.waits});
  }
  for (auto* child : children_) child->read_resources(out, here);
}

void StatisticsGroup::pick_resources(const StatisticsReading& reading, std::size_t& next,
                                     std::vector<std::uint64_t>& out) const {
  for (const Entry& e : entries_) {
    if (!is_read(e)) continue;
    if (e.resource) out.push_back(reading.values.at(next));
    ++next;
  }
  for (const auto* child : children_) child->pick_resources(reading, next, out);
}

std::vector<std::uint64_t> StatisticsGroup::resources_in(const StatisticsReading& reading) const {
  std::vector<std::uint64_t> values;
  std::size_t next = 0;
  pick_resources(reading, next, values);
  return values;
}

void StatisticsGroup::walk(StatisticsVisitor& visitor, Time now) {
  prepare();
  visitor.enter(*this);
  for (Entry& e : entries_) show(e, visitor, now);
  for (auto* child : children_) child->walk(visitor, now);
  visitor.leave(*this);
}

std::uint64_t StatisticsGroup::value(std::string_view path) {
  prepare();
  for (Entry& e : entries_)
    if (e.label.name == path && (e.plain || e.kind == Kind::counter_of)) return raw(e) - e.base;
  // A group's own name may hold dots ("nic.eth0"), so every child whose name the path starts with is tried.
  for (auto* child : children_) {
    const std::string& n = child->name_;
    if (path.size() > n.size() && path.substr(0, n.size()) == n && path[n.size()] == '.') {
      try {
        return child->value(path.substr(n.size() + 1));
      } catch (const std::out_of_range&) {
      }
    }
  }
  throw std::out_of_range(fmt::format("statistics group '{}' has no counter or level '{}'", name_, path));
}

StatisticsGroup& statistics() {
  static StatisticsGroup root("");
  return root;
}

namespace {

class TextWriter : public StatisticsPaths {
 public:
  explicit TextWriter(std::string& out) : out_(out) {}

  void integer(const StatisticsLabel& l, std::uint64_t value) override { line(l, fmt::format("{}", value)); }
  void real(const StatisticsLabel& l, double value) override { line(l, fmt::format("{:.6g}", value)); }
  void histogram(const StatisticsLabel& l, const Histogram& h) override {
    line(l, fmt::format("{} values: mean {}, p50 {}, p90 {}, p99 {}, p99.9 {}, max {}", h.count(), h.mean(), h.p50(),
                        h.p90(), h.p99(), h.p999(), h.max()));
  }
  void broken(const StatisticsLabel& l, const std::string& why) override { line(l, "none: it " + why); }

 private:
  void line(const StatisticsLabel& l, const std::string& value) {
    const std::string name = path().empty() ? l.name : path() + '.' + l.name;
    out_ += fmt::format("{:<48} {:>20} {:<8} {}\n", name, value, l.unit, l.meaning);
  }

  std::string& out_;
};

}  // namespace

std::string statistics_text(StatisticsGroup& group, Time now) {
  std::string out;
  TextWriter writer(out);
  group.walk(writer, now);
  return out;
}

}  // namespace sluice::base
