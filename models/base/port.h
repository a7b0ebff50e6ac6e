#pragma once
/// Message ports: how models talk across a fabric. A sender holds credits for its receiver's buffer; a message costs
/// one and the receiver gives it back when the buffer is free again. Messages pass in no time: time is spent in links
/// and servers. Plain C++.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "models/base/callback.h"
#include "models/base/waiting.h"

namespace sluice::base {

template <class M>
class Sender;

/// The receiving end. on_receive must be set before the first message; it may call release() at once.
template <class M>
class Receiver {
 public:
  /// owner: path of the component, for the stall diagnosis. credits: messages it can hold, at least 1.
  Receiver(std::string owner, unsigned credits) : owner_(std::move(owner)), credits_(credits) {}
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  Callback<void(M&&)> on_receive;

  /// Gives credits back; a sender that was refused is told through its on_credit.
  void release(unsigned n = 1);
  const std::string& owner() const { return owner_; }

 private:
  friend class Sender<M>;
  std::string owner_;
  unsigned credits_;
  Sender<M>* sender_ = nullptr;
};

template <class M>
class Sender {
 public:
  explicit Sender(std::string owner) : owner_(std::move(owner)) {}
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  /// Called once after a try_send() was refused, when credits are there again. May be left unset.
  Callback<void()> on_credit;

  void bind(Receiver<M>& receiver) {
    receiver_ = &receiver;
    receiver.sender_ = this;
    credits_ = receiver.credits_;
  }
  bool bound() const { return receiver_ != nullptr; }
  unsigned credits() const { return credits_; }

  /// False, and the message stays with the caller, when no credit is left.
  [[nodiscard]] bool try_send(M&& message) {
    if (credits_ == 0) {
      if (!waiting_) waiting_.emplace(owner_.c_str(), "message credit", receiver_->owner_.c_str());
      return false;
    }
    --credits_;
    receiver_->on_receive(std::move(message));
    return true;
  }

 private:
  friend class Receiver<M>;
  std::string owner_;
  Receiver<M>* receiver_ = nullptr;
  unsigned credits_ = 0;
  std::optional<Waiting> waiting_;
};

template <class M>
void Receiver<M>::release(unsigned n) {
  sender_->credits_ += n;
  if (!sender_->waiting_) return;
  sender_->waiting_.reset();
  if (sender_->on_credit) sender_->on_credit();
}

/// A level-signalled wire: INTx, an interrupt controller's output. Setting the level it has does nothing.
class Line {
 public:
  Callback<void(bool)> on_change;
  void set(bool level) {
    if (level == level_) return;
    level_ = level;
    if (on_change) on_change(level);
  }
  bool level() const { return level_; }

 private:
  bool level_ = false;
};

}  // namespace sluice::base
