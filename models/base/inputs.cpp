#include "models/base/inputs.h"

namespace sluice::base {

Inputs::Channel Inputs::open(std::string name, Handler handler) {
  channels_.push_back({std::move(name), std::move(handler)});
  if (log_) log_->channel(channels_.back().name);
  return channels_.size() - 1;
}

void Inputs::log_to(const std::string& path) {
  log_ = std::make_unique<InputLogWriter>(path);
  for (const Entry& e : channels_) log_->channel(e.name);
}

void Inputs::arrive(Channel channel, Bytes bytes) {
  Entry& entry = channels_[channel];
  if (log_) log_->write(now(), entry.name, bytes);
  entry.handler(bytes);
}

void Inputs::close(Time at, InputEnd end) {
  if (log_) log_->close(at, end);
}

Inputs::Handler* Inputs::find(const std::string& name) {
  for (Entry& e : channels_)
    if (e.name == name) return &e.handler;
  return nullptr;
}

InputReplay::InputReplay(const std::string& path, Inputs& inputs)
    : inputs_(inputs), reader_(std::make_unique<InputLogReader>(path)) {
  InputRecord record;
  Time last;
  while (reader_->next(record)) {
    last = record.at;
    if (record.channel.empty())
      end_ = record;
    else if (!inputs.find(record.channel))
      reader_->fail("nothing here takes inputs of channel " + record.channel);
  }
  if (!end_ && last == Time{}) reader_->fail("has no input and no end of a run, so there is nothing to repeat");
  if (!end_) end_ = InputRecord{last, {}, {}, InputEnd::interrupted};
  reader_ = std::make_unique<InputLogReader>(path);
}

std::optional<Time> InputReplay::until() const {
  if (end_->end == InputEnd::limit) return end_->at;
  return {};
}

void InputReplay::start(Callback<void()> interrupt) {
  interrupt_ = std::move(interrupt);
  schedule();
}

void InputReplay::schedule() {
  if (!reader_->next(next_)) next_ = *end_;
  if (!next_.channel.empty()) {
    calendar().at(next_.at, kInputKey, [this] { deliver(); });
  } else if (next_.end == InputEnd::interrupted) {
    calendar().at(next_.at, kInputKey, [this] { interrupt_(); });
  }
}

void InputReplay::deliver() {
  (*inputs_.find(next_.channel))(next_.bytes);
  schedule();
}

}  // namespace sluice::base
