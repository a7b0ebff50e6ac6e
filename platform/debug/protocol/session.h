// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One debugger's conversation in GDB's remote serial protocol, as bytes in and bytes out. It knows neither sockets nor
/// the simulation; any bytes are answered or ignored.

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/debug/protocol/packet.h"
#include "platform/debug/protocol/target.h"

namespace sluice::debug {

/// Why the machine stands still.
struct Stop {
  enum class Kind : std::uint8_t { trap, interrupt, watch };
  Kind kind = Kind::trap;  ///< trap: breakpoint or step
  unsigned thread = 1;
  WatchKind watch = WatchKind::write;
  std::uint64_t address = 0;  ///< watch: of the watchpoint
};

class Session {
 public:
  enum class State : std::uint8_t { stopped, running, detached, killed };

  /// Begins with the machine stopped. The target must outlive the session.
  explicit Session(Target& target);

  /// Takes bytes from the debugger. Carries out their requests at once or, while the machine runs, at its next stop.
  void receive(std::span<const std::uint8_t> bytes);
  /// Bytes for the debugger.
  std::string take_output() { return std::exchange(output_, {}); }

  State state() const { return state_; }
  /// Whether the debugger has killed the program but may still run it again. If the connection ends now, the run ends.
  bool abandoned() const { return abandoned_; }
  /// While running: the action of each thread; thread n is at index n - 1.
  const std::vector<Action>& actions() const { return actions_; }
  /// Whether Ctrl-C has come since the machine went on.
  bool interrupted() const { return interrupted_; }
  /// The machine has stopped.
  void stopped(const Stop& stop);
  /// While the machine runs: text for the user.
  void say(std::string_view text);
  /// The machine has ended. status: exit status of the process.
  void ended(int status);

 private:
  void handle(std::string_view packet);
  std::string answer(std::string_view packet);
  std::string query(Fields fields);
  std::string supported();
  std::string transfer(Fields fields);
  std::string part_of(const std::string& whole, Fields fields);
  std::string thread_list();
  std::string select_thread(Fields fields);
  std::string read_registers();
  std::string write_registers(Fields fields);
  std::string read_register(Fields fields);
  std::string write_register(Fields fields);
  std::string read_memory(Fields fields);
  std::string write_memory(Fields fields, bool binary);
  std::string point(Fields fields, bool set);
  std::string resume(Fields fields, bool step);
  std::string resume_threads(Fields fields);
  std::string monitor(Fields fields);
  bool parse_thread(Fields& fields, std::uint64_t& thread);
  std::string stop_reply() const;
  void kill();
  std::string restart();
  void run();
  void send(std::string_view payload);

  Target& target_;
  PacketReader reader_;
  std::deque<std::string> waiting_;
  std::string output_;
  std::string last_;  ///< packet, in case it must be sent again
  bool acknowledge_ = true;
  bool stop_acknowledging_ = false;
  State state_ = State::stopped;
  std::vector<Action> actions_;
  bool interrupted_ = false;
  bool extended_ = false;
  bool abandoned_ = false;
  Stop stop_;
  unsigned thread_ = 1;  ///< for registers and memory
};

}  // namespace sluice::debug
