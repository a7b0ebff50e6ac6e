// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The clients of a board: makes calls over a wire, checks every byte of the replies, and knows the fate of each call.

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "models/base/measure/histogram.h"
#include "models/base/parameters/random.h"
#include "models/base/time/callback.h"
#include "models/net/pcap.h"
#include "models/net/traffic/calls.h"
#include "models/net/traffic/rate_search.h"
#include "models/net/traffic/remote_host.h"
#include "models/net/traffic/services.h"

namespace sluice::net {

/// A remote host that finds its server by ARP and then makes calls: as many at a time as the board says (closed loop),
/// at the times the board says (open loop), or as a capture has them (replay). A load sweep is an open loop that runs
/// at one rate after the other. A zero-loss search does so too, at the rates that RateSearch chooses. A size sweep is a
/// closed loop whose calls carry one number of bytes after the other. A call that is
/// not answered in time is sent again or given up. The first `warmup` calls are made and checked like all others, but
/// no result counts them. Calls may go to several services, which ServiceChoice chooses.
///
/// A call is due at a time that does not depend on what the line takes: a call that must wait for the line waits in the
/// client, and its latency counts from when it was due.
///
/// Ledger: a request is opened when its call is due, in `client_queue` if it must wait for the line and else in `wire`,
/// and completed when the last bit of the right reply has arrived. A call that is sent again is a new request in stage
/// `retransmit`. Its parent is the request of the previous attempt, and it starts at the time at which the first
/// attempt started.
class TrafficSource : public RemoteHost {
 public:
  enum class Kind { closed_loop, open_loop, replay, load_sweep, zero_loss, size_sweep };
  enum class Arrivals { constant, poisson };
  enum class ThinkTimes { constant, exponential };
  struct Parameters : ServiceParameters {
    RemoteHost::Parameters host;
    Kind kind = Kind::closed_loop;
    std::uint32_t outstanding = 1;  ///< closed loop, size sweep: calls under way at a time
    base::Time think = 0_ns;        ///< closed loop, size sweep: from a reply to the next call, mean
    ThinkTimes think_times = ThinkTimes::exponential;
    std::uint64_t rate = 100'000;           ///< open loop: calls per second; zero-loss search: the highest tried
    std::vector<std::uint64_t> rates;       ///< load sweep: calls per second, one phase each
    std::string sizes;                      ///< size sweep: bytes of data in a call, one phase each
    std::uint64_t resolution = 10'000;      ///< zero-loss search: calls per second
    Arrivals arrivals = Arrivals::poisson;  ///< open loop, load sweep; a search uses constant gaps
    std::string pcap;                       ///< replay: the capture's path
    CallParameters call;                    ///< unused by replay
    std::uint64_t requests = 100'000;       ///< least number of counted calls per phase; unused by replay
    std::uint64_t warmup = 0;               ///< calls before the counted ones
    bool find_warmup = false;               ///< warmup is what a first run finds
    base::Time timeout = 10_ms;             ///< counted from the first bit of the latest attempt
    std::uint32_t retries = 0;              ///< times that a call is sent again
    std::uint32_t flows = 1;                ///< different UDP source ports, used in turn
    std::uint32_t first_port = 40'000;      ///< the lowest source port
    std::uint32_t server_port = 0;  ///< of the first service; 0: the program's default; for raw, the UDP echo port
    std::uint32_t mtu = 1'500;      ///< bytes of the largest IPv4 packet
    static void describe(base::Schema<Parameters>&);
    /// The phases of a size sweep. Throws base::ValueError, with the end of a sentence.
    std::vector<std::uint32_t> size_list() const;
    /// The calls of the run; of a size sweep, those of the greatest size.
    std::unique_ptr<Calls> calls() const;
    /// The same, of the smallest size.
    std::unique_ptr<Calls> smallest_calls() const;
    /// The UDP port of the first service.
    std::uint32_t first_service_port() const;
    /// Whether there is a call to make. If not, no source is to be built.
    bool makes_calls() const { return requests != 0 || kind == Kind::replay; }
  };

  /// What became of calls that count, and when: sent = completed + dropped + lost + in_flight().
  struct Counts {
    std::uint64_t sent = 0;
    std::uint64_t completed = 0;                   ///< answered, right or wrong
    std::map<std::string, std::uint64_t> dropped;  ///< given up; key: reason from a component or on_silence()
    std::uint64_t lost = 0;                        ///< given up, and no component dropped them
    base::Histogram latency;                       ///< fs: from when the call was due to the last bit of the reply
    base::Time first_due;                          ///< of the first call
    base::Time last_due;                           ///< of the last call
    base::Time first_bit;                          ///< of the first call
    base::Time first_answered;                     ///< last bit of the first reply
    base::Time last_start;                         ///< first bit of the last call
    base::Time last_bit;                           ///< of the last reply
    std::vector<Counts> services;                  ///< the same of each service; empty where there is but one

