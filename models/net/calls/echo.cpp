// SPDX-License-Identifier: Apache-2.0
/// The calls `null` (no data, no work) and `echo` (returns its opaque data).
#include "protocols/rpc/echo.h"

#include "models/net/traffic/call_data.h"
#include "models/net/traffic/calls.h"
#include "protocols/rpc/onc_rpc.h"

namespace sluice::net {
namespace {

class NullCalls final : public RpcCalls {
 public:
  explicit NullCalls(const CallParameters&) {}
  std::uint32_t largest_message() const override { return RPC_CALL_HEADER_BYTES; }
  Call next(base::RandomStream&) override { return {}; }

 protected:
  Procedure procedure(const Call&) const override { return {RPC_PROGRAM_ECHO, ECHO_VERSION, ECHO_NULL}; }
  std::uint32_t put_arguments(const Call&, std::uint8_t*) const override { return 0; }
  const char* check_results(const Call&, const std::uint8_t*, std::size_t length) const override {
    return length == 0 ? nullptr : "result has another length";
  }
};

class EchoCalls final : public RpcCalls {
 public:
  explicit EchoCalls(const CallParameters& p) : bytes_(p.bytes) {}
  std::uint32_t largest_message() const override { return RPC_CALL_HEADER_BYTES + 4 + padded(bytes_); }

 protected:
  Procedure procedure(const Call&) const override { return {RPC_PROGRAM_ECHO, ECHO_VERSION, ECHO_ECHO}; }
  std::uint32_t put_arguments(const Call& call, std::uint8_t* out) const override {
    return put_opaque(out, call.seed, bytes_);
  }
  const char* check_results(const Call& call, const std::uint8_t* results, std::size_t length) const override {
    return check_opaque(call.seed, bytes_, results, length);
  }

 private:
  std::uint32_t bytes_;
};

}  // namespace

void add_echo_calls(CallList& list) {
  list.add<NullCalls>("null");
  list.add<EchoCalls>("echo");
}

}  // namespace sluice::net
