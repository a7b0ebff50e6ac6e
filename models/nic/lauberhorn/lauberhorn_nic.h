// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Lauberhorn: a NIC that hands calls to cores that wait for them in a load, and knows which process waits where.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/base/fabric/host_access.h"
#include "models/base/fabric/ring.h"
#include "models/base/memory/line_home.h"
#include "models/base/registers/register_bank.h"
#include "models/base/registers/register_socket.h"
#include "models/base/systemc/model.h"
#include "models/base/time/calendar.h"
#include "models/memory/bus_device.h"
#include "models/nic/lauberhorn/end_point.h"
#include "models/nic/lauberhorn/job.h"
#include "models/nic/lauberhorn/lauberhorn_regs.h"
#include "models/nic/lauberhorn/parameters.h"
#include "models/nic/lauberhorn/scheduler.h"
#include "models/nic/lines/packet_buffer.h"
#include "models/nic/nic.h"
#include "models/nic/rpc_decoder/call_decoder.h"
#include "models/nic/rpc_encoder/message_encoder.h"

namespace sluice::nic {

class Lauberhorn final : public base::Model,
                         public Nic,
                         public base::LineHome,
                         public memory::BusDevice,
                         public base::Resettable,
                         private net::Mac::Client,
                         private lauberhorn::EndPoint::Owner,
                         private lauberhorn::Scheduler::Client {
  const LauberhornParameters parameters_;
  net::Mac mac_;
  base::RegisterBank bank_;

 public:
  using Parameters = LauberhornParameters;
  static constexpr std::uint32_t kLongestFrame = 9618;  ///< bytes without FCS

  base::RegisterSocket socket{"registers", bank_};

  Lauberhorn(const sc_core::sc_module_name&, const Parameters&, net::Wire&, net::Wire::End);

  static std::uint64_t lines_size(const Parameters& p) {
    return (p.cores + std::uint64_t{p.processes} * p.workers) * LAUB_ENDPOINT_SIZE;
  }
  static std::uint64_t buffered_frames(const Parameters& p, std::uint64_t frame_bytes) {
    return PacketBuffer(p.rx_buffer.count()).buffers_for(frame_bytes);
  }

  net::Mac& mac() override { return mac_; }
  base::RegisterBank& registers() { return bank_; }
  const lauberhorn::Scheduler& scheduler() const { return scheduler_; }

  // base::LineHome
  void attach(base::LineCaches&, std::uint64_t base) override;
  void line_requested(const base::LineRequest&) override;
  void line_written(const base::LineWritten&) override;
  void line_recalled(std::uint64_t line) override;
  void caches_reset() override;

  // memory::BusDevice
  void connect(const memory::ChipPorts&, memory::SocBus::Region) override;
  void connect_lines(base::LineHomes&, std::uint64_t address, std::uint64_t size, const std::string& path) override;
  unsigned lines() const override { return 0; }
  void on_line(unsigned, base::Callback<void(bool)>) override {}
  base::Model* model() override { return this; }
  base::Resettable* resettable() override { return this; }

  void reset() override;

 private:
  using EndPoint = lauberhorn::EndPoint;
  using EndPointId = lauberhorn::EndPointId;
  using Work = lauberhorn::Work;
  using Job = lauberhorn::Job;
  using Continuation = lauberhorn::Continuation;

  struct Service {
    bool exists = false;
    std::uint64_t data = 0;
    unsigned process = 0;
    std::uint8_t result = 0;     ///< schema, in the encoder's table
    std::uint16_t port = 0;      ///< UDP; of calls that are unknown
    std::uint8_t arguments = 0;  ///< schema, in the encoder's table; kNoSchema: handlers cannot call it
  };
  struct Arriving {
    net::PacketPtr packet;
    std::uint32_t buffer = 0;
    std::optional<lauberhorn::Reference> caller;  ///< a handler's call, which has not come from the wire
  };
  /// What software has made: a frame, or a message without its headers.
  struct Leaving {
    base::RequestId of = 0;
    net::PacketPtr frame;  ///< null: it is a message
    std::vector<std::uint8_t> data;
    rpc::Request request;
    std::optional<lauberhorn::Reference> caller;  ///< of a handler's call and of its results, which stay in the NIC
  };
  struct Core {
    std::uint64_t address = 0;  ///< of its interrupt's message; 0: none
    std::uint32_t value = 0;
    bool has_work = false;         ///< beside what the NIC has for it
    bool goes_back = false;        ///< from a process to that work
    base::Calendar::Handle timer;  ///< until its handler is interrupted
  };
  struct Counters {
    std::uint64_t rx_frames = 0, filtered = 0, frames = 0, calls = 0, unknown_calls = 0;
    std::uint64_t dropped_buffer = 0, dropped_sessions = 0, dropped_queue = 0, dropped_process = 0;
    std::uint64_t tryagain = 0, yields = 0, retires = 0, given_back = 0, interrupts = 0;
    std::uint64_t replies = 0, error_replies = 0, unanswered = 0, tx_frames = 0, message_errors = 0, lost = 0, kept = 0;
    std::uint64_t nested_calls = 0, nested_refused = 0, nested_timeouts = 0, late_results = 0;
    std::uint64_t times_set = 0;
  };

  // Receive: from the MAC to the scheduler.
  void mac_received(net::PacketPtr, base::Time available) override;
  void mac_dropped(Drop) override {}
  void link_changed(bool) override {}
  void decode();
  void decode(Arriving);
  void decoded(const rpc::Decoded&);
  void schedule_behind_stream(Work);
  void schedule(Work);
  bool is_call(const net::Packet&, const rpc::Decoded&) const;
  bool is_unknown_call(const net::Packet&, const rpc::Decoded&) const;
  Work add_job();
  void discard(Work, std::uint64_t& counter, const char* reason);
  void free(Work);

  // lauberhorn::EndPoint::Owner
  base::Time block(const EndPoint&) const override;
  void finished(EndPoint&, Work) override;
  void polls(EndPoint&) override;
  void due(EndPoint&) override;
  std::uint32_t commits(EndPoint&) override;
  void sends(EndPoint&, std::uint32_t bytes) override;

  // lauberhorn::Scheduler::Client
  void give(EndPointId, Work) override;
  void yield(EndPointId) override;
  void retire(EndPointId) override;
  void want(unsigned core) override;
  void stop_waiting(unsigned core) override;

  // Transmit.
  void answer(Work, std::uint32_t accept_stat, std::vector<std::uint8_t> data = {});
  std::optional<Work> request_of(Work);
  bool may_keep(Work, bool is_for_result) const;
  void keep(Work, Job::State);
  void commits_keep(std::uint32_t session);
  void lose(Work);
  void lose_kept(unsigned process);
  bool is_kept_by_kernel(std::uint32_t number) const;
  void encoded(const rpc::Encoded&);
  void stream(Leaving, std::uint64_t bytes);
  void streamed();
  void transmit(net::PacketPtr, base::RequestId of);

  // Calls that handlers make, and their results.
  std::string why_no_call(const EndPoint&, std::uint32_t service, std::uint32_t session, std::uint32_t bytes) const;
  std::optional<lauberhorn::Reference> add_continuation(EndPoint&, Work parent);
  std::uint32_t commits_call(EndPoint&, std::uint32_t session, std::uint32_t bytes);
  void sends_call(EndPoint&, std::vector<std::uint8_t> arguments);
  void call_turns_around(const Leaving&, const rpc::Encoded&);
  void result_turns_around(Leaving, const rpc::Encoded&);
  void resume(lauberhorn::Reference continuation, Continuation::Result);
  void results_may_go_on(Work parent);
  void go_on(Continuation&);
  void release(Continuation&);
  void withdraw(unsigned process, const std::function<bool(const Job&)>& is_it);
  void cancel_calls(Work parent);
  bool exists(lauberhorn::Reference job) const {
    return jobs_[job.number].exists && jobs_[job.number].generation == job.generation;
  }
  lauberhorn::Reference reference(Work work) const { return {work, jobs_[work].generation}; }

  /// Whether the core that loads a line of this end-point is wanted back by its kernel before `block`.
  bool is_given_back(const EndPoint& e) const {
    return e.rx.hart() < cores_.size() && cores_[e.rx.hart()].has_work && bank_.value(give_back_) < bank_.value(block_);
  }
  void give_back(EndPoint&);
  EndPoint& at(std::uint64_t line);
  EndPoint& at(EndPointId);
  bool is_receive(std::uint64_t line) const { return (line - base_) % LAUB_ENDPOINT_SIZE < LAUB_TX; }
  void tell(EndPoint&, std::uint32_t word);
  void bad_message(const std::string& what, const base::Site& by);
  void enter(const base::Spans&, base::Stage, base::StepSet = {}) const;
  base::Time cycles(std::uint64_t n) const { return clock_.time_of(n); }
  static std::uint32_t message_word(unsigned type, std::size_t bytes) {
    return LAUB_WORD_VALID | type << LAUB_WORD_TYPE_SHIFT | static_cast<std::uint32_t>(bytes) << LAUB_WORD_LENGTH_SHIFT;
  }

  void register_statistics(base::StatisticsGroup&) override;
  void declare_registers();
  void declare_shape();
  void declare_cores();
  void declare_core_counters();
  void declare_processes();
  void declare_services();
  void commit_process(std::uint32_t value);
  void commit_service(std::uint32_t value);
  void lose_at(std::uint32_t value);
  void kernel_line(unsigned core, std::uint32_t value);

  const base::Clock clock_;
  const base::Ledger::Component component_;
  const std::uint64_t mac_address_;  ///< the first byte in bits 47:40
  LineWindow::Shape shape_{};
  base::LineCaches* caches_ = nullptr;
  base::HostAccess* host_ = nullptr;
  std::uint64_t base_ = 0;

  base::RegisterBank::Id ipv4_, block_, preempt_, give_back_, call_timeout_, retire_, select_, error_;
  base::RegisterBank::Id process_id_, process_threads_;
  base::RegisterBank::Id service_data_, service_process_, service_result_, service_port_, service_arguments_;

  PacketBuffer buffer_;
  std::unique_ptr<rpc::CallDecoder> decoder_;
  std::unique_ptr<rpc::MessageEncoder> encoder_;
  base::Ring<Arriving> arriving_;  ///< in the receive queue
  std::uint64_t arrived_ = 0;      ///< that have left it
  base::Ring<Arriving> decoding_;
  base::Ring<Leaving> leaving_;         ///< on its way to the encoder
  base::Ring<Leaving> encoding_;        ///< messages in the encoder
  base::Ring<net::PacketPtr> sending_;  ///< in the transmit queue
  std::vector<Job> jobs_;
  std::vector<Work> free_jobs_;
  unsigned sessions_ = 0;                   ///< jobs that have one
  std::uint32_t call_xid_ = 0;              ///< of the last call of a handler
  std::vector<std::uint16_t> process_ids_;  ///< that software has given to them
  std::vector<Service> services_;
  std::vector<Core> cores_;
  std::vector<Continuation> continuations_;
  std::vector<std::unique_ptr<EndPoint>> end_points_;  ///< null before its first use
  lauberhorn::Scheduler scheduler_;
  base::Time rx_queue_free_, tx_stream_free_, tx_queue_free_;
  std::uint64_t generation_ = 0;  ///< counts resets: what is in the pipelines before is gone
  Counters counters_;
};

}  // namespace sluice::nic
