// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/decoder_bench.h"

#include <bit>
#include <cstring>

namespace sluice::test {

DecoderBench::DecoderBench() {
  dut_.rst = 1;
  for (int i = 0; i < 4; ++i) edge();
  dut_.rst = 0;
}

void DecoderBench::edge() {
  dut_.clk = 0;
  dut_.eval();
  dut_.clk = 1;
  dut_.eval();
}

void DecoderBench::write(std::uint32_t offset, std::uint32_t value) {
  dut_.s_axil_awvalid = dut_.s_axil_wvalid = dut_.s_axil_bready = 1;
  dut_.s_axil_awaddr = static_cast<std::uint16_t>(offset);
  dut_.s_axil_wdata = value;
  edge();
  dut_.s_axil_awvalid = dut_.s_axil_wvalid = 0;
  edge();
}

std::uint32_t DecoderBench::read(std::uint32_t offset) {
  dut_.s_axil_arvalid = dut_.s_axil_rready = 1;
  dut_.s_axil_araddr = static_cast<std::uint16_t>(offset);
  edge();
  dut_.s_axil_arvalid = 0;
  const std::uint32_t value = dut_.s_axil_rdata;
  edge();
  return value;
}

void DecoderBench::set(unsigned entry, const nic::rpc::Service& s) {
  write(RPCD_PROGRAM, s.key.program);
  write(RPCD_VERSION, s.key.version);
  write(RPCD_PROCEDURE, s.key.procedure);
  write(RPCD_PORT, s.key.port);
  write(RPCD_FUNCTION_LOW, static_cast<std::uint32_t>(s.function_pointer));
  write(RPCD_FUNCTION_HIGH, static_cast<std::uint32_t>(s.function_pointer >> 32));
  write(RPCD_OWNER, s.owner);
  for (unsigned i = 0; i < RPCD_PARTS; ++i) {
    write(RPCD_PART_CLASSES(i), s.parts[i].classes);
    write(RPCD_PART_SHAPE(i), s.parts[i].shape());
  }
  write(RPCD_COMMIT, RPCD_COMMIT_VALID | entry);
}

std::vector<DecoderOutput> DecoderBench::run(const std::vector<std::vector<std::uint8_t>>& frames,
                                             const std::function<bool(std::uint64_t)>& offers,
                                             const std::function<bool(std::uint64_t)>& ready, std::uint64_t most) {
  std::vector<DecoderOutput> out(frames.size());
  std::size_t in_frame = 0, in_at = 0, done = 0;
  bool offered = false;
  for (std::uint64_t cycle = 0; (done < frames.size() || in_frame < frames.size()) && cycle < most;
       ++cycle, ++cycles_) {
    if (!offered && offers(cycle) && in_frame < frames.size()) {
      const std::vector<std::uint8_t>& f = frames[in_frame];
      const std::size_t count = std::min<std::size_t>(64, f.size() - in_at);
      std::memcpy(&dut_.s_axis_tdata[0], f.data() + in_at, count);
      dut_.s_axis_tkeep = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
      dut_.s_axis_tlast = in_at + count == f.size();
      offered = true;
    }
    dut_.s_axis_tvalid = offered;
    dut_.m_axis_tready = ready(cycle);
    dut_.clk = 0;
    dut_.eval();
    if (offered && dut_.s_axis_tready) {
      out[in_frame].came.push_back(cycle);
      in_at += 64;
      if (dut_.s_axis_tlast) {
        ++in_frame;
        in_at = 0;
      }
      offered = false;
    }
    if (dut_.m_axis_tvalid && dut_.m_axis_tready) {
      DecoderOutput& o = out[done];
      o.left.push_back(cycle);
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(&dut_.m_axis_tdata[0]);
      o.line.insert(o.line.end(), bytes, bytes + std::popcount(dut_.m_axis_tkeep));
      if (dut_.m_axis_tlast) {
        const auto* user = &dut_.m_axis_tuser[0];
        const auto field = [&](unsigned at, unsigned bits) {
          const std::uint64_t pair =
              std::uint64_t{user[at / 32]} | (at / 32 < 3 ? std::uint64_t{user[at / 32 + 1]} << 32 : 0);
          return static_cast<std::uint32_t>(pair >> at % 32 & ((std::uint64_t{1} << bits) - 1));
        };
        o.verdict = field(0, 4);
        o.owner = static_cast<std::uint16_t>(field(4, 16));
        o.source = field(20, 32);
        o.source_port = static_cast<std::uint16_t>(field(52, 16));
        o.destination = field(68, 32);
        o.port = static_cast<std::uint16_t>(field(100, 16));
        ++done;
      }
    }
    dut_.clk = 1;
    dut_.eval();
  }
  dut_.s_axis_tvalid = 0;
  out.resize(done);
  return out;
}

}  // namespace sluice::test
