// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Lets calls choose their queue by their service: the RPC decoder beside the NIC's header parser.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "models/base/fabric/ring.h"
#include "models/base/time/calendar.h"
#include "models/net/packet.h"
#include "models/nic/descriptor/parameters.h"
#include "models/nic/rpc_decoder/call_decoder.h"

namespace sluice::nic {

class Steering {
 public:
  /// Takes a frame that the parser and the decoder have dealt with. queue: what the call's service has as its owner;
  /// none for a frame that is no call of a service.
  /// generation: as accept() was given it.
  using Next = base::Callback<void(net::PacketPtr, base::Time available, std::uint32_t generation,
                                   std::optional<unsigned> queue)>;

  /// decoder: any but none.
  Steering(Decoder decoder, base::Time parse, const std::string& path, base::ComponentKey key, Next next);

  /// Takes a good frame that leaves the MAC at `available`, after those that left before.
  void accept(net::PacketPtr, base::Time available, std::uint32_t generation);
  /// Forgets the table, and calls `dropped` for each frame inside.
  template <class F>
  void reset(F&& dropped) {
    ++generation_;
    for (; !inside_.empty(); inside_.pop()) dropped(*inside_.front().packet);
    for (; !decoded_.empty(); decoded_.pop()) dropped(*decoded_.front().packet);
    decoder_->reset();
  }

  rpc::CallDecoder& decoder() { return *decoder_; }

 private:
  struct Frame {
    net::PacketPtr packet;
    base::Time available;
    std::uint32_t generation = 0;
    std::optional<unsigned> queue;
  };
  void leave(const rpc::Decoded&);

  base::Time parse_;
  base::ComponentKey key_;
  Next next_;
  base::Ring<Frame> inside_;   ///< of the decoder
  base::Ring<Frame> decoded_;  ///< whose headers are still being parsed
  std::unique_ptr<rpc::CallDecoder> decoder_;
  std::uint32_t generation_ = 0;  ///< counts resets
};

}  // namespace sluice::nic
