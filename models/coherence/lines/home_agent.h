// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a device that is the home of lines has at its end of a coherent link: the state of each of its lines, and the
/// messages that this takes.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/base/measure/journey.h"
#include "models/base/memory/line_home.h"
#include "models/base/time/callback.h"
#include "models/coherence/lines/line_checker.h"
#include "models/coherence/link/coherent_message.h"
#include "models/coherence/protocol/home_line.h"

namespace sluice::coherence {

class HomeAgent final : public base::LineCaches {
 public:
  /// What a home says of itself and its caches.
  struct Setup {
    std::uint64_t base, size;  ///< of its lines, bus addresses
    std::string path;          ///< of the device
    unsigned caches;           ///< that may ask for lines
    unsigned line_bytes;
    protocol::Rules rules;
    base::Ledger::Component link, component;  ///< of the link and of the device
  };
  using Send = base::Callback<void(CoherentMessagePtr)>;
  /// Who holds a line and what is under way for it, in words.
  using Describe = std::function<std::string(std::uint64_t line)>;

  /// send: hands a message for a cache to the link. describe: for what is thrown where the device makes a mistake.
  HomeAgent(base::LineHome&, Setup, Send send, Describe describe);

  const std::string& path() const { return setup_.path; }
  bool has(std::uint64_t address) const { return address - setup_.base < setup_.size; }
  bool overlaps(std::uint64_t base, std::uint64_t size) const {
    return base < setup_.base + setup_.size && setup_.base < base + size;
  }
  const protocol::Rules& rules() const { return setup_.rules; }

  /// Null: nobody checks.
  void set_checker(LineChecker* checker) { checker_ = checker; }
  /// What the home takes the caches to hold of a line, and what it waits for, in words.
  std::string describe(std::uint64_t line) const;

  /// A message of a cache has arrived.
  void receive(const CoherentMessage&);
  /// The caches and the link have forgotten everything.
  void reset();

  // base::LineCaches
  unsigned line_bytes() const override { return setup_.line_bytes; }
  bool grant(std::uint64_t request, std::span<const std::uint8_t> bytes, bool own, base::RequestId of) override;
  bool refuse(std::uint64_t request) override;
  void recall(std::uint64_t line, base::Recall) override;
  void unlock(std::uint64_t line) override;

  /// When the device was asked for a line by the latest request of this cache, and when it answered.
  struct Hold {
    base::Time since, until;  ///< until: Time::max() while it has not answered
  };
  /// Nothing: it has not been asked for this line yet, or for another one since.
  std::optional<Hold> hold_of(std::uint64_t line, unsigned cache) const {
    return askers_[cache].line == line ? askers_[cache].hold : std::nullopt;
  }

  const std::uint64_t& recalls() const { return recalls_; }

 private:
  struct Line {
    explicit Line(unsigned caches) : state(caches) {}
    protocol::HomeLine state;
    std::array<std::uint8_t, kMostLineBytes> arrived;  ///< bytes that a cache has sent last
    base::RequestId request = 0;                       ///< the ledger's request that they belong to
    base::Journey journey;                             ///< on which they came, where `request` is not 0
  };
  /// What a cache has asked for last.
  struct Asker {
    std::uint64_t line = 0;
    base::Site by;          ///< the instruction that waits
    base::Journey journey;  ///< of the request, where the instruction serves one
    base::Time arrived;
    std::optional<Hold> hold;
  };

  Line& line_at(std::uint64_t address);
  [[noreturn]] void fail(std::uint64_t address, const std::string& mistake) const;
  Line* find_request(std::uint64_t number, std::uint64_t& address, const std::string& does);
  void check_grant(std::uint64_t address, const protocol::Step&, std::span<const std::uint8_t> bytes, bool alone);
  /// The bytes with which the device answers, and the ledger's request that they belong to.
  struct Granted {
    std::span<const std::uint8_t> bytes;
    base::RequestId of;
  };
  void take(std::uint64_t address, Line&, const protocol::Step&, const Granted& = {});
  void send(std::uint64_t address, const Line&, const protocol::Addressed&, const Granted&);
  Asker* asker_for(std::uint64_t address, unsigned cache);
  void note_request(const CoherentMessage&);
  void note_answer(std::uint64_t address, unsigned cache);

  base::LineHome& device_;
  LineChecker* checker_ = nullptr;
  const Setup setup_;
  Send send_;
  Describe describe_;
  std::vector<Asker> askers_;                                   ///< by cache
  std::unordered_map<std::uint64_t, Line> lines_;               ///< by address
  std::unordered_map<std::uint64_t, std::uint64_t> requested_;  ///< by number of an open request: address of its line
  static constexpr std::size_t kRecent = 64;
  std::array<std::uint64_t, kRecent> recent_{};     ///< lines of the last requests, by number, for what is thrown
  std::uint64_t last_request_ = 0, withdrawn_ = 0;  ///< request numbers; withdrawn_: last_request_ at the last reset
  std::uint64_t recalls_ = 0;
};

}  // namespace sluice::coherence
