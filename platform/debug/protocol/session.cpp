// SPDX-License-Identifier: Apache-2.0
#include "platform/debug/protocol/session.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace sluice::debug {
namespace {

constexpr std::string_view kOk = "OK";
constexpr std::string_view kMalformed = "E01";
constexpr std::string_view kNoThread = "E03";
constexpr std::string_view kKilled = "X09";
constexpr std::string_view kNoMemory = "E0e";
constexpr std::string_view kUnavailable = "xxxxxxxxxxxxxxxx";  // a register without a value now
constexpr int kSignalInterrupt = 2, kSignalTrap = 5;

std::string error(const std::string& why) { return why.empty() ? std::string(kOk) : "E." + why; }

/// Registers go over the wire as bytes, lowest first.
std::string register_hex(std::uint64_t value) {
  std::array<std::uint8_t, 8> bytes;
  for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(value), value >>= 8;
  return to_hex(bytes);
}

bool register_value(std::string_view hex, std::uint64_t& value) {
  std::string bytes;
  if (!from_hex(hex, bytes) || bytes.size() != 8) return false;
  value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
  return true;
}

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

}  // namespace

Session::Session(Target& target) : target_(target), actions_(target.threads()) {}

void Session::receive(std::span<const std::uint8_t> bytes) {
  reader_.feed(bytes);
  for (;;) {
    switch (reader_.next()) {
      case Received::nothing:
        return;
      case Received::interrupt:
        if (state_ == State::running) interrupted_ = true;
        break;
      case Received::acknowledged:
        break;
      case Received::refused:
        output_ += last_;
        break;
      case Received::broken:
        if (acknowledge_) output_ += '-';
        break;
      case Received::packet:
        if (acknowledge_) output_ += '+';
        if (state_ == State::stopped)
          handle(reader_.payload());
        else if (waiting_.size() < 64)
          waiting_.push_back(reader_.payload());
        break;
    }
  }
}

void Session::stopped(const Stop& stop) {
  stop_ = stop;
  thread_ = stop.thread;
  if (state_ == State::running) {
    state_ = State::stopped;
    send(stop_reply());
  }
  while (state_ == State::stopped && !waiting_.empty()) {
    const std::string packet = std::move(waiting_.front());
    waiting_.pop_front();
    handle(packet);
  }
}

void Session::say(std::string_view text) {
  if (state_ == State::running) send("O" + to_hex(text));
}

void Session::ended(int status) {
  if (state_ == State::running) send(fmt::format("W{:02x}", status & 0xff));
  state_ = State::detached;
}

void Session::send(std::string_view payload) {
  last_ = make_packet(payload);
  output_ += last_;
}

/// Carries out a packet and sends the answer. `R`, `k` and packets that let the machine go on get no answer here.
void Session::handle(std::string_view packet) {
  const std::string reply = answer(packet);
  if (state_ == State::running || state_ == State::killed || packet.starts_with('R') || packet == "k") return;
  send(reply);
  if (std::exchange(stop_acknowledging_, false)) acknowledge_ = false;
}

std::string Session::answer(std::string_view packet) {
  if (packet.empty()) return {};
  Fields fields(packet.substr(1));
  switch (packet[0]) {
    case '?':
      return abandoned_ ? std::string(kKilled) : stop_reply();
    case '!':
      extended_ = true;
      return std::string(kOk);
    case 'R':
      restart();
      return {};
    case 'g':
      return read_registers();
    case 'G':
      return write_registers(fields);
    case 'p':
      return read_register(fields);
    case 'P':
      return write_register(fields);
    case 'm':
      return read_memory(fields);
    case 'M':
      return write_memory(fields, false);
    case 'X':
      return write_memory(fields, true);
    case 'Z':
      return point(fields, true);
    case 'z':
      return point(fields, false);
    case 'H':
      return select_thread(fields);
    case 'T': {
      std::uint64_t thread = 0;
      return std::string(parse_thread(fields, thread) && thread != 0 ? kOk : kNoThread);
    }
    case 'c':
    case 's':
      return resume(fields, packet[0] == 's');
    case 'C':
    case 'S':  // the machine has no use for signals
      fields.until(';');
      return resume(fields, packet[0] == 'S');
    case 'D':
      target_.clear_all();
      state_ = State::detached;
      return std::string(kOk);
    case 'k':
      kill();
      return {};
    case 'q':
    case 'Q':
    case 'v':
      return query(Fields(packet));
    default:
      return {};
  }
}

