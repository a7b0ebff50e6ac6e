#include "platform/report/workloads.h"

namespace sluice::report {

const std::vector<WorkloadKind>& workload_kinds() {
  static const std::vector<WorkloadKind> kinds = {
      {"closed-loop", "a number of calls under way at a time (outstanding, think)"},
      {"open-loop", "calls at a rate, whatever the server does (rate, arrivals)"},
      {"replay", "what the clients of a capture sent, at its times (pcap)"},
      {"load-sweep", "an open loop at one rate after the other (rates)"},
      {"zero-loss", "search for the highest rate without loss, RFC 2544 (rate, resolution)"},
      {"dma", "DMA reads and writes of host memory by a DMA requester (sizes, cache, window)"},
      {"none", "no calls: the firmware, or --until, ends the run"},
  };
  return kinds;
}

}  // namespace sluice::report
