// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What models count. A model keeps plain integer members, increments them, and registers each once with name, unit and
/// meaning; nothing else happens until somebody reads. A snapshot is taken at the end of the warm-up, and counters are
/// reported as the difference from it, so models never reset anything. Plain C++.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/measure/histogram.h"
#include "models/base/time/callback.h"
#include "models/base/time/time.h"

namespace sluice::base {

class StatisticsGroup;

/// Name, unit and meaning of one value, as registered.
struct StatisticsLabel {
  std::string name;     ///< lower case with underscores: "frames_received"
  std::string unit;     ///< "frames", "bytes", "fs", "1" for ratios
  std::string meaning;  ///< one sentence or phrase
};

/// Gives a derived value access to what its group measured since the snapshot.
class Measured {
 public:
  /// Value since the snapshot of a counter that the same group registered by reference; throws std::logic_error for
  /// any other variable.
  std::uint64_t operator()(const std::uint64_t& counter) const;
  Time elapsed() const;  ///< simulated time since the snapshot
  /// a / b, and 0 where b is 0.
  static double ratio(std::uint64_t a, std::uint64_t b) {
    return b ? static_cast<double>(a) / static_cast<double>(b) : 0;
  }

 private:
  friend class StatisticsGroup;
  Measured(const StatisticsGroup& group, Time now) : group_(group), now_(now) {}
  const StatisticsGroup& group_;
  Time now_;
};

/// What all counters and levels of a tree had counted at a time, in the order of a walk.
struct StatisticsReading {
  Time at;
  std::vector<std::uint64_t> values;
};

/// A counter's or a level's part in two readings.
struct Counted {
  std::string path;      ///< "nic.eth0.rx_packets"
  std::uint64_t before;  ///< counted up to the first reading; 0 for a level
  std::uint64_t value;   ///< counted between them; a level's value at the second
};

/// Something that can be busy all the time and then limits what goes through it: a line, a pipeline, a core.
struct Resource {
  std::string group;      ///< path of its group: "pcie.slot0"
  std::string title;      ///< what of the group it is: "upstream"
  std::uint64_t busy_fs;  ///< up to now
  bool waits;             ///< busy, too, while it waits for another
};

/// Walks a tree of groups: values in the order of their registration, then the groups below.
class StatisticsVisitor {
 public:
  virtual ~StatisticsVisitor() = default;
  virtual void enter(const StatisticsGroup&) {}
  virtual void leave(const StatisticsGroup&) {}
  virtual void integer(const StatisticsLabel&, std::uint64_t value) = 0;  ///< a counter or a level
  virtual void real(const StatisticsLabel&, double value) = 0;            ///< a derived value
  virtual void histogram(const StatisticsLabel&, const Histogram&) = 0;
  /// A value that cannot be given, because its function threw or a counter has fallen. why: what follows the value's
  /// name in a sentence. Throws std::logic_error unless it is overridden.
  virtual void broken(const StatisticsLabel&, const std::string& why);
};

/// A named list of values with groups below it. What is registered must live until the group is destroyed or walked for
/// the last time. Names within a group are unique: a second use throws std::logic_error, as does a null function.
class StatisticsGroup {
 public:
  using Derive = Callback<double(const Measured&)>;
  using Count = Callback<std::uint64_t()>;

  explicit StatisticsGroup(std::string name, StatisticsGroup* parent = nullptr);
  ~StatisticsGroup();
  StatisticsGroup(const StatisticsGroup&) = delete;
  StatisticsGroup& operator=(const StatisticsGroup&) = delete;

  const std::string& name() const { return name_; }

