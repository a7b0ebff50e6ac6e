// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What Lauberhorn gives to software: frames, calls, and the results of calls that handlers have made themselves.

#include <cstdint>
#include <optional>
#include <vector>

#include "models/base/measure/ledger.h"
#include "models/base/time/calendar.h"
#include "models/net/packet.h"
#include "models/nic/lauberhorn/scheduler.h"
#include "models/nic/rpc_decoder/decode.h"

namespace sluice::nic::lauberhorn {

/// A continuation, or a job, of a NIC that has had others in the same place.
struct Reference {
  std::uint32_t number;
  std::uint32_t generation;
};

/// On its way through the NIC until the software has done with it. That of a call is a session, too: it says where the
/// reply goes.
struct Job {
  enum class Kind : std::uint8_t { frame, call, continuation };

  bool exists = false;
  std::uint32_t generation = 0;  ///< counts the jobs that were here
  Kind kind = Kind::frame;
  base::Spans spans;                    ///< the ledger's requests that it is of
  net::PacketPtr packet;                ///< that came from the wire; null: a handler has made the call
  std::optional<std::uint32_t> buffer;  ///< in the packet buffer
  unsigned process = 0;
  bool has_session = false;
  bool is_kept = false;             ///< the line that brought it is free for others, and the answer comes later
  unsigned calls = 0;               ///< that its handler has made, and whose results have not been dealt with
  rpc::Decoded call;                ///< head and bytes of its control line; of a call from the wire its client, too
  std::uint64_t data = 0;           ///< data pointer
  std::uint8_t result = 0;          ///< schema of the results, in the encoder's table
  std::optional<Reference> caller;  ///< the continuation that gets the results; nothing: they go to the wire
  Reference parent{};               ///< of a continuation: the request with which it goes on

  bool is_frame() const { return kind == Kind::frame; }
  base::RequestId request() const { return spans.first(); }
};

/// Where a handler's call has its results go: a reply end-point, which lives from the call to the result.
struct Continuation {
  struct Result {
    std::uint32_t accept_stat = 0;
    std::vector<std::uint8_t> bytes;
  };

  bool exists = false;
  std::uint32_t generation = 0;
  unsigned process = 0;
  std::uint64_t code = 0;
  std::uint64_t data = 0;
  Reference parent{};            ///< the request on whose behalf the call was made
  base::Calendar::Handle timer;  ///< until the call is given up
  std::optional<Result> result;  ///< it has come, but the handler of `parent` has not ended yet
};

}  // namespace sluice::nic::lauberhorn
