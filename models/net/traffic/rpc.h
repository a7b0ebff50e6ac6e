// SPDX-License-Identifier: Apache-2.0
#pragma once
/// ONC RPC version 2 (RFC 5531) as a client sees it: calls encoded, replies taken apart. Constants, programs and
/// message layouts are in protocols/rpc/onc_rpc.h. Plain C++.

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace sluice::net {

/// Writes words in network byte order; returns their bytes.
std::uint32_t put_words(std::uint8_t* out, std::initializer_list<std::uint32_t> words);
/// Writes the header of a call, RPC_CALL_HEADER_BYTES bytes. Credential and verifier are AUTH_NONE. The arguments
/// follow the header.
void put_call_header(std::uint8_t* out, std::uint32_t xid, std::uint32_t program, std::uint32_t version,
                     std::uint32_t procedure);

/// A reply that is well-formed as far as its results.
struct ReplyView {
  std::uint32_t xid = 0;
  bool accepted = false;
  std::uint32_t status = 0;           ///< accept_stat; for a denied call, reject_stat
  std::uint32_t verifier_flavor = 0;  ///< of an accepted call
  std::uint32_t verifier_length = 0;
  const std::uint8_t* results = nullptr;
  std::uint32_t length = 0;  ///< bytes of results, or of the details of an error
};
/// Returns null when the message is a reply, else what is wrong with it. Never reads beyond `length`.
const char* parse_reply(const std::uint8_t* message, std::size_t length, ReplyView&);
/// Name of the error in a reply: "PROG_UNAVAIL", "AUTH_ERROR", ...; null for a success.
const char* reply_failure(const ReplyView&);

/// A call that is well-formed as far as its arguments.
struct CallView {
  std::uint32_t xid = 0;
  std::uint32_t rpc_version = 0;
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  const std::uint8_t* arguments = nullptr;
  std::uint32_t length = 0;  ///< bytes of arguments
};
/// Returns null when the message is a call, else what is wrong with it. Never reads beyond `length`.
const char* parse_call(const std::uint8_t* message, std::size_t length, CallView&);

}  // namespace sluice::net
