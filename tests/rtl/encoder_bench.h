// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Drives the verilated RPC encoder cycle by cycle.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "models/nic/rpc_encoder/encode.h"
#include "tests/rtl/block_bench.h"

// The same tests drive the encoder as it is on a board, and the one with its assertions.
#ifdef SLUICE_CHECKED_RTL
#include "Vrpc_encoder_checked.h"
#else
#include "Vrpc_encoder.h"
#endif

namespace sluice::test {

#ifdef SLUICE_CHECKED_RTL
using EncoderDut = Vrpc_encoder_checked;
#else
using EncoderDut = Vrpc_encoder;
#endif

/// Writes an entry of the encoder's table by write(offset, value).
template <class Write>
void enter_schema(unsigned entry, const std::optional<nic::rpc::Schema>& schema, Write&& write) {
  const nic::rpc::Schema s = schema.value_or(nic::rpc::Schema());
  for (unsigned i = 0; i < RPCE_ARMS; ++i) {
    write(RPCE_ARM_VALUE(i), s.arms[i].value);
    write(RPCE_ARM(i), s.arms[i].shape());
  }
  for (unsigned i = 0; i < RPCE_PARTS; ++i) {
    write(RPCE_PART_CLASSES(i), s.parts[i].classes);
    write(RPCE_PART_SHAPE(i), s.parts[i].shape());
  }
  write(RPCE_COMMIT, (schema ? RPCE_COMMIT_VALID : 0) | entry);
}

struct EncoderInput {
  nic::rpc::Request request;
  std::vector<std::uint8_t> data;
};

struct EncoderFrame {
  unsigned verdict = 0;
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint64_t> left;  ///< cycles of its beats
};

struct EncoderOutput {
  std::vector<std::vector<std::uint64_t>> came;  ///< cycles of each packet's beats
  std::vector<EncoderFrame> frames;
};

class EncoderBench {
 public:
  /// seed: what the registers of a checked encoder begin with.
  explicit EncoderBench(unsigned seed = 1);

  void set(unsigned entry, const std::optional<nic::rpc::Schema>&);
  void write(std::uint32_t offset, std::uint32_t value);
  std::uint32_t read(std::uint32_t offset);

  /// Puts packets in. offers: whether the next beat is offered in a cycle; one that is offered stays. ready: whether
  /// the consumer takes a beat in a cycle. Both are asked once for each cycle, from 0. Ends some cycles after all
  /// packets have come and so many frames have left, or after `most` cycles.
  EncoderOutput run(const std::vector<EncoderInput>& packets, std::size_t frames,
                    const std::function<bool(std::uint64_t)>& offers, const std::function<bool(std::uint64_t)>& ready,
                    std::uint64_t most = 10'000'000);
  std::uint64_t cycles() const { return cycles_; }

 private:
  void edge();

  RandomDut<EncoderDut> dut_;
  std::uint64_t cycles_ = 0;
};

}  // namespace sluice::test
