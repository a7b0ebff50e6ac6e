#pragma once
/// What reaches a simulation from outside: frames of a TAP device, characters of a console. Each input has a channel
/// and a simulated time; all of them can be logged, and a log can take the place of the outside.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/base/outside/input_log.h"
#include "models/base/time/calendar.h"
#include "models/base/time/callback.h"
#include "models/base/time/key.h"

namespace sluice::base {

/// Live sources and replays deliver inside calendar entries of this key: simultaneous effects have one order.
inline constexpr ComponentKey kInputKey = path_key("base.inputs");

/// The channels of one simulation.
class Inputs {
 public:
  using Bytes = std::span<const std::uint8_t>;
  using Handler = Callback<void(Bytes)>;
  using Channel = std::size_t;

  /// name: unique; letters, digits, dots and underscores. handler: takes one input, at now().
  Channel open(std::string name, Handler handler);
  /// For inputs whose place is another than a time: `early` is told of each record before a replay begins, and returns
  /// true where it will see to it itself. It throws ValueError for one that makes no sense.
  Channel open(std::string name, Handler handler, Callback<bool(Bytes)> early);
  /// From outside, inside a calendar entry of key kInputKey: logs the input and hands it over.
  void arrive(Channel channel, Bytes bytes);
  /// Only logs it: the source has handed it over itself. Calls come in order of now().
  void record(Channel channel, Bytes bytes);
  bool logging() const { return log_ != nullptr; }
  /// Logs what the run is made of and everything that arrives. Throws std::runtime_error when the file cannot be
  /// written.
  void log_to(const std::string& path, const Conditions& conditions = {});
  /// The run has ended: completes the log. Throws std::runtime_error when anything could not be written.
  void close(Time at, InputEnd end);

  /// No channel has this name: null.
  Handler* find(const std::string& name);

 private:
  friend class InputReplay;
  struct Entry {
    std::string name;
    Handler handler;
    Callback<bool(Bytes)> early;
  };
  Entry* find_entry(const std::string& name);

  std::vector<Entry> channels_;
  std::unique_ptr<InputLogWriter> log_;
};

/// A log in the place of the outside.
class InputReplay {
 public:
  /// Reads the whole log once, so that a broken one is an error before the run. All channels must be open. Throws
  /// std::runtime_error.
  InputReplay(const std::string& path, Inputs& inputs);

  /// What the logged run was made of; empty where the log does not say.
  const Conditions& conditions() const { return conditions_; }
  /// When the logged run ended, in whatever way; of a log without an end, its last input.
  Time end() const { return end_->at; }
  /// The limit of the run, where it ended at one.
  std::optional<Time> until() const;
  /// Makes the entries. interrupt: called where the logged run was ended from outside, or where a log without end has
  /// its last input.
  void start(Callback<void()> interrupt);

 private:
  void schedule();
  void deliver();

  Inputs& inputs_;
  Conditions conditions_;
  std::optional<InputRecord> end_;
  std::unique_ptr<InputLogReader> reader_;
  InputRecord next_;
  std::vector<bool> early_;  ///< of each record of an input: it is not delivered here
  std::size_t position_ = 0;
  Callback<void()> interrupt_;
};

}  // namespace sluice::base
