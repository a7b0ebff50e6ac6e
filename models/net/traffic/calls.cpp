// SPDX-License-Identifier: Apache-2.0
#include "models/net/traffic/calls.h"

#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/net/traffic/rpc.h"
#include "protocols/rpc/onc_rpc.h"

namespace sluice::net {

std::uint16_t RpcCalls::server_port() const { return RPC_PORT_SERVICES; }

std::uint32_t RpcCalls::encode(const Call& call, std::uint32_t xid, std::uint8_t* payload) const {
  const Procedure p = procedure(call);
  put_call_header(payload, xid, p.program, p.version, p.procedure);
  return RPC_CALL_HEADER_BYTES + put_arguments(call, payload + RPC_CALL_HEADER_BYTES);
}

const char* RpcCalls::check(const Call& call, std::uint32_t xid, const std::uint8_t* payload,
                            std::size_t length) const {
  ReplyView reply;
  if (const char* wrong = parse_reply(payload, length, reply)) return wrong;
  if (reply.xid != xid) return "xid is another call's";
  if (reply.verifier_flavor != RPC_AUTH_NONE || reply.verifier_length != 0) return "verifier is not AUTH_NONE";
  if (const char* wrong = reply_failure(reply)) return wrong;
  return check_results(call, reply.results, reply.length);
}

namespace {

std::string only_spin(const CallParameters& p) { return p.program == "spin" ? "" : "program is " + p.program; }

std::string only_bimodal(const CallParameters& p) {
  if (std::string why = only_spin(p); !why.empty()) return why;
  return p.service_times == ServiceTimes::bimodal ? "" : "service_times is not bimodal";
}

std::string why_no_service(const CallParameters& p) {
  if (std::string why = only_spin(p); !why.empty()) return why;
  const bool all_long = p.service_times == ServiceTimes::bimodal && p.service_long_share == base::Ratio(1);
  return all_long ? "service_long_share is 1" : "";
}

std::string why_no_long_service(const CallParameters& p) {
  if (std::string why = only_bimodal(p); !why.empty()) return why;
  return p.service_long_share == base::Ratio(0) ? "service_long_share is 0" : "";
}

std::string why_no_service_times(const CallParameters& p) {
  if (std::string why = only_spin(p); !why.empty()) return why;
  const bool bimodal = p.service_times == ServiceTimes::bimodal;
  return p.service == base::Time() && !bimodal ? "service is 0 ns" : "";
}

std::string whole_nanoseconds(base::Time t) {
  return t.femtoseconds() % base::Time::ns(1).femtoseconds() == 0 ? "" : "must be whole nanoseconds, as a call carries";
}

/// The call carries whole nanoseconds, in 32 bits: 44.4 times the mean is the longest of an exponential distribution.
void describe_service(base::Schema<CallParameters>& s) {
  s.add("service", &CallParameters::service,
        "spin: that the server works on a call; the mean of exponential times, the shorter of bimodal ones")
      .range(base::Time(), base::Time::ns(50'000'000))
      .without_effect(why_no_service)
      .setting();
  s.add("service_times", &CallParameters::service_times, "spin: how service times are distributed")
      .choices({{"constant", ServiceTimes::constant},
                {"exponential", ServiceTimes::exponential},
                {"bimodal", ServiceTimes::bimodal}})
      .without_effect(why_no_service_times)
      .setting();
  s.add("service_long", &CallParameters::service_long, "spin: the longer of bimodal service times")
      .range(base::Time(), base::Time::ns(1'000'000'000))
      .without_effect(why_no_long_service)
      .setting();
  s.add("service_long_share", &CallParameters::service_long_share, "spin: calls that take the longer of bimodal times")
      .range(base::Ratio(0), base::Ratio(1))
      .without_effect(only_bimodal)
      .setting();
  s.rule("service", [](const CallParameters& p) { return whole_nanoseconds(p.service); });
  s.rule("service_long", [](const CallParameters& p) { return whole_nanoseconds(p.service_long); });
}

}  // namespace

void CallParameters::describe(base::Schema<CallParameters>& s) {
  s.summary("what the calls ask for");
  s.add("program", &CallParameters::program,
        "null, echo, add, checksum, sort, spin, kv; raw: UDP payload that comes back; or what a plug-in brings")
      .setting();
  s.add("bytes", &CallParameters::bytes, "data in a call: opaque of echo and checksum, integers of sort, value of kv")
      .range(0, 9600)
      .unit("bytes")
      .without_effect([](const CallParameters& p) -> std::string {
        const bool has_none = p.program == "null" || p.program == "add" || p.program == "spin";
        return has_none ? "program is " + p.program : "";
      })
      .setting();
  const auto only_kv = [](const CallParameters& p) -> std::string {
    return p.program == "kv" ? "" : "program is " + p.program;
  };
  s.add("keys", &CallParameters::keys, "kv: different keys")
      .range(1, 65536)
      .unit("keys")
      .without_effect(only_kv)
      .setting();
  s.add("reads_percent", &CallParameters::reads_percent, "kv: gets among the calls to keys that have been put")
      .range(0, 100)
      .unit("%")
      .without_effect(only_kv)
      .setting();
  describe_service(s);
  s.rule("bytes", [](const CallParameters& p) { return p.calls()->mistake(); });
}

std::unique_ptr<Calls> CallParameters::calls() const {
  if (maker) return maker(*this);
  std::vector<std::string> names;
  for (const auto& [name, make] : built_in_calls().makers()) {
    if (name == program) return make(*this);
    names.push_back(name);
  }
  throw base::ValueError(no_such_program(program, names));
}

std::string no_such_program(const std::string& program, const std::vector<std::string>& names) {
  const std::vector<std::string> others(names.begin(), names.end() - 1);
  return fmt::format("must be {} or {}, not \"{}\"", fmt::join(others, ", "), names.back(), program);
}

CallMaker::CallMaker(const CallParameters& p, base::RandomSeed seed, std::string_view path, std::uint32_t services)
    : random_(seed, path, "calls") {
  for (std::uint32_t i = 0; i < services; ++i) services_.push_back(p.calls());
  largest_ = services_.front()->largest_message();
}

std::uint32_t CallMaker::encode(const Call& call, std::uint32_t xid, std::uint8_t* out) const {
  const std::uint32_t length = services_[call.service]->encode(call, xid, out);
  if (length <= largest_) return length;
  throw std::logic_error(
      fmt::format("a call has {} bytes, and the largest_message() of its program is {}", length, largest_));
}

}  // namespace sluice::net
