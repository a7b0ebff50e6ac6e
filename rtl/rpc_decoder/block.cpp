// SPDX-License-Identifier: Apache-2.0
// The RPC decoder in RTL as a part of a NIC.
#include <array>
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
  Block(const std::string& path, base::ComponentKey key, Output output)
      : CallDecoder(std::move(output)),
        block_({path, key, kCycle, 0},
               [this](std::span<const std::uint8_t> line, std::span<const std::uint32_t> user) { leave(line, user); }) {
  }

  void put(std::span<const std::uint8_t> frame, bool watched) override { block_.put(frame, watched); }
  void write(std::uint32_t offset, std::uint32_t value) override {
    block_.write(offset, value);
    for (unsigned i = 0; i < RPCD_PARTS; ++i)
      if (offset == RPCD_PART_SHAPE(i)) words_[i] = value & RPCD_SHAPE_WORDS;
    if (offset == RPCD_ERROR) error_ &= ~value;
    if (offset != RPCD_COMMIT) return;
    if ((value & RPCD_COMMIT_ENTRY) >= kServices) error_ |= RPCD_ERROR_ENTRY;
    for (const unsigned words : words_)
      if (words > RPCD_PART_WORDS_MOST) error_ |= RPCD_ERROR_SCHEMA;
  }
  const std::uint64_t& late() const override { return block_.late(); }
  void reset() override {
    CallDecoder::reset();
    block_.reset();
    words_ = {};
    error_ = 0;
  }

 private:
  /// As the hardware has it, which would take cycles to say so.
  std::uint32_t read_error() override { return error_; }

  void leave(std::span<const std::uint8_t> line, std::span<const std::uint32_t> user) {
    read_user(user, decoded_);
    if (decoded_.verdict == RPCD_CALL) decoded_.line.assign(line.begin(), line.end());
    leaves(decoded_);
  }

  Decoded decoded_;
  std::array<unsigned, RPCD_PARTS> words_{};
  std::uint32_t error_ = 0;
  rtl::StreamBlock<Model> block_;
};

std::unique_ptr<CallDecoder> make_block(const std::string& path, base::ComponentKey key, CallDecoder::Output output) {
  if (base::waveforms_wanted()) return std::make_unique<Block<Vrpc_decoder_traced>>(path, key, std::move(output));
  return std::make_unique<Block<Vrpc_decoder>>(path, key, std::move(output));
}

}  // namespace
}  // namespace sluice::nic::rpc

namespace sluice::part {

void add_rtl_rpc_decoder(Catalogue&) { nic::rpc::rtl_factory() = nic::rpc::make_block; }

}  // namespace sluice::part
