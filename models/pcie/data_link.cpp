// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/data_link.h"

template class sluice::base::ReplayLayer<sluice::pcie::TlpProtocol>;

namespace sluice::pcie {

base::ReplayTiming replay_timing(const Link::Parameters& p, base::Time retrain) {
  constexpr unsigned kDllp = 8;          // bytes on the wire
  constexpr unsigned kReplayFactor = 3;  // replay timer: this many Ack latencies
  const base::Time symbol = symbol_time(p.generation);
  const base::Time ack = symbol * update_limit_symbols(p.lanes, static_cast<unsigned>(p.max_payload.count()));
  return {symbol * kInternalDelay, ack, ack * kReplayFactor, retrain, kDllp};
}

}  // namespace sluice::pcie
