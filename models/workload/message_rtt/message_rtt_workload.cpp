// SPDX-License-Identifier: Apache-2.0
#include "models/workload/message_rtt/message_rtt_workload.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/base/measure/software_requests.h"
#include "models/base/parameters/size_list.h"
#include "models/base/systemc/model.h"
#include "models/workload/figures.h"
#include "models/workload/message_rtt/message_rtt_codes.h"
#include "models/workload/stages.h"

namespace sluice::workload {

void MessageRttParameters::describe(base::Schema<MessageRttParameters>& s) {
  using P = MessageRttParameters;
  s.summary("messages from a core to the NIC and back, one at a time (sizes)");
  s.add("sizes", &P::sizes,
        "bytes of a message, a frame without FCS: 64..9000:64 steps, 64,1500 lists, 64..4096 doubles")
      .setting();
  s.add("messages", &P::messages, "messages that count, of each size").range(1, 1'000'000).unit("messages").setting();
  s.add("uncounted", &P::uncounted, "messages before them, of each size")
      .range(1, 1'000'000)
      .unit("messages")
      .setting();
  s.rule("sizes", [](const P& p) { return base::wrong_frame_sizes(p.sizes, kLeastBytes, kMostBytes); });
}

std::vector<std::uint32_t> MessageRttParameters::size_list() const { return base::parse_sizes(sizes, kMostBytes); }

MessageRttWorkload::MessageRttWorkload(const Parameters& p, const Surroundings& board)
    : parameters_(p), sizes_(p.size_list().size()) {
  if (board.nics.empty()) throw NotForThisBoard("workload.model is message-rtt, and the board has no NIC");
  const Surroundings::Nic& nic = board.nics.front();
  nic_ = nic.model->path();
  if (const std::uint32_t longest = p.size_list().back(); longest > nic.longest_frame)
    throw NotForThisBoard(fmt::format("workload.sizes has messages of {} B, and {} takes none of more than {} B",
                                      longest, nic_, nic.longest_frame));
}

/// What firmware/apps/message_rtt.c looks for.
std::vector<part::FirmwareProperty> MessageRttWorkload::firmware_properties() const {
  return {{"sluice,message-sizes", parameters_.size_list()},
          {"sluice,messages", std::uint32_t{parameters_.uncounted + parameters_.messages}},
          {"sluice,message-nic", nic_}};
}

void MessageRttWorkload::start(Run& run) {
  run_ = &run;
  base::software_opens_requests = true;
  base::ledger().measure(false);
  base::ledger().on_complete([this](const base::Ledger::Request& r, base::Time end) { completed(r, end); });
  base::ledger().on_drop([this](const base::Ledger::Request& r, std::string_view reason, base::Time) {
    if (dropped_.empty()) dropped_ = fmt::format("a message of {} B was dropped: {}", r.number, reason);
    run_->finish();
  });
}

/// Messages follow one another, so their number says which they are.
void MessageRttWorkload::completed(const base::Ledger::Request& r, base::Time end) {
  const std::uint64_t each = parameters_.uncounted + parameters_.messages;
  const std::uint64_t of_size = ended_++ % each + 1;  // messages of this size that have ended
  if (r.measured) {
    by_size_[r.number].push_back(end - r.start());
    latency_.add((end - r.start()).femtoseconds());
    if (latency_.count() == 1) first_ = r.start();
    last_ = end;
    run_->measure_to_here();
  }
  if (ended_ == parameters_.uncounted) run_->begin_measuring();
  base::ledger().measure(of_size >= parameters_.uncounted && of_size < each);
}

std::optional<double> MessageRttWorkload::progress() const {
  return static_cast<double>(ended_) / static_cast<double>(all());
}

std::string MessageRttWorkload::stall_reason() const {
  if (ended_ > 0) return {};
  return "the firmware has sent no message; cluster.host.firmware must be message-rtt";
}

std::string MessageRttWorkload::failure(bool finished) const {
  if (!dropped_.empty()) return dropped_;
  if (!stages_sum_up(latency_)) return "the ledger is wrong: the stages of messages do not sum to their round trips";
  if (!finished || ended_ == all()) return {};
  return fmt::format("the firmware ended the run after {} of {} messages", ended_, all());
}

Comparable MessageRttWorkload::comparable(const Parameters& p) {
  // Over messages of several sizes, a mean says nothing.
  return {fmt::format("{} of {} B each to the NIC and back", counted(p.messages, "message", "messages"), p.sizes),
          p.size_list().size() == 1 ? "messages" : ""};
}

std::string MessageRttFactory::summary() const {
  return "messages from a core to the NIC and back without a wire, one at a time (sizes, messages)";
}

std::string MessageRttFactory::explain_exit(std::string_view firmware, unsigned code,
                                            const std::vector<pcie::Endpoint*>&) const {
  if (firmware != "message-rtt" && firmware != "message-rtt.elf") return {};
  switch (code) {
    case MESSAGE_RTT_NO_PLAN:
      return "the device tree asks for no messages: the board's workload is not message-rtt (workload.model)";
    case MESSAGE_RTT_NO_NIC:
      return "it has no driver for the board's first NIC, or that has not started; the console says why";
    case MESSAGE_RTT_NO_TURN:
      return "the board's first NIC cannot turn frames around";
    case MESSAGE_RTT_NO_BUFFER:
      return "the driver had no buffer for a message (nic.NAME.buffers)";
    case MESSAGE_RTT_WRONG:
      return "a message came back with other bytes, or another length";
    default:
      return {};
  }
}

}  // namespace sluice::workload

namespace sluice::part {

void add_workload_message_rtt(Catalogue& catalogue) {
  catalogue.add<workload::MessageRttParameters>("workload", "message-rtt", "message-rtt workload",
                                                std::make_shared<const workload::MessageRttFactory>());
}

}  // namespace sluice::part
