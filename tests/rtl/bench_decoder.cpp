// SPDX-License-Identifier: Apache-2.0
// How many null calls back to back the RPC decoder takes in a second of wall time: the verilated one alone, and its
// model. Prints one line of JSON. Used by sw/bench.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "Vrpc_decoder.h"
#include "models/nic/rpc_decoder/call_decoder.h"
#include "tests/rtl/rpc_frames.h"

using namespace sluice;
using namespace sluice::nic::rpc;

namespace {

constexpr unsigned kCalls = 1'000'000;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void edge(Vrpc_decoder& dut) {
  dut.clk = 0;
  dut.eval();
  dut.clk = 1;
  dut.eval();
}

double rtl(const std::vector<std::uint8_t>& call) {
  VerilatedContext context;
  Vrpc_decoder dut(&context);
  dut.rst = 1;
  for (int i = 0; i < 4; ++i) edge(dut);
  dut.rst = 0;
  dut.m_axis_tready = dut.s_axil_bready = 1;
  const std::uint32_t entry[][2] = {
      {RPCD_PROGRAM, 0x20000001}, {RPCD_VERSION, 1}, {RPCD_PORT, 20049}, {RPCD_COMMIT, RPCD_COMMIT_VALID}};
  for (const auto& [offset, value] : entry) {
    dut.s_axil_awvalid = dut.s_axil_wvalid = 1;
    dut.s_axil_awaddr = static_cast<std::uint16_t>(offset);
    dut.s_axil_wdata = value;
    edge(dut);
    dut.s_axil_awvalid = dut.s_axil_wvalid = 0;
    edge(dut);
  }
  const auto start = std::chrono::steady_clock::now();
  unsigned calls = 0;
  dut.s_axis_tvalid = 1;
  for (unsigned beat = 0; calls < kCalls; beat ^= 1) {
    std::memcpy(&dut.s_axis_tdata[0], call.data() + 64 * beat, beat == 0 ? 64 : call.size() - 64);
    dut.s_axis_tkeep = beat == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << (call.size() - 64)) - 1;
    dut.s_axis_tlast = beat;
    edge(dut);
    calls += dut.m_axis_tvalid && dut.m_axis_tlast && (dut.m_axis_tuser[0] & 15) == RPCD_CALL;
  }
  return kCalls / seconds_since(start);
}

double model(const std::vector<std::uint8_t>& call) {
  unsigned calls = 0;
  const auto decoder =
      make_model("decoder", 1, kServices, [&calls](const Decoded& d) { calls += d.verdict == RPCD_CALL; });
  decoder->write(RPCD_PROGRAM, 0x20000001);
  decoder->write(RPCD_VERSION, 1);
  decoder->write(RPCD_PORT, 20049);
  decoder->write(RPCD_COMMIT, RPCD_COMMIT_VALID);
  const auto start = std::chrono::steady_clock::now();
  for (unsigned sent = 0; calls < kCalls;) {
    if (sent < kCalls) {
      decoder->put(call);
      ++sent;
    }
    const base::Time until = CallDecoder::kCycle * (2 * std::uint64_t{sent});
    while (base::calendar().next() <= until || (sent == kCalls && calls < kCalls)) base::calendar().dispatch();
    base::calendar().set_now(std::max(until, base::calendar().now()));
  }
  return kCalls / seconds_since(start);
}

}  // namespace

int main() {
  const std::vector<std::uint8_t> call = test::plain_call({0x20000001, 1, 0, 20049});
  const double by_rtl = rtl(call), by_model = model(call);
  std::printf("{\"rtl_per_s\": %.0f, \"model_per_s\": %.0f}\n", by_rtl, by_model);
}
