// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Sends frames over a wire, checks every byte of what comes back, and knows the fate of each frame.

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "models/base/measure/histogram.h"
#include "models/base/parameters/random.h"
#include "models/base/time/callback.h"
#include "models/net/traffic/rate_search.h"
#include "models/net/traffic/remote_host.h"
#include "models/workload/packets/packet_form.h"

namespace sluice::workload {

/// A remote host that finds its partner by ARP and then sends frames in trials, at one size and one rate each. A trial
/// ends when each of its frames has come back, has been dropped by a component, or has not come back in time. A
/// zero-loss search has a trial for each rate that RateSearch chooses, other loads have one for each size.
///
/// A packet is due at a time that does not depend on what the line takes; one that must wait for the line waits in the
/// source, and its latency counts from when it was due. Where the load is the line's own rate, it is due when the line
/// is free.
///
/// Ledger: a request is opened when its packet is due, in `client_queue` if it must wait for the line and else in
/// `wire`, and completed when the last bit of the frame has come back.
class PacketSource : public net::RemoteHost {
 public:
  using Parameters = PacketsParameters;

  /// One trial. Only packets behind the warm-up count.
  struct Trial {
    std::uint32_t size = 0;  ///< bytes with FCS
    base::BitRate rate;      ///< asked for
    std::uint64_t sent = 0;
    std::uint64_t returned = 0;  ///< right or wrong
    std::uint64_t dropped = 0;
    std::uint64_t lost = 0;
    base::Histogram latency;  ///< fs: from when a packet was due to its last bit back
    base::Time first_due;     ///< of the first packet, and of the last
    base::Time last_due;
    base::Time first_sent;  ///< first bit of the first packet, and of the last
    base::Time last_sent;
    base::Time first_returned;  ///< last bit of the first packet that came back, and of the last
    base::Time last_returned;
    bool loss() const { return returned != sent; }
    /// Between the times at which the first and the last packet were due.
    double offered_per_s() const { return per_second(sent, first_due, last_due); }
    /// By the line: between the first bits of the first and the last packet.
    double accepted_per_s() const { return per_second(sent, first_sent, last_sent); }
    /// At the wire, between the first and the last packet that came back.
    double returned_per_s() const { return per_second(returned, first_returned, last_returned); }

   private:
    static double per_second(std::uint64_t n, base::Time first, base::Time last);
  };
  /// What a search found for a size; rate 0: every rate lost packets.
  struct Found {
    std::uint32_t size;
    base::BitRate rate;
  };
  /// Of all trials, sent = returned + dropped + lost + in_flight().
  struct Results {
    std::uint64_t sent = 0;
    std::uint64_t returned = 0;
    std::uint64_t wrong = 0;                       ///< of those, with a byte that differs
    std::uint64_t reordered = 0;                   ///< of the others, behind a later packet of their flow
    std::map<std::string, std::uint64_t> dropped;  ///< key: reason from a component
    std::uint64_t lost = 0;                        ///< not back in time, and no component dropped them
    std::uint64_t late = 0;                        ///< frames that came back after they had been given up
    std::uint64_t repeated = 0;                    ///< frames that came back though they had come back or been dropped
    base::Histogram latency;
    base::Time first_sent;
    base::Time last_returned;
    std::string first_error;  ///< of a packet that was wrong, reordered or repeated: "packet 17: byte 14 is ..."

    std::uint64_t dropped_sum() const;
    std::uint64_t in_flight() const { return sent - returned - dropped_sum() - lost; }
  };

  /// The parameters must outlive the source. Throws base::ValueError for a bad address.
  PacketSource(const sc_core::sc_module_name&, const Parameters&, base::RandomSeed, net::Wire&, net::Wire::End);

  /// Says how many frames of a size (without FCS) the system under test can hold: a search fills them.
  void set_buffered(std::function<std::uint64_t(std::uint64_t)> frames) { buffered_ = std::move(frames); }
  void start() { resolve(); }
  /// Called before the first packet that counts.
  void on_measuring(base::Callback<void()> f) { measuring_callback_ = std::move(f); }
  /// Called before the first packet of each trial that counts.
  void on_trial(base::Callback<void()> f) { trial_callback_ = std::move(f); }
  /// Called when a packet that counts has come back and none is left to be sent in its trial: it may be the last. Not
  /// called for each while many packets are under way.
  void on_late_return(base::Callback<void()> f) { late_return_callback_ = std::move(f); }
  void on_finished(base::Callback<void()> f) { finished_callback_ = std::move(f); }

