// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Drives the verilated RPC decoder cycle by cycle.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "Vrpc_decoder.h"
#include "models/nic/rpc_decoder/decode.h"

namespace sluice::test {

/// A packet that has left, and in which cycles its frame's beats came and its own beats left.
struct DecoderOutput {
  unsigned verdict = 0;
  std::vector<std::uint8_t> line;
  std::uint16_t owner = 0, source_port = 0, port = 0;
  std::uint32_t source = 0, destination = 0;
  std::vector<std::uint64_t> came, left;
};

class DecoderBench {
 public:
  DecoderBench();

  void set(unsigned entry, const nic::rpc::Service&);
  void write(std::uint32_t offset, std::uint32_t value);
  std::uint32_t read(std::uint32_t offset);

  /// Puts frames in. offers: whether the next beat is offered in a cycle; one that is offered stays. ready: whether the
  /// consumer takes a beat in a cycle. Both are asked once for each cycle, from 0. Ends when all packets have left, or
  /// after `most` cycles.
  std::vector<DecoderOutput> run(const std::vector<std::vector<std::uint8_t>>& frames,
                                 const std::function<bool(std::uint64_t)>& offers,
                                 const std::function<bool(std::uint64_t)>& ready, std::uint64_t most = 10'000'000);
  std::uint64_t cycles() const { return cycles_; }

 private:
  void edge();

  VerilatedContext context_;
  Vrpc_decoder dut_{&context_};
  std::uint64_t cycles_ = 0;
};

}  // namespace sluice::test
