// SPDX-License-Identifier: Apache-2.0
#include "models/net/traffic/rpc_peer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "models/net/traffic/call_data.h"
#include "protocols/rpc/echo.h"

namespace sluice::net {
namespace {

/// Why a call is not served, as an accept_stat; RPC_SUCCESS of one that is.
std::uint32_t status_of(const CallView& call) {
  if (call.program != RPC_PROGRAM_ECHO) return RPC_PROG_UNAVAIL;
  if (call.version != ECHO_VERSION) return RPC_PROG_MISMATCH;
  if (call.procedure == ECHO_NULL) return call.length == 0 ? RPC_SUCCESS : RPC_GARBAGE_ARGS;
  if (call.procedure != ECHO_ECHO) return RPC_PROC_UNAVAIL;
  const bool is_opaque = call.length >= 4 && call.length % 4 == 0 && load32(call.arguments) <= call.length - 4 &&
                         padded(load32(call.arguments)) == call.length - 4;
  return is_opaque ? RPC_SUCCESS : RPC_GARBAGE_ARGS;
}

}  // namespace

void RpcPeer::Parameters::describe(base::Schema<Parameters>& s) {
  const std::vector<std::string> answered = {"served_calls", "refused_calls"};
  constexpr const char* kNone = "no call was answered";
  s.summary("remote host that serves RPC");
  s.include("host", &Parameters::host);
  s.add("port", &Parameters::port, "UDP port at which it serves")
      .range(1, 65535)
      .identifier()
      .acts_with({"served_calls", "refused_calls", "unexpected_frames"}, "no frame came that it might have served")
      .setting();
  s.add("delay", &Parameters::delay, "last bit of a call to first bit of its reply; the mean of exponential times")
      .range(0_ns, 10_s)
      .acts_with(answered, kNone)
      .setting();
  s.add("delays", &Parameters::delays, "how these times are distributed")
      .choices({{"constant", Delays::constant}, {"exponential", Delays::exponential}})
      .without_effect([](const Parameters& p) -> std::string { return p.delay == 0_ns ? "delay is 0 ns" : ""; })
      .acts_with(answered, kNone)
      .setting();
}

RpcPeer::RpcPeer(const sc_core::sc_module_name& name, const Parameters& p, base::RandomSeed seed, Wire& wire,
                 Wire::End end)
    : RemoteHost(name, p.host, wire, end), parameters_(p), random_(seed, path(), "delays") {}

void RpcPeer::register_statistics(base::StatisticsGroup& group) {
  group.counter("served_calls", "calls", "answered", served_);
  group.counter("refused_calls", "calls", "answered by an error", refused_);
}

/// Writes the reply to a call, and returns its length.
std::uint32_t RpcPeer::answer(const CallView& call, std::uint8_t* reply) {
  if (call.rpc_version != RPC_VERSION) {
    ++refused_;
    return put_words(reply, {call.xid, RPC_REPLY, RPC_MSG_DENIED, RPC_MISMATCH, RPC_VERSION, RPC_VERSION});
  }
  const std::uint32_t status = status_of(call);
  ++(status == RPC_SUCCESS ? served_ : refused_);
  std::uint32_t length = put_words(reply, {call.xid, RPC_REPLY, RPC_MSG_ACCEPTED, RPC_AUTH_NONE, 0, status});
  if (status == RPC_PROG_MISMATCH) length += put_words(reply + length, {ECHO_VERSION, ECHO_VERSION});
  if (status != RPC_SUCCESS) return length;
  std::copy_n(call.arguments, call.length, reply + length);
  return length + call.length;
}

void RpcPeer::datagram_arrived(PacketPtr packet, const FrameView& v) {
  CallView call;
  if (v.to.port != parameters_.port || parse_call(packet->bytes + v.payload, v.length, call)) return unexpected();
  PacketPtr reply = make_packet();
  const std::uint32_t length = answer(call, reply->bytes + kUdpPayload);
  finish_udp(*reply, v.to, v.from, length);
  pad(*reply);
  for (const base::Span& s : packet->spans) reply->spans.add({0, reply->length, s.id});
  base::enter_all(reply->spans, SLUICE_STAGE_child, component(), base::now());
  const bool constant = parameters_.delays == Delays::constant;
  base::calendar().after(constant ? parameters_.delay : random_.exponential(parameters_.delay), key(),
                         [this, p = std::move(reply)]() mutable { transmit(std::move(p)); });
}

}  // namespace sluice::net
