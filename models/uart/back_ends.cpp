// SPDX-License-Identifier: Apache-2.0
#include "models/uart/back_ends.h"

#include <fmt/format.h>

namespace sluice::uart {

namespace {

constexpr std::size_t kHeardLimit = 65536;

/// Text in quotes with its control characters made visible.
std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + "\"";
}

}  // namespace

void StreamBackEnd::character(char c) {
  out_.put(c);
  in_line_ = c != '\n';
  if (in_line_) return;
  out_ << std::exchange(waiting_, {});
  out_.flush();
}

void StreamBackEnd::line(const std::string& text) {
  if (in_line_) {
    waiting_ += text + '\n';
    if (waiting_.size() > kMostWaiting) flush();
  } else {
    out_ << text << '\n';
    out_.flush();
  }
}

void StreamBackEnd::flush() {
  if (waiting_.empty()) return;
  out_ << '\n' << std::exchange(waiting_, {});
  out_.flush();
  in_line_ = false;
}

void LineBackEnd::end() {
  if (!line_.empty()) stream_.line(name_ + ": " + std::exchange(line_, {}));
}

void LineBackEnd::character(char c) {
  if (c == '\n') {
    stream_.line(name_ + ": " + std::exchange(line_, {}));
  } else if (c != '\r') {
    if (line_.size() == kLongestLine) end();
    line_ += c;
  }
}

ExpectScript::ExpectScript(Uart& uart, std::vector<Step> steps, End on_end)
    : uart_(uart), steps_(std::move(steps)), on_end_(std::move(on_end)) {
  uart.attach(*this);
  start_step();
}

ExpectScript::~ExpectScript() { base::calendar().cancel(timer_); }

/// Goes on to the first step that has to wait.
void ExpectScript::start_step() {
  for (; step_ < steps_.size(); ++step_) {
    const Step& step = steps_[step_];
    if (!step.expect.empty()) {
      if (step.timeout <= base::Time::max() - base::now())
        timer_ = base::calendar().after(step.timeout, uart_.key(), [this] { timed_out(); });
      return;
    }
    uart_.input(step.send);
  }
  finish(State::passed);
}

void ExpectScript::character(char c) {
  if (heard_.size() >= kHeardLimit) heard_.erase(0, kHeardLimit / 2);
  heard_ += c;
  if (state_ != State::running || !heard_.ends_with(steps_[step_].expect)) return;
  base::calendar().cancel(timer_);
  heard_.clear();
  uart_.input(steps_[step_].send);
  ++step_;
  start_step();
}

std::string ExpectScript::awaited() const {
  if (state_ != State::running) return {};
  return fmt::format("step {} of {}, {}", step_ + 1, steps_.size(), in_quotes(steps_[step_].expect));
}

void ExpectScript::timed_out() {
  constexpr std::size_t kShown = 200;
  const std::string last = heard_.size() > kShown ? heard_.substr(heard_.size() - kShown) : heard_;
  diagnosis_ = fmt::format("{}: step {} of {}: {} did not come within {}; heard {}", uart_.path(), step_ + 1,
                           steps_.size(), in_quotes(steps_[step_].expect), base::to_text(steps_[step_].timeout),
                           last.empty() ? std::string("nothing") : in_quotes(last));
  finish(State::failed);
}

void ExpectScript::finish(State state) {
  state_ = state;
  if (on_end_) on_end_(*this);
}

}  // namespace sluice::uart
