// SPDX-License-Identifier: Apache-2.0
#include "models/nic/pio/parameters.h"

#include "models/nic/pio/pio_regs.h"

namespace sluice::nic {

void PioParameters::describe(base::Schema<PioParameters>& s) {
  using P = PioParameters;
  s.summary("NIC whose frames the host reads and writes itself");
  s.add("clock", &P::clock, "of the FPGA: the unit of its time stamps")
      .range(1_MHz, 10_GHz)
      .acts_with({"rx_frames", "tx_frames"}, "no frame was stamped")
      .measured("enzian-pio-nic: 250 MHz, 64 B a beat");
  describe_pipelines<P>(s, {.rx_queue = "receive queue, from the MAC's last beat on",
                            .rx_stream = "from the receive queue to the packet buffer",
                            .tx_stream = "from the packet buffer through the stream buffer",
                            .sent = {"tx_frames"},
                            .none_sent = "no frame was sent"});
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
