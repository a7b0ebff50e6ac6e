// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The log of everything that reached a simulation from outside: docs/models/base-real-time.md has the format. Plain
/// C++.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/files/input_file.h"
#include "models/base/files/output_file.h"
#include "models/base/time/time.h"

namespace sluice::base {

/// How a logged run ended.
enum class InputEnd {
  interrupted,  ///< from outside, at the time of the record
  limit,        ///< at the time that the user had set
  ended,        ///< by itself, as its replay does
};

struct InputRecord {
  Time at;
  std::string channel;  ///< empty: the end of the run
  std::vector<std::uint8_t> bytes;
  InputEnd end = InputEnd::ended;
};

/// Name and value of something that a run depends on, such as a parameter of the board or the firmware.
using Condition = std::pair<std::string, std::string>;
using Conditions = std::vector<Condition>;

/// A condition in the form that a log line can hold. In the name, underscores replace blanks and control characters; in
/// the value, question marks replace line breaks.
Condition as_logged(std::string_view name, std::string_view value);

/// Writes line by line, so that the log of a run that crashes is still of use.
class InputLogWriter {
 public:
  /// Creates the file. Throws std::runtime_error when it cannot be written.
  explicit InputLogWriter(std::string path);

  /// Logs one condition of the run, in the form of as_logged().
  void condition(std::string_view name, std::string_view value);
  /// Logs that the run accepts inputs on this channel, even if none arrive.
  void channel(std::string_view name);
  /// channel: letters, digits, dots and underscores. Calls come in order of time.
  void write(Time at, std::string_view channel, std::span<const std::uint8_t> bytes);
  /// Writes the last record and closes the file. Throws std::runtime_error when anything could not be written.
  void close(Time at, InputEnd end);

 private:
  void put(const std::string& line);

  OutputFile file_;
};

/// The latest time of a record, and the latest end of a run with live inputs. Simulated time itself ends 446 s later.
inline constexpr Time kLatestInput = Time::s(18'000);

/// Reads a log record by record. Every error is a std::runtime_error with one sentence that names file and line.
class InputLogReader {
 public:
  /// Throws when there is no such file, or it is no log of inputs.
  explicit InputLogReader(std::string path);

  /// The channels read so far: those that the log declares, and those of inputs.
  const std::vector<std::string>& channels() const { return channels_; }
  /// The conditions that have been read so far.
  const Conditions& conditions() const { return conditions_; }
  /// False at the end of the file. Throws at a record that is cut off, impossible, after the end of the run or earlier
  /// than the one before.
  bool next(InputRecord& record);
  [[noreturn]] void fail(const std::string& what) const;

 private:
  bool read_line();
  bool read_record(InputRecord& record);

  std::string path_;
  InputFile file_;
  std::string line_;
  std::uint64_t line_number_ = 0;
  Time last_;
  bool ended_ = false;
  std::vector<std::string> channels_;
  Conditions conditions_;
};

/// The channels of a whole log, each once. Throws what InputLogReader throws.
std::vector<std::string> channels_of_log(const std::string& path);

}  // namespace sluice::base
