// SPDX-License-Identifier: Apache-2.0
// The RPC encoder in RTL as a part of a NIC.
#include <optional>
#include <string>
#include <utility>

#include "Vrpc_encoder.h"
#include "Vrpc_encoder_traced.h"
#include "models/nic/rpc_encoder/message_encoder.h"
#include "models/part/catalogue.h"
#include "rtl/adapter/stream_block.h"
#include "rtl/rpc_encoder/user.h"

namespace sluice::nic::rpc {
namespace {

template <class Model>
class Block final : public MessageEncoder {
 public:
  Block(const std::string& path, base::ComponentKey key, Output output)
      : MessageEncoder(std::move(output)),
        block_(
            {path, key, kCycle},
            [this](std::span<const std::uint8_t> frame, std::span<const std::uint32_t> user) {
              encoded_.verdict = user[0];
              encoded_.frame.assign(frame.begin(), frame.end());
              leaves(encoded_);
            },
            [this](std::uint32_t verdict) { ends(verdict); }) {}

  void put(std::span<const std::uint8_t> data, const Request& request, bool watched) override {
    block_.put(data, words_of(request), watched);
  }
  void write(std::uint32_t offset, std::uint32_t value) override {
    MessageEncoder::write(offset, value);  // what its errors are would take cycles to ask the hardware
    block_.write(offset, value);
  }
  const std::uint64_t& late() const override { return block_.late(); }
  void reset() override {
    MessageEncoder::reset();
    block_.reset();
  }

 private:
  void set(unsigned, const std::optional<Schema>&) override {}  // the hardware has the table

  Encoded encoded_;
  rtl::StreamBlock<Model> block_;
};

std::unique_ptr<MessageEncoder> make_block(const std::string& path, base::ComponentKey key,
                                           MessageEncoder::Output output) {
  if (base::waveforms_wanted()) return std::make_unique<Block<Vrpc_encoder_traced>>(path, key, std::move(output));
  return std::make_unique<Block<Vrpc_encoder>>(path, key, std::move(output));
}

}  // namespace
}  // namespace sluice::nic::rpc

namespace sluice::part {

void add_rtl_rpc_encoder(Catalogue&) { nic::rpc::encoder_rtl_factory() = nic::rpc::make_block; }

}  // namespace sluice::part