std::string Session::query(Fields fields) {
  if (fields.skip("vCont?")) return "vCont;c;C;s;S;r";
  if (fields.skip("vCont;")) return resume_threads(fields);
  if (fields.skip("vKill")) {
    kill();
    if (state_ == State::killed) send(kOk);
    return std::string(kOk);
  }
  if (fields.skip("vRun;")) {
    const std::string why = restart();
    return why.empty() ? stop_reply() : error(why);
  }
  if (fields.skip("qSupported")) return supported();
  if (fields.skip("QStartNoAckMode")) {
    stop_acknowledging_ = true;
    return std::string(kOk);
  }
  if (fields.skip("qXfer:")) return transfer(fields);
  if (fields.skip("qfThreadInfo")) return thread_list();
  if (fields.skip("qsThreadInfo")) return "l";
  if (fields.skip("qThreadExtraInfo,")) {
    std::uint64_t thread = 0;
    if (!parse_thread(fields, thread) || thread == 0) return std::string(kNoThread);
    return to_hex(target_.thread_name(static_cast<unsigned>(thread)) + ": " +
                  target_.thread_state(static_cast<unsigned>(thread)));
  }
  if (fields.skip("qAttached")) return "1";
  if (fields.skip("qSymbol")) return std::string(kOk);
  if (fields.skip("qRcmd,")) return monitor(fields);
  if (fields.skip("qqemu.PhyMemMode")) return target_.physical_memory() ? "1" : "0";
  if (fields.skip("Qqemu.PhyMemMode:")) {
    if (fields.rest() != "0" && fields.rest() != "1") return std::string(kMalformed);
    target_.set_physical_memory(fields.rest() == "1");
    return std::string(kOk);
  }
  if (fields.rest() == "qC") return fmt::format("QC{:x}", thread_);
  return {};
}

/// In extended mode a debugger that has killed the program may run it again.
void Session::kill() {
  abandoned_ = extended_;
  if (!extended_) state_ = State::killed;
}

std::string Session::restart() {
  std::string why = target_.restart();
  if (!why.empty()) return why;
  abandoned_ = false;
  stop_ = {};
  thread_ = stop_.thread;
  return {};
}

std::string Session::supported() {
  return fmt::format(
      "PacketSize={:x};QStartNoAckMode+;vContSupported+;qXfer:features:read+;qXfer:threads:read+;"
      "qqemu.PhyMemMode+;multiprocess-",
      PacketReader::kMaxPayload);
}

std::string Session::transfer(Fields fields) {
  if (fields.skip("features:read:target.xml:")) return part_of(target_.description(), fields);
  if (fields.skip("threads:read::")) {
    std::string list = "<?xml version=\"1.0\"?>\n<threads>\n";
    for (unsigned t = 1; t <= target_.threads(); ++t)
      list += fmt::format("<thread id=\"{:x}\" name=\"{}\">{}</thread>\n", t, xml_text(target_.thread_name(t)),
                          xml_text(target_.thread_state(t)));
    return part_of(list + "</threads>\n", fields);
  }
  return fields.skip("features:read:") ? "E00" : "";
}

/// fields: "offset,length". Returns that part, marked as the last ("l") or not ("m").
std::string Session::part_of(const std::string& whole, Fields fields) {
  std::uint64_t offset = 0, length = 0;
  if (!fields.number(offset) || !fields.skip(",") || !fields.number(length)) return std::string(kMalformed);
  if (offset > whole.size()) return std::string(kMalformed);
  // Half, because every character may have to be escaped.
  length = std::min<std::uint64_t>(length, PacketReader::kMaxPayload / 2 - 1);
  const std::string part = whole.substr(offset, length);
  return (offset + part.size() < whole.size() ? "m" : "l") + part;
}

