// SPDX-License-Identifier: Apache-2.0
/// The calls `add` (sums two integers), `checksum` (Adler-32 of opaque data), `sort` (returns integers sorted) and
/// `spin` (keeps the server busy for a time).
#include "protocols/rpc/calc.h"

#include <algorithm>
#include <vector>

#include "models/net/traffic/call_data.h"
#include "models/net/traffic/calls.h"
#include "protocols/rpc/onc_rpc.h"

namespace sluice::net {
namespace {

class AddCalls final : public RpcCalls {
 public:
  explicit AddCalls(const CallParameters&) {}
  std::uint32_t largest_message() const override { return RPC_CALL_HEADER_BYTES + 8; }

 protected:
  Procedure procedure(const Call&) const override { return {RPC_PROGRAM_CALC, CALC_VERSION, CALC_ADD}; }
  std::uint32_t put_arguments(const Call& call, std::uint8_t* out) const override {
    store32(out, first(call));
    store32(out + 4, second(call));
    return 8;
  }
  const char* check_results(const Call& call, const std::uint8_t* results, std::size_t length) const override {
    if (length != 4) return "result has another length";
    return load32(results) == first(call) + second(call) ? nullptr : "sum is wrong";
  }

 private:
  static std::uint32_t first(const Call& call) { return static_cast<std::uint32_t>(call.seed); }
  static std::uint32_t second(const Call& call) { return static_cast<std::uint32_t>(call.seed >> 32); }
};

class ChecksumCalls final : public RpcCalls {
 public:
  explicit ChecksumCalls(const CallParameters& p) : bytes_(p.bytes) {}
  std::uint32_t largest_message() const override { return RPC_CALL_HEADER_BYTES + 4 + padded(bytes_); }

 protected:
  Procedure procedure(const Call&) const override { return {RPC_PROGRAM_CALC, CALC_VERSION, CALC_CHECKSUM}; }
  std::uint32_t put_arguments(const Call& call, std::uint8_t* out) const override {
    return put_opaque(out, call.seed, bytes_);
  }
  const char* check_results(const Call& call, const std::uint8_t* results, std::size_t length) const override {
    if (length != 4) return "result has another length";
    return load32(results) == adler32(call.seed) ? nullptr : "checksum is wrong";
  }

 private:
  std::uint32_t adler32(std::uint64_t seed) const {
    std::vector<std::uint8_t> data(bytes_);
    put_data(data.data(), seed, bytes_);
    std::uint32_t a = 1, b = 0;
    for (const std::uint8_t byte : data) {
      a = (a + byte) % 65521;
      b = (b + a) % 65521;
    }
    return b << 16 | a;
  }

  std::uint32_t bytes_;
};

class SortCalls final : public RpcCalls {
 public:
  explicit SortCalls(const CallParameters& p) : bytes_(p.bytes) {}
  std::string mistake() const override { return bytes_ % 4 ? "must be a multiple of 4 for sort" : ""; }
  std::uint32_t largest_message() const override { return RPC_CALL_HEADER_BYTES + 4 + padded(bytes_); }

 protected:
  Procedure procedure(const Call&) const override { return {RPC_PROGRAM_CALC, CALC_VERSION, CALC_SORT}; }
  std::uint32_t put_arguments(const Call& call, std::uint8_t* out) const override {
    store32(out, bytes_ / 4);
    put_data(out + 4, call.seed, bytes_);
    return 4 + bytes_;
  }
  const char* check_results(const Call& call, const std::uint8_t* results, std::size_t length) const override {
    const std::uint32_t n = bytes_ / 4;
    if (length != 4 + 4 * n || load32(results) != n) return "result has another length";
    std::vector<std::uint8_t> data(bytes_);
    put_data(data.data(), call.seed, bytes_);
    std::vector<std::int32_t> values(n);
    for (std::uint32_t i = 0; i < n; ++i) values[i] = static_cast<std::int32_t>(load32(&data[4 * i]));
    std::sort(values.begin(), values.end());
    for (std::uint32_t i = 0; i < n; ++i)
      if (static_cast<std::int32_t>(load32(results + 4 + 4 * i)) != values[i]) return "values are not the sorted ones";
    return nullptr;
  }

 private:
  std::uint32_t bytes_;
};

class SpinCalls final : public RpcCalls {
 public:
  explicit SpinCalls(const CallParameters& p)
      : service_(p.service), longer_(p.service_long), times_(p.service_times), share_(p.service_long_share) {}
  std::uint32_t largest_message() const override { return RPC_CALL_HEADER_BYTES + 4; }
  Call next(base::RandomStream& random) override {
    Call call;
    call.seed = service(random).femtoseconds() / 1'000'000;
    return call;
  }

 protected:
  Procedure procedure(const Call&) const override { return {RPC_PROGRAM_CALC, CALC_VERSION, CALC_SPIN}; }
  std::uint32_t put_arguments(const Call& call, std::uint8_t* out) const override {
    store32(out, static_cast<std::uint32_t>(call.seed));
    return 4;
  }
  const char* check_results(const Call&, const std::uint8_t*, std::size_t length) const override {
    return length == 0 ? nullptr : "result has another length";
  }

 private:
  base::Time service(base::RandomStream& random) const {
    if (times_ == ServiceTimes::exponential) return random.exponential(service_);
    if (times_ == ServiceTimes::constant) return service_;
    return random.chance(share_.numerator(), share_.denominator()) ? longer_ : service_;
  }

  base::Time service_, longer_;
  ServiceTimes times_;
  base::Ratio share_;
};

}  // namespace

void add_calc_calls(CallList& list) {
  list.add<AddCalls>("add");
  list.add<ChecksumCalls>("checksum");
  list.add<SortCalls>("sort");
  list.add<SpinCalls>("spin");
}

}  // namespace sluice::net
