// SPDX-License-Identifier: Apache-2.0
// The encoder's model in C++, for boards, and the registers that it has in common with the hardware.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "models/base/fabric/ring.h"
#include "models/base/time/key.h"
#include "models/nic/rpc_encoder/message_encoder.h"
#include "models/nic/rpc_encoder/timing.h"

namespace sluice::nic::rpc {
namespace {

class Model final : public MessageEncoder {
 public:
  Model(base::ComponentKey key, Output output) : MessageEncoder(std::move(output)), key_(key) {}

  void put(std::span<const std::uint8_t> data, const Request& request, bool) override {
    Encoded encoded = spare_.empty() ? Encoded{} : spare_.pop();
    encode(data, request, table_, encoded);
    timing_.begin(static_cast<std::uint32_t>(data.size()), static_cast<std::uint32_t>(encoded.frame.size()));
    std::uint64_t cycle = base::calendar().now() / kCycle + 1;
    for (std::size_t at = 0; at == 0 || at < data.size(); at += 64) cycle = timing_.offer(cycle) + 1;
    if (encoded.frame.empty()) {
      ends(encoded.verdict);
      return spare_.push(std::move(encoded));
    }
    // It leaves at the edge that ends the cycle in which its last beat is taken.
    const base::Time when = kCycle * (timing_.drain() + 1);
    inside_.push(std::move(encoded));
    base::calendar().at(when, key_, [this, generation = generation_] { leave(generation); });
  }

  void reset() override {
    MessageEncoder::reset();
    ++generation_;
    inside_.clear();
    timing_ = EncoderTiming(always);
    table_ = {};
  }

 private:
  static bool always(std::uint64_t) { return true; }

  void set(unsigned entry, const std::optional<Schema>& schema) override { table_.set(entry, schema); }

  void leave(std::uint32_t generation) {
    if (generation != generation_) return;
    Encoded encoded = inside_.pop();
    leaves(encoded);
    spare_.push(std::move(encoded));
  }

  base::ComponentKey key_;
  SchemaTable table_;
  EncoderTiming timing_{always};
  base::Ring<Encoded> inside_, spare_;
  std::uint32_t generation_ = 0;  ///< counts resets
};

}  // namespace

void MessageEncoder::leaves(const Encoded& encoded) {
  ends(encoded.verdict);
  output_(encoded);
}

std::uint32_t MessageEncoder::read(std::uint32_t offset) {
  if (offset == RPCE_IDENTITY) return RPCE_IDENTITY_VALUE;
  if (offset == RPCE_CAPACITY)
    return kSchemas | RPCE_PARTS << RPCE_CAPACITY_PARTS_SHIFT | RPCE_PART_WORDS_MOST << RPCE_CAPACITY_WORDS_SHIFT |
           RPCE_ARMS << RPCE_CAPACITY_ARMS_SHIFT;
  if (offset == RPCE_ERROR) return error_;
  const std::uint32_t verdict = (offset - RPCE_COUNTERS) / 4;
  return verdict < RPCE_VERDICTS ? counters_[verdict] : 0;
}

void MessageEncoder::write(std::uint32_t offset, std::uint32_t value) {
  if (offset == RPCE_ERROR) {
    error_ &= ~value;
  } else if (offset == RPCE_COMMIT) {
    commit(value);
  } else if (offset < fields_.size() * 4) {
    fields_[offset / 4] = value;
  }
}

void MessageEncoder::commit(std::uint32_t value) {
  const auto field = [this](std::uint32_t offset) { return fields_[offset / 4]; };
  Schema s;
  bool is_schema = true;
  for (unsigned i = 0; i < RPCE_ARMS; ++i) {
    const std::uint32_t shape = field(RPCE_ARM(i));
    s.arms[i] = {(shape & RPCE_ARM_VALID) != 0, (shape & RPCE_ARM_DEFAULT) != 0,
                 static_cast<std::uint8_t>(shape & RPCE_ARM_ENTRY), field(RPCE_ARM_VALUE(i))};
    is_schema &= !s.arms[i].valid || s.arms[i].entry < kSchemas;
  }
  for (unsigned i = 0; i < RPCE_PARTS; ++i) {
    s.parts[i] = Part::of(field(RPCE_PART_CLASSES(i)), field(RPCE_PART_SHAPE(i)));
    is_schema &= s.parts[i].words <= RPCE_PART_WORDS_MOST;
  }
  const std::uint32_t entry = value & RPCE_COMMIT_ENTRY;
  if (entry >= kSchemas) error_ |= RPCE_ERROR_ENTRY;
  if (!is_schema) error_ |= RPCE_ERROR_SCHEMA;
  if (entry >= kSchemas || !is_schema) return;
  set(entry, value & RPCE_COMMIT_VALID ? std::optional(s) : std::nullopt);
}

void MessageEncoder::reset() {
  counters_ = {};
  fields_ = {};
  error_ = 0;
}

EncoderFactory& encoder_rtl_factory() {
  static EncoderFactory factory = nullptr;
  return factory;
}

std::unique_ptr<MessageEncoder> make_encoder(bool in_rtl, const std::string& nic, MessageEncoder::Output output) {
  const std::string path = nic + ".encoder";
  return (in_rtl ? encoder_rtl_factory() : &make_encoder_model)(path, base::path_key(path), std::move(output));
}

std::unique_ptr<MessageEncoder> make_encoder_model(const std::string&, base::ComponentKey key,
                                                   MessageEncoder::Output output) {
  return std::make_unique<Model>(key, std::move(output));
}

}  // namespace sluice::nic::rpc