  /// Something that only grows.
  void counter(std::string_view name, std::string_view unit, std::string_view meaning, const std::uint64_t& value);
  void counter(std::string_view, std::string_view, std::string_view, const std::uint64_t&&) = delete;
  /// A counter whose value a function returns, for example a server's bytes.
  void counter_of(std::string_view name, std::string_view unit, std::string_view meaning, Count count);
  /// A counter of the time, in fs, in which a resource was busy. title: what of the group it is, to follow the group's
  /// path in a sentence ("pcie.slot0 upstream"), or empty. waits: it counts as busy, too, while it waits for another
  /// resource, as a core does.
  void resource(std::string_view name, std::string_view title, std::string_view meaning, Count busy,
                bool waits = false);
  /// Something with a current value, which the snapshot does not change.
  void level(std::string_view name, std::string_view unit, std::string_view meaning, const std::uint64_t& value);
  void level(std::string_view, std::string_view, std::string_view, const std::uint64_t&&) = delete;
  /// A level that a walk leaves out: whether something has happened, as far as the host's way of executing knows it.
  void hidden_level(std::string_view name, const std::uint64_t& value);
  void hidden_level(std::string_view, const std::uint64_t&&) = delete;
  /// Something calculated from counters of this group.
  void derived(std::string_view name, std::string_view unit, std::string_view meaning, Derive derive);
  /// A distribution. It is cleared at the snapshot, because minimum and maximum have no difference.
  void histogram(std::string_view name, std::string_view unit, std::string_view meaning, Histogram& value);

  /// Sets what is called before the group's values are read, where they are brought up to date only then.
  void before_reading(Callback<void()> f) { before_reading_ = std::move(f); }

  /// Takes the snapshot, here and in all groups below: what is reported from now on counts from here.
  void start_measuring(Time now);
  /// Later walks show what was counted between two readings, whatever is counted after them; histograms stay whole.
  /// Groups must not be made or destroyed after the first reading.
  StatisticsReading read(Time now);
  /// What was counted between two readings, in their order.
  std::vector<Counted> counted_between(const StatisticsReading& from, const StatisticsReading& to) const;
  void show_between(const StatisticsReading& from, const StatisticsReading& to);
  /// The resources here and in all groups below, in the order of a walk. path: of this group's parent.
  void read_resources(std::vector<Resource>& out, const std::string& path = {});
  /// Of a reading, the values of the resources, in the order of read_resources().
  std::vector<std::uint64_t> resources_in(const StatisticsReading&) const;
  void walk(StatisticsVisitor&, Time now);
  /// Value since the snapshot by path below this group, "eth0.frames_received"; counters and levels only. Throws
  /// std::out_of_range when there is no such value. For tests and tools.
  std::uint64_t value(std::string_view path);

 private:
  friend class Measured;
  enum class Kind : std::uint8_t { counter, counter_of, level, hidden_level, derived, histogram };
  struct Entry {
    StatisticsLabel label;
    Kind kind;
    const std::uint64_t* plain = nullptr;
    Histogram* distribution = nullptr;
    Count count;
    Derive derive;
    std::optional<std::string> resource;  ///< its title; none: it is no resource
    bool waits = false;                   ///< of a resource
    std::uint64_t base = 0;               ///< at the snapshot
    std::optional<std::uint64_t> end;     ///< what a walk shows as counted; none: what is counted by then
    std::string broken;                   ///< what its function threw at the snapshot
  };

  Entry& add(std::string_view name, std::string_view unit, std::string_view meaning, Kind kind);
  static std::uint64_t raw(Entry&);
  void prepare() {
    if (before_reading_) before_reading_();
  }
  /// Whether readings have its value.
  static bool is_read(const Entry& e) { return e.kind != Kind::derived && e.kind != Kind::histogram; }
  /// Whether it is a counter, and no level.
  static bool counts(const Entry& e) { return e.kind == Kind::counter || e.kind == Kind::counter_of; }
  static std::uint64_t counted(Entry& e) { return e.end ? *e.end : raw(e); }
  void collect(std::vector<std::uint64_t>&);
  void add_counted(const std::string& path, std::vector<Counted>&) const;
  void pick_resources(const StatisticsReading&, std::size_t& next, std::vector<std::uint64_t>&) const;
  void set_window(const StatisticsReading& from, const StatisticsReading& to, std::size_t& next);
  void show(Entry&, StatisticsVisitor&, Time now);

  std::string name_;
  StatisticsGroup* parent_;
  Callback<void()> before_reading_;
  std::vector<Entry> entries_;
  std::vector<StatisticsGroup*> children_;
  Time since_;
  std::optional<Time> until_;
};

/// The simulation's tree: models hang their groups below it.
StatisticsGroup& statistics();

/// The tree as text, one value a line: path, value, unit, meaning.
std::string statistics_text(StatisticsGroup&, Time now);

}  // namespace sluice::base
