// SPDX-License-Identifier: Apache-2.0
#include "models/nic/descriptor/steering.h"

#include <span>
#include <string>
#include <utility>

#include "models/base/measure/waveforms.h"
#include "models/base/time/key.h"

namespace sluice::nic {

Steering::Steering(Decoder decoder, base::Time parse, const std::string& path, base::ComponentKey key, Next next)
    : parse_(parse),
      key_(key),
      next_(std::move(next)),
      decoder_(rpc::make_decoder(decoder == Decoder::rtl, path, rpc::kServices,
                                 [this](const rpc::Decoded& d) { leave(d); })) {}

void Steering::accept(net::PacketPtr packet, base::Time available, std::uint32_t generation) {
  base::calendar().at(available, key_,
                      [this, p = std::move(packet), available, generation, own = generation_]() mutable {
                        if (own != generation_)
                          return next_(std::move(p), available, generation, {});  // the NIC has been reset
                        const std::span<const std::uint8_t> bytes(p->bytes, p->length);
                        const bool watched = base::is_watched(p->spans);
                        inside_.push({std::move(p), available, generation, {}});
                        decoder_->put(bytes, watched);
                      });
}

void Steering::leave(const rpc::Decoded& decoded) {
  Frame frame = inside_.pop();
  if (decoded.verdict == RPCD_CALL) frame.queue = decoded.owner;
  const base::Time parsed = frame.available + parse_;
  if (parsed <= base::calendar().now())
    return next_(std::move(frame.packet), frame.available, frame.generation, frame.queue);
  decoded_.push(std::move(frame));
  base::calendar().at(parsed, key_, [this, generation = generation_] {
    if (generation != generation_) return;
    Frame f = decoded_.pop();
    next_(std::move(f.packet), f.available, f.generation, f.queue);
  });
}

}  // namespace sluice::nic
