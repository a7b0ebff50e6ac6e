// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Back ends of a UART: a stream, and a script that answers the firmware's output.

#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "models/uart/uart.h"

namespace sluice::uart {

/// Writes what the UART sends to a stream, and flushes the stream at the end of each line.
class StreamBackEnd : public BackEnd {
 public:
  explicit StreamBackEnd(std::ostream& out) : out_(out) {}
  void character(char c) override;
  /// Writes a line of another UART, given without its line break, as soon as this UART's line has ended.
  void line(const std::string& text);
  /// Breaks this UART's unfinished line off, and writes the lines of other UARTs that wait for its end.
  void flush();

 private:
  std::ostream& out_;
  bool in_line_ = false;
  static constexpr std::size_t kMostWaiting = 4096;  ///< characters; if more wait, flush() is called
  std::string waiting_;                              ///< lines of others
};

/// Writes what a further UART sends to the stream of another UART, line by line, with the name before each line.
class LineBackEnd : public BackEnd {
 public:
  /// The stream must outlive this object.
  LineBackEnd(std::string name, StreamBackEnd& stream) : name_(std::move(name)), stream_(stream) {}
  void character(char c) override;
  /// Writes the unfinished line.
  void end();

 private:
  static constexpr std::size_t kLongestLine = 4096;  ///< characters; a longer line is broken
  std::string name_;
  StreamBackEnd& stream_;
  std::string line_;
};

/// Waits for a text, sends another, and so on. Attaches itself to the UART.
class ExpectScript : public BackEnd {
 public:
  struct Step {
    std::string expect;                      ///< awaited in all output since the previous step; empty: do not wait
    std::string send;                        ///< may be empty
    base::Time timeout = base::Time::max();  ///< simulated, from the end of the previous step; max(): none
  };
  enum class State { running, passed, failed };
  /// Called once, when the last step is done or a timeout has passed.
  using End = std::function<void(const ExpectScript&)>;

  /// Starts with the first step at base::now().
  ExpectScript(Uart&, std::vector<Step> steps, End on_end = {});
  ~ExpectScript() override;

  State state() const { return state_; }
  /// What the script waits for while it runs: "step 2 of 5, \"# \"".
  std::string awaited() const;
  /// A sentence that says why the script failed; empty if it has not.
  const std::string& diagnosis() const { return diagnosis_; }
  /// The output since the last match, at most its last 64 KiB.
  const std::string& heard() const { return heard_; }

  void character(char c) override;

 private:
  void start_step();
  void finish(State);
  void timed_out();

  Uart& uart_;
  std::vector<Step> steps_;
  End on_end_;
  std::size_t step_ = 0;
  State state_ = State::running;
  std::string heard_;
  std::string diagnosis_;
  base::Calendar::Handle timer_;
};

}  // namespace sluice::uart
