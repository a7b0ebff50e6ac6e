// SPDX-License-Identifier: Apache-2.0
/// The calls `kv`: gets and puts of a key-value store. The value of each key is computed from the key.
#include "protocols/rpc/kv.h"

#include <vector>

#include "models/net/traffic/call_data.h"
#include "models/net/traffic/calls.h"
#include "protocols/rpc/onc_rpc.h"

namespace sluice::net {
namespace {

constexpr std::uint32_t kKeyBytes = 16;

std::uint64_t value_seed(std::uint32_t key) { return 0x6b65790000000000u + key; }

class KvCalls final : public RpcCalls {
 public:
  explicit KvCalls(const CallParameters& p)
      : bytes_(p.bytes), keys_(p.keys), reads_percent_(p.reads_percent), stored_(p.keys) {}
  std::string mistake() const override {
    return bytes_ > KV_VALUE_MAX ? "must be at most " + std::to_string(KV_VALUE_MAX) + " for kv" : "";
  }
  std::uint32_t largest_message() const override { return smallest_call() + 4 + padded(bytes_); }
  std::uint32_t smallest_call() const override { return RPC_CALL_HEADER_BYTES + 4 + kKeyBytes; }
  Call next(base::RandomStream& random) override {
    Call call;
    call.key = static_cast<std::uint32_t>(random.below(keys_));
    // Drawn for each call, so that the keys of later calls do not depend on when puts are answered.
    const bool reads = random.chance(reads_percent_, 100);
    call.put = !stored_[call.key] || !reads;
    return call;
  }
  void answered(const Call& call) override {
    if (call.put) stored_[call.key] = true;
  }

 protected:
  Procedure procedure(const Call& call) const override {
    return {RPC_PROGRAM_KV, KV_VERSION, call.put ? KV_PUT : KV_GET};
  }
  std::uint32_t put_arguments(const Call& call, std::uint8_t* out) const override {
    std::uint32_t length = put_opaque(out, ~value_seed(call.key), kKeyBytes);
    if (call.put) length += put_opaque(out + length, value_seed(call.key), bytes_);
    return length;
  }
  const char* check_results(const Call& call, const std::uint8_t* results, std::size_t length) const override {
    if (length < 4) return "result has another length";
    const std::uint32_t status = load32(results);
    if (status == KV_FULL) return "the store is full";
    if (status == KV_NOT_FOUND) return "the store has lost a key";
    if (status != KV_OK) return "unknown kv status";
    if (call.put) return length == 4 ? nullptr : "result has another length";
    return check_opaque(value_seed(call.key), bytes_, results + 4, length - 4);
  }

 private:
  std::uint32_t bytes_, keys_, reads_percent_;
  std::vector<bool> stored_;  ///< by key: whether a put of it has been answered
};

}  // namespace

void add_kv_calls(CallList& list) { list.add<KvCalls>("kv"); }

}  // namespace sluice::net