    std::uint64_t dropped_sum() const;
    std::uint64_t in_flight() const { return sent - completed - dropped_sum() - lost; }
    void note_sent(base::Time due, base::Time start, std::uint16_t service);
    void note_answered(base::Time due, base::Time at, std::uint16_t service);
    /// reason: empty for a lost call.
    void note_given_up(const std::string& reason, std::uint16_t service);
    /// Adds the calls of another source, which has services of its own: none is left of either.
    void merge(const Counts&);
  };
  /// Of all calls that count.
  struct Results : Counts {
    std::uint64_t errors = 0;  ///< the completed calls whose answer was wrong
    std::uint64_t retransmissions = 0;
    std::uint64_t late_duplicates = 0;  ///< replies to calls that were answered or given up before
    std::string first_error;            ///< "call 17: sum is wrong"; empty without errors
    /// Calls that do not count, and of which a component dropped an attempt for whose answer the client waited when the
    /// first call that counts was made, or later.
    std::uint64_t dropped_in_warmup = 0;
  };
  /// One rate of a load sweep, one trial of a zero-loss search, or one size of a size sweep. Its calls are settled
  /// before the next one starts.
  struct Phase : Counts {
    std::uint64_t rate = 0;   ///< calls per second
    std::uint32_t bytes = 0;  ///< of data in a call; of a size sweep
    bool loss() const { return completed != sent; }
  };

  /// Throws std::runtime_error when a capture cannot be read to its end, base::ValueError for a bad address.
  TrafficSource(const sc_core::sc_module_name&, const Parameters&, base::RandomSeed, Wire&, Wire::End);

  /// Sets how many calls the rings and FIFOs of the system under test can hold. The trials of a zero-loss search become
  /// long enough to fill them. Must be called before start().
  void set_buffered(std::uint64_t calls) { buffered_ = calls; }
  /// Sends ARP requests for the server from now() on, and makes the first call when the server has answered.
  void start() { resolve(); }
  /// Called before the first counted call is made. Without a warm-up, this is as soon as the server has answered ARP.
  void on_measuring(base::Callback<void()> f) { measuring_callback_ = std::move(f); }
  /// Called when the first call of a phase is due, before it is made.
  void on_phase(base::Callback<void()> f) { phase_callback_ = std::move(f); }
  /// Called when a call that counts has been answered and none is left to be made, of the run or of a phase: the answer
  /// may be the last. Not called for each while many calls are under way.
  void on_late_answer(base::Callback<void()> f) { late_answer_callback_ = std::move(f); }
  /// Called when every call has been answered or given up.
  void on_finished(base::Callback<void()> f) { finished_callback_ = std::move(f); }

  /// Called when a call is given up and no component has reported dropping it. Returns the reason for which it counts
  /// as dropped; empty: the call counts as lost.
  void on_silence(base::Callback<std::string()> f) { silence_callback_ = std::move(f); }

  const Results& results() const { return results_; }
  bool running() const { return running_; }  ///< the server has been found
  bool finished() const { return finished_; }
  const std::vector<Phase>& phases() const { return phases_; }  ///< of a sweep or a search
  /// Zero-loss search: calls per second, 0 when every rate lost calls.
  std::uint64_t zero_loss_rate() const { return search_.found(); }
  /// Calls that a zero-loss search makes at most, warm-up included. Valid after set_buffered().
  std::uint64_t most_calls_of_search() const;
  std::uint64_t total() const { return total_; }                    ///< calls to make as far as known, warm-up included
  std::uint64_t under_way() const { return next_ - 1 - settled_; }  ///< calls made and not yet answered or given up
  bool all_made() const { return next_ > total_; }                  ///< no call is left to be made, as far as known
  std::uint64_t settled() const { return settled_; }                ///< calls answered or given up
  /// The UDP port of a service.
  std::uint16_t service_port(std::uint16_t service) const {
    return static_cast<std::uint16_t>(parameters_.server_port + service);
  }

  void resolved() override;

