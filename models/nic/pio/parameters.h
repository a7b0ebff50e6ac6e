// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Parameters of the PIO NIC's pipelines.

#include "models/net/mac.h"
#include "models/nic/lines/pipelines.h"

namespace sluice::nic {

struct PioParameters : PipelineParameters {
  base::Frequency clock = 250_MHz;
  base::Bytes rx_buffer = 64_KiB;
  base::Time rx_block = 20_ms;
  net::Mac::Parameters mac;
  static void describe(base::Schema<PioParameters>&);
};

}  // namespace sluice::nic
