// SPDX-License-Identifier: Apache-2.0
/// The calls `raw`: UDP payload without RPC, which the other side sends back as it is.
#include <algorithm>
#include <cstring>

#include "models/net/traffic/call_data.h"
#include "models/net/traffic/calls.h"
#include "protocols/rpc/onc_rpc.h"

namespace sluice::net {
namespace {

class RawCalls final : public Calls {
 public:
  explicit RawCalls(const CallParameters& p) : bytes_(p.bytes) {}
  std::string mistake() const override {
    return bytes_ < 4 ? "must be at least 4 for raw: they hold the request's number" : "";
  }
  std::uint32_t largest_message() const override { return bytes_; }
  std::uint16_t server_port() const override { return UDP_PORT_ECHO; }

  std::uint32_t encode(const Call& call, std::uint32_t xid, std::uint8_t* payload) const override {
    put_data(payload, call.seed, bytes_);
    store32(payload, xid);
    return bytes_;
  }
  const char* check(const Call& call, std::uint32_t xid, const std::uint8_t* payload,
                    std::size_t length) const override {
    if (length != bytes_) return "payload has another length";
    std::uint64_t first = 0;
    put_data(reinterpret_cast<std::uint8_t*>(&first), call.seed, std::min<std::uint32_t>(8, bytes_));
    store32(reinterpret_cast<std::uint8_t*>(&first), xid);
    if (std::memcmp(payload, &first, std::min<std::size_t>(8, length)) != 0) return "payload differs";
    for (std::size_t at = 8; at < length; at += 8) {
      const std::uint64_t w = data_word(call.seed, at / 8);
      if (std::memcmp(payload + at, &w, std::min<std::size_t>(8, length - at)) != 0) return "payload differs";
    }
    return nullptr;
  }

 private:
  std::uint32_t bytes_;
};

}  // namespace

void add_raw_calls(CallList& list) { list.add<RawCalls>("raw"); }

}  // namespace sluice::net