 private:
  void register_statistics(base::StatisticsGroup&) override;
  /// One call under way.
  struct Slot {
    std::uint64_t number = 0;  ///< 0: free; calls are numbered from 1
    base::RequestId id = 0;    ///< of the latest attempt
    base::Time due;
    base::Time last_sent;
    Call call;
    std::uint32_t attempts = 1;
    bool measured = false;
    bool drop_noted = false;  ///< in Results::dropped_in_warmup
    PacketPtr copy;           ///< replay: what to send again
  };

  /// Identifies the reply to a captured call: client address and port, xid.
  using ReplyKey = std::pair<std::uint64_t, std::uint32_t>;

  Slot* find(std::uint64_t number) {
    Slot& s = slots_[number & (slots_.size() - 1)];
    return s.number == number ? &s : nullptr;
  }
  void arrive();
  void arrive_after_thinking();
  void schedule_arrival();
  void pump();
  void issue();
  PacketPtr build(const Slot&, std::uint32_t xid) const;
  Slot& open(base::Time due, base::Time start, std::uint16_t service = 0);
  void send(Slot&, PacketPtr);
  void arm_timer();
  void timer();
  void expire(Slot&);
  void retransmit(Slot&);
  void reopen(Slot&);
  void settle(Slot&);
  bool phased() const {
    return parameters_.kind == Kind::load_sweep || parameters_.kind == Kind::zero_loss ||
           parameters_.kind == Kind::size_sweep;
  }
  bool is_closed() const { return parameters_.kind == Kind::closed_loop || parameters_.kind == Kind::size_sweep; }
  Phase& add_phase();
  bool next_phase();
  void start_phase(std::uint64_t rate, std::uint64_t calls);
  bool next_size();
  void start_closed_loop(std::uint64_t calls);
  void end_trial();
  void drop_seen(const base::Ledger::Request&, std::string_view reason);
  void give_up_dropped(std::uint64_t number);
  void give_up_all_dropped();
  void begin_measuring();
  void note_drop_in_warmup(Slot&);
  void datagram_arrived(PacketPtr, const FrameView&) override;
  std::uint64_t number_of(const Packet&, const FrameView&) const;
  bool from_service_of(const Slot&, const FrameView&) const;
  const char* check(const Slot&, const Packet&, const FrameView&) const;
  void answered(Slot&, const Packet&, const char* wrong);
  std::uint64_t calls_in_capture() const;
  bool from_client(const FrameView&, const char* wrong) const;
  void replay_next();
  void replay(PacketPtr);
  std::uint32_t port_of(std::uint64_t number) const { return parameters_.first_port + number % parameters_.flows; }

  Parameters parameters_;
  base::RandomSeed seed_;
  std::unique_ptr<CallMaker> calls_;
  ServiceChoice services_;
  base::RandomStream arrivals_;
  base::RandomStream thinking_;
  base::Ratio interval_;  ///< open loop: fs between calls
  std::vector<Slot> slots_ = std::vector<Slot>(64);
  std::uint64_t total_;
  std::uint64_t next_ = 1;          ///< number of the next call
  std::deque<base::Time> waiting_;  ///< when the calls were due that wait for the line
  std::uint64_t arrived_ = 0;       ///< open loop: calls that have become due
  std::uint64_t settled_ = 0;
  std::uint64_t phase_start_ = 0;  ///< arrived_ when this phase started
  RateSearch search_;
  std::uint64_t buffered_ = 0;
  std::vector<Phase> phases_;
  base::Time started_;  ///< when the calls began, or those of this phase
  base::Time next_arrival_;
  base::Calendar::Handle arrival_;
  bool running_ = false;
  bool measuring_ = false;
  bool finished_ = false;
  bool pump_pending_ = false;
  std::uint64_t timer_next_ = 1;  ///< first call whose first timeout is not handled yet
  base::Calendar::Handle timer_;
  std::unordered_map<base::RequestId, std::string> drop_reasons_;  ///< by request, of calls under way; never iterated
  std::unique_ptr<PcapReader> capture_;
  PcapReader::Frame captured_;
  std::map<ReplyKey, std::uint64_t> by_reply_;  ///< replay: call number
  std::uint64_t replayed_ = 0;
  std::uint64_t without_id_ = 0;
  Results results_;
  std::uint64_t timeouts_ = 0;
  base::Callback<void()> measuring_callback_;
  base::Callback<void()> phase_callback_;
  base::Callback<void()> late_answer_callback_;
  base::Callback<void()> finished_callback_;
  base::Callback<std::string()> silence_callback_;
};

}  // namespace sluice::net
