// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/encoder_bench.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "rtl/rpc_encoder/user.h"

namespace sluice::test {

EncoderBench::EncoderBench(unsigned seed) : dut_(seed) {
  // Inputs, too, begin with random values.
  dut_->s_axis_tvalid = dut_->m_axis_tready = 0;
  dut_->s_axil_awvalid = dut_->s_axil_wvalid = dut_->s_axil_bready = dut_->s_axil_arvalid = dut_->s_axil_rready = 0;
  dut_->rst = 1;
  for (int i = 0; i < 4; ++i) edge();
  dut_->rst = 0;
}

void EncoderBench::edge() {
  dut_->clk = 0;
  dut_->eval();
  dut_->clk = 1;
  dut_->eval();
}

void EncoderBench::write(std::uint32_t offset, std::uint32_t value) {
  dut_->s_axil_awvalid = dut_->s_axil_wvalid = dut_->s_axil_bready = 1;
  dut_->s_axil_awaddr = static_cast<std::uint16_t>(offset);
  dut_->s_axil_wdata = value;
  edge();
  dut_->s_axil_awvalid = dut_->s_axil_wvalid = 0;
  edge();
}

std::uint32_t EncoderBench::read(std::uint32_t offset) {
  dut_->s_axil_arvalid = dut_->s_axil_rready = 1;
  dut_->s_axil_araddr = static_cast<std::uint16_t>(offset);
  edge();
  dut_->s_axil_arvalid = 0;
  const std::uint32_t value = dut_->s_axil_rdata;
  edge();
  return value;
}

void EncoderBench::set(unsigned entry, const std::optional<nic::rpc::Schema>& schema) {
  enter_schema(entry, schema, [this](std::uint32_t offset, std::uint32_t value) { write(offset, value); });
}

EncoderOutput EncoderBench::run(const std::vector<EncoderInput>& packets, std::size_t frames,
                                const std::function<bool(std::uint64_t)>& offers,
                                const std::function<bool(std::uint64_t)>& ready, std::uint64_t most) {
  constexpr unsigned kSettles = 64;  // cycles, for packets of which nothing leaves
  EncoderOutput out;
  out.came.resize(packets.size());
  std::size_t packet = 0, at = 0;
  bool offered = false, within = false;
  unsigned after = 0;
  for (std::uint64_t cycle = 0; after < kSettles && cycle < most; ++cycle, ++cycles_) {
    if (packet == packets.size() && out.frames.size() >= frames && !within) ++after;
    if (!offered && offers(cycle) && packet < packets.size()) {
      const std::vector<std::uint8_t>& d = packets[packet].data;
      const std::size_t count = std::min<std::size_t>(64, d.size() - at);
      std::memset(&dut_->s_axis_tdata[0], 0x5a, 64);
      if (count != 0) std::memcpy(&dut_->s_axis_tdata[0], d.data() + at, count);
      dut_->s_axis_tkeep = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
      dut_->s_axis_tlast = at + count == d.size();
      if (at == 0)
        std::ranges::copy(nic::rpc::words_of(packets[packet].request), &dut_->s_axis_tuser[0]);
      else
        for (unsigned bit = 0; bit < RPCE_USER_BITS; bit += 32)
          dut_->s_axis_tuser[bit / 32] = 0xa5a5a5a5u >> (32 - std::min(32u, RPCE_USER_BITS - bit));
      offered = true;
    }
    dut_->s_axis_tvalid = offered;
    dut_->m_axis_tready = ready(cycle);
    dut_->clk = 0;
    dut_->eval();
    if (offered && dut_->s_axis_tready) {
      out.came[packet].push_back(cycle);
      at += 64;
      if (dut_->s_axis_tlast) {
        ++packet;
        at = 0;
      }
      offered = false;
    }
    if (dut_->m_axis_tvalid && dut_->m_axis_tready) {
      if (!within) out.frames.emplace_back();
      EncoderFrame& f = out.frames.back();
      f.left.push_back(cycle);
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(&dut_->m_axis_tdata[0]);
      f.bytes.insert(f.bytes.end(), bytes, bytes + std::popcount(dut_->m_axis_tkeep));
      f.verdict = dut_->m_axis_tuser;
      within = !dut_->m_axis_tlast;
    }
    dut_->clk = 1;
    dut_->eval();
  }
  dut_->s_axis_tvalid = 0;
  return out;
}

}  // namespace sluice::test
