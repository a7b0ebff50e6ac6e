// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Drives the verilated RPC decoder cycle by cycle.

#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "models/nic/rpc_decoder/decode.h"
#include "rtl/rpc_decoder/user.h"
#include "tests/rtl/rpc_frames.h"

namespace sluice::test {

/// A packet that has left, and in which cycles its frame's beats came and its own beats left.
struct DecoderOutput : nic::rpc::Decoded {
  std::vector<std::uint64_t> came, left;
};

template <class Dut>
class DecoderBenchOf {
 public:
  /// seed: what the registers, and all that has no value, begin with; 0: with what the verilated module has them begin.
  explicit DecoderBenchOf(unsigned seed = 0);

  void reset();
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
  VerilatedContext& context() { return context_; }

 private:
  void edge();

  VerilatedContext context_;
  std::unique_ptr<Dut> dut_;
  std::uint64_t cycles_ = 0;
};

template <class Dut>
DecoderBenchOf<Dut>::DecoderBenchOf(unsigned seed) {
  if (seed != 0) {
    context_.randSeed(static_cast<int>(seed));
    context_.randReset(2);
  }
  dut_ = std::make_unique<Dut>(&context_);
  dut_->s_axis_tvalid = dut_->m_axis_tready = 0;
  dut_->s_axil_awvalid = dut_->s_axil_wvalid = dut_->s_axil_bready = dut_->s_axil_arvalid = dut_->s_axil_rready = 0;
  reset();
}

template <class Dut>
void DecoderBenchOf<Dut>::reset() {
  dut_->rst = 1;
  for (int i = 0; i < 4; ++i) edge();
  dut_->rst = 0;
}

template <class Dut>
void DecoderBenchOf<Dut>::edge() {
  dut_->clk = 0;
  dut_->eval();
  dut_->clk = 1;
  dut_->eval();
}

template <class Dut>
void DecoderBenchOf<Dut>::write(std::uint32_t offset, std::uint32_t value) {
  dut_->s_axil_awvalid = dut_->s_axil_wvalid = dut_->s_axil_bready = 1;
  dut_->s_axil_awaddr = static_cast<std::uint16_t>(offset);
  dut_->s_axil_wdata = value;
  edge();
  dut_->s_axil_awvalid = dut_->s_axil_wvalid = 0;
  edge();
}

template <class Dut>
std::uint32_t DecoderBenchOf<Dut>::read(std::uint32_t offset) {
  dut_->s_axil_arvalid = dut_->s_axil_rready = 1;
  dut_->s_axil_araddr = static_cast<std::uint16_t>(offset);
  edge();
  dut_->s_axil_arvalid = 0;
  const std::uint32_t value = dut_->s_axil_rdata;
  edge();
  return value;
}

template <class Dut>
void DecoderBenchOf<Dut>::set(unsigned entry, const nic::rpc::Service& s) {
  enter_service(entry, s, [this](std::uint32_t offset, std::uint32_t value) { write(offset, value); });
}

template <class Dut>
std::vector<DecoderOutput> DecoderBenchOf<Dut>::run(const std::vector<std::vector<std::uint8_t>>& frames,
                                                    const std::function<bool(std::uint64_t)>& offers,
                                                    const std::function<bool(std::uint64_t)>& ready,
                                                    std::uint64_t most) {
  std::vector<DecoderOutput> out(frames.size());
  std::size_t in_frame = 0, in_at = 0, done = 0;
  bool offered = false;
  for (std::uint64_t cycle = 0; (done < frames.size() || in_frame < frames.size()) && cycle < most;
       ++cycle, ++cycles_) {
    if (!offered && offers(cycle) && in_frame < frames.size()) {
      const std::vector<std::uint8_t>& f = frames[in_frame];
      const std::size_t count = std::min<std::size_t>(64, f.size() - in_at);
      std::memcpy(&dut_->s_axis_tdata[0], f.data() + in_at, count);
      dut_->s_axis_tkeep = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
      dut_->s_axis_tlast = in_at + count == f.size();
      offered = true;
    }
    dut_->s_axis_tvalid = offered;
    dut_->m_axis_tready = ready(cycle);
    dut_->clk = 0;
    dut_->eval();
    if (offered && dut_->s_axis_tready) {
      out[in_frame].came.push_back(cycle);
      in_at += 64;
      if (dut_->s_axis_tlast) {
        ++in_frame;
        in_at = 0;
      }
      offered = false;
    }
    if (dut_->m_axis_tvalid && dut_->m_axis_tready) {
      DecoderOutput& o = out[done];
      o.left.push_back(cycle);
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(&dut_->m_axis_tdata[0]);
      o.line.insert(o.line.end(), bytes, bytes + std::popcount(dut_->m_axis_tkeep));
      if (dut_->m_axis_tlast) {
        nic::rpc::read_user(std::span<const std::uint32_t>(&dut_->m_axis_tuser[0], 4), o);
        ++done;
      }
    }
    dut_->clk = 1;
    dut_->eval();
  }
  dut_->s_axis_tvalid = 0;
  out.resize(done);
  return out;
}

}  // namespace sluice::test