std::string Session::thread_list() {
  std::string list = "m";
  for (unsigned t = 1; t <= target_.threads(); ++t) list += fmt::format("{}{:x}", t == 1 ? "" : ",", t);
  return list;
}

/// Reads the number of a thread. 0 (any thread) and -1 (all threads) give 0. False: there is no such thread.
bool Session::parse_thread(Fields& fields, std::uint64_t& thread) {
  if (fields.skip("-1")) {
    thread = 0;
    return true;
  }
  return fields.number(thread) && thread <= target_.threads();
}

std::string Session::select_thread(Fields fields) {
  const bool for_resume = fields.skip("c");
  if (!for_resume && !fields.skip("g")) return std::string(kMalformed);
  std::uint64_t thread = 0;
  if (!parse_thread(fields, thread)) return std::string(kNoThread);
  // `Hc` serves only the packets `c` and `s`, which vCont has replaced. Here they go by the thread that stopped or that
  // `Hg` has selected.
  if (!for_resume) thread_ = thread == 0 ? stop_.thread : static_cast<unsigned>(thread);
  return std::string(kOk);
}

std::string Session::read_registers() {
  std::string all;
  for (unsigned n = 0; n < register_number::kGeneral; ++n) {
    std::uint64_t value = 0;
    all += target_.read_register(thread_, n, value) ? register_hex(value) : kUnavailable;
  }
  return all;
}

std::string Session::write_registers(Fields fields) {
  constexpr std::size_t kDigits = 16;
  if (fields.rest().size() != register_number::kGeneral * kDigits) return std::string(kMalformed);
  for (unsigned n = 0; n < register_number::kGeneral; ++n) {
    std::uint64_t value = 0, old = 0;
    if (!register_value(fields.rest().substr(n * kDigits, kDigits), value)) return std::string(kMalformed);
    if (target_.read_register(thread_, n, old) && old == value) continue;
    if (const std::string why = target_.write_register(thread_, n, value); !why.empty()) return error(why);
  }
  return std::string(kOk);
}

std::string Session::read_register(Fields fields) {
  std::uint64_t number = 0, value = 0;
  if (!fields.number(number) || !fields.empty()) return std::string(kMalformed);
  if (number > register_number::kPrivilege) return std::string(kMalformed);
  // At an error, GDB would break off `info all-registers` and `generate-core-file`.
  if (!target_.read_register(thread_, static_cast<unsigned>(number), value)) return std::string(kUnavailable);
  return register_hex(value);
}

std::string Session::write_register(Fields fields) {
  std::uint64_t number = 0, value = 0;
  if (!fields.number(number) || !fields.skip("=") || !register_value(fields.rest(), value) ||
      number > register_number::kPrivilege)
    return std::string(kMalformed);
  return error(target_.write_register(thread_, static_cast<unsigned>(number), value));
}

std::string Session::read_memory(Fields fields) {
  std::uint64_t address = 0, length = 0;
  if (!fields.number(address) || !fields.skip(",") || !fields.number(length)) return std::string(kMalformed);
  if (length == 0) return {};
  std::vector<std::uint8_t> bytes(std::min<std::uint64_t>(length, PacketReader::kMaxPayload / 2));
  const std::size_t count = target_.read_memory(thread_, address, bytes);
  if (count == 0) return std::string(kNoMemory);
  return to_hex(std::span(bytes).first(count));
}

