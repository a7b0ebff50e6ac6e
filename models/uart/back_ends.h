#pragma once
/// What a UART can be connected to: a stream, or a script that answers what firmware says.

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "models/uart/uart.h"

namespace sluice::uart {

/// Writes what the UART sends to a stream, and flushes it at each line's end.
class StreamBackEnd : public BackEnd {
 public:
  explicit StreamBackEnd(std::ostream& out) : out_(out) {}
  void character(char c) override;

 private:
  std::ostream& out_;
};

/// Waits for a text, sends another, and so on. Attaches itself to the UART.
class ExpectScript : public BackEnd {
 public:
  struct Step {
    std::string expect;  ///< anywhere in what is said after the step before; empty: nothing to wait for
    std::string send;    ///< may be empty
    base::Time timeout = base::Time::max();  ///< simulated, from the end of the step before; max(): none
  };
  enum class State { running, passed, failed };
  /// Called once, when the last step is done or a timeout has passed.
  using End = std::function<void(const ExpectScript&)>;

  /// Starts with the first step at base::now().
  ExpectScript(Uart&, std::vector<Step> steps, End on_end = {});
  ~ExpectScript() override;

  State state() const { return state_; }
  /// What it waits for while it runs: "step 2 of 5, \"# \"".
  std::string awaited() const;
  /// Why it failed, in a sentence; empty otherwise.
  const std::string& diagnosis() const { return diagnosis_; }
  /// Everything said since the last match, at most the last 64 KiB of it.
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
