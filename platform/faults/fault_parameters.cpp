// SPDX-License-Identifier: Apache-2.0
#include "platform/faults/fault_parameters.h"

namespace sluice::platform {
namespace {

/// Error about `at`, as the end of a sentence, if more than one of the ways to choose is set; else empty. Faults checks
/// that at least one is set: only it knows which keys the board sets, and 0, which means never, is a valid choice.
std::string one_of(unsigned set, const char* names) {
  return set <= 1 ? std::string() : std::string("must be set without ") + names;
}

template <class P>
void add_target(base::Schema<P>& s, const char* meaning) {
  s.add("target", &P::target, meaning).required();
}

template <class P>
void add_duration(base::Schema<P>& s, const char* meaning) {
  s.add("duration", &P::duration, meaning).range(1_ns, 400_s).required();
}

template <class P>
void add_direction(base::Schema<P>& s,
                   const char* meaning = "up: from the device to the host; down: from the host to the device") {
  s.add("direction", &P::direction, meaning).choices({{"up", LinkSide::up}, {"down", LinkSide::down}}).setting();
}

}  // namespace

void FaultTimes::describe(base::Schema<FaultTimes>& s) {
  s.summary("when a fault begins");
  s.add("at", &FaultTimes::at, "these times").range(0_ns, 18'000_s).setting();
  s.add("every", &FaultTimes::every, "once in each such interval; 0: never").range(0_ns, 18'000_s).setting();
  s.add("mean_every", &FaultTimes::mean_every, "drawn: mean of exponentially distributed intervals; 0: never")
      .range(0_ns, 18'000_s)
      .setting();
  s.add("from", &FaultTimes::from, "no regular or drawn one before").range(0_ns, 18'000_s).setting();
  s.add("most", &FaultTimes::most, "how many of them; 0: no limit").unit("faults").setting();
  s.rule("at", [](const FaultTimes& t) {
    return one_of(!t.at.empty() + (t.every > 0_ns) + (t.mean_every > 0_ns), "every or mean_every");
  });
}

void MessageChoice::describe(base::Schema<MessageChoice>& s) {
  s.summary("which TLPs or frames a fault hits");
  s.add("at", &MessageChoice::at, "the first one at or after each of these times").range(0_ns, 18'000_s).setting();
  s.add("every", &MessageChoice::every, "each such one; 0: never")
      .range(0, 1'000'000'000'000)
      .unit("messages")
      .setting();
  s.add("probability", &MessageChoice::probability, "drawn: of each one; 0: never").range(0, 1).setting();
  s.add("from", &MessageChoice::from, "no counted or drawn one before").range(0_ns, 18'000_s).setting();
  s.add("most", &MessageChoice::most, "how many of them; 0: no limit").unit("faults").setting();
  s.rule("at", [](const MessageChoice& t) {
    return one_of(!t.at.empty() + (t.every > 0) + (t.probability > 0), "every or probability");
  });
}

void AgentFault::describe(base::Schema<AgentFault>& s) {
  s.summary("an agent stops for good");
  add_target(s, "hart, cluster, system-on-chip beside the host, or device");
  s.include("", &AgentFault::times);
}

void PauseFault::describe(base::Schema<PauseFault>& s) {
  s.summary("an agent stands still for a while");
  add_target(s, "hart, cluster, system-on-chip beside the host, or device");
  add_duration(s, "how long it stands still");
  s.include("", &PauseFault::times);
}

void LinkDownFault::describe(base::Schema<LinkDownFault>& s) {
  s.summary("a link goes down and comes back");
  add_target(s, "Ethernet, PCIe or coherent link");
  add_duration(s, "how long it is down");
  s.include("", &LinkDownFault::times);
}

void TlpLinkFault::describe(base::Schema<TlpLinkFault>& s) {
  s.summary("TLPs do not arrive at their first attempt, and the link replays them");
  add_target(s, "PCIe link");
  add_direction(s);
  s.add("tlps", &TlpLinkFault::tlps, "which TLPs of that direction are counted, drawn and hit")
      .choices({{"any", TlpFilter::any},
                {"posted", TlpFilter::posted},
                {"non-posted", TlpFilter::non_posted},
                {"completion", TlpFilter::completion}})
      .setting();
  s.add("retrain", &TlpLinkFault::retrain, "Recovery, after three replays without progress; the longest of a link's")
      .range(0_ns, 24_ms)
      .assumed("some hundred training sets of 16 symbols; the specification ends the attempt after 24 ms");
  s.include("", &TlpLinkFault::choice);
}

void CoherentMessageFault::describe(base::Schema<CoherentMessageFault>& s) {
  using P = CoherentMessageFault;
  const char* unpublished = "no modelled system publishes it; the longest of a link's faults counts";
  s.summary("messages are damaged on the way, and the link sends them again");
  add_target(s, "coherent link");
  add_direction(s);
  s.add("messages", &P::messages, "which messages of that direction are counted, drawn and hit")
      .choices({{"any", CoherentFilter::any},
                {"lines", CoherentFilter::lines},
                {"registers", CoherentFilter::registers},
                {"host-memory", CoherentFilter::host_memory}})
      .setting();
  s.add("retry", &P::retry, "from a damaged message's last bit to the receiver's request to send again")
      .range(0_ns, 10_us)
      .assumed(unpublished);
  s.add("retry_timer", &P::retry_timer, "after which the sender sends again unasked, when a message has failed twice")
      .range(1_ns, 1_ms)
      .assumed(unpublished);
  s.add("retrain", &P::retrain, "of the link, after three attempts without progress")
      .range(0_ns, 24_ms)
      .assumed(unpublished);
  s.include("", &P::choice);
}

void FrameFault::describe(base::Schema<FrameFault>& s) {
  s.summary("frames arrive with a wrong FCS, or never");
  add_target(s, "Ethernet link");
  s.add("direction", &FrameFault::direction, "in: to the board's NIC; out: from it")
      .choices({{"in", WireSide::in}, {"out", WireSide::out}})
      .setting();
  s.include("", &FrameFault::choice);
}

void CompletionFault::describe(base::Schema<CompletionFault>& s) {
  s.summary("completions with data come wrong, or never");
  add_target(s, "PCIe link");
  add_direction(s, "up: of harts' reads of the device; down: of the device's reads of memory");
  s.include("", &CompletionFault::choice);
}

}  // namespace sluice::platform
