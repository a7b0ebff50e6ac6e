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

/// Names a continuation or a job, and no later one with the same number.
struct Reference {
  std::uint32_t number;
  std::uint32_t generation;
};

/// On its way through the NIC until the software has done with it. That of a call is a session, too: it says where the
/// reply goes.
struct Job {
  enum class Kind : std::uint8_t { frame, call, continuation };
  enum class State : std::uint8_t {
    waiting,             ///< software does not have it yet
    given,               ///< it is in a line
    kept_by_kernel,      ///< its line is free for others, and its handler has not ended
    waiting_for_result,  ///< its handler has ended, and the result of a call will go on with it
  };

  bool exists = false;
  std::uint32_t generation = 0;  ///< counts the jobs that were here
  Kind kind = Kind::frame;
  base::Spans spans;                    ///< the ledger's requests that it is of
  net::PacketPtr packet;                ///< its frame; null: it is a continuation
  std::optional<std::uint32_t> buffer;  ///< in the packet buffer
  unsigned process = 0;
  bool has_session = false;
  State state = State::waiting;
  unsigned calls = 0;               ///< that its handler has made, and whose results have not been dealt with
  rpc::Decoded call;                ///< head and bytes of its control line; of a call from the wire its client, too
  std::uint64_t data = 0;           ///< data pointer
  std::uint8_t result = 0;          ///< schema of the results, in the encoder's table
  std::optional<Reference> caller;  ///< the continuation that gets the results; nothing: they go to the wire
  Reference parent{};               ///< of a continuation: the request with which it goes on
  std::uint32_t end_point = 0;      ///< of a continuation: its own number among continuations

  bool is_kept() const { return state == State::kept_by_kernel || state == State::waiting_for_result; }
  bool is_frame() const { return kind == Kind::frame; }
  base::RequestId request() const { return spans.first(); }
};

/// Where a handler's call has its results go: a reply end-point, which lives from the call until the software has done
/// with the result.
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
  bool has_job = false;          ///< the result is on its way to the software
};

}  // namespace sluice::nic::lauberhorn
