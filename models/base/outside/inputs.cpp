// SPDX-License-Identifier: Apache-2.0
#include "models/base/outside/inputs.h"

#include "models/base/parameters/quantity.h"

namespace sluice::base {

Inputs::Channel Inputs::open(std::string name, Handler handler) {
  return open(std::move(name), std::move(handler), {});
}

Inputs::Channel Inputs::open(std::string name, Handler handler, Callback<bool(Bytes)> early) {
  channels_.push_back({std::move(name), std::move(handler), std::move(early)});
  if (log_) log_->channel(channels_.back().name);
  return channels_.size() - 1;
}

void Inputs::log_to(const std::string& path, const Conditions& conditions) {
  log_ = std::make_unique<InputLogWriter>(path);
  for (const auto& [name, value] : conditions) log_->condition(name, value);
  for (const Entry& e : channels_) log_->channel(e.name);
}

void Inputs::arrive(Channel channel, Bytes bytes) {
  record(channel, bytes);
  channels_[channel].handler(bytes);
}

void Inputs::record(Channel channel, Bytes bytes) {
  if (log_) log_->write(now(), channels_[channel].name, bytes);
}

void Inputs::close(Time at, InputEnd end) {
  if (log_) log_->close(at, end);
}

Inputs::Handler* Inputs::find(const std::string& name) {
  Entry* const entry = find_entry(name);
  return entry ? &entry->handler : nullptr;
}

Inputs::Entry* Inputs::find_entry(const std::string& name) {
  for (Entry& e : channels_)
    if (e.name == name) return &e;
  return nullptr;
}

InputReplay::InputReplay(const std::string& path, Inputs& inputs)
    : inputs_(inputs), reader_(std::make_unique<InputLogReader>(path)) {
  InputRecord record;
  Time last;
  while (reader_->next(record)) {
    last = record.at;
    if (record.channel.empty()) {
      end_ = record;
      continue;
    }
    Inputs::Entry* const entry = inputs.find_entry(record.channel);
    if (!entry) reader_->fail("nothing here takes inputs of channel " + record.channel);
    try {
      early_.push_back(entry->early && entry->early(record.bytes));
    } catch (const ValueError& e) {
      reader_->fail(e.what());
    }
  }
  conditions_ = reader_->conditions();
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
  do {
    if (!reader_->next(next_)) next_ = *end_;
  } while (!next_.channel.empty() && early_[position_++]);
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
