// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Parameters of the PIO NIC's pipelines.

#include "models/base/parameters/schema.h"
#include "models/net/mac.h"

namespace sluice::nic {

using namespace base::literals;

/// The stages between the MAC and the packet buffers. A stage takes a fixed time and a time for each beat of 64 B.
struct PioParameters {
  base::Frequency clock = 250_MHz;
  base::Time rx_queue = 36_ns;
  base::Time rx_queue_beat = 4_ns;
  base::Time rx_stream = 24_ns;
  base::Time tx_stream = 44_ns;
  base::Time tx_stream_beat = 8_ns;
  base::Time tx_queue = 36_ns;
  base::Time tx_queue_beat = 4_ns;
  base::Bytes rx_buffer = 64_KiB;
  base::Time rx_block = 20_ms;
  net::Mac::Parameters mac;
  static void describe(base::Schema<PioParameters>&);
};

}  // namespace sluice::nic
