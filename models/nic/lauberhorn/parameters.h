// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Parameters of Lauberhorn.

#include <cstdint>
#include <string>

#include "models/net/mac.h"
#include "models/nic/lines/pipelines.h"

namespace sluice::nic {

/// What makes the RPC decoder: its model or its RTL.
enum class LauberhornDecoder : std::uint8_t { tlm, rtl };
/// What becomes of a request that the kernel says is lost: its process ended in the middle of the handler.
enum class LostRequest : std::uint8_t { answer, drop };
/// What becomes of a call, to a port of services, of no service in the table, or with wrong arguments.
enum class UnknownCall : std::uint8_t { drop, bypass };

struct LauberhornParameters : PipelineParameters {
  std::string address = "02:53:4c:00:00:01";
  LauberhornDecoder decoder = LauberhornDecoder::tlm;
  unsigned cores = 4;
  unsigned processes = 64;
  unsigned workers = 4;
  unsigned services = 64;
  unsigned sessions = 256;
  unsigned queue = 32;
  unsigned continuations = 256;
  UnknownCall unknown = UnknownCall::bypass;
  LostRequest lost = LostRequest::answer;
  base::Frequency clock = 250_MHz;
  base::Bytes rx_buffer = 256_KiB;
  base::Time block = 15_ms;
  base::Time preempt = 400_us;
  base::Time give_back = 5_us;
  base::Time call_timeout = 10_ms;
  net::Mac::Parameters mac;
  static void describe(base::Schema<LauberhornParameters>&);
};

}  // namespace sluice::nic
