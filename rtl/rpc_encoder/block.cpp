// SPDX-License-Identifier: Apache-2.0
// The RPC encoder in RTL as a part of a NIC.
#include <optional>
#include <string>
#include <utility>

#include "Vrpc_encoder.h"
#include "models/nic/rpc_encoder/message_encoder.h"
#include "rtl/adapter/stream_block.h"
#include "rtl/rpc_encoder/user.h"

namespace sluice::nic::rpc {
namespace {

/// Cycles after which the encoder is empty if nothing has come in or left: more than a packet's way through it, which
/// is below 40, and a cycle for each of the 32 packets that may be inside and leave nothing.
constexpr unsigned kSettle = 128;

class Block final : public MessageEncoder {
 public:
  Block(const std::string& path, base::ComponentKey key, Output output)
      : MessageEncoder(std::move(output)),
        block_({path, key, kCycle, kSettle},
               [this](std::span<const std::uint8_t> frame, std::span<const std::uint32_t> user) {
                 encoded_.verdict = user[0];
                 encoded_.frame.assign(frame.begin(), frame.end());
                 leaves(encoded_);
               }) {}

  void put(std::span<const std::uint8_t> data, const Request& request, bool watched) override {
    block_.put(data, words_of(request), watched);
  }
  void write(std::uint32_t offset, std::uint32_t value) override {
    MessageEncoder::write(offset, value);
    block_.write(offset, value);
  }
  const std::uint64_t& late() const override { return block_.late(); }
  void reset() override {
    MessageEncoder::reset();
    block_.reset();
  }

 private:
  void set(unsigned, const std::optional<Schema>&) override {}  // the hardware has the table
  std::uint32_t counter(unsigned verdict) override { return block_.read(RPCE_COUNTERS + 4 * verdict); }

  Encoded encoded_;
  rtl::StreamBlock<Vrpc_encoder> block_;
};

}  // namespace

std::unique_ptr<MessageEncoder> make_encoder_rtl(const std::string& path, base::ComponentKey key,
                                                 MessageEncoder::Output output) {
  return std::make_unique<Block>(path, key, std::move(output));
}

}  // namespace sluice::nic::rpc
