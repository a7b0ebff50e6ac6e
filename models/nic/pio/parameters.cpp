// SPDX-License-Identifier: Apache-2.0
#include "models/nic/pio/parameters.h"

#include "models/nic/pio/pio_regs.h"

namespace sluice::nic {

void PioParameters::describe(base::Schema<PioParameters>& s) {
  using P = PioParameters;
  constexpr const char* kArtifact = "enzian-pio-nic, data of its loopback experiment: stamps inside the NIC";
  const std::vector<std::string> received{"rx_frames"}, sent{"tx_frames"};
  constexpr const char* kNoneReceived = "no frame was received";
  constexpr const char* kNoneSent = "no frame was sent";
  s.summary("NIC whose frames the host reads and writes itself");
  s.add("clock", &P::clock, "of the FPGA: the unit of its time stamps")
      .range(1_MHz, 10_GHz)
      .acts_with({"rx_frames", "tx_frames"}, "no frame was stamped")
      .measured("enzian-pio-nic: 250 MHz, 64 B a beat");
  const auto stage = [&](const char* key, base::Time P::*member, const char* meaning, base::Time most) -> auto& {
    return s.add(key, member, meaning).range(0_ns, most).measured(kArtifact);
  };
  constexpr const char* kBeat = "more, for each 64 B";
  stage("rx_queue", &P::rx_queue, "receive queue, from the MAC's last beat on", 1_ms)
      .acts_with(received, kNoneReceived);
  stage("rx_queue_beat", &P::rx_queue_beat, kBeat, 1_us).acts_with(received, kNoneReceived);
  stage("rx_stream", &P::rx_stream, "from the receive queue to the packet buffer", 1_ms)
      .acts_with(received, kNoneReceived);
  stage("tx_stream", &P::tx_stream, "from the packet buffer through the stream buffer", 1_ms)
      .acts_with(sent, kNoneSent);
  stage("tx_stream_beat", &P::tx_stream_beat, kBeat, 1_us).acts_with(sent, kNoneSent);
  stage("tx_queue", &P::tx_queue, "transmit queue, to its last beat to the MAC", 1_ms).acts_with(sent, kNoneSent);
  stage("tx_queue_beat", &P::tx_queue_beat, kBeat, 1_us).acts_with(sent, kNoneSent);
  s.add("rx_buffer", &P::rx_buffer, "frames that the host has not read yet; what does not fit is dropped")
      .range(16_KiB, 16_MiB)
      .multiple_of(64)
      .acts_with({"rx_dropped"}, "no frame was dropped")
      .measured("enzian-pio-nic: 64 KiB for a core");
  s.add("rx_block", &P::rx_block, "how long a receive is held back before it is answered with no frame, at the start")
      .range(0_ns, 1_s)
      .acts_with({"rx_nacks"}, "no receive was answered with no frame")
      .measured("enzian-pio-nic: 20 ms in the loopback experiment");
  s.include("mac", &P::mac);
}

}  // namespace sluice::nic
