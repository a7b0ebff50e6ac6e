// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The calls that a traffic source makes to the firmware's programs, and what their replies must be, byte by byte. One
/// number, the seed, determines the data of a call, so its reply can be checked without a stored copy. Plain C++.
///
/// Each program that can be called has a file in models/net/calls; a plug-in brings others
/// (docs/tutorials/own-rpc-program.md).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/parameters/random.h"
#include "models/base/parameters/schema.h"
#include "models/net/frame.h"

namespace sluice::net {

/// What must be known of a call to check its reply.
struct Call {
  std::uint64_t seed = 0;  ///< determines the call's data; of spin, the nanoseconds
  std::uint32_t key = 0;   ///< kv
  bool put = false;        ///< kv
  /// Where several instances of the program are called: which of them. Set by CallMaker.
  std::uint16_t service = 0;
};

/// The calls that one workload makes to one instance of a program. Each name that `call.program` may have has its own
/// class, which is constructed from a `const CallParameters&`. The class keeps no record of calls except what
/// answered() tells it.
class Calls {
 public:
  virtual ~Calls() = default;

  /// Says what is wrong with call.bytes, as the end of a sentence ("must be a multiple of 4 for sort"). Empty: nothing
  /// is wrong.
  virtual std::string mistake() const { return {}; }
  /// Bytes of the largest call's or reply's UDP payload.
  virtual std::uint32_t largest_message() const = 0;
  /// Bytes of the smallest call's UDP payload.
  virtual std::uint32_t smallest_call() const { return largest_message(); }
  /// UDP port that the board's firmware serves.
  virtual std::uint16_t server_port() const = 0;

  /// Chooses the next call, including everything random in it.
  virtual Call next(base::RandomStream& random) {
    Call call;
    call.seed = random.next();
    return call;
  }
  /// Writes the UDP payload of a call, at most largest_message() bytes, and returns its length. The first four bytes
  /// are the xid, as in the reply.
  virtual std::uint32_t encode(const Call&, std::uint32_t xid, std::uint8_t* payload) const = 0;
  /// Returns null when every byte of the payload is right for a reply to the call, else what is wrong, as a string with
  /// static lifetime.
  virtual const char* check(const Call&, std::uint32_t xid, const std::uint8_t* payload, std::size_t length) const = 0;
  /// Called when the right reply to a call has arrived.
  virtual void answered(const Call&) {}
};

/// Calls by ONC RPC version 2. This class writes the call header and checks the reply header; the program's class
/// writes the arguments and checks the results.
class RpcCalls : public Calls {
 public:
  struct Procedure {
    std::uint32_t program, version, procedure;
  };

  std::uint16_t server_port() const override;
  std::uint32_t encode(const Call&, std::uint32_t xid, std::uint8_t* payload) const final;
  const char* check(const Call&, std::uint32_t xid, const std::uint8_t* payload, std::size_t length) const final;

 protected:
  virtual Procedure procedure(const Call&) const = 0;
  /// Writes the arguments, in XDR; returns their length, a multiple of 4.
  virtual std::uint32_t put_arguments(const Call&, std::uint8_t* out) const = 0;
  /// Checks the results as Calls::check() checks the payload.
  virtual const char* check_results(const Call&, const std::uint8_t* results, std::size_t length) const = 0;
};

/// How the service times of spin are distributed.
enum class ServiceTimes { constant, exponential, bimodal };

/// The parameters of calls on a board.
struct CallParameters {
  /// Makes the calls of `program`. A board sets `maker`; if it is not set, `program` must be a built-in program.
  using Maker = std::function<std::unique_ptr<Calls>(const CallParameters&)>;

  std::string program = "null";
  std::uint32_t bytes = 64;                    ///< of data
  std::uint32_t keys = 64;                     ///< kv: different keys used
  std::uint32_t reads_percent = 90;            ///< kv: gets among the calls to keys that have been put
  base::Time service = base::Time::ns(1'000);  ///< spin: that the server works on a call; see service_times
  ServiceTimes service_times = ServiceTimes::exponential;
  base::Time service_long = base::Time::ns(100'000);  ///< bimodal: the other time
  base::Ratio service_long_share{1, 200};             ///< bimodal: of the calls that take it
  Maker maker = {};

  static void describe(base::Schema<CallParameters>&);
  /// Throws base::ValueError where there is no such program.
  std::unique_ptr<Calls> calls() const;
};

/// The built-in programs by name. Each file of models/net/calls adds its own.
class CallList {
 public:
  /// C is derived from Calls and is constructed from a const CallParameters&.
  template <class C>
  void add(std::string name) {
    makers_.emplace_back(std::move(name), [](const CallParameters& p) { return std::make_unique<C>(p); });
  }
  const std::vector<std::pair<std::string, CallParameters::Maker>>& makers() const { return makers_; }

 private:
  std::vector<std::pair<std::string, CallParameters::Maker>> makers_;
};

/// In the order of the list in models/net/CMakeLists.txt.
const CallList& built_in_calls();

/// The end of a sentence that says that call.program is none of `names`.
std::string no_such_program(const std::string& program, const std::vector<std::string>& names);

/// Makes calls, to one or more instances of a program, with random numbers of its own.
class CallMaker {
 public:
  /// path: of the component that makes the calls.
  CallMaker(const CallParameters&, base::RandomSeed, std::string_view path, std::uint32_t services = 1);

  Call next(std::uint16_t service = 0) {
    Call call = services_[service]->next(random_);
    call.service = service;
    return call;
  }
  /// Throws std::logic_error where the program has written more than its largest message.
  std::uint32_t encode(const Call&, std::uint32_t xid, std::uint8_t* out) const;
  /// The xid of a reply, or 0 when it is too short to have one.
  static std::uint32_t xid_of(const std::uint8_t* payload, std::size_t length) {
    return length >= 4 ? load32(payload) : 0;
  }
  const char* check(const Call& call, std::uint32_t xid, const std::uint8_t* payload, std::size_t length) const {
    return services_[call.service]->check(call, xid, payload, length);
  }
  void answered(const Call& call) { services_[call.service]->answered(call); }
  std::uint16_t server_port() const { return services_.front()->server_port(); }

 private:
  std::vector<std::unique_ptr<Calls>> services_;  ///< each knows what was answered by its own instance
  std::uint32_t largest_;
  base::RandomStream random_;
};

}  // namespace sluice::net