std::string Session::write_memory(Fields fields, bool binary) {
  std::uint64_t address = 0, length = 0;
  if (!fields.number(address) || !fields.skip(",") || !fields.number(length) || !fields.skip(":"))
    return std::string(kMalformed);
  std::string bytes(fields.rest());
  if (!binary && !from_hex(fields.rest(), bytes)) return std::string(kMalformed);
  if (bytes.size() != length) return std::string(kMalformed);
  if (length == 0) return std::string(kOk);
  return error(
      target_.write_memory(thread_, address, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
}

/// Break- and watchpoints: "type,address,kind".
std::string Session::point(Fields fields, bool set) {
  std::uint64_t type = 0, address = 0, length = 0;
  if (!fields.number(type) || !fields.skip(",") || !fields.number(address) || !fields.skip(",") ||
      !fields.number(length))
    return std::string(kMalformed);
  if (type <= 1) {
    // Software and hardware breakpoints are the same: neither changes the memory of the guest.
    set ? target_.set_breakpoint(address) : target_.clear_breakpoint(address);
    return std::string(kOk);
  }
  if (type > 4) return {};
  constexpr WatchKind kinds[] = {WatchKind::write, WatchKind::read, WatchKind::access};
  const WatchKind kind = kinds[type - 2];
  if (!set)
    target_.clear_watchpoint(kind, address, length);
  else if (!target_.set_watchpoint(thread_, kind, address, length))
    return std::string(kNoMemory);
  return std::string(kOk);
}

void Session::run() {
  state_ = State::running;
  interrupted_ = false;
}

/// "c" and "s", with an address or without.
std::string Session::resume(Fields fields, bool step) {
  std::uint64_t address = 0;
  if (!fields.empty()) {
    if (!fields.number(address)) return std::string(kMalformed);
    if (const std::string why = target_.write_register(thread_, register_number::kPc, address); !why.empty())
      return error(why);
  }
  std::fill(actions_.begin(), actions_.end(), Action{});
  if (step) actions_[thread_ - 1].kind = Action::Kind::step;
  run();
  return {};
}

/// "action[:thread];action[:thread]...". The first action that names a thread applies to it. Without a thread, an
/// action applies to all that are left.
std::string Session::resume_threads(Fields fields) {
  std::vector<Action> actions(target_.threads(), Action{Action::Kind::hold, 0, 0});
  std::vector<bool> named(target_.threads());
  while (!fields.empty()) {
    Fields one(fields.until(';'));
    Action action;
    if (one.skip("c") || one.skip("C")) {
      action.kind = Action::Kind::go;
    } else if (one.skip("s") || one.skip("S")) {
      action.kind = Action::Kind::step;
    } else if (one.skip("r")) {
      action.kind = Action::Kind::step;
      if (!one.number(action.from) || !one.skip(",") || !one.number(action.to)) return std::string(kMalformed);
    } else {
      return std::string(kMalformed);
    }
    std::uint64_t signal = 0, thread = 0;
    one.number(signal);
    if (one.skip(":") && !parse_thread(one, thread)) return std::string(kNoThread);
    if (!one.empty()) return std::string(kMalformed);
    for (unsigned t = 1; t <= actions.size(); ++t) {
      if ((thread != 0 && thread != t) || named[t - 1]) continue;
      actions[t - 1] = action;
      actions[t - 1].named = thread != 0;
      named[t - 1] = true;
    }
  }
  if (std::find(named.begin(), named.end(), true) == named.end()) return std::string(kMalformed);
  actions_ = std::move(actions);
  run();
  return {};
}

std::string Session::monitor(Fields fields) {
  std::string command;
  if (!from_hex(fields.rest(), command)) return std::string(kMalformed);
  std::string text = target_.monitor(thread_, command);
  if (!text.empty() && text.back() != '\n') text += '\n';
  // Each part of the output is a packet of its own; OK ends it.
  constexpr std::size_t kPart = PacketReader::kMaxPayload / 2 - 1;
  for (std::size_t at = 0; at < text.size(); at += kPart) send("O" + to_hex(text.substr(at, kPart)));
  return std::string(kOk);
}

std::string Session::stop_reply() const {
  const int signal = stop_.kind == Stop::Kind::interrupt ? kSignalInterrupt : kSignalTrap;
  std::string reply = fmt::format("T{:02x}", signal);
  if (stop_.kind == Stop::Kind::watch) {
    const char* kind = stop_.watch == WatchKind::write ? "watch" : stop_.watch == WatchKind::read ? "rwatch" : "awatch";
    reply += fmt::format("{}:{:x};", kind, stop_.address);
  }
  return reply + fmt::format("thread:{:x};", stop_.thread);
}

}  // namespace sluice::debug