  const Results& results() const { return results_; }
  const std::vector<Trial>& trials() const { return trials_; }
  const std::vector<Found>& found() const { return found_; }  ///< of the searches that have ended
  bool running() const { return running_; }                   ///< the partner has been found
  bool finished() const { return finished_; }
  std::uint64_t settled() const { return settled_; }  ///< packets whose fate is known
  std::uint64_t under_way() const { return next_ - 1 - settled_; }
  /// Packets that all searches send at most, warm-up included.
  std::uint64_t most_packets_of_search();
  /// The highest rate that a trial may have.
  base::BitRate highest_rate();
  std::uint64_t total() const { return total_; }  ///< packets to send as far as known, warm-up included
  std::size_t sizes() const { return sizes_.size(); }
  bool searches() const { return parameters_.load == PacketLoad::zero_loss; }

  void frame_arrived(net::PacketPtr) override;

 private:
  /// One packet under way.
  struct Slot {
    std::uint64_t number = 0;  ///< 0: free; packets are numbered from 1
    base::RequestId id = 0;
    base::Time due;
    base::Time sent;
    bool measured = false;
  };

  void register_statistics(base::StatisticsGroup&) override;
  void resolved() override;
  void datagram_arrived(net::PacketPtr, const net::FrameView&) override { unexpected(); }

  Slot* find(std::uint64_t number) {
    Slot& s = slots_[number & (slots_.size() - 1)];
    return s.number == number && number != 0 ? &s : nullptr;
  }
  bool next_trial();
  bool next_of_search();
  void start_sending(std::uint32_t size, base::BitRate, std::uint64_t packets, std::uint64_t uncounted);
  void schedule_departure();
  void depart();
  Slot& open(base::Time due, base::Time start);
  void arm_timer();
  void timer();
  void give_up(Slot&);
  void drop_seen(const base::Ledger::Request&, std::string_view reason);
  void end_trial_early();
  void returned(const net::Packet&, std::uint64_t number);
  void check(const Slot&, const net::Packet&);
  void settled_before(std::uint64_t number);
  void note(std::uint64_t number, const std::string& what);
  void settle(Slot&);

  const Parameters& parameters_;
  const std::vector<std::uint32_t> sizes_;
  PacketForm form_;
  base::RandomStream arrivals_;
  std::function<std::uint64_t(std::uint64_t)> buffered_;

  std::vector<Trial> trials_;
  std::vector<Found> found_;
  std::optional<net::RateSearch> search_;
  std::size_t sizes_begun_ = 0;
  bool warmed_up_ = false;          ///< zero-loss: the packets before the search have been sent
  bool measuring_ = false;          ///< a packet that counts has been sent
  std::uint32_t size_ = 0;          ///< of the packets that are being sent
  std::uint64_t octets_ = 0;        ///< of the line, for each
  base::Ratio fs_per_octet_;        ///< at the rate of the trial
  std::uint64_t first_ = 1;         ///< number of the trial's first packet
  std::uint64_t counted_ = 1;       ///< number of its first packet that counts
  std::uint64_t arrived_ = 0;       ///< packets that have become due
  std::deque<base::Time> waiting_;  ///< when those were due that wait for the line
  std::uint64_t total_ = 0;         ///< number of the trial's last packet
  std::uint64_t next_ = 1;          ///< number of the next packet
  std::uint64_t settled_ = 0;
  base::Time started_;
  base::Time next_arrival_;
  base::Calendar::Handle arrival_;
  bool departure_pending_ = false;
  std::vector<Slot> slots_ = std::vector<Slot>(64);
  std::unordered_set<std::uint64_t> given_up_;  ///< never iterated
  std::vector<std::uint64_t> last_of_flow_;     ///< highest number that has come back
  std::uint64_t timer_next_ = 1;                ///< first packet whose timeout is not handled
  base::Calendar::Handle timer_;
  bool running_ = false;
  bool finished_ = false;
  std::uint64_t without_id_ = 0;
  Results results_;
  base::Callback<void()> measuring_callback_;
  base::Callback<void()> trial_callback_;
  base::Callback<void()> late_return_callback_;
  base::Callback<void()> finished_callback_;
};

}  // namespace sluice::workload
