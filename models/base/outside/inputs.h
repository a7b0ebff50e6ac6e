// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What reaches a simulation from outside: frames of a TAP device, characters of a console. Each input has a channel
/// and a simulated time. All inputs can be logged, and a log can be replayed instead of live inputs.

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

/// Key of the calendar entries that deliver live or replayed inputs. It fixes their order among simultaneous entries.
inline constexpr ComponentKey kInputKey = path_key("base.inputs");

/// The channels of one simulation.
class Inputs {
 public:
  using Bytes = std::span<const std::uint8_t>;
  using Handler = Callback<void(Bytes)>;
  using Channel = std::size_t;

  /// name: unique; letters, digits, dots and underscores. handler: takes one input, at now().
  Channel open(std::string name, Handler handler);
  /// For inputs that are not tied to a time. Before a replay begins, `early` is called with each record of the channel.
  /// It returns true if it will deliver the record itself, and throws ValueError if the record makes no sense.
  Channel open(std::string name, Handler handler, Callback<bool(Bytes)> early);
  /// Live sources call this inside a calendar entry of key kInputKey: it logs the input and calls the handler.
  void arrive(Channel channel, Bytes bytes);
  /// Only logs an input that the source has delivered itself. Calls come in order of now().
  void record(Channel channel, Bytes bytes);
  bool logging() const { return log_ != nullptr; }
  /// Logs the conditions of the run and everything that arrives. Throws std::runtime_error when the file cannot be
  /// written.
  void log_to(const std::string& path, const Conditions& conditions = {});
  /// The run has ended: completes the log. Throws std::runtime_error when anything could not be written.
  void close(Time at, InputEnd end);

  /// Handler of the channel with this name; null: there is no such channel.
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

/// Delivers the inputs of a log instead of live ones.
class InputReplay {
 public:
  /// Reads the whole log once, so that a broken one is an error before the run. All channels must be open. Throws
  /// std::runtime_error.
  InputReplay(const std::string& path, Inputs& inputs);

  /// The conditions of the logged run; empty where the log has none.
  const Conditions& conditions() const { return conditions_; }
  /// When the logged run ended, in whatever way. For a log without an end, the time of its last input.
  Time end() const { return end_->at; }
  /// The time limit of the logged run, if it ended there.
  std::optional<Time> until() const;
  /// Starts to deliver the inputs. interrupt: called at the time at which the logged run was ended from outside. If the
  /// log has no end, it is called at the last input.
  void start(Callback<void()> interrupt);

 private:
  void schedule();
  void deliver();

  Inputs& inputs_;
  Conditions conditions_;
  std::optional<InputRecord> end_;
  std::unique_ptr<InputLogReader> reader_;
  InputRecord next_;
  std::vector<bool> early_;  ///< for each input record: whether its `early` handler delivers it
  std::size_t position_ = 0;
  Callback<void()> interrupt_;
};

}  // namespace sluice::base
