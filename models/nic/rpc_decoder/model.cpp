// SPDX-License-Identifier: Apache-2.0
// The decoder's model in C++, for boards.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "models/base/fabric/ring.h"
#include "models/base/time/key.h"
#include "models/nic/rpc_decoder/call_decoder.h"
#include "models/nic/rpc_decoder/timing.h"

namespace sluice::nic::rpc {
namespace {

class Model final : public CallDecoder {
 public:
  Model(base::ComponentKey key, unsigned services, Output output)
      : CallDecoder(services, std::move(output)), key_(key) {}

  void put(std::span<const std::uint8_t> frame, bool) override {
    Decoded decoded = spare_.empty() ? Decoded{} : spare_.pop();
    decode(frame, table_, decoded, path_);
    stages_.begin(path_);
    // The beat is in the input's register a cycle after it has been offered.
    std::uint64_t cycle = std::max(next_, base::calendar().now() / kCycle + 1);
    for (std::size_t at = 0; at < frame.size(); at += 64) stages_.beat(++cycle, pushed_);
    next_ = cycle;
    // It leaves at the edge that ends the cycle behind the one in which it came to the output's register.
    const base::Time when = kCycle * (pushed_.back() + 2);
    pushed_.clear();
    inside_.push(std::move(decoded));
    base::calendar().at(when, key_, [this, generation = generation_] { leave(generation); });
  }

  void reset() override {
    CallDecoder::reset();
    ++generation_;
    inside_.clear();
    next_ = 0;
    table_ = {};
  }

 private:
  void set(unsigned entry, const std::optional<Service>& service) override { table_.set(entry, service); }
  void written(std::uint32_t, std::uint32_t) override {}

  void leave(std::uint32_t generation) {
    if (generation != generation_) return;
    Decoded decoded = inside_.pop();
    leaves(decoded);
    spare_.push(std::move(decoded));
  }

  base::ComponentKey key_;
  ServiceTable table_;
  Path path_;
  StageTiming stages_;
  std::vector<std::uint64_t> pushed_;
  std::uint64_t next_ = 0;  ///< first cycle in which the input is free
  base::Ring<Decoded> inside_, spare_;
  std::uint32_t generation_ = 0;  ///< counts resets
};

}  // namespace

std::uint32_t CallDecoder::read(std::uint32_t offset) {
  if (offset == RPCD_IDENTITY) return RPCD_IDENTITY_VALUE;
  if (offset == RPCD_CAPACITY)
    return services_ | RPCD_PARTS << RPCD_CAPACITY_PARTS_SHIFT | RPCD_PART_WORDS_MOST << RPCD_CAPACITY_WORDS_SHIFT;
  if (offset == RPCD_ERROR) return error_;
  const std::uint32_t verdict = (offset - RPCD_COUNTERS) / 4;
  return verdict < RPCD_VERDICTS ? counters_[verdict] : 0;
}

void CallDecoder::write(std::uint32_t offset, std::uint32_t value) {
  if (offset == RPCD_ERROR) {
    error_ &= ~value;
  } else if (offset == RPCD_COMMIT) {
    if (!commit(value)) return;
  } else if (offset < fields_.size() * 4) {
    fields_[offset / 4] = value;
  }
  written(offset, value);
}

/// False: it is refused.
bool CallDecoder::commit(std::uint32_t value) {
  const auto field = [this](std::uint32_t offset) { return fields_[offset / 4]; };
  Service s;
  bool is_schema = true;
  for (unsigned i = 0; i < RPCD_PARTS; ++i) {
    s.parts[i] = Part::of(field(RPCD_PART_CLASSES(i)), field(RPCD_PART_SHAPE(i)));
    is_schema &= s.parts[i].is_valid();
  }
  const std::uint32_t entry = value & RPCD_COMMIT_ENTRY;
  if (entry >= services_) error_ |= RPCD_ERROR_ENTRY;
  if (!is_schema) error_ |= RPCD_ERROR_SCHEMA;
  if (entry >= services_ || !is_schema) return false;
  s.key = {field(RPCD_PROGRAM), field(RPCD_VERSION), field(RPCD_PROCEDURE),
           static_cast<std::uint16_t>(field(RPCD_PORT))};
  s.owner = static_cast<std::uint16_t>(field(RPCD_OWNER));
  s.function_pointer = std::uint64_t{field(RPCD_FUNCTION_HIGH)} << 32 | field(RPCD_FUNCTION_LOW);
  const bool is_valid = (value & RPCD_COMMIT_VALID) != 0;
  keys_[entry] = is_valid ? std::optional(s.key) : std::nullopt;
  set(entry, is_valid ? std::optional(s) : std::nullopt);
  return true;
}

void CallDecoder::reset() {
  counters_ = {};
  keys_ = {};
  fields_ = {};
  error_ = 0;
}

void CallDecoder::leaves(const Decoded& decoded) {
  ++counts_[decoded.verdict];
  ++counters_[decoded.verdict];
  output_(decoded);
}

std::unique_ptr<CallDecoder> make_model(const std::string&, base::ComponentKey key, unsigned services,
                                        CallDecoder::Output output) {
  return std::make_unique<Model>(key, services, std::move(output));
}

DecoderFactory& rtl_factory() {
  static DecoderFactory factory = nullptr;
  return factory;
}

std::unique_ptr<CallDecoder> make_decoder(bool in_rtl, const std::string& nic, unsigned services,
                                          CallDecoder::Output output) {
  const std::string path = nic + ".decoder";
  return (in_rtl ? rtl_factory() : &make_model)(path, base::path_key(path), services, std::move(output));
}

}  // namespace sluice::nic::rpc
