// SPDX-License-Identifier: Apache-2.0
// The RPC decoder in RTL as a part of a NIC.
#include <optional>
#include <string>
#include <utility>

#include "Vrpc_decoder.h"
#include "Vrpc_decoder_traced.h"
#include "models/nic/rpc_decoder/call_decoder.h"
#include "models/part/catalogue.h"
#include "rtl/adapter/stream_block.h"
#include "rtl/rpc_decoder/user.h"

namespace sluice::nic::rpc {
namespace {

template <class Model>
class Block final : public CallDecoder {
 public:
  Block(const std::string& path, base::ComponentKey key, unsigned services, Output output)
      : CallDecoder(services, std::move(output)),
        block_({path, key, kCycle},
               [this](std::span<const std::uint8_t> line, std::span<const std::uint32_t> user) { leave(line, user); }) {
  }

  void put(std::span<const std::uint8_t> frame, bool watched) override { block_.put(frame, watched); }
  const std::uint64_t& late() const override { return block_.late(); }
  void reset() override {
    CallDecoder::reset();
    block_.reset();
  }

 private:
  void set(unsigned, const std::optional<Service>&) override {}  // the hardware has the table
  // What its errors are would take cycles to ask the hardware. What it would take beyond `services` does not get there.
  void written(std::uint32_t offset, std::uint32_t value) override { block_.write(offset, value); }

  void leave(std::span<const std::uint8_t> line, std::span<const std::uint32_t> user) {
    read_user(user, decoded_);
    if (decoded_.verdict == RPCD_CALL) decoded_.line.assign(line.begin(), line.end());
    leaves(decoded_);
  }

  Decoded decoded_;
  rtl::StreamBlock<Model> block_;
};

std::unique_ptr<CallDecoder> make_block(const std::string& path, base::ComponentKey key, unsigned services,
                                        CallDecoder::Output output) {
  if (base::waveforms_wanted())
    return std::make_unique<Block<Vrpc_decoder_traced>>(path, key, services, std::move(output));
  return std::make_unique<Block<Vrpc_decoder>>(path, key, services, std::move(output));
}

}  // namespace
}  // namespace sluice::nic::rpc

namespace sluice::part {

void add_rtl_rpc_decoder(Catalogue&) { nic::rpc::rtl_factory() = nic::rpc::make_block; }

}  // namespace sluice::part
