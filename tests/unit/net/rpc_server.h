// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The firmware's RPC programs in a few lines of C++, for tests of what calls them.

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/net/frame.h"
#include "models/net/traffic/rpc.h"
#include "protocols/rpc/calc.h"
#include "protocols/rpc/echo.h"
#include "protocols/rpc/kv.h"
#include "protocols/rpc/onc_rpc.h"

namespace sluice::test {

class RpcServer {
 public:
  /// The reply to an RPC message; empty when there is none.
  std::string answer(const std::string& message) {
    net::CallView call;
    if (net::parse_call(bytes(message), message.size(), call)) return {};
    const std::string arguments(reinterpret_cast<const char*>(call.arguments), call.length);
    std::string results;
    if (call.program == RPC_PROGRAM_ECHO && call.procedure == ECHO_ECHO) {
      results = arguments;
    } else if (call.program == RPC_PROGRAM_CALC && call.procedure == CALC_ADD) {
      results = word(read(arguments, 0) + read(arguments, 4));
    } else if (call.program == RPC_PROGRAM_CALC && call.procedure == CALC_CHECKSUM) {
      results = word(adler(arguments.substr(4, read(arguments, 0))));
    } else if (call.program == RPC_PROGRAM_CALC && call.procedure == CALC_SORT) {
      results = sorted(arguments);
    } else if (call.program == RPC_PROGRAM_CALC && call.procedure == CALC_SPIN) {
      results.clear();
    } else if (call.program == RPC_PROGRAM_KV && call.procedure != KV_NULL) {
      results = kv(call.procedure, arguments);
    } else if (call.procedure != 0) {
      return word(call.xid) + word(RPC_REPLY) + word(0) + word(0) + word(0) + word(RPC_PROC_UNAVAIL);
    }
    return word(call.xid) + word(RPC_REPLY) + word(0) + word(0) + word(0) + word(RPC_SUCCESS) + results;
  }

  static std::string word(std::uint32_t v) {
    std::uint8_t b[4];
    net::store32(b, v);
    return {reinterpret_cast<const char*>(b), 4};
  }
  static const std::uint8_t* bytes(const std::string& s) { return reinterpret_cast<const std::uint8_t*>(s.data()); }
  static std::uint32_t read(const std::string& s, std::size_t at) { return net::load32(bytes(s) + at); }

 private:
  static std::uint32_t adler(const std::string& data) {
    std::uint32_t a = 1, b = 0;
    for (const char c : data) b = (b + (a = (a + static_cast<unsigned char>(c)) % 65521)) % 65521;
    return b << 16 | a;
  }
  static std::string sorted(const std::string& arguments) {
    std::vector<std::int32_t> values;
    for (std::size_t at = 4; at < arguments.size(); at += 4)
      values.push_back(static_cast<std::int32_t>(read(arguments, at)));
    std::stable_sort(values.begin(), values.end());
    std::string out = word(static_cast<std::uint32_t>(values.size()));
    for (const std::int32_t v : values) out += word(static_cast<std::uint32_t>(v));
    return out;
  }
  std::string kv(std::uint32_t procedure, const std::string& arguments) {
    const std::uint32_t length = read(arguments, 0);
    const std::string key = arguments.substr(4, length);
    const std::string rest = arguments.substr(4 + (length + 3) / 4 * 4);
    if (procedure == KV_PUT) {
      store_[key] = rest;
      return word(KV_OK);
    }
    const auto found = store_.find(key);
    return found == store_.end() ? word(KV_NOT_FOUND) : word(KV_OK) + found->second;
  }

  std::map<std::string, std::string> store_;
};

}  // namespace sluice::test
