// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Messages of a coherent link, in pooled objects: what caches and the homes of their lines say to each other, and
/// accesses to registers behind the link. Plain C++.

#include <array>
#include <cstdint>

#include "models/base/fabric/pool.h"
#include "models/base/fabric/port.h"
#include "models/base/measure/mistakes.h"
#include "models/coherence/protocol/message.h"

namespace sluice::coherence {

/// The largest line of any link, bytes.
inline constexpr unsigned kMostLineBytes = 128;

/// The virtual channels of a link, each of them twice: for lines of even and of odd number. Messages of one channel
/// stay in order; those of others may pass them.
enum class MessageChannel : std::uint8_t {
  request,
  write,  ///< victims
  snoop,
  snoop_response,
  response,       ///< without bytes
  response_data,  ///< with bytes
  io_request,     ///< accesses to registers
  io_response,
};
inline constexpr unsigned kMessageChannels = 16;

/// What a link calls a message, and what it takes on its wire.
struct Format {
  const char* name = "";
  std::uint16_t bytes = 0;          ///< all of them
  std::uint16_t content_bytes = 0;  ///< of these, the line's or the register's
  MessageChannel channel = MessageChannel::request;
};

/// An access to registers behind a link. Whoever waits for it owns it.
struct RegisterAccess;
class HostPath;

/// What a message of a device says about its host's memory, or an interrupt controller.
struct HostPart {
  enum class Kind : std::uint8_t {
    // Of the device.
    read,
    write,       ///< with the bytes, or, where the link pulls writes, before them
    write_data,  ///< where it does
    interrupt,
    // Of the host.
    data,
    pull,  ///< the bytes may come
    done,
    refused,
  };
  HostPath* path = nullptr;  ///< null: the message is not about that
  Kind kind{};
  std::uint64_t transfer = 0;  ///< number of the transfer at its path
  std::uint32_t offset = 0;    ///< in it
  std::uint32_t bytes = 0;     ///< all in one line
};

struct CoherentMessage : base::Message {
  protocol::Message what{};
  std::uint64_t line = 0;            ///< bus address: of a line, or of the first byte of host memory; 0 for registers
  unsigned cache = 0;                ///< that sends it, or gets it
  unsigned parity = 0;               ///< of the line's number
  RegisterAccess* access = nullptr;  ///< null: the message is not about a register
  HostPart host;
  base::RequestId of = 0;      ///< the ledger's request that the line's bytes belong to
  base::RequestId serves = 0;  ///< of a request for a line, and its answer: for which the hart waits
  base::Site by;               ///< of a request: the instruction that waits
  Format format;               ///< set by the link
  std::array<std::uint8_t, kMostLineBytes> bytes;  ///< of the line, or of host memory, where the kind has any

  void clear() {
    static_cast<base::Message&>(*this) = {};
    what = {};
    access = nullptr;
    host = {};
    line = parity = 0;
    of = serves = 0;
    by = {};
  }
  unsigned channel() const { return static_cast<unsigned>(format.channel) * 2 + parity; }
};

using CoherentMessagePtr = base::PoolPtr<CoherentMessage>;
inline CoherentMessagePtr make_coherent_message() {
  return CoherentMessagePtr(base::Pool<CoherentMessage>::instance().take());
}

}  // namespace sluice::coherence
