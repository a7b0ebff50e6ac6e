// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The data link layer of one link direction while something goes wrong: sequence numbers, Nak, replay timer and
/// replay. A link without faults needs no such layer, since acknowledged TLPs cost nothing but the DLLP share of the
/// rate.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/time/calendar.h"
#include "models/base/time/callback.h"
#include "models/pcie/link.h"

namespace sluice::pcie {

enum class TlpFate : std::uint8_t {
  kCorrupted,   ///< its LCRC fails: the receiver sends a Nak
  kLost,        ///< it never arrives: the receiver misses it at the next TLP, or the sender's replay timer ends
  kPoisoned,    ///< it arrives with EP set
  kUnanswered,  ///< a completion that was never sent: the requester's completion timeout ends the wait
};

/// One fault of a TLP, and what it cost.
struct TlpFault {
  TlpFate fate = TlpFate::kCorrupted;
  base::Time at;         ///< start of the TLP, or of the replay that it is part of
  base::Time recovered;  ///< arrival of the last replayed TLP; Time::max(): not yet, never, or nothing to recover
  std::uint64_t delayed_tlps = 0;
  base::Time delay;  ///< of the delayed TLPs, summed
  std::uint64_t replayed_tlps = 0;
  std::uint64_t replayed_bytes = 0;  ///< on the wire
  std::uint64_t naks = 0;
  std::uint64_t timeouts = 0;  ///< of the replay timer
  std::uint64_t retrains = 0;
  std::vector<base::RequestId> requests;  ///< whose bytes these TLPs carry, as far as known
};

/// Decides which fault happens to which TLP.
class TlpFaultPlan {
 public:
  virtual ~TlpFaultPlan() = default;
  /// Called with each TLP that is sent, and again with each replay of it. Returns null if the TLP arrives. For a
  /// replay, only kCorrupted and kLost are allowed. The fault must live until the end of the simulation.
  virtual TlpFault* next(const Tlp&, bool replay) = 0;
};

/// Follows the specification. The receiver discards a TLP whose LCRC fails or that follows a missing one, and all TLPs
/// behind it, and asks for all of them with one Nak. The sender sends them again in order, before anything new. If a
/// TLP fails again before any has got through, there is no second Nak: the replay timer ends the wait. After three
/// replays without progress, the fourth begins with a retraining of the link, during which nothing is sent in either
/// direction. Timing: docs/models/pcie.md.
class DataLink : public LinkDirection::Guard {
 public:
  struct Timing {
    base::Time nak_latency;   ///< from a bad TLP's last bit to the first of the Nak on an idle link
    base::Time ack_latency;   ///< from a good TLP's last bit to the first of its Ack, at most
    base::Time replay_timer;  ///< without Ack or Nak, from the end of the oldest TLP
    base::Time retrain;       ///< time in Recovery, for both directions
  };
  /// The specification's limits for a link.
  static Timing timing_of(const Link::Parameters&, base::Time retrain);

  /// Becomes the guard of `direction`; Naks travel in `reverse`.
  DataLink(const std::string& path, LinkDirection& direction, LinkDirection& reverse, const Timing&, TlpFaultPlan&);

  ~DataLink() override { direction_.set_guard(nullptr); }

  Verdict judge(TlpPtr&, base::Time end, base::Time arrival) override;
  void retrain(bool on) override;
  std::uint64_t cut() override;

 private:
  struct ReplayEntry {
    TlpPtr tlp;
    base::Time due;        ///< when it would have arrived
    bool offered = false;  ///< the plan has seen it
  };

  /// Returns whether the TLP, whose last bit leaves at `end`, gets through.
  Verdict meet(TlpFault*, ReplayEntry&, base::Time end, base::Time arrival);
  void expect_nak(base::Time bad_arrival);
  void make_nak();
  void send_nak();
  void start_timer(base::Time end);
  void run_timer(base::Time until);
  void replay();
  void send_again();
  void recovered(base::Time at);
  static void note_requests(TlpFault&, const Tlp&);

  LinkDirection& direction_;
  LinkDirection& reverse_;
  Timing timing_;
  TlpFaultPlan& plan_;
  base::ComponentKey key_;
  std::vector<ReplayEntry> replay_buffer_;  ///< sent, not received: to be replayed
  std::vector<TlpFault*> open_;             ///< not recovered from; the last one caused the current recovery
  std::vector<TlpFault*> done_;             ///< faults that the last recovery has recovered from
  bool recovering_ = false;
  bool nak_sent_ = false;                 ///< NAK_SCHEDULED: set until the requested TLP has come
  bool retraining_ = false;               ///< for a fault of either direction
  bool nak_waits_ = false;                ///< a Nak waits for the end of retraining
  bool replay_waits_ = false;             ///< a replay waits for the end of retraining
  std::optional<base::Time> timer_left_;  ///< time left on the replay timer while retraining holds it
  unsigned replays_ = 0;                  ///< replays since a TLP last got through or the link retrained
  base::Time last_arrival_;               ///< of a good TLP
  base::Calendar::Handle nak_;            ///< entry that makes the Nak, then sends it, then delivers it
  base::Calendar::Handle timer_;
  base::Time timer_end_;
  base::Calendar::Handle trained_;
};

}  // namespace sluice::pcie
