// SPDX-License-Identifier: Apache-2.0
#include "models/net/traffic/rpc.h"

#include "models/net/frame.h"
#include "protocols/rpc/onc_rpc.h"

namespace sluice::net {

namespace {

/// A message that is read from its start; every access is checked.
struct Reader {
  const std::uint8_t* at;
  std::size_t left;

  bool take(std::uint32_t& v) {
    if (left < 4) return false;
    v = load32(at);
    at += 4;
    left -= 4;
    return true;
  }
  /// A credential or verifier: flavor, length, body.
  bool skip_auth(std::uint32_t& flavor, std::uint32_t& length) {
    if (!take(flavor) || !take(length) || length > RPC_AUTH_MAX_BYTES) return false;
    const std::size_t padded = (length + 3u) & ~3u;
    if (left < padded) return false;
    at += padded;
    left -= padded;
    return true;
  }
};

}  // namespace

std::uint32_t put_words(std::uint8_t* out, std::initializer_list<std::uint32_t> words) {
  for (const std::uint32_t w : words) {
    store32(out, w);
    out += 4;
  }
  return static_cast<std::uint32_t>(4 * words.size());
}

void put_call_header(std::uint8_t* out, std::uint32_t xid, std::uint32_t program, std::uint32_t version,
                     std::uint32_t procedure) {
  put_words(out, {xid, RPC_CALL, RPC_VERSION, program, version, procedure, RPC_AUTH_NONE, 0, RPC_AUTH_NONE, 0});
}

const char* parse_reply(const std::uint8_t* message, std::size_t length, ReplyView& view) {
  view = {};
  Reader r{message, length};
  std::uint32_t type = 0, reply_status = 0;
  if (!r.take(view.xid) || !r.take(type)) return "RPC header is cut short";
  if (type != RPC_REPLY) return "not an RPC reply";
  if (!r.take(reply_status)) return "RPC header is cut short";
  if (reply_status > RPC_MSG_DENIED) return "unknown RPC reply status";
  view.accepted = reply_status == RPC_MSG_ACCEPTED;
  if (view.accepted && !r.skip_auth(view.verifier_flavor, view.verifier_length)) return "RPC verifier is broken";
  if (!r.take(view.status)) return "RPC header is cut short";
  view.results = r.at;
  view.length = static_cast<std::uint32_t>(r.left);
  return nullptr;
}

const char* reply_failure(const ReplyView& view) {
  if (!view.accepted) {
    if (view.status == RPC_MISMATCH) return "RPC_MISMATCH";
    return view.status == RPC_AUTH_ERROR ? "AUTH_ERROR" : "unknown reject status";
  }
  switch (view.status) {
    case RPC_SUCCESS:
      return nullptr;
    case RPC_PROG_UNAVAIL:
      return "PROG_UNAVAIL";
    case RPC_PROG_MISMATCH:
      return "PROG_MISMATCH";
    case RPC_PROC_UNAVAIL:
      return "PROC_UNAVAIL";
    case RPC_GARBAGE_ARGS:
      return "GARBAGE_ARGS";
    case RPC_SYSTEM_ERR:
      return "SYSTEM_ERR";
    default:
      return "unknown accept status";
  }
}

const char* parse_call(const std::uint8_t* message, std::size_t length, CallView& view) {
  view = {};
  Reader r{message, length};
  std::uint32_t type = 0;
  if (!r.take(view.xid) || !r.take(type)) return "RPC header is cut short";
  if (type != RPC_CALL) return "not an RPC call";
  if (!r.take(view.rpc_version) || !r.take(view.program) || !r.take(view.version) || !r.take(view.procedure))
    return "RPC header is cut short";
  std::uint32_t flavor = 0, bytes = 0;
  if (!r.skip_auth(flavor, bytes)) return "RPC credential is broken";
  if (!r.skip_auth(flavor, bytes)) return "RPC verifier is broken";
  view.arguments = r.at;
  view.length = static_cast<std::uint32_t>(r.left);
  return nullptr;
}

}  // namespace sluice::net
